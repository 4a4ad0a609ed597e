"""The grammar files as data: which messages they define, the literals that give each one away, and a parser per message.

A message is a rule that no other rule of its file uses. Each becomes a parser of its own (LALR, contextual lexer),
compiled (or taken from the cache) when a log first needs it, so that no wording can disturb another.
"""

from __future__ import annotations

import hashlib
import pickle
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import lark
from lark import Lark, Token, Tree
from lark.exceptions import LarkError
from lark.grammar import NonTerminal, Terminal
from lark.load_grammar import Grammar, eval_escaping, load_grammar

from analyzer.cache import cache_folder, recall, remember
from analyzer.content import content_folder

COMMON = "common"
PREFIX = "prefix"
SHORT_ANCHOR = 5
"""Literals shorter than this are taken as anchors only when a message has nothing longer to offer."""

_WORDS_BEFORE_WORDS = re.compile(r"/((?:[\w :-]|\\[./])+)\(\?=((?:[\w :-]|\\[./])+)\)/")


class GrammarFileError(ValueError):
    """A grammar file that cannot be used; the message names file, line and what was expected."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A literal that every text of some wording contains; `leads` says that the wording begins with it."""

    literal: str
    leads: bool


@dataclass(frozen=True)
class Message:
    """One kind of message: the rule of that name in a grammar file."""

    kind: str
    family: str
    anchors: tuple[Anchor, ...]
    fields: frozenset[str]
    """Names of the parts that any wording of it may have."""
    definition: bytes = field(repr=False, compare=False)
    """The part of its grammar file that it needs, pickled: most messages occur in no log, and unpickling them all takes long."""
    compiled: Path | None = field(default=None, repr=False, compare=False)
    """Where its compiled parser is cached."""

    @cached_property
    def parser(self) -> Lark:
        """A parser for this message alone."""
        saved = recall(self.compiled) if self.compiled else None
        if isinstance(saved, bytes):
            return Lark.load(BytesIO(saved))
        parser = self._compiled()
        if self.compiled:
            file = BytesIO()
            parser.save(file)
            remember(self.compiled, file.getvalue())
        return parser

    def _compiled(self) -> Lark:
        definition = pickle.loads(self.definition)  # noqa: S301 - made by this program, and checked where it was read from the cache
        try:
            return Lark(definition, start=self.kind, parser="lalr", lexer="contextual", maybe_placeholders=False)
        except LarkError as error:
            raise GrammarFileError(f"{self.family}.lark: message {self.kind!r}: {error}") from error


@dataclass(frozen=True)
class Grammars:
    """All messages of a folder of grammar files, and the line prefixes of `prefix.lark`."""

    messages: dict[str, Message]
    prefixes: dict[str, re.Pattern[str]]

    @cached_property
    def by_anchor(self) -> dict[str, list[tuple[Message, bool]]]:
        """Anchor literal -> the messages it may stand for, and whether they begin with it."""
        found: dict[str, list[tuple[Message, bool]]] = {}
        for message in self.messages.values():
            for anchor in message.anchors:
                found.setdefault(anchor.literal, []).append((message, anchor.leads))
        return found


def load_grammars(folder: Path | None = None, cache: Path | None = None) -> Grammars:
    """The grammars of a folder (by default the ones that travel with the program).

    `cache` is a folder for the parsed definitions and the parsers; one that is missing, foreign or read-only only costs time.
    Raises GrammarFileError for a file that is not a valid grammar or a message without a literal to find it by.
    """
    folder = folder or content_folder("grammars")
    sources = {path.stem: _read(path) for path in sorted(folder.glob("*.lark"))}
    if not sources:
        raise GrammarFileError(f"{folder}: no grammar files (*.lark) found")
    cache = cache or cache_folder()
    if cache is None:
        return _build(folder, sources)
    stored = _cache_file(sources, cache)
    grammars = recall(stored)
    if not isinstance(grammars, Grammars):
        grammars = _build(folder, sources)
        remember(stored, grammars)
    return Grammars({kind: _with_cache(message, stored) for kind, message in grammars.messages.items()}, grammars.prefixes)


def _with_cache(message: Message, stored: Path) -> Message:
    """A message whose parser is cached beside the grammars that it belongs to."""
    return replace(message, compiled=stored.with_name(f"{stored.stem}-{message.kind}.pickle"))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GrammarFileError(f"{path}:1: {error}") from error


