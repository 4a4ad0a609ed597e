"""One message read from one text: how far its parser gets, and what it then knows.

Logs cut, wrap and prolong messages. A parser is therefore driven token by token, and three ends are told apart:
the message was read to an end that its grammar allows; the text ran out before that (it may go on in the next line);
or something else stands there, and it is not this message.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Any

from lark import Lark, Token, Tree
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
    glues: tuple[str, ...] = ()
    """The text ran out inside a phrase of the message: it goes on behind a blank, or without one in the middle of a word."""
    could_end: bool = False
    """A cut message that would have been whole without its last, unfinished part."""
    tokens: int = 0


def read_message(parser: Lark, text: str) -> Reading:
    """Read the message at the beginning of a text. Text behind the message's end is left alone."""
    progress = parser.parse_interactive(text)
    used = complete = tokens = 0
    last: Token | None = None
    try:
        for token in progress.lexer_thread.lex(progress.parser_state):
            complete = used if END in progress.choices() else complete
            progress.feed_token(token)
            last, used, tokens = token, token.end_pos or used, tokens + 1
        rest = ""
    except UnexpectedInput:
        rest = text[used:].strip()
    can_end = _can_end(progress)
    glues = _glues_of_cut_literals(parser, progress, rest) if rest else ()
    ran_out = not rest or bool(glues) or rest in ELLIPSES
    if can_end and not glues:
        may_go_on = any(_is_terminal(name) for name in progress.choices() if name != END)
        tree = progress.feed_eof(last)
        return Reading(Ending.COMPLETE, fields_of(tree.children), used, open=ran_out and may_go_on, tokens=tokens)
    if not ran_out or last is None:
        return _without_unknown_tail(parser, text[:complete], used)
    could_end = can_end or _without_unknown_tail(parser, text[:complete], used).ending is Ending.COMPLETE
    return Reading(Ending.CUT, fields_of(_finished(parser, progress)), used, open=True, glues=glues, could_end=could_end, tokens=tokens)


def _is_terminal(name: str) -> bool:
    """Whether a symbol of a grammar is a terminal; one of an imported grammar has that grammar's name in front ("common__NUMBER")."""
    return name.rpartition("__")[2].isupper()


def _without_unknown_tail(parser: Lark, text: str, used: int) -> Reading:
    """The message up to where it could have ended, when what follows there only begins like one of its optional parts."""
    reading = read_message(parser, text) if text else None
    if reading is None or reading.ending is not Ending.COMPLETE:
        return Reading(Ending.OTHER, {}, used, open=False)
    return replace(reading, open=False)


def _finished(parser: Lark, progress: InteractiveParser) -> list[Any]:
    """The parts that were complete when the text ended, without the pieces of a part that was not."""
    own = _names_of_parts(parser)
    return [
        part for part in progress.parser_state.value_stack if isinstance(part, Tree) and (part.data in own or part.data.startswith("_"))
    ]


@cache
def _names_of_parts(parser: Lark) -> frozenset[str]:
    """The rules that stand in a message itself, not inside one of its parts."""
    kinds = set(parser.options.start)
    own = {
        symbol.name for rule in parser.rules if rule.origin.name in kinds or rule.origin.name.startswith("_") for symbol in rule.expansion
    }
    return frozenset(own | {rule.alias for rule in parser.rules if rule.alias and rule.origin.name in own})


def _can_end(progress: InteractiveParser) -> bool:
    """Whether the message may end here. `InteractiveParser.accepts` tells it too, but it tries every symbol, which takes long."""
    if END not in progress.choices():
        return False
    attempt = progress.copy(deepcopy_values=False)
    attempt.parser_state.parse_conf = copy(attempt.parser_state.parse_conf)
    attempt.parser_state.parse_conf.callbacks = {}
    try:
        attempt.feed_eof()
    except UnexpectedInput:
        return False
    return True


def _glues_of_cut_literals(parser: Lark, progress: InteractiveParser, rest: str) -> tuple[str, ...]:
    """What stands between the end of a text and the rest of each literal that it begins: a blank or nothing."""
    patterns = {name: parser.get_terminal(name).pattern for name in progress.choices() if name != END and _is_terminal(name)}
    begun = {
        name: pattern.value[len(rest)]
        for name, pattern in patterns.items()
        if isinstance(pattern, PatternStr) and pattern.value != rest and pattern.value.startswith(rest)
    }
    accepted = progress.accepts() if begun else set()
    return tuple(sorted({" " if following == " " else "" for name, following in begun.items() if name in accepted}))
