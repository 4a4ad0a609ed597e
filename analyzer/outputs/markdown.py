"""The result as a Markdown ticket, to be pasted into an issue tracker."""

from __future__ import annotations

import re

from analyzer.analysis import Finding, RankRecord, RunRecord
from analyzer.outputs.diff import to_diff
from analyzer.outputs.places import Place, evidence_of
from analyzer.outputs.printable import one_line, printable
from analyzer.outputs.redaction import RedactedAnalysis
from analyzer.outputs.wording import (
    CONFIDENCES,
    ROLES,
    advice_headline,
    advice_interval,
    amount,
    checks_title,
    comparison_lines,
    comparison_title,
    interval,
    knob_value,
    ladder_summary,
    ordered_ledger,
    outcome_words,
    sentence,
    verdict_headline,
    what_if_title,
)

# Whatever could open markup in running text. An underscore inside a word cannot, and names are full of them.
_MARKUP = re.compile(r"([\\`*\[\]<>|~&#!$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")


def to_markdown(analysis: RedactedAnalysis) -> str:
    """Verdict, advice, ledgers, findings, evidence, diff, and what could not be judged."""
    sections = [
        *_verdict(analysis),
        *_what_if(analysis),
        *_advice(analysis),
        *(_ledger(run, rank) for run in analysis.runs for rank in run.ranks if rank.ledger),
        *_comparison(analysis),
        *_knobs(analysis.runs),
        *_findings(analysis.findings),
        *_evidence(analysis.findings),
        *_patches(analysis),
        *_ladder(analysis),
        *_abstentions(analysis),
        f"<sub>{_text(analysis.tool.name)} {_text(analysis.tool.version)}</sub>",
    ]
    return "\n\n".join(sections) + "\n"


def fenced(text: str, language: str = "") -> str:
    """The text in a code fence longer than any run of backticks in it."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{printable(text).rstrip(chr(10))}\n{fence}"


def _text(text: str) -> str:
    """Running text that shows as it is: on one line, with no markup of its own."""
    return _MARKUP.sub(r"\\\1", " ".join(printable(text).split()))


def _cell(text: str) -> str:
    return _text(text) or "-"


def _verdict(analysis: RedactedAnalysis) -> list[str]:
    verdict = analysis.verdict
    head = f"## {sentence(outcome_words(verdict))}: {_text(verdict_headline(verdict))}"
    return [head, f"{_text(verdict.summary)}", f"Cause `{verdict.cause}`, {CONFIDENCES[verdict.confidence]}."]


def _what_if(analysis: RedactedAnalysis) -> list[str]:
    asked = analysis.what_if
    if asked is None:
        return []
    rows = [f"| {_cell(check.name)} | {check.outcome} | {_cell(check.why)} |" for check in asked.checks]
    checks = [_text(checks_title(asked)), "\n".join(["| check | outcome | why |", "|---|---|---|", *rows])] if rows else []
    reasons = ["\n".join(f"- {_text(reason)}" for reason in asked.reasons)] if asked.reasons else []
    return [f"### {_text(what_if_title(asked))}", *reasons, *checks]


def _advice(analysis: RedactedAnalysis) -> list[str]:
    if not analysis.verdict.advice:
        return []
    items = []
    for number, advice in enumerate(analysis.verdict.advice, start=1):
        bounds = advice_interval(advice)
        items.append(
            f"{number}. **{_text(sentence(advice_headline(advice)))}**{f' ({_text(bounds)})' if bounds else ''}: {_text(advice.why)}"
        )
    return ["### What to do", "\n".join(items)]


def _ledger(run: RunRecord, rank: RankRecord) -> str:
    rows = [
        f"| {_cell(words)} | {_cell(amount(size))} | {interval(size)} | {_cell(rank.basis.get(item, ''))} |"
        for item, words, size in ordered_ledger(rank.ledger)
    ]
    head = f"### Memory of rank {_text(rank.rank)}, {_text(run.input)}"
    return "\n".join([head, "", "| item | size | interval | how it is known |", "|---|---:|---|---|", *rows])


def _comparison(analysis: RedactedAnalysis) -> list[str]:
    found = analysis.comparison
    if found is None:
        return []
    return [f"### {_text(comparison_title(found))}", "\n".join(f"- {_text(line)}" for line in comparison_lines(found))]


def _knobs(runs: list[RunRecord]) -> list[str]:
    rows = [
        f"| {_cell(row.knob)} | {_cell('not logged' if row.value is None else knob_value(row.knob, row.value))} | {_cell(row.source)} | "
        f"{_cell(row.works)} | {_cell(row.effect)} |"
        for run in runs
        for row in run.knobs
    ]
    head = ["### Settings that bear on memory", "", "| setting | in effect | where from | values that can work | what a change does |"]
    return ["\n".join([*head, "|---|---:|---|---|---|", *rows])] if rows else []


def _findings(findings: list[Finding]) -> list[str]:
    lines = [
        f"- **{finding.severity}** `{one_line(finding.rule)}`, {ROLES[finding.role].lower()}: "
        + _text(f"{finding.title}. {finding.message}")
        for finding in findings
    ]
    return ["### Findings", "\n".join(lines)] if lines else []


def _evidence(findings: list[Finding]) -> list[str]:
    lines = [f"{Place(line.input, line.line)}: {line.text}" for line in evidence_of(findings)]
    return ["### Evidence", fenced("\n".join(lines), "text")] if lines else []


def _patches(analysis: RedactedAnalysis) -> list[str]:
    diff = to_diff(analysis)
    return ["### Proposed change", fenced(diff, "diff")] if diff else []


def _ladder(analysis: RedactedAnalysis) -> list[str]:
    lines = [f"- {_text(ladder_summary(record))}" for record in analysis.ladder]
    return ["### Where each profile starts to work", "\n".join(lines)] if lines else []


def _abstentions(analysis: RedactedAnalysis) -> list[str]:
    lines = [f"- `{one_line(rule.rule)}`: not logged: {_text(', '.join(rule.missing))}" for rule in analysis.abstentions]
    return ["### What could not be judged", "\n".join(lines)] if lines else []
