"""The report: one self-contained page, which loads nothing and in which everything from the log is escaped."""

from __future__ import annotations

import base64
import hashlib
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from analyzer.analysis import ENGINE_NAMES, Finding, RankRecord, RunRecord
from analyzer.content import content_folder
from analyzer.outputs import wording
from analyzer.outputs.ladder_plot import ladder_svg
from analyzer.outputs.places import Place, evidence_of
from analyzer.outputs.printable import printable
from analyzer.outputs.redaction import RedactedAnalysis
from analyzer.outputs.runs_table import rows_to_show
from analyzer.outputs.waterfall import waterfall_svg
from analyzer.units import group_digits

PICTURES = 8  # more ranks than these are shown as tables only
FACTS = 2000  # more than these are in the JSON output only
UNKNOWN_LINES = 200


class RankView(NamedTuple):
    """A rank of a run with the picture of its ledger, if it has one."""

    run: RunRecord
    rank: RankRecord
    picture: Markup


def to_html(analysis: RedactedAnalysis) -> str:
    """The page. Raises jinja2.UndefinedError where a template names what does not exist."""
    folder = content_folder("reports")
    script = (folder / "report.js").read_text(encoding="utf-8")
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
    )
    environment.globals |= _WORDS
    environment.filters |= _FILTERS
    return environment.get_template("report.html.j2").render(
        analysis=analysis,
        anchors={line: f"evidence-{number}" for number, line in enumerate(evidence_of(analysis.findings), start=1)},
        facts_shown=FACTS,
        ladder_picture=_ladder_picture(analysis),
        rungs=rows_to_show(analysis),
        findings_by_role=_by_role(analysis.findings),
        ranks=_ranks(analysis),
        script=Markup(script),  # noqa: S704  a file of the package
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        style=Markup((folder / "report.css").read_text(encoding="utf-8")),  # noqa: S704  a file of the package
        unknown_lines_shown=UNKNOWN_LINES,
    )


def _visible(value: Any) -> Any:
    """What the page prints for a value: its control characters as escapes, so that no text reorders or hides another."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _by_role(findings: list[Finding]) -> list[tuple[str, list[Finding]]]:
    """Findings under the heading of their role, the cause first."""
    grouped = [(heading, [finding for finding in findings if finding.role == role]) for role, heading in wording.ROLES.items()]
    return [(heading, group) for heading, group in grouped if group]


def _ranks(analysis: RedactedAnalysis) -> list[RankView]:
    """The ranks with a ledger; those of runs that ended as the verdict says come first, and the first few get a picture."""
    runs = sorted(analysis.runs, key=lambda run: run.outcome != analysis.verdict.outcome)
    ranks = [(run, rank) for run in runs for rank in run.ranks if rank.ledger]
    return [RankView(run, rank, _picture(rank, number) if number < PICTURES else Markup()) for number, (run, rank) in enumerate(ranks)]


def _picture(rank: RankRecord, number: int) -> Markup:
    title = escape(printable(f"Memory of rank {rank.rank}, item by item; the table below holds the same figures"))
    return Markup(waterfall_svg(rank.ledger, title, f"picture-{number}-"))  # noqa: S704  drawn here; its only foreign text is escaped


def _ladder_picture(analysis: RedactedAnalysis) -> Markup:
    title = escape("Free memory against outcome for each profile, and which profile is selected; the tables hold the same figures")
    return Markup(ladder_svg(analysis.ladder, analysis.selection_map, title, "ladder-"))  # noqa: S704  as above


def _field(value: Any) -> str:
    """A field of a fact: the printed text of an amount, and everything else as Python shows it."""
    if isinstance(value, dict) and {"bytes", "text"} <= value.keys():
        return str(value["text"])
    return value if isinstance(value, str) else repr(value)


_WORDS: dict[str, Any] = {
    "CONFIDENCES": wording.CONFIDENCES,
    "ENGINES": ENGINE_NAMES,
    "OUTCOMES": wording.OUTCOMES,
    "PATHS": wording.PATHS,
    "PHASES": wording.PHASES,
    "SAFETIES": wording.SAFETIES,
    "Place": Place,
    "knob_value": wording.knob_value,
}
_FILTERS: dict[str, Any] = {
    "advice_headline": wording.advice_headline,
    "advice_interval": wording.advice_interval,
    "amount": wording.amount,
    "comparison_title": wording.comparison_title,
    "dotted": wording.dotted,
    "field": _field,
    "group_digits": group_digits,
    "interval": wording.interval,
    "item_words": wording.item_words,
    "ordered_ledger": wording.ordered_ledger,
    "patch_change": wording.patch_change,
    "sentence": wording.sentence,
    "checks_title": wording.checks_title,
    "outcome_words": wording.outcome_words,
    "verdict_headline": wording.verdict_headline,
    "what_if_title": wording.what_if_title,
}
