"""Values of settings as a log shows them, and where."""

from __future__ import annotations

from math import isfinite

from analyzer.cases.model import Run
from analyzer.figures.argument_source import argument_source


def argument(run: Run, name: str) -> tuple[int | float | None, str]:
    """The number that an argument has in the log, and where; (None, "") when it is not shown or no number."""
    value = run.args.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return None, ""
    return value, argument_source(run, name) or ""


def word(run: Run, name: str) -> tuple[str | None, str]:
    """The word that an argument has in the log, and where; (None, "") when it is not shown or no word."""
    value = run.args.get(name)
    return (value, argument_source(run, name) or "") if isinstance(value, str) else (None, "")


def printed(run: Run, kind: str, name: str) -> tuple[int | None, str]:
    """The first whole number that the engine prints under this name in messages of a kind, and where."""
    for fact in run.all(kind):
        value = fact.fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value, f"printed by the engine, line {fact.line.number}"
    return None, ""
