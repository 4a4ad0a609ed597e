"""The summary on a terminal: verdict, what to do, where the memory went, findings, patches, and what stayed open."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analyzer.analysis import ENGINE_NAMES, Abstention, Advice, Finding, Patch, RankRecord, RunRecord, Verdict, WhatIf
from analyzer.outputs.places import Place, place_of_finding
from analyzer.outputs.printable import one_line, printable
from analyzer.outputs.redaction import RedactedAnalysis
from analyzer.outputs.wording import (
    CONFIDENCES,
    PHASES,
    SAFETIES,
    advice_headline,
    advice_interval,
    amount,
    checks_title,
    comparison_lines,
    comparison_title,
    dotted,
    item_words,
    knob_line,
    ladder_summary,
    ordered_ledger,
    outcome_words,
    patch_change,
    sentence,
    verdict_headline,
    what_if_title,
)

WIDTH = 80
_LISTED = 3  # of a list that only has to be known to exist

_OUTCOME_STYLES = {"failed": "bold red", "degraded": "bold yellow", "served": "bold green", "unknown": "bold"}
_CHECK_STYLES = {"passes": "green", "fails": "bold red", "cannot tell": ""}
_SEVERITY_STYLES = {"error": "red", "warning": "yellow", "note": "cyan"}


def to_text(analysis: RedactedAnalysis) -> str:
    """The summary without colour, 80 columns wide, whatever the terminal and its environment."""
    written = io.StringIO()
    console = Console(
        file=written, width=WIDTH, color_system=None, force_terminal=False, force_interactive=False, legacy_windows=False, _environ={}
    )
    print_redacted(analysis, console)
    return "".join(f"{line.rstrip()}\n" for line in written.getvalue().splitlines())


def print_redacted(analysis: RedactedAnalysis, console: Console) -> None:
    """Write the summary to the console. Text from the log is never read as markup, and its control characters are shown as escapes."""
    for block in _blocks(analysis):
        console.print(block, markup=False, highlight=False, emoji=False)


def _blocks(analysis: RedactedAnalysis) -> Iterator[RenderableType]:
    yield from _verdict(analysis.verdict, analysis.runs)
    if analysis.what_if is not None:
        yield from _section(what_if_title(analysis.what_if), _what_if(analysis.what_if))
    yield from _section("What to do", map(_advice, analysis.verdict.advice))
    ranks = [(run, rank) for run in analysis.runs for rank in run.ranks if rank.ledger]
    for run, rank in ranks[:_LISTED]:
        yield from _section(_rank_title(run, rank), [_ledger(rank)])
    if len(ranks) > _LISTED:
        yield _indented(_text(f"and {_count(len(ranks) - _LISTED, 'more rank')}; the HTML report shows them"))
    if analysis.comparison is not None:
        yield from _section(comparison_title(analysis.comparison), map(_text, comparison_lines(analysis.comparison)))
    yield from _section("Values that can work", map(_text, _knob_lines(analysis)))
    yield from _section("Where each profile starts to work", [_text(ladder_summary(record)) for record in analysis.ladder])
    yield from _section("Findings", [_finding(finding, analysis) for finding in analysis.findings])
    yield from _section("Proposed changes", map(_patch, analysis.patches))
    yield from _section("Left open", list(_open(analysis)))


def _what_if(asked: WhatIf) -> Iterator[RenderableType]:
    yield from map(_text, asked.reasons)
    if asked.checks:
        yield _text(checks_title(asked))
        table = Table.grid(padding=(0, 2, 0, 0))
        for check in asked.checks:
            table.add_row(_text(check.name), _text(check.outcome, _CHECK_STYLES[check.outcome]), _text(check.why))
        yield table


def _knob_lines(analysis: RedactedAnalysis) -> list[str]:
    """The settings of the run that the verdict speaks of, the last one of its outcome, of which an interval is known."""
    runs = [run for run in analysis.runs if run.outcome == analysis.verdict.outcome] or analysis.runs
    return [knob_line(row) for row in (runs[-1].knobs if runs else []) if row.works][:_LISTED]


def _section(title: str, blocks: Iterable[RenderableType]) -> Iterator[RenderableType]:
    filled = list(blocks)
    if filled:
        yield ""
        yield _text(title, "bold")
        yield from map(_indented, filled)


def _indented(block: RenderableType) -> RenderableType:
    return Padding(block, (0, 0, 0, 2), expand=False)


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style)


def _verdict(verdict: Verdict, runs: list[RunRecord]) -> Iterator[RenderableType]:
    yield Text.assemble(
        (outcome_words(verdict).upper(), _OUTCOME_STYLES[verdict.outcome]),
        "  ",
        (sentence(printable(verdict_headline(verdict))), "bold"),
        f"\n{verdict.cause}, {CONFIDENCES[verdict.confidence]}" if verdict.subject == "run" else "",
        f", while {PHASES[verdict.phase]}" if verdict.phase and verdict.outcome == "failed" else "",
        "".join(f", {engine}" for engine in _engines(runs)),
    )
    if verdict.summary:
        yield ""
        yield _text(verdict.summary)


def _engines(runs: list[RunRecord]) -> list[str]:
    """The engines with their releases; one whose release some run shows is not named without it."""
    shown = {run.engine for run in runs if run.release}
    named = [
        " ".join(filter(None, (ENGINE_NAMES[run.engine], printable(run.release))))
        for run in runs
        if run.engine and (run.release or run.engine not in shown)
    ]
    return list(dict.fromkeys(named))


def _advice(advice: Advice) -> RenderableType:
    details = [advice_interval(advice), sentence(advice.why)]
    headline = _text(f"- {sentence(advice_headline(advice))}", "" if advice.direction == "none" else "bold")
    return Group(headline, *(_indented(_text(detail)) for detail in details if detail))


def _rank_title(run: RunRecord, rank: RankRecord) -> str:
    device = f" on {rank.device}" if rank.device else ""
    return f"Memory of rank {rank.rank}{device}, {run.input}"


def _ledger(rank: RankRecord) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim")
    for item, words, size in ordered_ledger(rank.ledger):
        table.add_row(_text(words), _text(amount(size)), _text(rank.basis.get(item, "")))
    return table


def _finding(finding: Finding, analysis: RedactedAnalysis) -> RenderableType:
    where = place_of_finding(finding, analysis)
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=7)
    table.add_column()
    table.add_row(Text(finding.severity, _SEVERITY_STYLES[finding.severity]), Text(sentence(one_line(finding.title))))
    table.add_row("", Text(one_line(f"{finding.rule}  {where or ''}"), "dim"))
    return table


def _patch(patch: Patch) -> RenderableType:
    where = Text(one_line(f"{Place(patch.file, patch.line)}  {dotted(patch.path)}"))
    return Group(where, _indented(Text(one_line(patch_change(patch)), "bold")), _indented(Text(SAFETIES[patch.safety], "dim")))


def _open(analysis: RedactedAnalysis) -> Iterator[Text]:
    if analysis.not_logged:
        yield _text(f"not logged: {_some(map(item_words, analysis.not_logged))}")
    if analysis.abstentions:
        yield _text(f"{_count(len(analysis.abstentions), 'rule')} could not be judged: {_some(map(_abstention, analysis.abstentions))}")
    if analysis.unknown_lines:
        yield _text(f"{_count(len(analysis.unknown_lines), 'line')} about memory not understood; the HTML report lists them")


def _abstention(abstention: Abstention) -> str:
    return f"{abstention.rule} (lacks {', '.join(abstention.missing)})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    more = len(listed) - _LISTED
    return ", ".join(listed[:_LISTED]) + (f" and {more} more" if more > 0 else "")
