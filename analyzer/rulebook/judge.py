"""A rulebook and a case -> findings, and the rules that had to abstain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from jinja2 import Undefined

from analyzer.analysis import Abstention, Advice, Confidence, Evidence
from analyzer.cases.course import course_of
from analyzer.cases.events import CUT_TRACEBACK
from analyzer.cases.model import Event, Rank, Run
from analyzer.figures.known_arguments import takes
from analyzer.rulebook.case import Case
from analyzer.rulebook.expressions import Missing, View
from analyzer.rulebook.ladder_view import ladder_view
from analyzer.rulebook.rule import PatchSpec
from analyzer.rulebook.rulebook import CompiledAdvice, CompiledRule, Expression, Rulebook
from analyzer.rulebook.subject import MOST_EVIDENCE, Subject, evidence_for, line_of
from analyzer.rulebook.views import case_view, event_view, profile_view, rank_view, run_view, selection_view, used_profile, worst_rank
from analyzer.settings.model import Profile
from analyzer.units import CannotTell, Size


@dataclass(frozen=True)
class Change:
    """A change of the settings that a finding proposes."""

    spec: PatchSpec
    profile: Profile
    value: int | float | str | None


@dataclass(frozen=True)
class Ruling:
    """A rule that fired, with everything the outputs need."""

    compiled: CompiledRule
    subject: Subject
    title: str
    message: str
    confidence: Confidence
    advice: tuple[Advice, ...]
    evidence: tuple[Evidence, ...]
    changes: tuple[Change, ...]
    also: int = 0
    """So many more ranks, events or profiles of the same run say the same."""

    @property
    def first_line(self) -> int:
        return min((entry.line for entry in self.evidence), default=0)


@dataclass(frozen=True)
class Judgement:
    rulings: tuple[Ruling, ...]
    abstentions: tuple[Abstention, ...]


def judge(rulebook: Rulebook, case: Case) -> Judgement:
    """Every rule on every subject it is for."""
    rulings: list[Ruling] = []
    lacking: dict[str, dict[str, None]] = {}
    events = _event_subjects(rulebook, case)
    for compiled in rulebook.rules:
        for subject in _subjects(compiled, case, events):
            verdict, missing = _holds(compiled.when, subject.scopes)
            if missing:
                lacking.setdefault(compiled.rule.id, {}).update(dict.fromkeys(missing))
            elif verdict:
                try:
                    rulings.append(_ruling(compiled, subject))
                except (Missing, CannotTell) as reason:
                    lacking.setdefault(compiled.rule.id, {})[_lack(reason)] = None
    how = {compiled.rule.id: compiled.rule.how_to_get for compiled in rulebook.rules}
    fired = {ruling.compiled.rule.id for ruling in rulings}
    abstentions = [
        Abstention(rule=identity, missing=list(names), how_to_get=" ".join(how[identity][name] for name in names if name in how[identity]))
        for identity, names in lacking.items()
        if identity not in fired
    ]
    return Judgement(tuple(_merged(_without_coarser(rulings))), tuple(abstentions))


def _subjects(compiled: CompiledRule, case: Case, events: Sequence[Subject]) -> Iterator[Subject]:
    kind = compiled.rule.for_each
    if kind == "case":
        yield _of_run(case, case.measured_run)
    elif kind == "profile":
        yield from _profiles(case)
    elif kind == "ladder":
        shared = _of_run(case, case.measured_run)
        for ladder in case.ladders:
            yield replace(shared, scopes={**shared.scopes, "ladder": ladder_view(case, ladder)}, profile=None, ladder=ladder)
    elif kind == "problem":
        for problem in case.problems:
            document = case.settings.documents[problem.file] if case.settings is not None else None
            quoted = line_of(document.text, problem.line or 1) if document is not None else ""
            view = View("problem", {"key": problem.key, "message": problem.message})
            yield Subject({"problem": view}, problem=problem, quoted=quoted)
    elif kind == "run":
        yield from (_of_run(case, run) for run in case.runs)
    elif kind == "rank":
        yield from (_of_rank(case, run, rank) for run in case.runs for rank in run.ranks)
    else:
        yield from (subject for subject in events if subject.event is not None and subject.event.kind in compiled.rule.messages)


def _profiles(case: Case) -> Iterator[Subject]:
    """Each profile, beside the run whose figures speak for the profiles."""
    if case.settings is None:
        return
    shared = _of_run(case, case.measured_run)
    for profile in case.settings.profiles.values():
        view = profile_view(case, case.settings, profile, shared.run, shared.rank)
        yield replace(shared, scopes={**shared.scopes, "profile": view}, profile=profile, ladder=case.ladder_of(profile.name))


def _of_run(case: Case, run: Run | None) -> Subject:
    return _of_rank(case, run, worst_rank(run) if run is not None and run.ranks else None)


def _of_rank(case: Case, run: Run | None, rank: Rank | None) -> Subject:
    return Subject(_shared(case, run, rank), run, rank, profile=used_profile(case, run))


def _event_subjects(rulebook: Rulebook, case: Case) -> list[Subject]:
    """The events that any rule judges, in order, each with the scopes of its rank; those are made once for each rank."""
    judged = {kind for compiled in rulebook.rules for kind in compiled.rule.messages}
    kinds = rulebook.judged_kinds
    subjects: list[Subject] = []
    for run in case.runs:
        course = course_of(run.facts)
        of_rank: dict[str, Subject] = {}
        for event in run.events:
            if event.kind in judged:
                rank = _rank_of(run, event)
                name = rank.name if rank is not None else ""
                subject = of_rank[name] if name in of_rank else of_rank.setdefault(name, _of_rank(case, run, rank))
                subjects.append(replace(subject, scopes={**subject.scopes, "event": event_view(run, event, course, kinds)}, event=event))
    return subjects


def _shared(case: Case, run: Run | None, rank: Rank | None) -> dict[str, View]:
    return {"case": case_view(case, run), "run": run_view(run), "rank": rank_view(run, rank), "selection": selection_view(case, run)}


def _rank_of(run: Run, event: Event) -> Rank | None:
    """The ledger that an event belongs to: its own rank's; with one rank only, that one."""
    named = next((rank for rank in run.ranks if rank.name == event.rank), None)
    return named or (run.ranks[0] if len(run.ranks) == 1 else None)


