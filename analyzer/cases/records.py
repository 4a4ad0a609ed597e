"""Records of several lines: SGLang's logger puts its head on the first one only, so the traceback behind it names no rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from analyzer.facts.fact import Fact
from analyzer.inputs.lines import Line

OPENINGS = frozenset({"scheduler_exception", "traceback_start"})
"""Messages that open a record of several lines."""
HEAD = "sglang"
"""With this begin the names of the prefixes that SGLang's loggers put before a record."""


def with_ranks(facts: Sequence[Fact]) -> Iterator[Fact]:
    """The facts, those on the further lines of a record with the rank that its first line names."""
    head: Line | None = None
    for fact in facts:
        if head is not None and _continues(fact.line, head):
            origin = replace(fact.line.origin, rank=head.origin.rank, gpu=head.origin.gpu)
            yield replace(fact, line=replace(fact.line, origin=origin))
        else:
            head = fact.line if fact.kind in OPENINGS and _names_a_rank(fact.line) else None
            yield fact


def _names_a_rank(line: Line) -> bool:
    return bool(line.wrappers and line.wrappers[-1].startswith(HEAD) and (line.origin.rank or line.origin.gpu is not None))


def _continues(line: Line, head: Line) -> bool:
    """Whether a line has the prefixes of containers and launchers that the head's line has, but none of the engine's own."""
    return line.source == head.source and line.wrappers == head.wrappers[:-1]
