"""SARIF 2.1.0."""

import json
from typing import Any

from analyzer.outputs import render
from tests.outputs.sample import crash_analysis


def run() -> dict[str, Any]:
    document = json.loads(render(crash_analysis(), "sarif"))
    assert document["version"] == "2.1.0"
    assert len(document["runs"]) == 1
    return document["runs"][0]  # type: ignore[no-any-return]


def test_each_finding_is_a_result_of_its_rule() -> None:
    rules = [rule["id"] for rule in run()["tool"]["driver"]["rules"]]
    results = [(result["ruleId"], rules[result["ruleIndex"]], result["level"]) for result in run()["results"]]
    assert results == [
        ("vllm/pinned-arena-does-not-fit", "vllm/pinned-arena-does-not-fit", "error"),
        ("profiles/clamp-without-effect", "profiles/clamp-without-effect", "warning"),
        ("vllm/autotuner-fallback", "vllm/autotuner-fallback", "note"),
    ]


def places(locations: list[dict[str, Any]]) -> list[tuple[str, int]]:
    physical = [location["physicalLocation"] for location in locations]
    return [(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in physical]


def test_a_finding_with_a_patch_points_into_the_settings_and_relates_to_the_log() -> None:
    patched, plain, _ = run()["results"]
    assert places(patched["locations"]) == [("profiles.yaml", 16)]
    assert places(patched["relatedLocations"]) == [("crash.log", 11), ("crash.log", 12), ("crash.log", 19)]
    assert places(plain["locations"]) == [("crash.log", 2)]
    assert "relatedLocations" not in plain


def test_names_of_files_become_references() -> None:
    analysis = crash_analysis()
    evidence = analysis.findings[1].evidence[0].model_copy(update={"input": "my logs/крах%.log"})
    finding = analysis.findings[1].model_copy(update={"evidence": [evidence]})
    document = json.loads(render(analysis.model_copy(update={"findings": [finding]}), "sarif"))
    assert places(document["runs"][0]["results"][0]["locations"]) == [("my%20logs/%D0%BA%D1%80%D0%B0%D1%85%25.log", 2)]