def _holds(conditions: Sequence[Expression], scopes: Mapping[str, Any]) -> tuple[bool, list[str]]:
    """Whether all conditions hold, and what is missing to tell. One definite "no" settles it, whatever is missing beside."""
    missing: list[str] = []
    for condition in conditions:
        try:
            if not condition(scopes):
                return False, []
        except (Missing, CannotTell) as reason:
            missing.append(_lack(reason))
    return True, missing


def _lack(reason: Missing | CannotTell) -> str:
    return reason.name if isinstance(reason, Missing) else f"the printed decimals leave it open: {reason}"


def _ruling(compiled: CompiledRule, subject: Subject) -> Ruling:
    scopes = subject.scopes
    return Ruling(
        compiled=compiled,
        subject=subject,
        title=str(compiled.title(scopes)),
        message=str(compiled.say(scopes)),
        confidence=cast(Confidence, str(compiled.confidence(scopes)).strip()),
        advice=tuple(_advised(compiled, subject)),
        evidence=evidence_for(compiled, subject),
        changes=tuple(_changes(compiled, subject)),
    )


def _advised(compiled: CompiledRule, subject: Subject) -> Iterator[Advice]:
    """The advice that the run's release can follow.

    A traceback whose last line is missing does not prove that memory ran out, unless a notebook says so above it: no change of any knob
    follows from it.
    """
    proven = subject.event is None or subject.event.kind != CUT_TRACEBACK or subject.event.fact.fields.get("out_of_memory") is True
    for entry in compiled.advice:
        if takes(subject.run, entry.spec.knob) and (proven or entry.spec.direction == "none"):
            advice = _advice(entry, subject.scopes)
            if advice is not None:
                yield advice


def _advice(entry: CompiledAdvice, scopes: Mapping[str, Any]) -> Advice | None:
    """The advice, without those of its figures that cannot be computed here; None when its own condition does not hold."""
    if entry.when is not None and not _certainly(entry.when, scopes):
        return None
    figures = {name: _plain(value) for name, expression in entry.figures.items() if (value := _known(expression, scopes)) is not None}
    try:
        why = str(entry.why(scopes))
    except (Missing, CannotTell):
        return None
    return Advice(knob=entry.spec.knob, direction=entry.spec.direction, why=why, **figures)


def _certainly(expression: Expression, scopes: Mapping[str, Any]) -> bool:
    try:
        return bool(expression(scopes))
    except (Missing, CannotTell):
        return False


def _known(expression: Expression, scopes: Mapping[str, Any]) -> Any:
    try:
        value = expression(scopes)
        return None if isinstance(value, (View, Undefined)) else value
    except (Missing, CannotTell):
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, Size):
        return value.bytes
    return round(value, 4) if isinstance(value, float) else value


def _changes(compiled: CompiledRule, subject: Subject) -> Iterator[Change]:
    if subject.profile is None:
        return
    for entry in compiled.patches:
        if entry.when is not None and not _certainly(entry.when, subject.scopes):
            continue
        value = _plain(_known(entry.to, subject.scopes)) if entry.to is not None else None
        if value is not None or entry.spec.op == "remove":
            yield Change(entry.spec, subject.profile, value)


def _without_coarser(rulings: Sequence[Ruling]) -> list[Ruling]:
    """The rulings without those that another ruling on the same message declares to be a coarser word for itself."""
    beaten = {(id(ruling.subject.event), other) for ruling in rulings if ruling.subject.event for other in ruling.compiled.rule.beats}
    return [ruling for ruling in rulings if (id(ruling.subject.event), ruling.compiled.rule.id) not in beaten]


def _merged(rulings: Sequence[Ruling]) -> Iterator[Ruling]:
    """One ruling for each rule and run; profiles stay apart, they are different places to mend."""
    groups: dict[tuple[object, ...], list[Ruling]] = {}
    for ruling in rulings:
        run = ruling.subject.run.id if ruling.subject.run is not None else None
        groups.setdefault((ruling.compiled.rule.id, run, ruling.subject.place), []).append(ruling)
    for same in groups.values():
        best = min(same, key=lambda ruling: ("certain", "likely", "possible").index(ruling.confidence))
        lines = {(entry.input, entry.line): entry for ruling in (best, *same) for entry in ruling.evidence}
        yield replace(best, evidence=tuple(lines.values())[:MOST_EVIDENCE], also=len(same) - 1)
