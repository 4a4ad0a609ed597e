"""The course of one run: what came before and after each of its messages, found without reading all of them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from analyzer.cases.build import is_front_end, is_server_error
from analyzer.cases.exits import DEATHS
from analyzer.engines.phases import FAILED_SERVING, PHASE_AFTER, SERVING, order
from analyzer.facts.fact import Fact


@dataclass
class Course:
    """The facts of a run, indexed by line, kind and phase."""

    first_line: dict[str, int] = field(default_factory=dict)
    last_line: dict[str, int] = field(default_factory=dict)
    """Of each kind."""
    in_line: dict[int, list[Fact]] = field(default_factory=dict)
    phase_first: dict[int, int] = field(default_factory=dict)
    phase_last: dict[int, int] = field(default_factory=dict)
    """Line of the first and the last message of each phase, by the order of phases."""
    served_until: int = 0
    """Line of the last message that only a serving engine prints."""

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(self.first_line)

    def kinds_before(self, fact: Fact) -> frozenset[str]:
        return frozenset(kind for kind, line in self.first_line.items() if line < fact.line.number)

    def kinds_after(self, fact: Fact) -> frozenset[str]:
        return frozenset(kind for kind, line in self.last_line.items() if line > fact.line.number)

    def kinds_beside(self, fact: Fact) -> frozenset[str]:
        """The kinds of the other facts that stand in its lines."""
        return frozenset(other.kind for line in _lines(fact) for other in self.in_line.get(line, ()) if other is not fact)

    def alive_after(self, fact: Fact) -> bool:
        """Whether the engine went on serving after a message."""
        return self.served_until > fact.line.number

    def went_on(self, fact: Fact) -> bool:
        """Whether the engine came further after a message: one of a later phase, or of serving, follows.

        Arguments are no progress: a report often quotes the command below the log.
        """
        before = max((phase for phase, line in self.phase_first.items() if line <= fact.line.number), default=order("args"))
        return self.alive_after(fact) or any(phase > before and line > fact.line.number for phase, line in self.phase_last.items())


def course_of(facts: Sequence[Fact]) -> Course:
    """The course of a run whose facts are in order of lines."""
    course = Course()
    dying = False
    for fact in facts:
        number = fact.line.number
        course.first_line.setdefault(fact.kind, number)
        course.last_line[fact.kind] = number
        for line in _lines(fact):
            course.in_line.setdefault(line, []).append(fact)
        dying = dying or fact.kind in DEATHS
        phase = PHASE_AFTER.get(fact.kind)
        if phase is None or fact.kind in FAILED_SERVING or is_server_error(fact) or (dying and _unfinished(fact)):
            continue
        course.phase_first.setdefault(order(phase), number)
        course.phase_last[order(phase)] = number
        if fact.kind in SERVING and not is_front_end(fact):
            course.served_until = number
    return course


def _unfinished(fact: Fact) -> bool:
    """Whether it is a progress bar that stopped short: a process that dies flushes it below what it died of."""
    return fact.kind == "shards_progress" and fact.fields.get("done", 0) < fact.fields.get("total", 0)


def _lines(fact: Fact) -> range:
    return range(fact.line.number, max(fact.line.number, fact.last_line) + 1)
