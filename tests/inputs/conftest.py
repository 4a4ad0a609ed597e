"""The prefixes that travel with the program, without the grammars of messages."""

import shutil
from pathlib import Path

import pytest

from analyzer.content import content_folder
from analyzer.grammar import load_grammars
from analyzer.inputs.document import Document
from analyzer.inputs.peel import Patterns


@pytest.fixture(scope="session")
def prefixes(tmp_path_factory: pytest.TempPathFactory) -> Patterns:
    folder: Path = tmp_path_factory.mktemp("grammars")
    shutil.copy(content_folder("grammars") / "prefix.lark", folder)
    return load_grammars(folder, cache=folder).prefixes


@pytest.fixture(scope="session")
def read(prefixes: Patterns):
    """A text as a document that knows the prefixes."""
    return lambda text: Document("log", text if isinstance(text, bytes) else text.encode(), prefixes)
