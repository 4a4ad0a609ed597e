"""Findings as workflow commands of GitHub Actions, which shows them beside the lines they speak of."""

from __future__ import annotations

from analyzer.analysis import Finding
from analyzer.outputs.places import place_of_finding
from analyzer.outputs.printable import printable
from analyzer.outputs.redaction import RedactedAnalysis
from analyzer.outputs.wording import CONFIDENCES, sentence, verdict_headline

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def to_github(analysis: RedactedAnalysis) -> str:
    """One command per finding, then the verdict as a notice."""
    verdict = analysis.verdict
    title = f"{sentence(verdict_headline(verdict))} ({verdict.cause}), {CONFIDENCES[verdict.confidence]}"
    notice = f"::notice title={_property(title)}::{_data(verdict.summary)}"
    return "\n".join([*(_command(finding, analysis) for finding in analysis.findings), notice]) + "\n"


def _command(finding: Finding, analysis: RedactedAnalysis) -> str:
    where = place_of_finding(finding, analysis)
    properties = [("title", f"{finding.title} ({finding.rule})")]
    if where:
        properties = [("file", where.name), ("line", str(where.line)), *properties]
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties)
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(finding.message)}"


# The runner's own escaping: https://github.com/actions/toolkit, packages/core/src/command.ts
def _data(text: str) -> str:
    return printable(text.replace("\r\n", "\n")).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
