"""The grammars, loaded once, and a reader of texts with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from analyzer.facts.extract import extract_facts
from analyzer.facts.fact import Fact
from analyzer.grammar import Grammars, load_grammars
from analyzer.inputs.document import Document
from tests.grammars.catalogues import NAMES, Read, facts_of_examples

Reader = Callable[[str], list[Fact]]


@pytest.fixture(scope="session")
def grammars() -> Grammars:
    return load_grammars()


@pytest.fixture(scope="session")
def read(grammars: Grammars) -> Reader:
    """A text -> the facts in it."""

    def facts_of(text: str) -> list[Fact]:
        return extract_facts(Document("log", text.encode(), grammars.prefixes), grammars).facts

    return facts_of


@pytest.fixture(scope="session")
def catalogues(grammars: Grammars) -> dict[str, Read]:
    """The examples of all catalogues, each with the facts in it."""
    return {name: facts_of_examples(name, grammars) for name in NAMES}
