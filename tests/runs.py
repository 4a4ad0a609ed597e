"""Runs from the text of a log, for tests of figures; grammars and rules are loaded once."""

from __future__ import annotations

from functools import cache

from analyzer.cases.build import build_runs
from analyzer.cases.model import Run
from analyzer.facts.extract import extract_facts
from analyzer.grammar import Grammars, load_grammars
from analyzer.inputs.document import Document
from analyzer.rulebook.rulebook import load_rulebook


@cache
def _loaded() -> tuple[Grammars, frozenset[str]]:
    grammars = load_grammars()
    return grammars, load_rulebook(grammars, []).failing_kinds


def runs_of(log: str) -> list[Run]:
    """All runs of a log."""
    grammars, failing = _loaded()
    extraction = extract_facts(Document("crash.log", log.encode(), grammars.prefixes), grammars)
    return build_runs("crash.log", extraction.facts, failing)


def run_of(log: str) -> Run:
    """The only run of a log."""
    (run,) = runs_of(log)
    return run
