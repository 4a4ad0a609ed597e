"""A grammar of a few messages, over the types and prefixes that travel with the program."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.content import content_folder
from analyzer.facts.extract import Extraction, extract_facts
from analyzer.facts.read import Reading, read_message
from analyzer.grammar import Grammars, load_grammars
from analyzer.inputs.document import Document

Extract = Callable[[str], Extraction]
Read = Callable[[str, str], Reading]


@pytest.fixture(scope="session")
def grammars(tmp_path_factory: pytest.TempPathFactory, fixtures_dir: Path) -> Grammars:
    folder: Path = tmp_path_factory.mktemp("grammars")
    for file in (
        *(content_folder("grammars") / name for name in ("common.lark", "prefix.lark")),
        fixtures_dir / "grammar" / "messages.lark",
    ):
        shutil.copy(file, folder)
    return load_grammars(folder, cache=folder)


@pytest.fixture(scope="session")
def extract(grammars: Grammars) -> Extract:
    """All facts of a text."""
    return lambda text: extract_facts(Document("log", text.encode(), grammars.prefixes), grammars)


@pytest.fixture(scope="session")
def read(grammars: Grammars) -> Read:
    """A text read as one kind of message: read("kv_memory", "Available ...")."""
    return lambda kind, text: read_message(grammars.messages[kind].parser, text)
