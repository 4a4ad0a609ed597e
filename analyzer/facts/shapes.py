"""Lines of one shape, which differ in their numbers only: parsed twice, and read by their numbers from then on.

Servers print the same statistics by the hundred thousand. Two texts have one shape when they are equal but for digits that no grammar
can take for anything else than the digits of a number. Whatever else a reading depends on is part of the shape or is asked for
before it is used: the literals found in the text, and the next line where the message could go on there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lark import Token, Tree

from analyzer.facts.values import fields_of

MOST_SHAPES = 2000
"""Of so many shapes, and of so many further lines behind one, the memory is kept; then it begins anew."""
_NUMBER = re.compile(r"(?<![\w\u00a0\u2009\u202f])(?<!\d,)\d{1,40}(?![\w\u00a0\u2009\u202f]|,(?:\d|\Z))")
"""Digits that may differ within a shape. Beside a letter or in groups of thousands they stay as they are: grammars tell 1e5, v1 and 1,024 apart
by their digits. So do they in numbers of more digits than a figure may have (common.lark)."""

Key = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Slot:
    """A token of the tree that holds numbers: where it hangs, and its text as pieces between the numbers of the line."""

    siblings: list[Any]
    index: int
    type: str
    pieces: tuple[str | int, ...]
    """Literal text, or the place of a number among the numbers of the line."""


@dataclass(slots=True)
class Shape:
    """What lines of one shape say: one message, and nothing that goes on in another line."""

    kind: str
    family: str
    tree: Tree[Token]
    slots: list[Slot]
    fixed: dict[int, str]
    """Numbers that belong to the wording."""
    followers: set[str] | None
    """Shapes of the next line with which the message was seen to end in its own line; None when it cannot go on anyway."""
    confirmed: bool = False
    """Whether a second line was parsed with the result that this shape gives."""

    def fields(self, numbers: list[str]) -> dict[str, Any]:
        """The fields of the message in a line with these numbers."""
        for slot in self.slots:
            text = "".join([piece if isinstance(piece, str) else numbers[piece] for piece in slot.pieces])
            slot.siblings[slot.index] = Token(slot.type, text)
        return fields_of(self.tree.children)

    def is_like(self, other: Shape) -> bool:
        """Whether another line of this shape was read as this one was, as far as the next line matters."""
        return self.kind == other.kind and (self.followers is None) is (other.followers is None)

    def fits(self, numbers: list[str], follower: Callable[[], str]) -> bool:
        """Whether a line with these numbers, in front of that line, is read like the others."""
        return (
            self.confirmed
            and all(numbers[place] == digits for place, digits in self.fixed.items())
            and (self.followers is None or follower() in self.followers)
        )


@dataclass(frozen=True)
class Shapes:
    """The shapes met so far in one input."""

    known: dict[Key, Shape | None] = field(default_factory=dict)
    """None: lines of this shape are not read alike."""

    def find(self, key: Key) -> Shape | None:
        return self.known.get(key)

    def learn(self, key: Key, seen: Shape, numbers: list[str]) -> None:
        """Take in what a line with these numbers gave: the first line of a shape makes it, a second one confirms or refutes it."""
        if key not in self.known:
            if len(self.known) >= MOST_SHAPES:
                self.known.clear()
            self.known[key] = seen
            return
        shape = self.known[key]
        if shape is None or shape.fixed != seen.fixed:
            return
        if not shape.is_like(seen) or shape.fields(numbers) != seen.fields(numbers):
            self.known[key] = None
            return
        shape.confirmed = True
        if shape.followers is not None and seen.followers is not None:
            shape.followers = seen.followers | (shape.followers if len(shape.followers) < MOST_SHAPES else set())


def masked(text: str) -> str:
    """The shape of a text."""
    return _NUMBER.sub("0", text)


def numbers_of(text: str) -> list[str]:
    """The digits by which lines of one shape differ."""
    return _NUMBER.findall(text)


def key_of(text: str, literals: Iterable[str]) -> Key:
    """The name of a line's shape. Literals that are looked for may have digits, so they are part of it."""
    return masked(text), tuple(literals)


def shape_of(kind: str, family: str, text: str, start: int, used: int, tree: Tree[Token], followers: set[str] | None) -> Shape:
    """The shape of a line with one message, which was read from `start` over `used` characters into a tree."""
    places = [(found.start(), found.end()) for found in _NUMBER.finditer(text)]
    slots = [slot for node in tree.iter_subtrees() for slot in _slots(node, text, start, places)]
    varying = {piece for slot in slots for piece in slot.pieces if isinstance(piece, int)}
    fixed = {
        place: text[begin:end]
        for place, (begin, end) in enumerate(places)
        if place not in varying and end > start and begin < start + used
    }
    return Shape(kind, family, tree, slots, fixed, followers)


def _slots(node: Tree[Token], text: str, start: int, places: list[tuple[int, int]]) -> Iterable[Slot]:
    for index, token in enumerate(node.children):
        if not isinstance(token, Token) or token.start_pos is None or token.end_pos is None:
            continue
        position, last = start + token.start_pos, start + token.end_pos
        inside = [(place, begin, end) for place, (begin, end) in enumerate(places) if position <= begin and end <= last]
        if not inside:
            continue
        pieces: list[str | int] = []
        for place, begin, end in inside:
            pieces += [text[position:begin], place]
            position = end
        yield Slot(node.children, index, token.type, tuple(piece for piece in (*pieces, text[position:last]) if piece != ""))