def _build(folder: Path, sources: dict[str, str]) -> Grammars:
    common = {str(definition[0]) for definition in _load(folder, COMMON, sources[COMMON]).rule_defs} if COMMON in sources else set()
    messages: dict[str, Message] = {}
    for family, source in sources.items():
        if family in (COMMON, PREFIX):
            continue
        grammar = _load(folder, family, source)
        for message in _messages_of(folder, family, grammar, common):
            if message.kind in messages:
                raise GrammarFileError(
                    f"{folder / family}.lark:{_line_with(source, message.kind)}: "
                    f"message {message.kind!r} is already defined in {messages[message.kind].family}.lark"
                )
            messages[message.kind] = message
    return Grammars(messages, _prefixes(folder, sources.get(PREFIX, "")))


def _load(folder: Path, family: str, source: str) -> Grammar:
    try:
        grammar, _ = load_grammar(source, str(folder / f"{family}.lark"), [str(folder)], False)
    except (LarkError, OSError) as error:
        raise GrammarFileError(f"{folder / family}.lark:{_line_of(error, source)}: {error}") from error
    return cast(Grammar, grammar)


def _line_of(error: Exception, source: str) -> int:
    """The line that an error of the grammar loader is about: the one it names, else the first with the name that it quotes."""
    numbered, quoted = re.search(r"line (\d+)", str(error)), re.search(r"'(\w+)(?:\.lark)?'", str(error))
    return int(numbered[1]) if numbered else _line_with(source, quoted[1]) if quoted else 1


def _line_with(source: str, name: str) -> int:
    return next((number for number, line in enumerate(source.split("\n"), 1) if re.search(rf"\b{re.escape(name)}\b", line)), 1)


def _messages_of(folder: Path, family: str, grammar: Grammar, common: set[str]) -> Iterator[Message]:
    rules = {str(name): tree for name, _, tree, _ in grammar.rule_defs}
    terminals = {str(name): definition[0] for name, definition in grammar.term_defs}
    used = {name for rule, tree in rules.items() for name in _mentioned(tree) if name != rule}
    for name, _, tree, _ in grammar.rule_defs:
        kind = str(name)
        if kind in used or kind in common or "__" in kind:
            continue
        anchors = _anchors(tree, rules, terminals)
        if not anchors:
            raise GrammarFileError(
                f"{folder / family}.lark:{getattr(name, 'line', 1)}: a wording of {kind!r} has no literal text to find it by"
            )
        yield Message(kind, family, anchors, _fields(tree, rules), pickle.dumps(_only(grammar, kind, rules, terminals), protocol=5))


def _fields(tree: Tree[Any], rules: dict[str, Tree[Any]]) -> frozenset[str]:
    """The rules named in a definition, looking through helper rules, whose names begin with an underscore.

    What stands before a double underscore only tells rules of one name apart (`exact__total`); it is no part of the field's name.
    """
    found: set[str] = set()
    pending, seen = [tree], set()
    while pending:
        for leaf in pending.pop().scan_values(lambda value: isinstance(value, NonTerminal)):
            if not leaf.name.startswith("_"):
                found.update(_field_names(leaf.name, rules))
            elif leaf.name not in seen and leaf.name in rules:
                seen.add(leaf.name)
                pending.append(rules[leaf.name])
    return frozenset(found)


def _field_names(rule: str, rules: dict[str, Tree[Any]]) -> set[str]:
    """What a field is called in a fact: the aliases of its rule (`rule: type -> name`), else the rule's name. Loose pairs are `args`."""
    aliases = {str(cast(NonTerminal, alias.children[1]).name) for alias in rules[rule].find_data("alias")} if rule in rules else set()
    return {"args" if name == "pair" else name for name in aliases or {rule.rpartition("__")[2]}}


def _mentioned(tree: Tree[Any]) -> set[str]:
    """Names of all rules and terminals in a definition."""
    return {leaf.name for leaf in tree.scan_values(lambda value: isinstance(value, (NonTerminal, Terminal)))}


def _only(grammar: Grammar, start: str, rules: dict[str, Tree[Any]], terminals: dict[str, Tree[Any]]) -> Grammar:
    """The part of a grammar that one rule reaches."""
    reached: set[str] = set(grammar.ignore)
    pending = [start, *grammar.ignore]
    while pending:
        name = pending.pop()
        reached.add(name)
        definition = rules.get(name, terminals.get(name))
        pending += [found for found in (_mentioned(definition) if definition is not None else ()) if found not in reached]
    return Grammar(
        [definition for definition in grammar.rule_defs if str(definition[0]) in reached],
        [definition for definition in grammar.term_defs if str(definition[0]) in reached],
        grammar.ignore,
    )


