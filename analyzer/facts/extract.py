"""Documents -> facts, and the lines that speak of memory but that no grammar knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from analyzer.facts.fact import Fact
from analyzer.facts.messages import Reached, Record, next_lines, read_record
from analyzer.facts.read import Ending
from analyzer.facts.shapes import Shape, Shapes, key_of, masked, shape_of
from analyzer.grammar import Grammars
from analyzer.inputs.document import Document
from analyzer.inputs.lines import Line
from analyzer.inputs.sieve import find_literals

LONGEST_SHAPE = 2000
"""Longer lines are dumps, and do not come again with other numbers."""
MEMORY_WORDS = ("memory", "Memory", "GiB", "MiB", " GB", "OOM", "out of space", "swap", "памят", "ГиБ")


@dataclass(frozen=True)
class Extraction:
    """The facts of one document in order of lines, and its memory-looking lines that gave none."""

    facts: list[Fact]
    unknown: list[Line]


def extract_facts(document: Document, grammars: Grammars) -> Extraction:
    """Read every message that the grammars know."""
    facts: list[Fact] = []
    hits = find_literals(document.text, [*grammars.by_anchor, *MEMORY_WORDS])
    understood: set[int] = set()
    reached: Reached = {}
    shapes = Shapes()
    suspicious: list[int] = []
    for index, group in groupby(hits, key=lambda hit: hit[0]):
        literals = [literal for _, literal in group]
        if any(literal in MEMORY_WORDS for literal in literals):
            suspicious.append(index)
        anchors = [literal for literal in literals if literal in grammars.by_anchor]
        for line in document.records(index) if anchors else ():
            for fact in _facts_of(document, index, line, anchors, grammars, reached, shapes):
                facts.append(fact)
                understood.update(range(fact.line.number, fact.last_line + 1))
    unknown = [line for index in suspicious if index + 1 not in understood for line in document.records(index)]
    facts.sort(key=lambda fact: fact.line.number)
    return Extraction(facts, unknown)


def _facts_of(
    document: Document, index: int, line: Line, anchors: Sequence[str], grammars: Grammars, reached: Reached, shapes: Shapes
) -> Iterator[Fact]:
    """The facts in one record: by its shape where that is known, else by parsing."""
    key = key_of(line.text, anchors)
    begins_here = line.number not in reached
    shape = shapes.find(key) if begins_here else None
    if shape is not None and shape.ends_before(lambda: _next_shape(document, index, line)):
        fields = shape.fields(line.text)
        if fields is not None:
            yield Fact(shape.kind, line, fields, last_line=line.number, family=shape.family)
            return
    record = read_record(document, index, line, anchors, grammars, reached)
    for message, _, reading, continued in record.found:
        last_line = max(continued, default=line.number)
        yield Fact(message.kind, line, reading.fields, reading.ending is Ending.CUT, last_line, message.family)
    seen = _shape_of(document, index, line, record) if begins_here and len(line.text) <= LONGEST_SHAPE else None
    if seen is not None:
        shapes.learn(key, line.text, seen)


def _shape_of(document: Document, index: int, line: Line, record: Record) -> Shape | None:
    """The shape of a record that is one whole message, if no more than the next line was needed to tell so."""
    if len(record.found) != 1 or record.lines_ahead > 1 or record.found[0].continued:
        return None
    return shape_of(line.text, record.found[0], {_next_shape(document, index, line)} if record.lines_ahead else None)


def _next_shape(document: Document, index: int, line: Line) -> str:
    """The shape of the line in which a message would go on. A time stamp of its own makes a difference there (`messages`)."""
    later = next(next_lines(document, index, line), None)
    return "" if later is None else f"{'timed' if later.origin.time else 'untimed'} {masked(later.text)}"
