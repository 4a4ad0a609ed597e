"""Grammars and rules are loaded once for all the analyses of the corpus."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from analyzer.grammar import load_grammars
from analyzer.rulebook.rulebook import load_rulebook


@pytest.fixture(scope="package", autouse=True)
def loaded_once() -> Iterator[None]:
    grammars = load_grammars()
    rulebook = load_rulebook(grammars)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analyzer.pipeline.load_grammars", lambda: grammars)
        patch.setattr("analyzer.pipeline.load_rulebook", lambda *_: rulebook)
        yield
