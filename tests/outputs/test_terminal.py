"""The summary on a terminal."""

import io

import pytest
from rich.console import Console

from analyzer.analysis import Verdict
from analyzer.outputs import print_summary, render
from tests.outputs.sample import crash_analysis, hostile_analysis
from tests.outputs.snapshots import assert_snapshot


def test_the_summary_reads_well() -> None:
    assert_snapshot("crash.txt", render(crash_analysis(), "text"))


def test_no_line_is_wider_than_eighty_columns() -> None:
    assert max(map(len, render(crash_analysis(), "text").splitlines())) <= 80


def test_text_has_no_colour_whatever_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    assert_snapshot("crash.txt", render(crash_analysis(), "text"))


def printed(console: Console, written: io.StringIO) -> str:
    print_summary(crash_analysis(), console)
    return written.getvalue()


def test_a_terminal_gets_colour_and_a_pipe_does_not() -> None:
    terminal, pipe = io.StringIO(), io.StringIO()
    assert "\x1b[1;31mFAILED" in printed(Console(file=terminal, force_terminal=True, color_system="standard", width=80), terminal)
    assert "\x1b" not in printed(Console(file=pipe, width=80), pipe)


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    written = io.StringIO()
    assert "31m" not in printed(Console(file=written, force_terminal=True, color_system="standard", width=80), written)


def test_text_of_the_log_is_no_markup_no_emoji_and_no_escape_sequence() -> None:
    written = io.StringIO()
    print_summary(hostile_analysis(), Console(file=written, width=2000))
    shown = written.getvalue()
    assert "[bold red]markup[/] :boom:" in shown
    assert r"\x1b[31mred\x1b]0;title\x07 \u202egnp.exe" in shown
    assert not {"\x1b", "\x07", "\x00", "\x9b", "\u202e"} & set(shown)


def test_a_healthy_start_is_said_in_two_lines() -> None:
    verdict = Verdict(outcome="served", cause="none", phase="serve", confidence="certain", summary="It serves with 0.9 GiB to spare.")
    healthy = crash_analysis().model_copy(
        update={
            "verdict": verdict,
            "runs": [],
            "findings": [],
            "patches": [],
            "ladder": [],
            "unknown_lines": [],
            "abstentions": [],
            "not_logged": [],
        }
    )
    assert render(healthy, "text") == "SERVED  Nothing failed\nnone, certain\n\nIt serves with 0.9 GiB to spare.\n"


def test_many_ranks_are_cut_short_and_counted() -> None:
    analysis = crash_analysis()
    run = analysis.runs[0]
    ranks = [run.ranks[0].model_copy(update={"rank": f"TP{number}"}) for number in range(8)]
    shown = render(analysis.model_copy(update={"runs": [run.model_copy(update={"ranks": ranks})]}), "text")
    assert "Memory of rank TP2" in shown
    assert "Memory of rank TP3" not in shown
    assert "and 5 more ranks; the HTML report shows them" in shown
