"""The ladder that was measured on an RTX 5090: from receipts and profiles alone to the thresholds, the proof and the repaired file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from analyzer import Analysis, analyze
from analyzer.analysis import Finding, Patch
from analyzer.cases.ladder_thresholds import NEAREST
from analyzer.cli import app
from analyzer.pipeline import Device, Result, run_pipeline
from analyzer.settings import load_settings
from analyzer.what_if.question import Question

WITHOUT_BALLAST = 33_136_836_608


@pytest.fixture(scope="module")
def seeds(fixtures_dir: Path) -> Path:
    return fixtures_dir / "seeds"


@pytest.fixture(scope="module")
def result(seeds: Path) -> Result:
    return run_pipeline([seeds / "receipts"], [seeds / "profiles.as-found.yaml"])


@pytest.fixture(scope="module")
def found(result: Result) -> Analysis:
    return result.analysis


@pytest.fixture(scope="module")
def forced_only(seeds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of raw_1010k that were forced, and the most that was free with the ballast let go."""
    folder = tmp_path_factory.mktemp("receipts")
    for file in sorted((seeds / "receipts").iterdir())[:14]:
        receipt = json.loads(file.read_text(encoding="utf-8"))
        if receipt["profile"] == "raw_1010k":
            receipt["free_bytes_without_ballast"] = WITHOUT_BALLAST
        (folder / file.name).write_text(json.dumps(receipt, indent=1), encoding="utf-8")
    return folder


def findings(analysis: Analysis, rule: str) -> dict[str, Finding]:
    """By the name of the profile."""
    return {entry.title.partition(":")[0].split()[0]: entry for entry in analysis.findings if entry.rule == rule}


def patches(analysis: Analysis) -> dict[tuple[str, str], Patch]:
    return {(str(patch.path[-2]), str(patch.path[-1])): patch for patch in analysis.patches}


@pytest.mark.parametrize(
    ("profile", "threshold", "overhead", "recommended", "measured_pass"),
    [
        ("long_393k", (25_371_803_648, 25_571_033_088), (2_519_488_061, 2_718_717_501), 25_572_315_586, 25_571_033_088),
        ("long_262k", (23_461_298_176, 23_970_906_112), (2_208_982_589, 2_718_590_525), 23_972_315_586, 23_970_906_112),
    ],
)
def test_the_receipts_alone_bracket_threshold_and_overhead(
    found: Analysis, profile: str, threshold: tuple[int, int], overhead: tuple[int, int], recommended: int, measured_pass: int
):
    record = next(record for record in found.ladder if record.profile == profile)
    assert record.threshold == {"low": threshold[0], "high": threshold[1]}
    assert record.overhead == {"low": overhead[0], "high": overhead[1]}
    assert record.recommended == recommended
    assert 0 <= recommended - measured_pass <= NEAREST == 20_000_000


def test_the_overheads_agree_within_127_kb_and_the_report_says_what_that_leaves_open(found: Analysis):
    message = next(entry.message for entry in found.findings if entry.rule == "profile/constant-overhead")
    assert 2_718_717_501 - 2_718_590_525 < 127_000
    assert "126 976 bytes (0.005 %) apart" in message
    assert "2 718 717 501" in message
    assert "2 718 590 525" in message
    assert "the true overheads can still differ by up to" in message


@pytest.mark.parametrize(
    ("profile", "raw", "stricter"), [("long_262k", "24 461 546 516", "491 MB (2.0 %)"), ("long_393k", "26 094 199 578", "523 MB (2.0 %)")]
)
def test_the_discount_is_explained_in_both_units(found: Analysis, profile: str, raw: str, stricter: str):
    message = findings(found, "profile/threshold-below-measured")[profile].message
    assert f"so it asks for {raw} raw free bytes: {stricter} more than" in message
    assert any(raw in note for record in found.ladder if record.profile == profile for note in record.notes)


def test_the_evidence_is_the_receipts_next_to_the_threshold(found: Analysis, seeds: Path):
    evidence = findings(found, "profile/threshold-below-measured")["long_393k"].evidence
    assert [(Path(line.input).name, line.text) for line in evidence[1:3]] == [
        ("02_long_393k_25371803648_fail.json", '"free_bytes_at_selection": 25371803648,'),
        ("03_long_393k_25571033088_pass.json", '"free_bytes_at_selection": 25571033088,'),
    ]
    for line in evidence[1:]:
        assert Path(line.input).read_text(encoding="utf-8").splitlines()[line.line - 1].strip() == line.text


