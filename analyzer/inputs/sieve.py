"""Finds, in one pass over a text, every place where one of many literals stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

try:
    import hyperscan
except ImportError:  # no wheel for this platform; the plain search below gives the same answer, slower
    HAS_AUTOMATON = False
else:
    HAS_AUTOMATON = True


def find_literals(text: str, literals: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Every (line index, literal) with that literal in that line of the text, in order of lines."""
    wanted = tuple(sorted(set(literals)))
    yield from _search_with_automaton(text, wanted) if HAS_AUTOMATON else _search_plainly(text, wanted)


def _search_plainly(text: str, literals: Sequence[str]) -> Iterator[tuple[int, str]]:
    return ((index, literal) for index, line in enumerate(text.split("\n")) for literal in literals if literal in line)


def _search_with_automaton(text: str, literals: Sequence[str]) -> Iterator[tuple[int, str]]:
    """hyperscan over the whole text; byte positions become line indexes with one walk over the line breaks."""
    data = text.encode()
    hits: list[tuple[int, int]] = []

    def note(identity: int, _start: int, end: int, _flags: int, _context: object) -> None:
        hits.append((end, identity))

    _automaton(tuple(literals)).scan(data, match_event_handler=note)
    hits.sort()
    found: set[int] = set()
    line, next_break = 0, data.find(b"\n")
    for end, identity in hits:
        while next_break != -1 and end > next_break:
            yield from ((line, literals[one]) for one in sorted(found))
            found.clear()
            line, next_break = line + 1, data.find(b"\n", next_break + 1)
        found.add(identity)
    yield from ((line, literals[one]) for one in sorted(found))


@lru_cache(maxsize=8)
def _automaton(literals: tuple[str, ...]) -> Any:
    database = hyperscan.Database()
    database.compile(expressions=[literal.encode() for literal in literals], ids=list(range(len(literals))), literal=True, flags=0)
    return database
