"""JUnit XML."""

from xml.etree import ElementTree as ET

from analyzer.analysis import Analysis
from analyzer.outputs import render
from tests.outputs.sample import crash_analysis, hostile_analysis


def suite(analysis: Analysis) -> ET.Element:
    found = ET.fromstring(render(analysis, "junit").encode()).find("testsuite")
    assert found is not None
    return found


def test_errors_fail_other_findings_pass_and_abstentions_are_skipped() -> None:
    cases = [
        (case.get("classname"), case.get("name", "").partition(":")[0], [child.tag for child in case]) for case in suite(crash_analysis())
    ]
    assert cases == [
        ("vllm", "pinned-arena-does-not-fit", ["failure"]),
        ("profiles", "clamp-without-effect", ["system-out"]),
        ("vllm", "autotuner-fallback", ["system-out"]),
        ("vllm", "graph-capture-too-large", ["skipped"]),
    ]


def test_the_counts_are_those_of_the_cases() -> None:
    assert dict(suite(crash_analysis()).items()) == {"name": "crash.log", "tests": "4", "failures": "1", "errors": "0", "skipped": "1"}


def test_without_findings_the_verdict_is_the_case() -> None:
    analysis = crash_analysis().model_copy(update={"findings": [], "abstentions": []})
    (case,) = suite(analysis)
    assert (case.get("name"), [child.tag for child in case]) == (
        "verdict: the KV cache has a fixed size, and that size does not fit",
        ["failure"],
    )


def test_a_hostile_log_stays_text() -> None:
    (failure,) = suite(hostile_analysis()).iter("failure")
    assert "]]> --> {{ 7*7 }}" in (failure.text or "")
    assert list(failure) == []