def test_the_constant_alone_does_not_change_the_widest_profile(forced_only: Path, seeds: Path):
    analysis = analyze([forced_only], [seeds / "profiles.as-found.yaml"])
    assert not [patch for patch in analysis.patches if "raw_1010k" in patch.path]
    record = next(record for record in analysis.ladder if record.profile == "raw_1010k")
    assert (record.threshold, record.recommended) == (None, None)
    assert any("33 522 315 586" in note and "not shown to be wrong" in note for note in record.notes)
    message = findings(analysis, "profile/runs-on-another-path")["raw_1010k"].message
    assert message.startswith("3 of the 3 runs of raw_1010k do not count")
    band = findings(analysis, "profile/untested-band")["raw_1010k"].message
    assert "from 32 833 306 200 raw free bytes on" in band
    assert "to 33 136 836 608 (304 MB)" in band
    assert "Assuming that a process that only holds ballast takes 498.00 MiB itself" in band
    assert "that is more than this band" in band


def test_the_most_free_memory_can_be_given_on_the_command_line(seeds: Path):
    analysis = analyze([seeds / "receipts"], [seeds / "profiles.as-found.yaml"], device=Device(most_free=WITHOUT_BALLAST))
    band = findings(analysis, "profile/untested-band")["raw_1010k"].message
    assert "from 32 833 306 200 raw free bytes on" in band
    assert "to 33 136 836 608 (304 MB)" in band
    assert "implies that it fails there too" in band


def test_without_it_the_band_ends_at_the_next_run(found: Analysis):
    band = findings(found, "profile/untested-band")["raw_1010k"].message
    assert "from 32 833 306 200 raw free bytes on" in band
    assert "to 33 568 063 487" in band


def test_a_saturated_budget_takes_both_changes(found: Analysis):
    message = findings(found, "profile/saturated-threshold")["raw_1010k"].message
    assert "budget is 32 481 371 750 bytes at the first and 32 481 371 750 at the second" in message
    assert (
        "the budgets are 32 896 702 218 and 33 505 044 070, and any threshold above the one and up to the other separates them" in message
    )
    assert "It takes both changes: with the utilization alone it selects it with 33 568 063 488 bytes free, where it fails" in message
    assert "with the threshold alone it rejects it with 34 188 820 480 bytes free" in message
    made = patches(found)
    assert made["raw_1010k", "gpu_memory_utilization"].new == 0.99
    threshold = made["raw_1010k", "requires_free_bytes"]
    assert 32_896_702_218 < threshold.new <= 33_505_044_070
    assert threshold.safety == "review"  # a point between the two runs, which nobody measured
    both = next(entry for entry in found.findings if entry.rule == "profile/saturated-threshold")
    assert {tuple(found.patches[index].path[-1:]) for index in both.patches} == {("gpu_memory_utilization",), ("requires_free_bytes",)}


def test_either_repair_alone_is_not_enough_and_both_together_are(seeds: Path):
    """The threshold of long_393k and the utilization of long_262k, proven on the log of the crash."""
    made = patches(analyze([seeds / "crash.log"], [seeds / "profiles.as-found.yaml"]))
    threshold = made["long_393k", "requires_free_bytes"].proof.after
    assert (
        "Alone it is not enough: with 25 232 932 864 bytes free the selector takes long_262k, which fails: at its start-up check"
        in threshold
    )
    assert (
        "utilization 0.92 (the engine's default, because the profile sets none) x 31.36 GiB = 28.85 GiB free, and 23.50 GiB are"
        in threshold
    )
    utilization = made["long_262k", "gpu_memory_utilization"].proof.after
    assert "Alone it is not enough: with 25 232 932 864 bytes free the selector takes long_393k, which fails" in utilization


def test_together_the_changes_are_proven_by_every_run_that_counts(found: Analysis):
    made = patches(found)
    assert len(made) == 5
    for patch in made.values():
        assert patch.proof.holds
        assert (
            "With all changes together, at each of the 13 measured amounts of free memory, the selector takes a profile"
            in patch.proof.after
        )
    assert "Alone it is not enough" in made["long_393k", "requires_free_bytes"].proof.after
    assert "Alone it is not enough" in made["long_262k", "gpu_memory_utilization"].proof.after
    assert made["long_393k", "requires_free_bytes"].safety == made["long_262k", "requires_free_bytes"].safety == "safe"


