"""One message read from one text: how far its parser gets, and what it then knows.

Logs cut, wrap and prolong messages. A parser is therefore driven token by token, and three ends are told apart:
the message was read to an end that its grammar allows; the text ran out before that (it may go on in the next line);
or something else stands there, and it is not this message.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput
from lark.lexer import PatternStr
from lark.parsers.lalr_analysis import Shift
from lark.parsers.lalr_interactive_parser import InteractiveParser

from analyzer.facts.values import fields_of

END = "$END"
UNIT = "UNIT"
"""Type of the token behind which a figure is whole, whatever comes. A number at the end of a text may have lost digits."""
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
    tokens: tuple[tuple[int, Token], ...] = ()
    """The tokens, each with the state in which the parser met it."""
    tree: Tree[Token] | None = None
    """What a complete message was parsed into."""


def read_message(parser: Lark, text: str) -> Reading:
    """Read the message at the beginning of a text. Text behind the message's end is left alone."""
    try:
        return _read(parser, text)
    except RecursionError:  # values nested by the hundred: no engine prints them
        return Reading(Ending.OTHER, {}, 0, open=False)


def _read(parser: Lark, text: str) -> Reading:
    progress = parser.parse_interactive(text)
    used = complete = 0
    tokens: list[tuple[int, Token]] = []
    last: Token | None = None
    try:
        for token in progress.lexer_thread.lex(progress.parser_state):
            complete = used if END in progress.choices() else complete
            state = progress.parser_state.position
            progress.feed_token(token)
            last, used = token, token.end_pos or used
            tokens.append((state, token))
        rest = ""
    except UnexpectedInput:
        rest = text[used:].strip()
    can_end = _can_end(progress)
    begun = _begun_literals(parser, progress, rest) if rest else {}
    glues = tuple(sorted({" " if following == " " else "" for following in begun.values()}))
    ran_out = not rest or bool(glues) or rest in ELLIPSES
    if can_end and not glues:
        may_go_on = any(_is_terminal(name) for name in progress.choices() if name != END)
        tree = progress.feed_eof(last)
        return Reading(Ending.COMPLETE, fields_of(tree.children), used, open=ran_out and may_go_on, tokens=tuple(tokens), tree=tree)
    if not ran_out or last is None:
        return _without_unknown_tail(parser, text[:complete], used)
    could_end = can_end or _without_unknown_tail(parser, text[:complete], used).ending is Ending.COMPLETE
    parts = _finished(parser, progress)
    last_is_whole = last.type.endswith(UNIT) or text[used:].startswith(" ")
    if glues or (last_is_whole and (rest or parts)):
        parts = _finished(parser, _closed(progress, begun))
    return Reading(Ending.CUT, fields_of(parts), used, open=True, glues=glues, could_end=could_end, tokens=tuple(tokens))


def _is_terminal(name: str) -> bool:
    """Whether a symbol of a grammar is a terminal; one of an imported grammar has that grammar's name in front ("common__NUMBER")."""
    return name.rpartition("__")[2].isupper()


def _without_unknown_tail(parser: Lark, text: str, used: int) -> Reading:
    """The message up to where it could have ended, when what follows there only begins like one of its optional parts."""
    reading = read_message(parser, text) if text else None
    if reading is None or reading.ending is not Ending.COMPLETE:
        return Reading(Ending.OTHER, {}, used, open=False)
    return replace(reading, open=False)


def _closed(progress: InteractiveParser, begun: Iterable[str]) -> InteractiveParser:
    """The state with the part closed that ends at the last token. A parser does that only when it sees what comes next.

    `begun` names what is known to come next; where nothing is known, all that may come next must close the part alike.
    """
    if any(action is Shift for action, _ in progress.choices().values()):
        return progress
    ends = [_fed(progress, name) for name in sorted(begun or progress.accepts() - {END})]
    parts = {tuple(part.data for part in end.parser_state.value_stack if isinstance(part, Tree)) for end in ends}
    return ends[0] if len(parts) == 1 else progress


def _fed(progress: InteractiveParser, name: str) -> InteractiveParser:
    """The state after one more terminal."""
    further: InteractiveParser = progress.copy()
    further.feed_token(Token(name, ""))
    return further


def _finished(parser: Lark, progress: InteractiveParser) -> list[Any]:
    """The parts that were complete when the text ended, without the pieces of a part that was not."""
    own = _names_of_parts(parser)
    parts = _before_unfinished_pair(progress.parser_state.value_stack)
    return [part for part in parts if isinstance(part, Tree) and (part.data in own or part.data.startswith("_"))]


def _before_unfinished_pair(stack: list[Any]) -> list[Any]:
    """The parts in front of an argument whose value was cut: what stands behind its name may be the inside of that value."""
    for index, part in enumerate(stack):
        if isinstance(part, Token):
            behind_a_text = index > 0 and isinstance(stack[index - 1], Tree) and stack[index - 1].data.rpartition("__")[2] == "quoted"
            if part.type.rpartition("__")[2] == "KEY" or (part == ":" and behind_a_text):
                return stack[:index]
    return stack


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


def _begun_literals(parser: Lark, progress: InteractiveParser, rest: str) -> dict[str, str]:
    """The literals that may come next and that the rest of a text begins, each with its first character that is missing."""
    patterns = {name: parser.get_terminal(name).pattern for name in progress.choices() if name != END and _is_terminal(name)}
    begun = {
        name: pattern.value[len(rest)]
        for name, pattern in patterns.items()
        if isinstance(pattern, PatternStr) and pattern.value != rest and pattern.value.startswith(rest)
    }
    accepted = progress.accepts() if begun else set()
    return {name: missing for name, missing in begun.items() if name in accepted}
