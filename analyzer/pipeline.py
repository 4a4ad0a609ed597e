"""The whole way on one page: open the inputs, read the facts, build the case, judge it, and put the result together."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from analyzer.analysis import Analysis, FactRecord, Finding, InputRecord, RankRecord, RunRecord, SizeRecord, Tool, UnknownLine
from analyzer.cases.build import build_runs
from analyzer.cases.model import Item, Rank, Run
from analyzer.cases.ranks import has_workers, rank_name
from analyzer.facts.extract import Extraction, extract_facts
from analyzer.facts.fact import Fact
from analyzer.grammar import load_grammars
from analyzer.inputs.document import Document
from analyzer.inputs.lines import Line
from analyzer.inputs.reader import read_documents
from analyzer.rulebook.case import Case
from analyzer.rulebook.judge import Judgement, Ruling, judge
from analyzer.rulebook.proposals import Proposal, propose, together
from analyzer.rulebook.rulebook import load_rulebook
from analyzer.rulebook.verdict import lint_verdict, reach_verdict
from analyzer.settings.loading import load_settings
from analyzer.settings.patch import FilePatch
from analyzer.units import Size

TOOL = "vram-postmortem"
MOST_UNKNOWN_LINES = 200


@dataclass(frozen=True)
class Result:
    """The analysis, the case behind it, and the settings files as the patches would leave them."""

    analysis: Analysis
    case: Case
    judgement: Judgement
    file_patches: tuple[FilePatch, ...] = ()


def analyze(
    logs: Sequence[str | Path], settings: Sequence[str | Path] = (), *, profile: str | None = None, rules: Sequence[str | Path] = ()
) -> Analysis:
    """Analyse logs, alone or against settings; with settings only, check the settings.

    `profile` names the profile that the logs ran with, where they do not say it; `rules` are folders of further rules.
    Raises InputError for a log that cannot be read, SettingsError for settings that cannot be meant, RuleError for a broken rule.
    """
    return run_pipeline(logs, settings, profile=profile, rules=rules).analysis


def run_pipeline(
    logs: Sequence[str | Path], settings: Sequence[str | Path] = (), *, profile: str | None = None, rules: Sequence[str | Path] = ()
) -> Result:
    """As `analyze`, with everything that the command line needs besides."""
    grammars = load_grammars()
    rulebook = load_rulebook(grammars, [Path(folder) for folder in rules])
    loaded = load_settings([Path(file) for file in settings]) if settings else None
    documents = read_documents([Path(log) for log in logs], grammars.prefixes, sys.stdin.buffer)
    extractions = [extract_facts(document, grammars) for document in documents]
    runs = [
        run
        for document, extraction in zip(documents, extractions, strict=True)
        for run in build_runs(document.name, extraction.facts, rulebook.failing_kinds)
    ]
    case = Case(tuple(_with_profile(run, profile) for run in runs), loaded)
    judgement = judge(rulebook, case)
    proposals = propose(rulebook, case, judgement)
    file_patches = tuple(together(loaded, proposals)) if loaded else ()
    return Result(_analysis(case, judgement, proposals, file_patches, documents, extractions), case, judgement, file_patches)


def _with_profile(run: Run, profile: str | None) -> Run:
    return replace(run, choice=replace(run.choice, profile=profile)) if profile and run.choice.profile is None else run


def _analysis(
    case: Case,
    judgement: Judgement,
    proposals: Sequence[Proposal],
    file_patches: Sequence[FilePatch],
    documents: Sequence[Document],
    extractions: Sequence[Extraction],
) -> Analysis:
    verdict = reach_verdict(case, judgement.rulings) if documents else lint_verdict(judgement.rulings)
    facts = [(fact, run) for run in case.runs for fact in run.facts]
    return Analysis(
        tool=tool(),
        inputs=[_input_record(document, case) for document in documents],
        verdict=verdict,
        runs=[_run_record(run, judgement) for run in case.runs],
        findings=[_finding(ruling, proposals) for ruling in _in_reading_order(judgement.rulings)],
        patches=[proposal.patch for proposal in proposals],
        facts=[_fact_record(fact, run) for fact, run in facts],
        unknown_lines=_unknown_lines(extractions),
        file_diffs=[patch.diff for patch in file_patches],
        abstentions=list(judgement.abstentions),
        understood=not documents or any(run.engine is not None or run.events for run in case.runs),
    )


def tool() -> Tool:
    """Name and version of this program."""
    try:
        return Tool(name=TOOL, version=version(TOOL))
    except PackageNotFoundError:
        return Tool(name=TOOL, version="0")


def _input_record(document: Document, case: Case) -> InputRecord:
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


def _run_record(run: Run, judgement: Judgement) -> RunRecord:
    failed = any(ruling.subject.run is run and ruling.compiled.rule.role in ("root", "cascade") for ruling in judgement.rulings)
    verdict = reach_verdict(Case((run,)), [ruling for ruling in judgement.rulings if ruling.subject.run is run]) if failed else None
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
    )


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


def _finding(ruling: Ruling, proposals: Sequence[Proposal]) -> Finding:
    rule = ruling.compiled.rule
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        role=rule.role,
        confidence=ruling.confidence,
        title=ruling.title,
        message=ruling.message + (f" ({ruling.also} more of the same.)" if ruling.also else ""),
        evidence=list(ruling.evidence),
        patches=[index for index, proposal in enumerate(proposals) if proposal.ruling is ruling],
        cause=rule.cause,
        advice=list(ruling.advice),
        not_proven=rule.not_proven,
    )


def _in_reading_order(rulings: Sequence[Ruling]) -> list[Ruling]:
    roles = ("root", "contributing", "hygiene", "cascade")
    severities = ("error", "warning", "note")
    return sorted(
        rulings,
        key=lambda ruling: (roles.index(ruling.compiled.rule.role), severities.index(ruling.compiled.rule.severity), ruling.first_line),
    )


def _fact_record(fact: Fact, run: Run) -> FactRecord:
    return FactRecord(
        kind=fact.kind,
        input=fact.line.source,
        line=fact.line.number,
        run=run.id,
        rank=rank_name(fact, has_workers(run.facts)),
        fields={name: _plain(value) for name, value in fact.fields.items()},
    )


def _plain(value: Any) -> Any:
    """A field as JSON can hold it."""
    if isinstance(value, Size):
        return SizeRecord.of(value).model_dump()
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value


def _unknown_lines(extractions: Sequence[Extraction]) -> list[UnknownLine]:
    """One example of each shape; a shape is a line with its digits taken out."""
    shapes: dict[str, Line] = {}
    for extraction in extractions:
        for line in extraction.unknown:
            shapes.setdefault("".join("0" if character.isdigit() else character for character in line.text), line)
    return [UnknownLine(line=line.number, text=line.text) for line in list(shapes.values())[:MOST_UNKNOWN_LINES]]