def test_a_repair_that_the_runs_refute_is_withheld(seeds: Path, tmp_path: Path):
    """No run that passed says where the threshold of long_262k belongs, and its utilization alone would hand it out where it fails."""
    for file in sorted((seeds / "receipts").glob("*long_262k*fail.json")):
        shutil.copy(file, tmp_path)
    analysis = analyze([tmp_path], [seeds / "profiles.as-found.yaml"])
    assert ("long_262k", "gpu_memory_utilization") not in patches(analysis)


@pytest.fixture
def applied(seeds: Path, tmp_path: Path) -> Path:
    profiles = tmp_path / "p.yaml"
    shutil.copy(seeds / "profiles.as-found.yaml", profiles)
    arguments = [str(seeds / "receipts"), "--config", str(profiles), "--apply", "--format", "json", "--output", str(tmp_path / "a.json")]
    assert CliRunner().invoke(app, arguments).exit_code == 1
    return profiles


def test_the_patched_profiles_equal_the_repaired_ones(applied: Path, seeds: Path):
    patched, repaired = load_settings([applied]), load_settings([seeds / "profiles.repaired.yaml"])
    assert {name: profile.arguments for name, profile in patched.profiles.items()} == {
        name: profile.arguments for name, profile in repaired.profiles.items()
    }
    assert patched.order == repaired.order


def test_comments_and_grouped_digits_survive(applied: Path, seeds: Path):
    before = (seeds / "profiles.as-found.yaml").read_text(encoding="utf-8").splitlines()
    after = applied.read_text(encoding="utf-8").splitlines()
    assert "    requires_free_bytes: 25_572_315_586" in after
    assert [line for line in before if "#" in line] == [line for line in after if "#" in line]
    kept = [line for line in before if "requires_free_bytes" not in line and "0.95" not in line]
    assert [line for line in after if line in kept] == kept
    assert len(after) == len(before) + 1


def test_the_second_analysis_is_clean(applied: Path, seeds: Path):
    analysis = analyze([seeds / "receipts"], [applied])
    assert [(entry.rule, entry.severity) for entry in analysis.findings if entry.severity != "note"] == []
    assert analysis.patches == []


def test_the_repaired_profiles_pass_the_check_without_a_log(seeds: Path):
    assert analyze([], [seeds / "profiles.repaired.yaml"]).findings == []


def test_a_comment_that_states_the_old_number_is_flagged(seeds: Path, tmp_path: Path):
    profiles = tmp_path / "p.yaml"
    text = (seeds / "profiles.as-found.yaml").read_text(encoding="utf-8")
    profiles.write_text(text.replace("24_053_735_802", "24_053_735_802  # 22.40 GiB"), encoding="utf-8")
    patch = patches(analyze([seeds / "receipts"], [profiles]))["long_393k", "requires_free_bytes"]
    assert "The comment in line 15 states the old value" in patch.proof.after


def test_unpinning_is_recognised_as_wrong(seeds: Path):
    asked = Question(("raw_1010k.kv_cache_memory_bytes=null",), 34_188_820_480)
    analysis = analyze(
        [seeds / "unpinned_edge.log"], [seeds / "profiles.as-found.yaml"], device=Device(total=34_190_917_632), question=asked
    )
    keep = findings(analysis, "profile/keep-the-pin")["raw_1010k"]
    assert "left 11.76 GiB for the KV cache, and one request of this window needs 12.02 GiB" in keep.message
    assert [(entry.knob, entry.direction) for entry in keep.advice] == [("kv_cache_memory_bytes", "none")]
    assert not [entry for found in analysis.findings for entry in found.advice if entry.direction == "remove"]
    assert not [patch for patch in analysis.patches if patch.op == "remove"]
    assert analysis.what_if is not None
    assert analysis.what_if.expected == "fails"
    assert any("raw_1010k loses its pin" in reason and "so removing it is wrong" in reason for reason in analysis.what_if.reasons)


