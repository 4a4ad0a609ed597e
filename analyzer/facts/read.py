"""One message read from one text: how far its parser gets, and what it then knows.

Logs cut, wrap and prolong messages. A parser is therefore driven token by token, and three ends are told apart:
the message was read to an end that its grammar allows; the text ran out before that (it may go on in the next line);
or something else stands there, and it is not this message.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from lark import Lark, Token
from lark.exceptions import UnexpectedInput
from lark.lexer import PatternStr
from lark.parsers.lalr_interactive_parser import InteractiveParser

from analyzer.facts.values import fields_of

END = "$END"
ELLIPSES = ("...", "…", "[...]", "<...>")
"""What people put where they cut a paste."""


class Ending(Enum):
    COMPLETE = "complete"
    CUT = "cut"
    OTHER = "something else"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a text was read: the fields known, the characters used, and whether more text could prolong it."""

    ending: Ending
    fields: dict[str, Any]
    used: int
    open: bool
    """The text ran out where the grammar would have taken more."""
    mid_word: bool = False
    """The text ran out inside a word of the message."""
    could_end: bool = False
    """A cut message that would have been whole without its last, unfinished part."""
    tokens: int = 0


def read_message(parser: Lark, text: str) -> Reading:
    """Read the message at the beginning of a text. Text behind the message's end is left alone."""
    progress = parser.parse_interactive(text)
    used = complete = tokens = 0
    last: Token | None = None
    try:
        for token in progress.iter_parse():
            complete = used if END in progress.choices() else complete
            last, used, tokens = token, token.end_pos or used, tokens + 1
        rest = ""
    except UnexpectedInput:
        rest = text[used:].strip()
    expected = progress.accepts()
    word_cut = bool(rest) and _begins_expected_literal(parser, expected, rest)
    ran_out = not rest or word_cut or rest in ELLIPSES
    if END in expected and not word_cut:
        tree = progress.feed_eof(last)
        return Reading(Ending.COMPLETE, fields_of(tree.children), used, open=ran_out and expected != {END}, tokens=tokens)
    if not ran_out or last is None:
        return _without_unknown_tail(parser, text[:complete], used)
    could_end = complete > 0 or END in expected
    return Reading(Ending.CUT, fields_of(_finished(progress)), used, open=True, mid_word=word_cut, could_end=could_end, tokens=tokens)


def _without_unknown_tail(parser: Lark, text: str, used: int) -> Reading:
    """The message up to where it could have ended, when what follows there only begins like one of its optional parts."""
    reading = read_message(parser, text) if text else None
    if reading is None or reading.ending is not Ending.COMPLETE:
        return Reading(Ending.OTHER, {}, used, open=False)
    return replace(reading, open=False)


def _finished(progress: InteractiveParser) -> list[Any]:
    """The parts that were complete when the text ended."""
    return list(progress.parser_state.value_stack)


def _begins_expected_literal(parser: Lark, expected: set[str], rest: str) -> bool:
    patterns = (parser.get_terminal(name).pattern for name in expected if name != END)
    return any(
        isinstance(pattern, PatternStr) and len(rest) < len(pattern.value) and pattern.value.startswith(rest) for pattern in patterns
    )
