"""The case and its judgement as the records of the contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analyzer.analysis import FactRecord, Finding, InputRecord, LadderRecord, RankRecord, RungRecord, RunRecord, SizeRecord, UnknownLine
from analyzer.cases.ladder import Ladder, Rung, to_record
from analyzer.cases.ladder_probe import next_probe
from analyzer.cases.model import Item, Rank, Run
from analyzer.cases.ranks import has_workers, rank_name
from analyzer.engines.sglang_release import Releases
from analyzer.facts.extract import Extraction
from analyzer.facts.fact import Fact
from analyzer.figures.sglang_launch_of_run import releases_of_run
from analyzer.inputs.document import Document
from analyzer.inputs.lines import Line
from analyzer.knobs.table import knobs
from analyzer.rulebook.case import Case
from analyzer.rulebook.judge import Judgement, Ruling
from analyzer.rulebook.proposals import Proposal
from analyzer.rulebook.verdict import run_verdict
from analyzer.settings.model import SAFETY_FACTOR
from analyzer.settings.selection import least_free, raw_free_needed
from analyzer.units import Size, group_digits

MOST_UNKNOWN_LINES = 200


def input_record(document: Document, case: Case) -> InputRecord:
    """An input, a log or a file of receipts."""
    runs = [run for run in case.runs if run.source == document.name]
    return InputRecord(
        name=document.name,
        bytes=len(document.data),
        lines=document.line_count,
        sha256=document.sha256,
        engine=next((run.engine for run in runs if run.engine), None),
        engine_version=next((run.version_text for run in runs if run.version_text), None),
        wrappers=document.wrappers,
    )


def run_record(run: Run, judgement: Judgement) -> RunRecord:
    """A run, with the outcome that the rules found."""
    verdict = run_verdict(run, judgement.rulings)
    return RunRecord(
        id=run.id,
        input=run.source,
        engine=run.engine,
        engine_version=run.version_text,
        outcome=verdict.outcome if verdict else run.outcome,
        phase=run.phase,
        args=dict(run.args),
        profile=run.choice.profile,
        path=run.choice.path,
        ranks=[_rank_record(rank) for rank in run.ranks],
        knobs=knobs(run),
        release=_release(run),
    )


NARROW = 4
"""Of so few releases a reader profits; "0.1.26 or later" says nothing."""


def _release(run: Run) -> str:
    told = releases_of_run(run) if run.engine == "sglang" else None
    return f"{told} by its arguments" if isinstance(told, Releases) and len(told.sampled) <= NARROW else run.version_text or ""


def _rank_record(rank: Rank) -> RankRecord:
    return RankRecord(
        rank=rank.name,
        pid=rank.pid,
        device=rank.device,
        ledger={item: SizeRecord.of(entry.size) for item, entry in rank.ledger.items()},
        basis={item: _basis(entry) for item, entry in rank.ledger.items()},
    )


def _basis(item: Item) -> str:
    place = f", line {item.fact.line.number}" if item.fact is not None else ""
    return f"{item.basis}: {item.source}{place}"


def ladder_records(case: Case) -> list[LadderRecord]:
    """The ladders, with what they recommend and where the next run would tell most. Empty for a single run."""
    return [_ladder_record(case, ladder) for ladder in case.ladders] if case.compares_runs else []


def _ladder_record(case: Case, ladder: Ladder) -> LadderRecord:
    record, recommended = to_record(ladder), case.recommendations[ladder.profile]
    profile = case.settings.profiles.get(ladder.profile) if case.settings is not None else None
    requires = profile.requires_free_bytes if profile is not None else None
    factor = case.settings.selection.safety_factor if case.settings is not None else SAFETY_FACTOR
    lowest = None if requires is None or not ladder.counted else least_free(requires, factor)
    probe = next_probe(ladder, lowest=lowest, highest=case.instrument_reach)
    notes = [f"Threshold to recommend: {recommended.reason.rstrip('.')}."] if recommended.reason else []
    if recommended.threshold is not None and recommended.measured_pass is not None:
        raw = raw_free_needed(recommended.threshold, factor)
        notes.append(f"As the selector compares it with free x {factor}, it asks for {group_digits(raw)} raw free bytes.")
    notes.append(f"Next run: {'none' if probe.free is None else f'{group_digits(probe.free)} bytes free'}, {probe.reason}.")
    rungs = [_rung_record(rung) for rung in ladder.rungs]
    added = {"notes": [*record.notes, *notes], "recommended": recommended.threshold, "next_probe": probe.free, "rungs": rungs}
    return record.model_copy(update=added)


def _rung_record(rung: Rung) -> RungRecord:
    receipt, overhead = rung.receipt, rung.overhead
    return RungRecord(
        free=receipt.free.bytes,
        outcome=receipt.outcome,
        counts=rung.counts,
        path=receipt.path,
        overhead_low=overhead.low if overhead is not None else None,
        overhead_high=overhead.high if overhead is not None else None,
        aside=rung.aside or "",
        source=receipt.source,
    )


def finding(ruling: Ruling, proposals: Sequence[Proposal]) -> Finding:
    """A finding with the patches that answer it."""
    rule = ruling.compiled.rule
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        role=rule.role,
        confidence=ruling.confidence,
        title=ruling.title,
        message=ruling.message + (f" ({ruling.also} more of the same.)" if ruling.also else ""),
        evidence=list(ruling.evidence),
        patches=[index for index, proposal in enumerate(proposals) if ruling in proposal.rulings],
        cause=rule.cause,
        advice=list(ruling.advice),
        not_proven=rule.not_proven,
    )


def in_reading_order(rulings: Sequence[Ruling]) -> list[Ruling]:
    """Causes first, and errors before warnings."""
    roles = ("root", "contributing", "hygiene", "cascade")
    severities = ("error", "warning", "note")
    return sorted(
        rulings,
        key=lambda ruling: (roles.index(ruling.compiled.rule.role), severities.index(ruling.compiled.rule.severity), ruling.first_line),
    )


def fact_records(run: Run) -> list[FactRecord]:
    """The facts of a run, each with its rank."""
    workers = has_workers(run.facts)
    return [
        FactRecord(
            kind=fact.kind,
            input=fact.line.source,
            line=fact.line.number,
            run=run.id,
            rank=rank_name(fact, workers),
            fields={**_time(fact), **{name: _plain(value) for name, value in fact.fields.items()}},
        )
        for fact in run.facts
    ]


def _time(fact: Fact) -> dict[str, str]:
    """When the line was written, as its head says it: which clock that is, only the log's owner knows."""
    return {"time": fact.line.origin.time} if fact.line.origin.time else {}


def _plain(value: Any) -> Any:
    """A field as JSON can hold it."""
    if isinstance(value, Size):
        return SizeRecord.of(value).model_dump()
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value


def unknown_lines(extractions: Sequence[Extraction]) -> list[UnknownLine]:
    """One example of each shape; a shape is a line with its digits taken out."""
    shapes: dict[str, Line] = {}
    for extraction in extractions:
        for line in extraction.unknown:
            shapes.setdefault("".join("0" if character.isdigit() else character for character in line.text), line)
    return [UnknownLine(line=line.number, text=line.text) for line in list(shapes.values())[:MOST_UNKNOWN_LINES]]
