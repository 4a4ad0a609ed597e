"""The messages of a program, from its syntax trees: every log call, print, warning, exception and assertion, as templates.

A template is the text with a placeholder for each value, in the notation of str.format: "Model loading took {weights:.2f} GiB". Whatever
a message is written as (f-string, % or .format, joined literals, a variable set before, alternatives) comes out in this form.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from analyzer.conformance.expressions import FUNCTIONS, Scope, message_texts, scope_of
from analyzer.conformance.words import speaks_of_memory

LOG_METHODS = frozenset({"critical", "debug", "error", "exception", "fatal", "info", "log", "warn", "warning"})
LOG_FUNCTIONS = {
    "log_debug_on_rank0": "debug",
    "log_fn": "info",
    "log_func": "info",
    "log_info_on_rank0": "info",
    "log_warning_on_rank0": "warning",
    "print": "print",
    "print_info_once": "info",
    "print_warning_once": "warning",
    "rank0_log": "info",
}
"""Functions that print, and the level at which they do."""
WARN = "warn"
"""Of `warnings`: behind the text stands what kind of warning it is."""
ONCE = "_once"
EXCEPTION_ENDINGS = ("Error", "Exception")


@dataclass(frozen=True, slots=True, order=True)
class Template:
    """One message: where it stands (the path within the package), at which level it is logged or as what it is raised, and its text."""

    file: str
    level: str
    text: str


def templates_of(source: str, file: PurePosixPath) -> set[Template]:
    """The messages of one file that speak of memory. Raises SyntaxError for a file that is not Python."""
    tree = ast.parse(source)
    return {
        Template(str(file), level, text)
        for level, message, scope in _messages(tree, scope_of(tree))
        for text in message_texts(message, scope)
        if speaks_of_memory(text)
    }


def _messages(node: ast.AST, scope: Scope) -> Iterator[tuple[str, list[ast.expr], Scope]]:
    """Level, arguments that make the text, and names known there, of every message below a node."""
    inner = scope_of(node, scope) if isinstance(node, FUNCTIONS) else scope
    found = _message(node)
    if found is not None:
        yield *found, inner
    for child in ast.iter_child_nodes(node):
        yield from _messages(child, inner)


def _message(node: ast.AST) -> tuple[str, list[ast.expr]] | None:
    if isinstance(node, ast.Assert) and node.msg is not None:
        return "exception AssertionError", [node.msg]
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        return f"exception {_name(node.exc.func)}", node.exc.args[:1]
    if not isinstance(node, ast.Call):
        return None
    name = _name(node.func)
    if name.endswith(EXCEPTION_ENDINGS):
        return f"exception {name}", node.args[:1]
    if name == WARN:
        return "warning", node.args[:1]
    level = LOG_FUNCTIONS.get(name) or (_log_level(node.func) if isinstance(node.func, ast.Attribute) else None)
    return None if level is None else (level, _without_receiver(node.args))


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def _log_level(function: ast.Attribute) -> str | None:
    """The level of a logger's method; None for methods of anything else."""
    method = function.attr.removesuffix(ONCE)
    return method if method in LOG_METHODS and "log" in ast.unparse(function.value).lower() else None


def _without_receiver(arguments: list[ast.expr]) -> list[ast.expr]:
    """The arguments from the text on: some functions take a logger or a level first."""
    first = arguments[0] if arguments else None
    return arguments[1:] if isinstance(first, (ast.Name, ast.Attribute)) and "log" in ast.unparse(first).lower() else arguments
