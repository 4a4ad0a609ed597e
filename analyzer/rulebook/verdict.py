"""Rulings -> the verdict: one root cause in one sentence, the outcome, and the advice that follows."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.analysis import ENGINE_NAMES, Advice, Outcome, Phase, Role, Verdict
from analyzer.cases.ladder import Ladder
from analyzer.cases.model import Run
from analyzer.engines.phases import PHASE_AFTER, PREPARED, phase_of_event
from analyzer.rulebook.case import Case
from analyzer.rulebook.judge import Ruling
from analyzer.units import group_digits

SEVERITIES = ("error", "warning", "note")
CONFIDENCES = ("certain", "likely", "possible")


def reach_verdict(case: Case, rulings: Sequence[Ruling]) -> Verdict:
    """The verdict on the run that matters: the last one that failed, unless a later one served."""
    run = _run_that_matters(case, rulings)
    own = [ruling for ruling in rulings if ruling.subject.run is run]
    root = root_of(own)
    if root is not None:
        return Verdict(
            outcome=_outcome(root),
            cause=root.compiled.rule.cause or "unknown",
            phase=_phase(root, run),
            confidence=root.confidence,
            summary=root.message,
            advice=combined_advice(root, own),
        )
    cascade = leading(own, "cascade")
    if cascade is not None:
        summary = f"This log cannot tell the cause: {cascade.message}"
        return Verdict(
            outcome=cascade.compiled.rule.outcome or "failed",
            cause="unknown",
            phase=_phase(cascade, run),
            confidence="possible",
            summary=summary,
            advice=list(cascade.advice),
        )
    if run is not None and run.outcome == "served":
        return Verdict(outcome="served", cause="none", phase=run.phase, confidence="likely", summary=_healthy(run))
    if run is not None and _ends_prepared(run):
        summary = (
            "No failure in this log: it ends when the graphs had been captured, the last long step of a start. "
            "Whether it then served is not shown."
        )
        return Verdict(outcome="unknown", cause="none", phase=run.phase, confidence="possible", summary=summary)
    if run is not None and run.engine is not None:
        place = "while it serves" if run.phase == "serve" else f"in phase {run.phase} of the start, before any outcome"
        place = place if run.phase else "before any outcome, and in which phase is not shown"
        summary = (
            f"No failure in this log: it ends {place}. "
            "What came next is missing: the rest of this log, or the exit code of a process that was killed without a word."
        )
        return Verdict(outcome="unknown", cause="unknown", phase=run.phase, confidence="possible", summary=summary)
    return Verdict(
        outcome="unknown",
        cause="unknown",
        phase=None,
        confidence="possible",
        summary="No message of vLLM, SGLang or an allocator was recognised in this input.",
    )


def run_verdict(run: Run, rulings: Sequence[Ruling]) -> Verdict | None:
    """The verdict on one run by itself; None when no rule says that it failed, and the run's own outcome stands."""
    own = [ruling for ruling in rulings if ruling.subject.run is run]
    failed = any(ruling.compiled.rule.role in ("root", "cascade") for ruling in own)
    return reach_verdict(Case((run,)), own) if failed else None


def root_of(rulings: Sequence[Ruling]) -> Ruling | None:
    """The root among the rulings of one run."""
    return leading(rulings, "root")


def leading(rulings: Sequence[Ruling], role: Role) -> Ruling | None:
    """The ruling of this role that counts: errors before warnings, surer before less sure, and then what came first.

    A ruling that another one declares to be its consequence, or a coarser word for it, steps back.
    """
    own = [ruling for ruling in rulings if ruling.compiled.rule.role == role]
    beaten = {other for ruling in own for other in ruling.compiled.rule.beats}
    candidates = [ruling for ruling in own if ruling.compiled.rule.id not in beaten]
    return min(
        candidates or own,
        key=lambda ruling: (SEVERITIES.index(ruling.compiled.rule.severity), CONFIDENCES.index(ruling.confidence), ruling.first_line),
        default=None,
    )


