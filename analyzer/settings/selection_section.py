"""Reads and judges the section `selection` of a profiles file."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import BaseModel, ConfigDict, ValidationError

from analyzer.settings.arguments import UnitFraction, expectation
from analyzer.settings.errors import Problem
from analyzer.settings.model import SAFETY_FACTOR, SelectionRule
from analyzer.settings.recognition import Recognised, kind
from analyzer.settings.yaml_nodes import Document, EffectiveEntry, MappingNode, ScalarNode, SequenceNode, effective_entries, plain, resolve


class SelectionArguments(BaseModel):
    """The values of the section; the order is read apart, because its names must be found among the profiles."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    safety_factor: UnitFraction = None


def read_selection(file: Recognised, profiles: Collection[str]) -> tuple[SelectionRule | None, list[Problem]]:
    """How the file says to choose among the profiles of these names, None when it does not say, and what is wrong with it."""
    document = file.document
    found = effective_entries(file.root).get("selection")
    if file.form != "profiles" or found is None:
        return None, []
    line = document.line(found.entry.key.span.start)
    node = resolve(found.entry.value)
    if not isinstance(node, MappingNode):
        return None, [Problem(document.name, line, "selection", f"expected a mapping with safety_factor and order, found {kind(node)}")]
    entries = effective_entries(node)
    problems = [
        Problem(
            document.name, document.line(entries[key].entry.key.span.start), f"selection.{key}", "unknown: expected safety_factor or order"
        )
        for key in entries
        if key not in {"safety_factor", "order"}
    ]
    safety_factor, wrong = _safety_factor(document, entries)
    order, misplaced = _order(document, entries.get("order"), profiles)
    return SelectionRule(safety_factor, order, document.name, line), problems + wrong + misplaced


def _safety_factor(document: Document, entries: dict[str, EffectiveEntry]) -> tuple[float, list[Problem]]:
    try:
        judged = SelectionArguments.model_validate({key: plain(found.entry.value) for key, found in entries.items()}, context="profiles")
    except ValidationError as error:
        line = document.line(entries["safety_factor"].entry.key.span.start)
        return SAFETY_FACTOR, [Problem(document.name, line, "selection.safety_factor", expectation(error)["safety_factor"])]
    return judged.safety_factor or SAFETY_FACTOR, []


def _order(document: Document, found: EffectiveEntry | None, profiles: Collection[str]) -> tuple[tuple[str, ...] | None, list[Problem]]:
    if found is None:
        return None, []
    node = resolve(found.entry.value)
    names: list[str] = []
    problems = []
    for item in node.items if isinstance(node, SequenceNode) else ():
        name = resolve(item)
        text = name.text if isinstance(name, ScalarNode) else kind(name)
        if not isinstance(name, ScalarNode) or text not in profiles:
            message = f"{text} is no profile: expected some of {', '.join(profiles)}"
            problems.append(Problem(document.name, document.line(item.span.start), "selection.order", message))
        elif text in names:
            problems.append(Problem(document.name, document.line(item.span.start), "selection.order", f"{text} is named twice"))
        names.append(text)
    if not names:
        line = document.line(found.entry.key.span.start)
        problems.append(Problem(document.name, line, "selection.order", f"expected a list of names of profiles, found {kind(node)}"))
    return tuple(names), problems
