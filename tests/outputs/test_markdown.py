"""The Markdown ticket."""

from markdown_it import MarkdownIt

from analyzer.outputs import render
from analyzer.outputs.markdown import fenced
from tests.outputs.sample import crash_analysis, hostile_analysis
from tests.outputs.snapshots import assert_snapshot


def test_the_ticket_reads_well() -> None:
    assert_snapshot("crash.md", render(crash_analysis(), "markdown"))


def test_nothing_of_a_hostile_log_becomes_markup() -> None:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

    def kinds(text: str) -> list[str]:
        return [inner.type for token in parser.parse(text) for inner in [token, *(token.children or [])] if inner.type != "text_special"]

    hostile, tame = (kinds(render(analysis, "markdown")) for analysis in (hostile_analysis(), crash_analysis()))
    assert hostile.count("html_inline") == tame.count("html_inline") == 2  # the <sub> around the version
    assert [kind for kind in hostile if kind != "text"] == [kind for kind in tame if kind != "text"]


def test_a_fence_is_longer_than_any_in_the_text() -> None:
    assert fenced("a\n`````\nb\n") == "``````\na\n`````\nb\n``````"
