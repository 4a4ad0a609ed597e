"""The main job on both source documents: the right cause, the right direction, the number, and what must never be advised."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from analyzer import Analysis, analyze
from analyzer.analysis import Advice, Finding
from tests.sglang_dumps import dump

Place = Path


@pytest.fixture
def seeds(fixtures_dir: Place) -> Place:
    return fixtures_dir / "seeds"


@pytest.fixture
def document_b(fixtures_dir: Place) -> Place:
    return fixtures_dir / "document_b"


def finding(analysis: Analysis, rule: str, profile: str = "") -> Finding:
    found = [entry for entry in analysis.findings if entry.rule == rule and entry.title.startswith(profile)]
    assert len(found) == 1, [(entry.rule, entry.title) for entry in analysis.findings]
    return found[0]


def advice(analysis: Analysis, knob: str) -> list[Advice]:
    return [entry for entry in analysis.verdict.advice if entry.knob == knob]


def rules(analysis: Analysis) -> set[str]:
    return {entry.rule for entry in analysis.findings}


@pytest.fixture
def crash(seeds: Place) -> Analysis:
    return analyze([seeds / "crash.log"], [seeds / "profiles.as-found.yaml"])


def test_crash_is_the_pinned_arena(crash: Analysis) -> None:
    assert (crash.verdict.outcome, crash.verdict.cause) == ("failed", "pinned-kv-arena")
    arena = finding(crash, "vllm/pinned-arena-bypass")
    assert arena.confidence == "certain"
    assert "clamp of the utilization to 0.723 had no effect" in arena.message
    assert "reserved as it is, without memory profiling" in arena.message


def test_crash_names_the_underestimated_threshold(crash: Analysis) -> None:
    message = finding(crash, "profile/underestimated-threshold", "long_393k").message
    assert "24 053 735 802 B" in message
    assert "declared overhead beyond weights and arena is 1.12 GiB" in message
    assert "the run had 1.72 GiB for it and that was not enough" in message


def test_crash_names_the_other_two_defects(crash: Analysis) -> None:
    finding(crash, "profile/missing-utilization", "long_262k")
    finding(crash, "profile/saturated-budget", "raw_1010k")
    assert {"profile/underestimated-threshold", "profile/missing-utilization", "profile/saturated-budget"} <= rules(crash)


def test_crash_notes_the_same_overhead_without_a_patch(crash: Analysis) -> None:
    for profile in ("raw_1010k", "long_262k"):
        note = finding(crash, "profile/overhead-carries-over", profile)
        assert (note.severity, note.patches) == ("note", [])
        assert "free x 0.98" in note.message


def test_crash_patches(crash: Analysis) -> None:
    patches = {tuple(patch.path): patch for patch in crash.patches}
    assert set(patches) == {
        ("profiles", "long_393k", "requires_free_bytes"),
        ("profiles", "long_262k", "gpu_memory_utilization"),
        ("profiles", "raw_1010k", "gpu_memory_utilization"),
    }
    threshold = patches["profiles", "long_393k", "requires_free_bytes"]
    assert threshold.new > 24_728_274_207  # more than the 23.03 GiB that were available and not enough
    assert threshold.safety == "review"
    utilization = patches["profiles", "long_262k", "gpu_memory_utilization"]
    assert (utilization.op, utilization.new) == ("add", 0.95)
    saturated = patches["profiles", "raw_1010k", "gpu_memory_utilization"]
    assert (saturated.new, saturated.safety) == (0.99, "review")
    assert all(patch.proof.holds for patch in crash.patches)


def test_crash_patches_change_no_other_byte(seeds: Place, tmp_path: Place) -> None:
    profiles = tmp_path / "profiles.yaml"
    shutil.copy(seeds / "profiles.as-found.yaml", profiles)
    analysis = analyze([seeds / "crash.log"], [profiles])
    changed = [line for line in analysis.file_diffs[0].splitlines() if line[:1] in "+-" and line[:3] not in ("---", "+++")]
    assert len(changed) == 5  # two lines replaced, one added
    assert all("requires_free_bytes" in line or "gpu_memory_utilization" in line for line in changed)


@pytest.mark.parametrize("settings", ["profiles.as-found.yaml", "profiles.repaired.yaml"])
def test_crash_never_advises_the_wrong_way(seeds: Place, settings: str) -> None:
    given = [entry for found in analyze([seeds / "crash.log"], [seeds / settings]).findings for entry in found.advice]
    assert not [entry for entry in given if entry.knob == "gpu_memory_utilization" and entry.direction == "lower"]
    assert not [entry for entry in given if entry.knob == "kv_cache_memory_bytes" and entry.direction == "remove"]


def test_repaired_profiles_are_not_blamed(seeds: Place) -> None:
    analysis = analyze([seeds / "crash.log"], [seeds / "profiles.repaired.yaml"])
    assert not rules(analysis) & {
        "profile/underestimated-threshold",
        "profile/missing-utilization",
        "profile/saturated-budget",
        "profile/overhead-carries-over",
    }
    note = finding(analysis, "profile/log-from-other-settings")
    assert "the run chose long_393k" in note.message
    assert "would choose long_262k" in note.message
    assert analysis.patches == []


def test_forced_profile_fails_at_the_start_up_check(seeds: Place) -> None:
    analysis = analyze([seeds / "forced_262k.log"], [seeds / "profiles.as-found.yaml"])
    assert analysis.verdict.cause == "free-below-requested"
    assert "0.92 (the engine's default, because nothing sets it (vLLM 0.24.0))" in analysis.verdict.summary
    assert "forced by name, so this run says nothing about the selector" in analysis.verdict.summary
    assert analysis.runs[0].path == "forced"


def test_unpinned_edge(seeds: Place) -> None:
    analysis = analyze([seeds / "unpinned_edge.log"])
    assert analysis.verdict.cause == "kv-below-one-request"
    assert "12.02 GiB" in analysis.verdict.summary
    assert "11.76 GiB" in analysis.verdict.summary


def test_pass(seeds: Place) -> None:
    analysis = analyze([seeds / "pass_262k.log"], [seeds / "profiles.repaired.yaml"])
    assert (analysis.verdict.outcome, analysis.verdict.cause) == ("served", "none")
    assert [entry for entry in analysis.findings if entry.severity == "error"] == []


def test_document_b_raise(document_b: Place) -> None:
    analysis = analyze([document_b / "h100_fraction_0.70.log"])
    assert analysis.verdict.cause == "no-room-for-kv"
    assert "-5.40 GiB" in analysis.verdict.summary
    (fraction,) = advice(analysis, "mem_fraction_static")
    assert fraction.direction == "raise"
    assert fraction.low == pytest.approx(1 - 18 / 78, abs=1e-4)
    assert isinstance(fraction.value, float)
    assert fraction.value > 0.77


def test_document_b_at_085_is_silent(document_b: Place) -> None:
    analysis = analyze([document_b / "h100_fraction_0.85.log"])
    assert (analysis.verdict.outcome, analysis.verdict.cause, analysis.findings) == ("served", "none", [])


def test_document_b_neighbour_raises_the_minimum(document_b: Place) -> None:
    (fraction,) = advice(analyze([document_b / "h100_neighbour_0.70.log"]), "mem_fraction_static")
    assert fraction.low == pytest.approx(1 - 10 / 70, abs=1e-4)


def test_document_b_runtime_is_lower(document_b: Place) -> None:
    analysis = analyze([document_b / "runtime_oom.log"])
    assert analysis.verdict.cause == "runtime-activation-oom"
    assert [entry.direction for entry in advice(analysis, "mem_fraction_static")] == ["lower"]


def test_document_b_encoder_is_reserve(document_b: Place) -> None:
    analysis = analyze([document_b / "encoder_oom.log"])
    assert (analysis.verdict.outcome, analysis.verdict.cause) == ("degraded", "multimodal-encoder-oom")
    assert "left free for it" in analysis.verdict.summary
    assert not [entry for entry in analysis.verdict.advice if entry.direction == "raise" and entry.knob == "mem_fraction_static"]


@pytest.mark.parametrize(
    ("line", "release"),
    [
        pytest.param(dump("0.5.9"), "0.5.9 by its arguments", id="the names of a whole dump tell it"),
        pytest.param(
            "server_args=ServerArgs(model_path='/m', tp_size=1, mem_fraction_static=0.8)\n", "", id="few names leave too many open"
        ),
    ],
)
def test_the_reader_is_told_the_release_that_arguments_show(tmp_path: Path, line: str, release: str) -> None:
    (tmp_path / "a.log").write_text(line, encoding="utf-8")
    (run,) = analyze([tmp_path / "a.log"]).runs
    assert (run.engine, run.engine_version, run.release) == ("sglang", None, release)