def test_inputs_are_mixed_and_recognised(seeds: Path, found: Analysis, tmp_path: Path):
    earlier = tmp_path / "earlier.json"
    arguments = [str(seeds / "pass_262k.log"), "--format", "json", "--output", str(earlier)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    analysis = analyze([seeds / "receipts", seeds / "crash.log", earlier], [seeds / "profiles.as-found.yaml"])
    assert len(analysis.inputs) == 18
    assert [record.engine for record in analysis.inputs if not record.name.endswith(".json")] == ["vllm"]
    assert [run.input for run in analysis.runs] == [str(seeds / "crash.log")]
    counts = {record.profile: (len(record.fails_at), len(record.passes_at)) for record in analysis.ladder}
    assert counts == {"long_393k": (3, 4), "long_262k": (4, 2), "raw_1010k": (1, 1)}
    assert analysis.verdict.cause == "pinned-kv-arena"


def test_a_run_that_failed_for_another_reason_is_no_rung(seeds: Path, tmp_path: Path):
    log = tmp_path / "disk.log"
    head = "\n".join((seeds / "crash.log").read_text(encoding="utf-8").splitlines()[:10])
    log.write_text(f"{head}\nOSError: [Errno 28] No space left on device\n", encoding="utf-8")
    analysis = analyze([seeds / "receipts", log])
    record = next(record for record in analysis.ladder if record.profile == "long_393k")
    assert len(record.fails_at) == 2
    assert any("it did not fail for want of device memory" in entry.message for entry in analysis.findings)


def test_the_log_that_a_receipt_quotes_tells_why_it_failed(seeds: Path, tmp_path: Path):
    receipt = json.loads((seeds / "receipts" / "01_long_393k_25229197312_fail.json").read_text(encoding="utf-8"))
    (tmp_path / "oom.json").write_text(json.dumps(receipt | {"log": (seeds / "crash.log").read_text(encoding="utf-8")}), encoding="utf-8")
    other = receipt | {"free_bytes_at_selection": 25_900_000_000, "log": "OSError: [Errno 28] No space left on device"}
    (tmp_path / "disk.json").write_text(json.dumps(other), encoding="utf-8")
    analysis = analyze([tmp_path])
    assert [record.name for record in analysis.inputs] == [str(tmp_path / "disk.json"), str(tmp_path / "oom.json")]
    assert analysis.ladder[0].fails_at == [25_229_197_312]
    assert "pinned-kv-arena" in {entry.cause for entry in analysis.findings}
    left_out = next(entry.message for entry in analysis.findings if entry.rule == "profile/left-off-the-ladder")
    assert "disk.json: it did not fail for want of device memory (cause not-memory)" in left_out


@pytest.mark.parametrize(
    ("logs", "expected", "least", "most"),
    [
        (["crash.log"], "cannot tell", None, 443_534_396),
        (["receipts"], "starts", 228_966_912, 428_196_352),
        (["receipts", "crash.log"], "starts", 228_966_912, 428_196_352),
    ],
)
def test_what_if(seeds: Path, logs: list[str], expected: str, least: int | None, most: int):
    asked = Question(("long_393k.kv_cache_memory_bytes=4600000000", "long_393k.max_model_len=350000"), 25_200_000_000)
    analysis = analyze([seeds / log for log in logs], [seeds / "profiles.as-found.yaml"], question=asked)
    answer = analysis.what_if
    assert answer is not None
    assert (answer.profile, answer.budget, answer.expected) == ("long_393k", 24_696_000_000, expected)
    assert (answer.spare_at_least, answer.spare_at_most) == (least, most)


def test_an_arena_that_one_request_outgrows_fails_whatever_is_free(seeds: Path):
    """406 726 tokens are 5.2e9 bytes, so 4.6e9 bytes hold less than the window of 393 216 tokens."""
    asked = Question(("long_393k.kv_cache_memory_bytes=4600000000",), 25_200_000_000)
    answer = analyze([seeds / "crash.log"], [seeds / "profiles.as-found.yaml"], question=asked).what_if
    assert answer is not None
    assert answer.expected == "fails"
    assert any("393216 tokens need 4.68 GiB and 4.28 GiB are there" in check.why for check in answer.checks)


def test_what_if_is_a_section_of_its_own_and_no_part_of_the_json(seeds: Path):
    ask = ["--set", "long_393k.kv_cache_memory_bytes=4600000000", "--free", "25.2e9"]
    arguments = [str(seeds / "crash.log"), "--config", str(seeds / "profiles.as-found.yaml"), *ask, "--output", "-"]
    runner = CliRunner()
    for form in ("text", "markdown", "html"):
        written = runner.invoke(app, [*arguments, "--format", form]).stdout
        assert "What if long_393k" in written
        assert "one request of the full window" in written
    assert "what_if" not in json.loads(runner.invoke(app, [*arguments, "--format", "json"]).stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "nobody.kv_cache_memory_bytes=1"], "expected profile.argument=value, with a profile of raw_1010k"),
        (["--set", "long_393k.gpu_memory_utilization=95"], "95 percent is written 0.95"),
        (["--set", "long_393k.max_num_seqs=null"], "long_393k has no max_num_seqs to remove"),
        (["--free", "much"], "expected an amount such as 25229197312"),
    ],
)
def test_a_question_that_cannot_be_put(seeds: Path, arguments: list[str], message: str):
    given = [str(seeds / "crash.log"), "--config", str(seeds / "profiles.as-found.yaml"), *arguments, "--output", "-"]
    outcome = CliRunner().invoke(app, given)
    assert outcome.exit_code == 2
    assert message in " ".join(outcome.output.replace("│", " ").split())


