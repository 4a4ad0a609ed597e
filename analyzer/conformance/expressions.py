"""An expression of a program's source -> the texts that it may come to, with placeholders for what only the running program knows."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

MOST_ALTERNATIVES = 8
"""Of so many combinations of alternatives a message is made."""
MOST_STEPS = 5
"""So many names are followed one behind the other."""
LONGEST_NAME = 60
TRIMMING = frozenset({"cleandoc", "dedent", "lstrip", "rstrip", "strip"})
"""Calls that leave a text as it is but for blanks."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_PERCENT = re.compile(
    r"%(?:\((?P<key>\w+)\))?(?P<flags>[#0 +-]*)(?P<width>\d*|\*)(?P<precision>(?:\.(?:\d+|\*))?)[hlL]?(?P<type>[a-zA-Z%])"
)


@dataclass(frozen=True)
class Scope:
    """What the names of a function, and of what surrounds it, are set to."""

    values: dict[str, list[ast.expr]]
    outer: Scope | None = None

    def find(self, name: str) -> list[ast.expr]:
        """Everything that a name is set to in the innermost function that sets it."""
        return self.values.get(name) or (self.outer.find(name) if self.outer else [])


def scope_of(node: ast.AST, outer: Scope | None = None) -> Scope:
    """The names set in a function or module itself. `name += text` sets it to the text before and the new one."""
    values: dict[str, list[ast.expr]] = {}
    for statement in _statements(node):
        match statement:
            case ast.Assign(targets=[ast.Name(name)], value=value) | ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value):
                values.setdefault(name, []).append(value)
            case ast.AugAssign(target=ast.Name(name), op=ast.Add(), value=value) if name in values:
                values[name].append(ast.BinOp(values[name][-1], ast.Add(), value))
    return Scope(values, outer)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """What is below a node, without the functions in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, FUNCTIONS):
            yield child
            yield from _statements(child)


def message_texts(arguments: Sequence[ast.expr], scope: Scope) -> list[str]:
    """What a call with these arguments may print: the first is the text, the others are put into it or behind it."""
    if not arguments:
        return []
    first, *others = arguments
    found = texts(first, scope)
    if not others:
        return found
    return [
        _percent(text, others, scope) if _PERCENT.search(text) else " ".join([text, *(_value(one, scope)[0] for one in others)])
        for text in found
    ]


def texts(node: ast.expr, scope: Scope, steps: int = MOST_STEPS) -> list[str]:
    """The templates that an expression may come to; none for one that is not made of texts."""

    def inner(part: ast.expr) -> list[str]:
        return texts(part, scope, steps)

    match node:
        case ast.Constant(value=str(text)):
            return [_escaped(text)]
        case ast.JoinedStr(values=parts):
            return _joined([_piece(part, scope, steps) for part in parts])
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            sides = inner(left), inner(right)
            return _joined([sides[0] or [placeholder(left)], sides[1] or [placeholder(right)]]) if any(sides) else []
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            values = right.elts if isinstance(right, ast.Tuple) else [right]
            return [_percent(text, values, scope) for text in inner(left)]
        case ast.IfExp(body=body, orelse=orelse):
            return _either([body, orelse], inner)
        case ast.BoolOp(values=values):
            return _either(values, inner)
        case ast.Name(name) if steps > 0:
            return [text for value in scope.find(name) for text in texts(value, scope, steps - 1)]
        case ast.Call():
            return _returned(node, inner)
    return []


def _returned(call: ast.Call, inner: Callable[[ast.expr], list[str]]) -> list[str]:
    """The texts that a call of str.format, str or a function that trims blanks may give."""
    match call:
        case ast.Call(func=ast.Attribute(value=text, attr="format")):
            return [_formatted(template, call) for template in inner(text)]
        case ast.Call(func=ast.Attribute(value=text, attr=method), args=arguments) if method in TRIMMING:
            return [found.strip() for found in inner(text) or [found for argument in arguments[:1] for found in inner(argument)]]
        case ast.Call(func=ast.Name(function), args=[argument]) if function in {*TRIMMING, "str"}:
            return inner(argument)
    return []


def _either(choices: Sequence[ast.expr], inner: Callable[[ast.expr], list[str]]) -> list[str]:
    """The texts of alternatives of which some may be values; none when all are."""
    found = [inner(choice) for choice in choices]
    return [text for choice, known in zip(choices, found, strict=True) for text in known or [placeholder(choice)]] if any(found) else []


def _joined(parts: Iterable[list[str]]) -> list[str]:
    return ["".join(combination) for combination in islice(product(*parts), MOST_ALTERNATIVES)]


def _piece(part: ast.expr, scope: Scope, steps: int) -> list[str]:
    """A piece of an f-string: text as it is, a value as the texts it may be, or as a placeholder."""
    if not isinstance(part, ast.FormattedValue):
        return texts(part, scope, steps)
    specification = "".join(str(piece.value) for piece in getattr(part.format_spec, "values", []) if isinstance(piece, ast.Constant))
    if not specification and part.conversion == -1:
        return _value(part.value, scope, steps)
    return [placeholder(part.value, chr(part.conversion) if part.conversion != -1 else "", specification)]


def _value(node: ast.expr, scope: Scope, steps: int = MOST_STEPS) -> list[str]:
    return texts(node, scope, steps - 1)[:MOST_ALTERNATIVES] or [placeholder(node)]


def placeholder(node: ast.expr | None, conversion: str = "", specification: str = "") -> str:
    """A place for a value, named after its expression: `self.free_memory / GiB_bytes` is {free_memory_GiB_bytes}."""
    source = ast.unparse(node) if node is not None else "value"
    name = re.sub(r"\W+", "_", source.replace("self.", "")).strip("_")[:LONGEST_NAME]
    return f"{{{name}{f'!{conversion}' if conversion else ''}{f':{specification}' if specification else ''}}}"


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _percent(template: str, values: Sequence[ast.expr], scope: Scope) -> str:
    """A template whose %-places are filled from left to right, or by name from a dict."""
    remaining = iter(values)
    named = dict(zip(map(_key, values[0].keys), values[0].values, strict=True)) if values and isinstance(values[0], ast.Dict) else {}

    def fill(found: re.Match[str]) -> str:
        if found["type"] == "%":
            return "%"
        value = named.get(found["key"]) if found["key"] else next(remaining, None)
        if found["type"] in "sr" and not found["width"]:
            return _value(value, scope)[0] if found["type"] == "s" and value is not None else placeholder(value, "r")
        flags = found["flags"].replace("-", "<")
        precision = "" if "*" in found["precision"] else found["precision"]
        kind = found["type"].replace("i", "d").replace("u", "d") if found["type"] not in "sra" else ""
        return placeholder(value, specification=f"{flags}{found['width'].replace('*', '')}{precision}{kind}")

    return _in_literals(template, lambda text: _PERCENT.sub(fill, text))


def _key(node: ast.expr | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _in_literals(template: str, change: Callable[[str], str]) -> str:
    """A template with its text changed between the placeholders."""
    parts = re.split(r"((?<!\{)\{[^{}]+\}(?!\}))", template)
    return "".join(part if index % 2 else change(part) for index, part in enumerate(parts))


def _formatted(template: str, call: ast.Call) -> str:
    """A template whose own braces are filled by str.format."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    numbers = iter(range(len(call.args) + 1))

    def value(name: str) -> ast.expr | None:
        root = re.split(r"[.\[]", name)[0]
        if root and not root.isdigit():
            return named.get(root, ast.Name(root))
        index = int(root) if root else next(numbers)
        return call.args[index] if index < len(call.args) else None

    pieces = []
    for text, name, specification, conversion in string.Formatter().parse(template.replace("{{", "{").replace("}}", "}")):
        pieces.append(_escaped(text))
        if name is not None:
            pieces.append(placeholder(value(name), conversion or "", specification or ""))
    return "".join(pieces)