def _anchors(tree: Tree[Any], rules: dict[str, Tree[Any]], terminals: dict[str, Tree[Any]]) -> tuple[Anchor, ...]:
    """One anchor for each wording of a message; empty when some wording has no literal."""
    found = _literals(tree, rules, terminals, frozenset())
    return tuple(dict.fromkeys(found)) if found else ()


def _literals(node: Any, rules: dict[str, Tree[Any]], terminals: dict[str, Tree[Any]], seen: frozenset[str]) -> tuple[Anchor, ...] | None:
    """Anchors of which every text of this node contains at least one; None when there is no such set."""
    if isinstance(node, (NonTerminal, Terminal)):
        definition = rules.get(node.name, terminals.get(node.name))
        if definition is None or node.name in seen:
            return None
        return _literals(definition, rules, terminals, seen | {node.name})
    if node.data == "literal":
        literal = _plain_text(node.children[0])
        return (Anchor(literal, leads=True),) if literal else None
    if node.data == "expr":
        inner, operator = node.children[0], str(node.children[1])
        return _literals(inner, rules, terminals, seen) if operator == "+" else None
    if node.data == "expansions":
        alternatives = [_literals(child, rules, terminals, seen) for child in node.children]
        if any(alternative is None for alternative in alternatives):
            return None
        return tuple(anchor for alternative in alternatives for anchor in alternative or ())
    if node.data == "expansion":
        return _best_of_sequence([_literals(child, rules, terminals, seen) for child in node.children])
    if node.data in ("value", "alias"):
        return _literals(node.children[0], rules, terminals, seen)
    return None


def _best_of_sequence(items: list[tuple[Anchor, ...] | None]) -> tuple[Anchor, ...] | None:
    """The leading item when its literals are long enough, else the item whose shortest literal is longest."""

    def shortest(anchors: tuple[Anchor, ...]) -> int:
        return min(len(anchor.literal) for anchor in anchors)

    if items and items[0] and shortest(items[0]) >= SHORT_ANCHOR:
        return items[0]
    usable = [(position, anchors) for position, anchors in enumerate(items) if anchors]
    if not usable:
        return None
    position, best = max(usable, key=lambda item: (shortest(item[1]), -item[0]))
    return best if position == 0 else tuple(Anchor(anchor.literal, leads=False) for anchor in best)


def _plain_text(token: Token) -> str:
    """The text that a string, or a regular expression of plain words before a lookahead of plain words, stands for; empty for others.

    Of a string only the part before a line break: literals are looked for in single lines.
    """
    if token.type == "STRING" and token.endswith('"'):
        return re.split(r"\s*\n", _unquote(token))[0]
    expression = _WORDS_BEFORE_WORDS.fullmatch(str(token))
    return (expression[1] + expression[2]).replace("\\", "") if expression else ""


def _unquote(token: Token) -> str:
    """A string as lark reads it, escapes and all."""
    return str(eval_escaping(str(token)[1:-1])).replace("\\\\", "\\")


def _prefixes(folder: Path, source: str) -> dict[str, re.Pattern[str]]:
    """The terminals of prefix.lark, in the order of the file."""
    if not source:
        return {}
    compiled: dict[str, re.Pattern[str]] = {}
    for name, (tree, _) in _load(folder, PREFIX, source).term_defs:
        literals = list(tree.scan_values(lambda value: isinstance(value, Token) and value.type == "REGEXP"))
        if len(literals) != 1 or not literals[0].endswith("/"):
            raise GrammarFileError(
                f"{folder / PREFIX}.lark:{_line_with(source, name)}: {name} must be one regular expression without flags"
            )
        try:
            compiled[str(name)] = re.compile(str(literals[0])[1:-1].replace("\\/", "/"))
        except re.error as error:
            raise GrammarFileError(f"{folder / PREFIX}.lark:{_line_with(source, name)}: {name}: {error}") from error
    return compiled


def _cache_file(sources: dict[str, str], folder: Path) -> Path:
    key = hashlib.sha256(f"{lark.__version__}\0{platform.python_version()}\0".encode())
    key.update(Path(__file__).read_bytes())
    for name, source in sources.items():
        key.update(f"{name}\0{source}\0".encode())
    return folder / f"grammars-{key.hexdigest()[:32]}.pickle"
