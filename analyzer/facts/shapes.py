"""Lines of one shape, which differ in their numbers only: the first two are parsed, the others read by their numbers.

Servers print the same statistics by the hundred thousand. Of two lines that are equal but for some digits, the parser sees the same
tokens as long as each token with such digits is cut out of both alike, which costs one regular expression for each to find out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lark import Token, Tree
from lark.lexer import BasicLexer

from analyzer.facts.messages import Found
from analyzer.facts.values import fields_of

MOST_SHAPES = 2000
"""Of so many shapes, and of so many further lines behind one, the memory is kept; then it begins anew."""
_DIGITS = re.compile(r"(?<![\w\u00a0\u2009\u202f])(?<!\d,)\d{1,40}(?![\w\u00a0\u2009\u202f]|,(?:\d|\Z))")
"""The digits that may differ within a shape. Beside a letter, in groups of thousands, and in numbers longer than a figure may be
(common.lark) they stay: grammars tell 1e5, v1 and 1,024 apart by their digits."""

Key = tuple[str, tuple[str, ...]]
Place = tuple[int, int]
"""Where some digits begin and end in a line."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """A token with digits that may differ."""

    type: str
    first: int
    last: int
    """Places of its first and last digits among those of the line."""
    before: int
    behind: int
    """Characters of the token before and behind those."""
    lexer: BasicLexer
    """Cuts out the tokens that are possible in the state in which the parser met it."""
    siblings: list[Any] | None
    """The children of the tree node it hangs in, there at `index`. Tokens that are nobody's children carry no value."""
    index: int

    def cut_out(self, body: str, places: Sequence[Place]) -> str | None:
        """This token's text in another line of the shape; None where the parser would cut it out otherwise, or take it for another."""
        found = _scanner(self.lexer).match(body, places[self.first][0] - self.before)
        if found is None or found.lastgroup != self.type or found.end() != places[self.last][1] + self.behind:
            return None
        return found[0]


@dataclass(slots=True)
class Shape:
    """What lines of one shape say: one whole message, and nothing that goes on in another line."""

    kind: str
    family: str
    head: str
    """The text before the message."""
    tail: str
    """The text behind it."""
    tree: Tree[Token]
    numbered: list[Numbered]
    followers: set[str] | None
    """Shapes of the next line with which the message was seen to end in its own; None when it cannot go on anyway."""
    confirmed: bool = False
    """Whether a second line was parsed with the result that this shape gives."""

    def fields(self, text: str) -> dict[str, Any] | None:
        """The fields of the message in another line of this shape; None where only the parser can tell."""
        if not (text.startswith(self.head) and text.endswith(self.tail)):
            return None
        body = text[len(self.head) :]
        places = _places(body)
        for one in self.numbered:
            value = one.cut_out(body, places)
            if value is None:
                return None
            if one.siblings is not None:
                one.siblings[one.index] = Token(one.type, value)
        return fields_of(self.tree.children)

    def ends_before(self, follower: Callable[[], str]) -> bool:
        """Whether the message is known to end in its own line when that line follows."""
        return self.followers is None or follower() in self.followers


@dataclass(frozen=True)
class Shapes:
    """The shapes met so far in one input."""

    known: dict[Key, Shape | None] = field(default_factory=dict)
    """None: lines of this shape are not read alike."""

    def find(self, key: Key) -> Shape | None:
        """The shape of that name, once two lines have shown it."""
        shape = self.known.get(key)
        return shape if shape is not None and shape.confirmed else None

    def learn(self, key: Key, text: str, seen: Shape) -> None:
        """Take in what a line gave when it was parsed: the first line of a shape makes it, a second one confirms or refutes it."""
        if key not in self.known:
            if len(self.known) >= MOST_SHAPES:
                self.known.clear()
            self.known[key] = seen
            return
        shape = self.known[key]
        fields = shape.fields(text) if shape is not None else None
        if shape is None or fields is None:
            return
        if (shape.kind, shape.followers is None, fields) != (seen.kind, seen.followers is None, fields_of(seen.tree.children)):
            self.known[key] = None
            return
        shape.confirmed = True
        if shape.followers is not None and seen.followers is not None:
            shape.followers = seen.followers | (shape.followers if len(shape.followers) < MOST_SHAPES else set())


def masked(text: str) -> str:
    """A text without the digits by which lines of one shape differ."""
    return _DIGITS.sub("0", text)


def key_of(text: str, literals: Iterable[str]) -> Key:
    """The name of a line's shape. The literals found in it decide what it is read as."""
    return masked(text), tuple(literals)


def shape_of(text: str, found: Found, followers: set[str] | None) -> Shape | None:
    """The shape of a line with one whole message; None when the digits in it do not fall into tokens."""
    message, start, reading, _ = found
    if reading.tree is None:
        return None
    body, lexers = text[start:], message.parser.parser.lexer.lexers
    places = _places(body)
    numbered = []
    parents = {id(child): (node.children, index) for node in reading.tree.iter_subtrees() for index, child in enumerate(node.children)}
    for state, token in reading.tokens:
        begin, end = token.start_pos or 0, token.end_pos or 0
        touched = [number for number, place in enumerate(places) if place[0] < end and place[1] > begin]
        if not touched:
            continue
        first, last = touched[0], touched[-1]
        before, behind = places[first][0] - begin, end - places[last][1]
        if before < 0 or behind < 0 or token.type in lexers[state].callback:  # a callback makes another token of it, by its text
            return None
        siblings, index = parents.get(id(token), (None, 0))
        numbered.append(Numbered(token.type, first, last, before, behind, lexers[state], siblings, index))
    return Shape(message.kind, message.family, text[:start], text[start + reading.used :], reading.tree, numbered, followers)


def _places(text: str) -> list[Place]:
    return [found.span() for found in _DIGITS.finditer(text)]


@lru_cache(maxsize=1000)
def _scanner(lexer: BasicLexer) -> re.Pattern[str]:
    """The terminals possible in one state of a parser, in the order in which lark tries them."""
    return re.compile("|".join(f"(?P<{terminal.name}>{terminal.pattern.to_regexp()})" for terminal in lexer.scanner.terminals))
