"""The folders that travel with the program are found, in a checkout and beside the installed package."""

from pathlib import Path

import pytest

from analyzer import content
from analyzer.content import content_folder


@pytest.mark.parametrize(
    ("name", "pattern"), [("grammars", "common.lark"), ("rules", "*/*.md"), ("reports", "*.j2"), ("fixtures", "*/*.log")]
)
def test_the_folders_of_the_checkout(name: str, pattern: str):
    assert list(content_folder(name).glob(pattern))


def test_the_package_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "analyzer"
    (package / "grammars").mkdir(parents=True)
    (tmp_path / "grammars").mkdir()
    (tmp_path / "rules").mkdir()
    monkeypatch.setattr(content, "_PACKAGE", package)
    assert content_folder("grammars") == package / "grammars"
    assert content_folder("rules") == tmp_path / "rules"


def test_a_folder_that_is_nowhere():
    with pytest.raises(FileNotFoundError, match="'nowhere' is missing"):
        content_folder("nowhere")
