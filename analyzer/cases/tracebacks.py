"""Traceback frames -> tracebacks, each with the message it ends in, also when the paste cut or reversed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.engines.sites import Frame
from analyzer.facts.fact import Fact

FRAME = "traceback_frame"
MOST_LINES_BETWEEN_FRAMES = 14
"""Source lines, carets and interleaved records may stand between two frames of one traceback."""
ENDS = frozenset({"traceback_start", "exception", "during_handling", "direct_cause"})
"""Messages behind which, in the same stream, another traceback begins."""


@dataclass(frozen=True)
class Traceback:
    """Frames that one process printed one after the other, outermost first."""

    frames: tuple[Frame, ...]
    first: Fact
    last: Fact


def tracebacks(facts: Sequence[Fact]) -> list[Traceback]:
    """The tracebacks of one run, in order of their first line."""
    groups: list[list[Fact]] = []
    current: dict[object, list[Fact]] = {}
    for fact in facts:
        stream = fact.line.origin.stream
        group = current.get(stream)
        if fact.kind != FRAME:
            if fact.kind in ENDS and group is not None:
                del current[stream]
            continue
        if group is None or fact.line.number - group[-1].line.number > MOST_LINES_BETWEEN_FRAMES:
            group = []
            groups.append(group)
            current[stream] = group
        group.append(fact)
    return [Traceback(tuple(map(_frame, group)), group[0], group[-1]) for group in groups]


def _frame(fact: Fact) -> Frame:
    """A frame under the bare name of its function; notebooks print that of its class before it."""
    return Frame(str(fact.fields.get("file", "")), str(fact.fields.get("function", "")).rpartition(".")[2])


def frames_around(fact: Fact, found: Sequence[Traceback], reach: int = 60) -> tuple[Frame, ...]:
    """The frames that belong to a message: those that end just before it, else the nearest ones of its process."""
    stream = fact.line.origin.stream
    same = [trace for trace in found if trace.first.line.origin.stream == stream and trace.first.line.source == fact.line.source]
    before = [
        trace
        for trace in same
        if trace.last.line.number <= fact.line.number and fact.line.number - trace.last.line.number <= MOST_LINES_BETWEEN_FRAMES
    ]
    if before:
        return before[-1].frames
    after = [trace for trace in same if 0 < trace.first.line.number - fact.line.number <= reach]
    return after[0].frames if after else ()
