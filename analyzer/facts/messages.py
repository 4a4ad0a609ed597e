"""The messages in one record, each read by its own parser, with the lines in which it goes on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from analyzer.facts.read import Ending, Reading, read_message
from analyzer.grammar import Grammars, Message
from analyzer.inputs.document import Document
from analyzer.inputs.lines import Line

MOST_CONTINUATIONS = 12
"""A message wrapped over more lines than this is given up."""
MOST_CHARACTERS = 100_000
"""Of a line, a message takes at most so many; argument dumps have some ten thousand."""
MOST_IN_VAIN = 1_000_000
"""After so many characters read for messages that then were others, the rest of the line is left."""
MOST_LINES_BETWEEN = 60
"""How far away, among the lines of other processes, a continuation may stand."""
QUOTING = "request_logged"
"""Kind of message behind which a line only holds what a user or a model wrote."""
Reached = dict[int, dict[str, int]]
"""Line number -> kind or family -> position in that line up to which an earlier message of that name took it in.

No message of a family begins where another still goes on from the line before: the rest of a wrapped dump is not a dump.
"""


class Found(NamedTuple):
    """A message, where in the record it begins, how it reads, and how far it reaches into each further line it takes in."""

    message: Message
    start: int
    reading: Reading
    continued: dict[int, int]


class Record(NamedTuple):
    """The messages of a record, and how many further lines were looked at to tell where they end."""

    found: list[Found]
    lines_ahead: int


def read_record(document: Document, index: int, line: Line, anchors: Iterable[str], grammars: Grammars, reached: Reached) -> Record:
    """The messages in one record, each read once however many of its literals stand in the record and in the lines it continues in.

    What they take in of further lines is added to `reached`.
    """
    taken: dict[str, int] = {}
    found: list[Found] = []
    in_vain = lines_ahead = 0
    before = reached.get(line.number, {})
    for start, message in sorted(_candidates(line.text, anchors, grammars), key=lambda candidate: candidate[0]):
        if in_vain > MOST_IN_VAIN or start < taken.get(message.kind, before.get(message.kind, 0)):
            continue
        if start == 0 < before.get(message.family, 0):
            continue
        reading, continued = _read_with_continuations(document, index, line, start, message)
        lines_ahead = max(lines_ahead, len(continued) + reading.open)
        if reading.ending is Ending.OTHER or (reading.ending is Ending.CUT and not (reading.fields or reading.could_end)):
            in_vain += reading.used
            continue
        taken[message.kind] = start + max(reading.used, 1)
        found.append(Found(message, start, reading, continued))
    found = _before_quotation(found)
    kept = [one for one in found if one.reading.ending is not Ending.CUT or not any(_explains(other, one) for other in found)]
    for one in kept:
        for number, end in one.continued.items():
            reached.setdefault(number, {}).update({one.message.kind: end, one.message.family: end})
    return Record(kept, lines_ahead)


def _before_quotation(found: list[Found]) -> list[Found]:
    """The messages without those that begin in the text of a request or an answer."""
    quotation = min((one.start for one in found if one.message.kind == QUOTING), default=None)
    return found if quotation is None else [one for one in found if one.start <= quotation]


def _explains(other: Found, cut: Found) -> bool:
    """Whether a cut message may just as well be (a part of) another message of its grammar, read as far or further."""
    return (
        other is not cut
        and other.message.family == cut.message.family
        and other.start <= cut.start
        and other.start + other.reading.used >= cut.start + cut.reading.used
    )


def _candidates(text: str, anchors: Iterable[str], grammars: Grammars) -> Iterator[tuple[int, Message]]:
    """Where each message may begin: at its leading literal, else at the beginning of the text."""
    found: set[tuple[int, str]] = set()
    for anchor in anchors:
        position = text.find(anchor)
        while position != -1:
            for message, leads in grammars.by_anchor[anchor]:
                start = position if leads else 0
                if (start, message.kind) not in found:
                    found.add((start, message.kind))
                    yield start, message
            position = text.find(anchor, position + 1)


def next_lines(document: Document, index: int, line: Line) -> Iterator[Line]:
    """The lines in which a message of this one may go on."""
    following = islice(document.following(index, line, MOST_LINES_BETWEEN), MOST_CONTINUATIONS)
    return (later for later in following if later.text.strip())


def _read_with_continuations(document: Document, index: int, line: Line, start: int, message: Message) -> tuple[Reading, dict[int, int]]:
    """The longest reading of a message, and how far it reaches into each further line that continues it."""
    text = line.text[start : start + MOST_CHARACTERS]
    best = read_message(message.parser, text)
    continued: dict[int, int] = {}
    if not best.open:
        return best, continued
    for later in next_lines(document, index, line):
        attempts = [_joined(message, text, later.text, glue) for glue in _glues(best, line, later)]
        if not attempts:
            break
        reading, longer = max(attempts, key=lambda attempt: attempt[0].used - len(attempt[1]))
        if reading.ending is Ending.OTHER or reading.used <= len(text) or _only_longer(best, reading):
            break
        best, text = reading, longer
        continued[later.number] = reading.used - len(longer) + len(later.text)
        if not best.open:
            break
    return best, continued


def _only_longer(whole: Reading, longer: Reading) -> bool:
    """Whether a further line gave a message that was already whole nothing but a longer last word."""
    return whole.ending is Ending.COMPLETE and len(longer.tokens) <= len(whole.tokens)


def _glues(reading: Reading, first: Line, later: Line) -> tuple[str, ...]:
    """How a wrapped text may be put together again: inside a phrase as the phrase demands it, else at a blank or anywhere.

    A line with a time stamp of its own may go on with a message (some loggers repeat their head on each line), but not inside a word.
    """
    glues = reading.glues or ("\n", "")
    return tuple(glue for glue in glues if glue) if later.origin.time and not later.lacks_head_of(first) else glues


def _joined(message: Message, text: str, more: str, glue: str) -> tuple[Reading, str]:
    longer = text + glue + more.lstrip()
    return read_message(message.parser, longer), longer
