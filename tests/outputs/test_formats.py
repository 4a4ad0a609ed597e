"""What holds for every format."""

import os
import subprocess
import sys

import pytest

from analyzer.analysis import Analysis, Tool, Verdict
from analyzer.outputs import FORMATS, render
from tests.conftest import ROOT
from tests.outputs.sample import crash_analysis, hostile_analysis

SECRET = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh"
EMPTY = Analysis(
    tool=Tool(name="vram-postmortem", version="0.1.0"),
    inputs=[],
    verdict=Verdict(outcome="unknown", cause="unknown", phase=None, confidence="possible", summary=""),
    understood=False,
)


@pytest.mark.parametrize("name", FORMATS)
def test_no_credential_reaches_an_output(name: str) -> None:
    shown = render(crash_analysis(f" {SECRET}"), name)
    assert SECRET not in shown
    if name != "github" or "[redacted" in shown:
        assert "[redacted:huggingface-token]" in shown


@pytest.mark.parametrize("name", FORMATS)
def test_an_analysis_without_any_part_can_be_printed(name: str) -> None:
    shown = render(EMPTY, name)
    assert shown == "" or shown.endswith("\n")


@pytest.mark.parametrize("name", FORMATS)
def test_a_hostile_log_can_be_printed_and_written(name: str) -> None:
    shown = render(hostile_analysis(), name).encode("utf-8").decode("utf-8")
    if name not in {"json", "sarif", "diff"}:  # data for programs: JSON escapes controls itself, and a diff must match its file
        assert not {"\x1b", "\x07", "\x00", "\x9b", "\u202e"} & set(shown)


def test_an_unknown_format_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="unknown format 'pdf'; expected one of: diff, github, html"):
        render(EMPTY, "pdf")


@pytest.mark.slow
def test_equal_inputs_give_equal_bytes_in_another_process_and_place() -> None:
    program = (
        "import sys; from analyzer.outputs import FORMATS, render; from tests.outputs.sample import crash_analysis; "
        "sys.stdout.reconfigure(encoding='utf-8', newline=''); [sys.stdout.write(render(crash_analysis(), name)) for name in FORMATS]"
    )
    environments = [
        {"PYTHONHASHSEED": "1", "TZ": "UTC", "COLUMNS": "40", "NO_COLOR": "1"},
        {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C", "FORCE_COLOR": "1", "SOURCE_DATE_EPOCH": "1"},
    ]
    first, second = (
        subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=os.environ | extra, capture_output=True, check=True).stdout
        for extra in environments
    )
    assert first == second
    assert len(first) > 10_000
