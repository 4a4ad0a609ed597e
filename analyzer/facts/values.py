"""Parse trees -> values. A rule of common.lark is a type; any other rule is a field, named after itself."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from lark import Token, Tree

from analyzer.units import BINARY_UNITS, DECIMAL_UNITS, Size, size_of

Node = Tree[Token] | Token

IMPLAUSIBLE = 2**60
"""A device with an exbibyte in use: an underflow of the printer (17179869184.00 GiB under WSL), not a figure."""
_IMPLAUSIBLE_MARK = " (implausible)"


def fields_of(nodes: Iterable[Node]) -> dict[str, Any]:
    """The named parts among some nodes. A part that occurs more than once becomes a list; loose argument pairs become `args`.

    A bare type has no name: it is the beginning of a part, where a message was cut.
    """
    fields: dict[str, Any] = {}
    for node in _flat(nodes):
        name = _name(node)
        if name in TYPES:
            continue
        if name == "pair":
            key, value = _pair(node)
            fields.setdefault("args", {})[key] = value
            continue
        value = value_of(node)
        if name not in fields:
            fields[name] = value
        elif name == "args":
            fields[name] = {**fields[name], **value}
        elif isinstance(fields[name], list):
            fields[name].append(value)
        else:
            fields[name] = [fields[name], value]
    return fields


def _flat(nodes: Iterable[Node]) -> Iterable[Tree[Token]]:
    """The field trees among nodes, looking through the helper rules that repetition makes and through unnamed groups."""
    for node in nodes:
        if isinstance(node, Tree):
            if str(node.data).startswith("_"):
                yield from _flat(node.children)
            else:
                yield node


def _name(node: Tree[Token]) -> str:
    return _own_name(node.data)


@cache
def _own_name(rule: str) -> str:
    """A rule's name without that of the grammar it was imported from, one text for all facts."""
    return str(rule).rpartition("__")[2]


def value_of(node: Tree[Token]) -> Any:
    """The value of a field or of a type: Size, int, float, str, bool, None, list or dict."""
    read = TYPES.get(_name(node))
    if read is not None:
        return read(node)
    children = [
        child for child in node.children if not (isinstance(child, Tree) and str(child.data).startswith("_") and not child.children)
    ]
    if not children:
        return True
    if len(children) == 1 and isinstance(children[0], Tree) and _name(children[0]) in TYPES:
        return value_of(children[0])
    if all(isinstance(child, Token) for child in children):
        return " ".join(str(child) for child in children).strip()
    return fields_of(children)


def _token(node: Tree[Token]) -> str:
    return str(node.children[0])


def _size(units: dict[str, int], decimals: int | None) -> Callable[[Tree[Token]], Any]:
    def read(node: Tree[Token]) -> Size | str:
        number, unit = (str(child) for child in node.children)
        return _plausible(size_of(number, unit, units=units, decimals=decimals))

    return read


def _plausible(size: Size) -> Size | str:
    return size if abs(size.bytes) < IMPLAUSIBLE else f"{size.text}{_IMPLAUSIBLE_MARK}"


def is_implausible(value: Any) -> bool:
    """Whether a value is what an implausible figure is read as: its text, marked."""
    return isinstance(value, str) and value.endswith(_IMPLAUSIBLE_MARK)


def _scaled(unit: str, decimals: int | None = None) -> Callable[[Tree[Token]], Any]:
    """A bare number whose unit is known from the wording."""

    def read(node: Tree[Token]) -> Size | str:
        return _plausible(size_of(_token(node), unit, decimals=decimals, text=f"{_token(node)} {unit}"))

    return read


def _integer(node: Tree[Token]) -> int:
    return int("".join(character for character in _token(node) if character.isdigit() or character in "+-"))


def _number(node: Tree[Token]) -> int | float:
    text = _token(node).replace("_", "").replace(",", ".")
    return float(text) if any(character in text for character in ".eE") else int(text)


def _quoted(node: Tree[Token]) -> str:
    text = _token(node)
    if "\\" not in text:
        return text[1:-1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a Windows path has escapes that are none
            return str(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text[1:-1]


PYTHON_WORDS: dict[str, Any] = {"None": None, "True": True, "False": False, "null": None, "true": True, "false": False}


def _word(node: Tree[Token]) -> Any:
    return PYTHON_WORDS.get(_token(node), _token(node))


def _pair(node: Tree[Token]) -> tuple[str, Any]:
    key, value = node.children
    return (str(key) if isinstance(key, Token) else str(value_of(key))), value_of(value) if isinstance(value, Tree) else str(value)


def _list(node: Tree[Token]) -> list[Any]:
    return [value_of(child) for child in _flat(node.children)]


def _pairs(node: Tree[Token]) -> dict[str, Any]:
    return dict(_pair(child) for child in _flat(node.children) if _name(child) == "pair")


def _call(node: Tree[Token]) -> dict[str, Any] | str:
    pairs = _pairs(node)
    positional = [value_of(child) for child in _flat(node.children) if _name(child) != "pair"]
    return pairs if pairs or not positional else f"{_token(node)}{', '.join(map(str, positional))})"


def _inner(node: Tree[Token]) -> Any:
    child = node.children[0]
    return value_of(child) if isinstance(child, Tree) else str(child)


TYPES: dict[str, Callable[[Tree[Token]], Any]] = {
    "arguments": _pairs,
    "binary_size": _size(BINARY_UNITS, None),
    "bytes": lambda node: _plausible(Size.exact(_integer(node), f"{_token(node)} B")),
    "decimal_gb": _scaled("GB"),
    "gib": _scaled("GiB"),
    "integer": _integer,
    "kib": _scaled("KiB"),
    "mib": _scaled("MiB"),
    "number": _number,
    "percent": _number,
    "python_call": _call,
    "python_cut": _token,
    "python_dict": _pairs,
    "python_enum": _token,
    "python_list": _list,
    "python_number": _number,
    "python_value": _inner,
    "python_word": _word,
    "quoted": _quoted,
    "rounded_binary_size": _size(BINARY_UNITS, 2),
    "rounded_gib": _scaled("GiB", 2),
    "rounded_size": _size(DECIMAL_UNITS, 2),
    "size": _size(DECIMAL_UNITS, None),
    "text": _token,
    "word": _token,
}