def combined_advice(root: Ruling, rulings: Sequence[Ruling]) -> list[Advice]:
    """Advice on the profile that the run used, then the root's, then that of contributing findings; of two on one knob the first stands."""
    contributing = [ruling for ruling in rulings if ruling.compiled.rule.role == "contributing"]
    of_profile = [ruling for ruling in contributing if ruling.compiled.rule.for_each == "profile"]
    used = [ruling for ruling in of_profile if ruling.subject.scopes["profile"]["used"] is True]
    others = [ruling for ruling in contributing if ruling not in of_profile]
    advice: dict[str, Advice] = {}
    for ruling in (*used, root, *others):
        for entry in ruling.advice:
            advice.setdefault(entry.knob, entry)
    return list(advice.values())


def _phase(ruling: Ruling, run: Run | None) -> Phase | None:
    """The phase of what a rule judged, else the furthest one of the run, if it can be that of the message."""
    event, furthest = ruling.subject.event, run.phase if run is not None else None
    return furthest if event is None else event.phase or phase_of_event(event.kind, furthest)


def _outcome(root: Ruling) -> Outcome:
    """Failed, unless the engine went on serving afterwards, or the rule knows better."""
    if root.compiled.rule.outcome is not None:
        return root.compiled.rule.outcome
    event = root.subject.scopes.get("event")
    return "degraded" if event is not None and event["alive_after"] is True else "failed"


def _run_that_matters(case: Case, rulings: Sequence[Ruling]) -> Run | None:
    failed = [
        run
        for run in case.runs
        if any(ruling.subject.run is run and ruling.compiled.rule.role in ("root", "cascade") for ruling in rulings)
    ]
    if not case.runs:
        return None
    last_failed = failed[-1] if failed else None
    last = case.runs[-1]
    if last_failed is None or (last is not last_failed and last.outcome == "served"):
        return last
    return last_failed


def _ends_prepared(run: Run) -> bool:
    """Whether the last thing that the run is seen to do is to finish its graphs."""
    steps = [fact.kind for fact in run.facts if fact.kind in PHASE_AFTER]
    return bool(steps) and steps[-1] in PREPARED


def _healthy(run: Run) -> str:
    name = ENGINE_NAMES.get(run.engine or "", "the engine")
    version = f" {run.version_text}" if run.version_text else ""
    if _ends_prepared(run):
        return f"Nothing failed: {name}{version} came through its start; the log ends when the graphs had been captured."
    if run.phase != "serve":
        return f"Nothing failed as far as this log goes: {name}{version} had captured its graphs, and the log ends in its start."
    return f"Nothing failed: {name}{version} started and served as far as this log goes."


def lint_verdict(rulings: Sequence[Ruling]) -> Verdict:
    """The verdict on settings alone: there is no run, so there is no outcome."""
    errors = sum(ruling.compiled.rule.severity == "error" for ruling in rulings)
    others = len(rulings) - errors
    summary = (
        f"Settings checked without a log: {errors} error(s), {others} other finding(s)."
        if rulings
        else "Settings checked without a log: nothing found."
    )
    return Verdict(outcome="unknown", cause="none", phase=None, confidence="certain", summary=summary, subject="settings")


def ladder_verdict(case: Case, rulings: Sequence[Ruling]) -> Verdict:
    """The verdict on receipts without a log: where each profile starts to work. Receipts do not tell why a run failed."""
    counted, runs = sum(len(ladder.counted) for ladder in case.ladders), sum(len(ladder.rungs) for ladder in case.ladders)
    advice = [entry for ruling in rulings if ruling.compiled.rule.role == "contributing" for entry in ruling.advice]
    found = "; ".join(map(_bracket, case.ladders))
    summary = f"{runs} measured runs of {len(case.ladders)} profile(s), {counted} of which count: {found}."
    return Verdict(outcome="unknown", cause="unknown", phase=None, confidence="certain", summary=summary, advice=advice, subject="ladder")


def _bracket(ladder: Ladder) -> str:
    bracket = ladder.threshold
    if ladder.contradictions:
        return f"those of {ladder.profile} contradict each other"
    if bracket is None:
        return f"none of {ladder.profile} counts"
    parts = []
    if bracket.low is not None:
        parts.append(f"fails up to {group_digits(bracket.low)}")
    if bracket.high is not None:
        parts.append(f"starts from {group_digits(bracket.high)}")
    return f"{ladder.profile} {' and '.join(parts)} raw free bytes"
