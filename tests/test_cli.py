"""The command line as people use it: files written, exit codes, and patches that git takes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from analyzer.cli import Exit, app


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.chdir(tmp_path)
    return Runner()


class Runner:
    """Calls the program in an empty folder."""

    def __call__(self, *arguments: str | Path, text: str = "") -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=text)


@pytest.fixture
def seeds(fixtures_dir: Path) -> Path:
    return fixtures_dir / "seeds"


def test_without_a_format_a_summary_and_a_report(run: Runner, seeds: Path, tmp_path: Path) -> None:
    done = run(seeds / "crash.log")
    assert done.exit_code == Exit.FINDINGS
    assert done.stdout.startswith("FAILED")
    assert done.stdout.endswith("report: crash.log.report.html\n")
    assert (tmp_path / "crash.log.report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_standard_output_carries_the_output_and_nothing_else(run: Runner, seeds: Path, tmp_path: Path) -> None:
    done = run(seeds / "crash.log", "--format", "json", "--output", "-")
    assert json.loads(done.stdout)["verdict"]["cause"] == "pinned-kv-arena"
    assert list(tmp_path.iterdir()) == []


def test_a_healthy_log_exits_with_zero(run: Runner, seeds: Path) -> None:
    assert run(seeds / "pass_262k.log", "--format", "text").exit_code == Exit.FINE


@pytest.mark.parametrize("text", ["", "hello world\n", "\x00\xff\x00binary\n"], ids=["empty", "prose", "binary"])
def test_a_log_that_is_not_understood_never_exits_with_zero(run: Runner, text: str) -> None:
    assert run("-", "--format", "text", text=text).exit_code == Exit.NOT_UNDERSTOOD


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.log"], "missing.log: No such file"),
        (["."], "no logs in this folder"),
        (["-", "--config", "broken.yaml"], "broken.yaml:"),
        (["-", "--format", "nonsense"], "nonsense"),
        (["-", "--require", "verdict.cuase == 'none'"], "unknown name verdict.cuase"),
        (["--explain", "no/such-rule"], "no rule 'no/such-rule'"),
        ([], "give a log"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line(run: Runner, tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "broken.yaml").write_text("profiles: [1, 2", encoding="utf-8")
    done = run(*arguments, text="Not enough memory. Please try to increase --mem-fraction-static.\n")
    assert done.exit_code == Exit.UNUSABLE
    assert said in done.stderr
    assert "Traceback" not in done.output


def test_fail_on_and_require(run: Runner, seeds: Path) -> None:
    healthy = seeds / "pass_262k.log"
    assert run(seeds / "crash.log", "--fail-on", "never", "--format", "text").exit_code == Exit.FINE
    assert run(healthy, "--require", "verdict.outcome == 'served'", "--format", "text").exit_code == Exit.FINE
    failed = run(healthy, "--require", "verdict.outcome == 'failed'", "--format", "text")
    assert failed.exit_code == Exit.FINDINGS
    assert "required, but not so: verdict.outcome == 'failed'" in failed.stderr


@pytest.mark.parametrize("source", ["crash.log", "receipts"])
def test_git_takes_the_diff_and_it_is_what_apply_writes(run: Runner, seeds: Path, tmp_path: Path, source: str) -> None:
    profiles = tmp_path / "profiles.yaml"
    shutil.copy(seeds / "profiles.as-found.yaml", profiles)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    diff = run(seeds / source, "--config", "profiles.yaml", "--diff").stdout
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=diff.encode(), check=True)
    by_git = profiles.read_bytes()
    shutil.copy(seeds / "profiles.as-found.yaml", profiles)
    run(seeds / source, "--config", "profiles.yaml", "--apply", "--format", "text")
    assert profiles.read_bytes() == by_git
    assert by_git != (seeds / "profiles.as-found.yaml").read_bytes()


def test_the_documentation_of_a_rule(run: Runner) -> None:
    page = run("--explain", "vllm/pinned-arena-bypass").stdout
    assert page.startswith("# vllm/pinned-arena-bypass")
    assert "What a match does not prove:" in page
    assert "vllm/pinned-arena-bypass" in run("--list-rules").stdout
