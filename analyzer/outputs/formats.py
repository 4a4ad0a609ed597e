"""The output formats by name, and the two ways in: every analysis is redacted here before anything prints it."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console

from analyzer.analysis import Analysis
from analyzer.outputs.diff import to_diff
from analyzer.outputs.github import to_github
from analyzer.outputs.html import to_html
from analyzer.outputs.json_output import to_json
from analyzer.outputs.junit import to_junit
from analyzer.outputs.markdown import to_markdown
from analyzer.outputs.redaction import RedactedAnalysis, redacted
from analyzer.outputs.sarif import to_sarif
from analyzer.outputs.terminal import print_redacted, to_text

FORMATS: dict[str, Callable[[RedactedAnalysis], str]] = {
    "diff": to_diff,
    "github": to_github,
    "html": to_html,
    "json": to_json,
    "junit": to_junit,
    "markdown": to_markdown,
    "sarif": to_sarif,
    "text": to_text,
}


def render(analysis: Analysis, format_name: str) -> str:
    """The analysis in one of `FORMATS`, credentials redacted. Raises ValueError for a name that is not among them."""
    if format_name not in FORMATS:
        raise ValueError(f"unknown format {format_name!r}; expected one of: {', '.join(FORMATS)}")
    return FORMATS[format_name](redacted(analysis))


def print_summary(analysis: Analysis, console: Console) -> None:
    """Write the summary for people to the console, credentials redacted."""
    print_redacted(redacted(analysis), console)
