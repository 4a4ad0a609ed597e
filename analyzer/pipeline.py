"""The whole way on one page: open the inputs, read the facts, build the case, judge it, and put the result together."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from analyzer.analysis import Analysis, Tool, Verdict
from analyzer.cases.build import build_runs
from analyzer.cases.model import Run
from analyzer.cases.receipt_files import Reading, read_receipts
from analyzer.comparison_record import comparison_record
from analyzer.facts.extract import Extraction, extract_facts
from analyzer.grammar import load_grammars
from analyzer.inputs.document import Document
from analyzer.inputs.reader import read_documents
from analyzer.records import fact_records, finding, in_reading_order, input_record, ladder_records, run_record, unknown_lines
from analyzer.rulebook.case import Case
from analyzer.rulebook.judge import Judgement, judge
from analyzer.rulebook.outlook import outlook
from analyzer.rulebook.proposals import Proposal, propose, together
from analyzer.rulebook.rulebook import Rulebook, load_rulebook
from analyzer.rulebook.rungs import ladders_of, log_name
from analyzer.rulebook.verdict import ladder_verdict, lint_verdict, reach_verdict
from analyzer.settings.loading import examine_settings
from analyzer.settings.patch import FilePatch
from analyzer.what_if.answer import answer
from analyzer.what_if.question import Question

TOOL = "vram-postmortem"


@dataclass(frozen=True)
class Result:
    """The analysis, the case behind it, and the settings files as the patches would leave them."""

    analysis: Analysis
    case: Case
    judgement: Judgement
    file_patches: tuple[FilePatch, ...] = ()


@dataclass(frozen=True)
class Device:
    """What the user knows of the device, in bytes: its total memory, and the most that can be free of it while probing."""

    total: int | None = None
    most_free: int | None = None


def analyze(
    logs: Sequence[str | Path],
    settings: Sequence[str | Path] = (),
    *,
    profile: str | None = None,
    rules: Sequence[str | Path] = (),
    device: Device | None = None,
    question: Question | None = None,
) -> Analysis:
    """Analyse logs and receipts, alone or against settings; with settings only, check the settings.

    `profile` names the profile that the logs ran with, where they do not say it; `rules` are folders of further rules.
    Raises InputError for a log that cannot be read, ReceiptError for a receipt and SettingsError for settings that cannot be meant,
    RuleError for a broken rule, QuestionError for a question that cannot be answered.
    """
    return run_pipeline(logs, settings, profile=profile, rules=rules, device=device, question=question).analysis


def run_pipeline(
    logs: Sequence[str | Path],
    settings: Sequence[str | Path] = (),
    *,
    profile: str | None = None,
    rules: Sequence[str | Path] = (),
    device: Device | None = None,
    question: Question | None = None,
) -> Result:
    """As `analyze`, with everything that the command line needs besides."""
    grammars = load_grammars()
    rulebook = load_rulebook(grammars, [Path(folder) for folder in rules])
    loaded = examine_settings([Path(file) for file in settings]) if settings else None
    documents = read_documents([Path(log) for log in logs], grammars.prefixes, sys.stdin.buffer)
    readings = {document.name: reading for document in documents if (reading := read_receipts(document.text, document.name))}
    quoted = [
        Document(log_name(receipt), receipt.log.encode(), grammars.prefixes)
        for reading in readings.values()
        for receipt in reading.receipts
        if receipt.log
    ]
    logs_read = [document for document in documents if document.name not in readings] + quoted
    extractions = {document.name: extract_facts(document, grammars) for document in logs_read}
    runs = [
        _with_profile(run, profile)
        for name, extraction in extractions.items()
        for run in build_runs(name, extraction.facts, rulebook.failing_kinds)
    ]
    known = device or Device()
    case = Case(tuple(runs), loaded, problems=loaded.problems if loaded else (), total=known.total, most_free=known.most_free)
    case, judgement = _judged(rulebook, case, list(readings.values()))
    proposals = propose(rulebook, case, judgement)
    file_patches = tuple(together(loaded, proposals)) if loaded else ()
    analysis = _analysis(case, judgement, proposals, file_patches, documents, list(extractions.values()))
    what_if = answer(case, question) if question is not None else None
    return Result(analysis.model_copy(update={"what_if": what_if}), case, judgement, file_patches)


def _judged(rulebook: Rulebook, case: Case, readings: Sequence[Reading]) -> tuple[Case, Judgement]:
    """The case with its ladders, and the judgement on it: only the rules for runs tell how a run ended, and so which runs make a ladder."""
    of_runs = judge(rulebook.of_runs, case)
    ladders, left_out = ladders_of(readings, case.runs, of_runs.rulings)
    case = replace(case, ladders=tuple(ladders), left_out=tuple(left_out))
    of_settings = judge(rulebook.of_settings, case)
    return case, Judgement(of_runs.rulings + of_settings.rulings, of_runs.abstentions + of_settings.abstentions)


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
    return Analysis(
        tool=tool(),
        inputs=[input_record(document, case) for document in documents],
        verdict=_verdict(case, judgement, documents),
        runs=[run_record(run, judgement) for run in case.runs],
        findings=[finding(ruling, proposals) for ruling in in_reading_order(judgement.rulings)],
        patches=[proposal.patch for proposal in proposals],
        ladder=ladder_records(case),
        selection_map=outlook(case),
        comparison=comparison_record(case.runs),
        facts=[record for run in case.runs for record in fact_records(run)],
        unknown_lines=unknown_lines(extractions),
        file_diffs=[patch.diff for patch in file_patches],
        abstentions=list(judgement.abstentions),
        understood=not documents or bool(case.ladders) or any(run.engine is not None or run.events for run in case.runs),
    )


def _verdict(case: Case, judgement: Judgement, documents: Sequence[Document]) -> Verdict:
    if case.ladders and not case.runs:
        return ladder_verdict(case, judgement.rulings)
    return reach_verdict(case, judgement.rulings) if documents else lint_verdict(judgement.rulings)


def tool() -> Tool:
    """Name and version of this program."""
    try:
        return Tool(name=TOOL, version=version(TOOL))
    except PackageNotFoundError:
        return Tool(name=TOOL, version="0")
