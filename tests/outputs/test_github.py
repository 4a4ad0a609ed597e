"""Workflow commands of GitHub Actions."""

from analyzer.outputs import render
from tests.outputs.sample import crash_analysis, hostile_analysis
from tests.outputs.snapshots import assert_snapshot


def test_the_commands() -> None:
    assert_snapshot("crash.github.txt", render(crash_analysis(), "github"))


def test_a_log_can_neither_begin_a_command_nor_end_one() -> None:
    lines = render(hostile_analysis(), "github").splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::notice", "::notice"]
    message = crash_analysis("\n::error file=x::boom\r\n100%").findings[0].message
    assert message.count("\n") == 2
    assert len(render(crash_analysis("\n::error file=x::boom\r\n100%"), "github").splitlines()) == 4
