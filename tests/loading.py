"""Grammars and rules loaded once, for tests that make hundreds of analyses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from analyzer.grammar import load_grammars
from analyzer.rulebook.rulebook import load_rulebook


@contextmanager
def grammars_and_rules_kept() -> Iterator[None]:
    """While it lasts, every analysis uses the same grammars and rules."""
    grammars = load_grammars()
    rulebook = load_rulebook(grammars)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analyzer.pipeline.load_grammars", lambda: grammars)
        patch.setattr("analyzer.pipeline.load_rulebook", lambda *_: rulebook)
        yield
