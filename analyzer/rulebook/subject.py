"""What a rule is evaluated on, and the lines that its finding rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from analyzer.analysis import Evidence
from analyzer.cases.ladder import Ladder
from analyzer.cases.model import Event, Rank, Run
from analyzer.facts.fact import Fact
from analyzer.rulebook.expressions import View
from analyzer.rulebook.rulebook import RECEIPT, RECEIPT_ASIDE, CompiledRule
from analyzer.settings.errors import Problem
from analyzer.settings.model import Profile

MOST_EVIDENCE = 8


@dataclass(frozen=True)
class Subject:
    """What a rule is evaluated on: the scopes it sees, and the objects behind them."""

    scopes: Mapping[str, View]
    run: Run | None = None
    rank: Rank | None = None
    event: Event | None = None
    profile: Profile | None = None
    ladder: Ladder | None = None
    problem: Problem | None = None
    quoted: str = ""
    """The line that the problem is in."""

    @property
    def place(self) -> str | None:
        """What keeps findings of one rule apart: each is mended in a place of its own."""
        if self.problem is not None:
            return str(self.problem)
        if self.ladder is not None:
            return self.ladder.profile
        return self.profile.name if self.profile is not None and "profile" in self.scopes else None


def evidence_for(compiled: CompiledRule, subject: Subject) -> tuple[Evidence, ...]:
    """The lines that a finding rests on: those of its messages, of the settings, and of receipts; MOST_EVIDENCE at most."""
    facts: list[Fact] = list(subject.event.repeats[:2]) if subject.event is not None else []
    for kind in compiled.rule.evidence:
        own = subject.rank.first(kind) if subject.rank is not None else None
        found = own or (subject.run.first(kind) if subject.run is not None else None)
        if found is not None:
            facts.append(found)
    lines = {(fact.line.source, fact.line.number): fact.line.text for fact in facts}
    entries = [Evidence(input=source, line=number, text=text) for (source, number), text in lines.items()]
    entries = list(dict.fromkeys([*entries, *_receipts(compiled, subject)]))
    if subject.profile is not None and compiled.rule.for_each == "profile":
        entries.insert(0, _settings_line(subject.profile, str(compiled.at(subject.scopes)).strip()))
    if subject.problem is not None:
        entries.append(Evidence(input=subject.problem.file, line=subject.problem.line or 1, text=subject.quoted))
    return tuple(entries[:MOST_EVIDENCE])


def _receipts(compiled: CompiledRule, subject: Subject) -> Iterator[Evidence]:
    """The runs of the ladder that the rule rests on: those next to the threshold first."""
    ladder, kinds = subject.ladder, compiled.rule.evidence
    if ladder is None:
        return
    rungs = [*ladder.failed[::-1][:1], *ladder.passed[:1], *ladder.counted] if RECEIPT in kinds else []
    rungs += [rung for rung in ladder.rungs if not rung.counts] if RECEIPT_ASIDE in kinds else []
    for rung in rungs:
        if (place := rung.receipt.place) is not None:
            yield Evidence(input=place.input, line=place.line, text=place.text)


def _settings_line(profile: Profile, key: str) -> Evidence:
    """The line of this argument of the profile; that of the profile's name where it does not state it."""
    line = profile.line(key)
    return Evidence(input=profile.file, line=line, text=line_of(profile.document.text, line))


def line_of(text: str, number: int) -> str:
    """A line of a text, from 1, without its end."""
    return text.split("\n")[number - 1].rstrip("\r")