def test_receipts_alone_need_no_settings(seeds: Path):
    outcome = CliRunner().invoke(app, [str(seeds / "receipts"), "--format", "text"])
    assert outcome.exit_code == 0
    assert "long_393k fails up to 25 371 803 648 and starts from 25 571 033 088" in " ".join(outcome.stdout.split())


def test_a_folder_of_nothing_that_is_understood_is_told_by_the_exit_code(tmp_path: Path):
    (tmp_path / "other.json").write_text('{"receipts": "none"}', encoding="utf-8")
    assert CliRunner().invoke(app, [str(tmp_path), "--format", "text"]).exit_code == 3


def test_a_receipt_that_cannot_be_meant_is_named(seeds: Path, tmp_path: Path):
    receipt = tmp_path / "r.json"
    receipt.write_text('{"receipt": 1, "profile": "a", "free_bytes_at_selection": "much", "outcome": "pass"}', encoding="utf-8")
    outcome = CliRunner().invoke(app, [str(receipt)])
    assert outcome.exit_code == 2
    assert "free_bytes_at_selection" in outcome.output


@pytest.fixture
def lint(tmp_path: Path) -> Callable[[str], tuple[int, str]]:
    """Exit code and output of the check of a settings file without a log, as a pre-commit hook runs it."""

    def check(text: str) -> tuple[int, str]:
        file = tmp_path / "p.yaml"
        file.write_text(text, encoding="utf-8")
        outcome = CliRunner().invoke(app, ["--config", str(file), "--format", "github"])
        return outcome.exit_code, outcome.stdout

    return check


def test_lint_names_the_line(lint: Callable[[str], tuple[int, str]]):
    code, told = lint("profiles:\n  a:\n    engine: vllm\n    gpu_memory_utilization: 95\n  b:\n    engine: vllm\n    max_model_len: 5\n")
    assert code == 1
    assert "line=4" in told
    assert "95 percent is written 0.95" in told
    assert "b has no gpu_memory_utilization" in told
    assert "a has no gpu_memory_utilization" not in told


def test_lint_points_at_the_line_of_the_argument(lint: Callable[[str], tuple[int, str]]):
    told = lint("profiles:\n  a:\n    engine: vllm\n    gpu_memory_utilization: 0.99\n    requires_free_bytes: 24000\n")[1]
    assert "::warning file=" in told
    assert "line=5,title=a: an amount too small" in told.replace("%3A", ":")


def test_lint_of_sound_settings_is_quiet(lint: Callable[[str], tuple[int, str]]):
    code, told = lint("profiles:\n  a:\n    engine: vllm\n    gpu_memory_utilization: 0.99\n    requires_free_bytes: 20_000_000_000\n")
    assert code == 0
    assert "::error" not in told
    assert "::warning" not in told


def test_lint_does_not_load_what_only_pictures_need(seeds: Path):
    program = "import sys; from analyzer.cli import app; app(sys.argv[1:], standalone_mode=False); print('matplotlib' in sys.modules)"
    arguments = ["--config", str(seeds / "profiles.repaired.yaml"), "--format", "text"]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
