"""The newest releases of both engines: what they print about memory is read, or left out on purpose."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
import typer
from typer.testing import CliRunner

from analyzer.conformance.__main__ import main
from analyzer.conformance.check import Report, check, kinds_of
from analyzer.conformance.coverage import releases_table, wordings
from analyzer.conformance.ignored import load_ignored
from analyzer.conformance.sources import Package
from analyzer.conformance.stored import Messages, messages_of, recall, store
from analyzer.conformance.templates import Template
from analyzer.grammar import Grammars, load_grammars

RELEASES = {"vllm-0.33.0": (0.79, 0.97), "sglang-0.5.23": (0.81, 0.965)}
"""Stored list -> the least share that is read of what is not left out on purpose, and the least share that is read or left out."""
UNLIKE = Template("vllm/a.py", "info", "the memory of {name}")
KNOWN = Template("vllm/v1/worker/gpu_model_runner.py", "info", "Model loading took {usage:.2f} GiB memory and {seconds:.6f} seconds")


@pytest.fixture(scope="module")
def grammars() -> Grammars:
    return load_grammars()


@pytest.fixture(scope="module")
def reports(fixtures_dir: Path, grammars: Grammars) -> dict[str, Report]:
    ignored = load_ignored()
    return {name: check(recall(fixtures_dir / "conformance" / f"{name}.json").templates, grammars, ignored) for name in RELEASES}


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_is_read_as_far_as_is_claimed(release: str, reports: dict[str, Report]):
    read, accounted = RELEASES[release]
    assert reports[release].read_share >= read
    assert reports[release].accounted >= accounted


def test_every_reason_is_needed(reports: dict[str, Report]):
    given = {reason for report in reports.values() for reason in report.ignored}
    assert {group.reason for group in load_ignored()} == given


def test_each_list_is_one_of_those_that_are_checked(fixtures_dir: Path):
    assert {file.stem for file in (fixtures_dir / "conformance").glob("*.json")} == RELEASES.keys()


def test_a_message_is_read_by_its_engines_grammar_or_not_at_all(grammars: Grammars):
    assert kinds_of(KNOWN, grammars) == {"weights_memory"}
    assert kinds_of(UNLIKE, grammars) == set()
    assert kinds_of(Template("vllm/a.py", "exception ValueError", "no memory"), grammars) == set()


def test_a_report_counts_everything_once(grammars: Grammars):
    left_out = Template("vllm/a.py", "debug", "debug memory {x}")
    report = check([left_out, KNOWN, UNLIKE], grammars, load_ignored())
    assert (report.recognised, report.unread, [*report.ignored.values()]) == ([KNOWN], [UNLIKE], [[left_out]])
    assert (report.count, report.read_share, report.accounted) == (3, 1 / 2, 2 / 3)
    empty = check([], grammars, [])
    assert (empty.count, empty.read_share, empty.accounted) == (0, 1.0, 1.0)


def test_a_stored_list_is_recalled_as_it_was(tmp_path: Path):
    messages = Messages("vllm", "1.0", sorted([KNOWN, UNLIKE, Template("vllm/a.py", "debug", 'ёлка "memory" {x!r}')]))
    assert recall(store(messages, tmp_path)) == messages
    assert (tmp_path / "vllm-1.0.json").exists()


def test_a_file_that_is_not_python_is_left_out_and_told(capsys: pytest.CaptureFixture[str]):
    package = Package(
        "vllm", "1.0", [(PurePosixPath("vllm/a.py"), "print('no memory')"), (PurePosixPath("vllm/b.py"), "print 'no memory'")]
    )
    assert [template.file for template in messages_of(package).templates] == ["vllm/a.py"]
    assert capsys.readouterr().err.startswith("vllm/b.py: left out: ")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "vllm"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        'logger.info("Model loading took %.2f GiB", x)\nlogger.debug("memory")\nlogger.info("memory of %s", x)\n'
    )
    return folder


def run(*arguments: str) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(main)
    done = CliRunner().invoke(app, arguments)
    return done.exit_code, done.output


def test_the_command_tells_shares_and_what_is_unread(package: Path):
    code, output = run(str(package))
    assert code == 0
    assert "vllm ?: 3 messages speak of memory" in output
    assert "Of those not left out, 50.0% are read." in output
    assert "unread\n  vllm/__init__.py\n    info: 'memory of {x}'" in output
    assert "left out: debug output" not in output


def test_the_command_lists_what_is_left_out_and_stores_the_list(package: Path, tmp_path: Path):
    code, output = run(str(package), "--ignored", "--store", str(tmp_path))
    assert code == 0
    assert "left out: debug output, which is off by default\n  vllm/__init__.py\n    debug: 'memory'" in output
    assert run(str(tmp_path / "vllm-?.json"))[1] in output


def test_the_command_refuses_what_is_no_package(tmp_path: Path):
    code, output = run(str(tmp_path))
    assert code == 2
    assert output.startswith(f"conformance: {tmp_path}: no __init__.py")


def test_a_wording_counts_in_the_releases_that_print_it(grammars: Grammars):
    entries: list[dict[str, object]] = [
        {"since": "0.9.0", "until": "0.10.0", "examples": ["Available KV cache memory: 11.76 GiB"]},
        {"since": "0.10.0", "until": None, "examples": ["nothing of the kind"]},
        {"since": "omni-0.1.1", "until": "omni-0.1.9", "examples": ["Available KV cache memory: 11.76 GiB"]},
        {"since": None, "until": None, "examples": ["of no engine"]},
    ]
    assert list(releases_table(wordings("vllm", entries, grammars)))[2:] == [
        "| vllm | 0.9.0 | 1 | 100.0 % |",
        "| vllm | 0.10.0 | 2 | 50.0 % |",
        "| vllm-omni | 0.1.1 | 1 | 100.0 % |",
        "| vllm-omni | 0.1.9 | 1 | 100.0 % |",
    ]
