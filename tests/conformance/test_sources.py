"""A package's files come out of its folder, its wheel and its sdist alike; fetching one executes nothing."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from analyzer.conformance.index import fetch
from analyzer.conformance.sources import SourceError, read_package

FILES = {
    "engine/__init__.py": "",
    "engine/pool.py": 'print("no memory")',
    "engine/tests/test_pool.py": 'print("test memory")',
    "engine/benchmarks/run.py": 'print("benchmark memory")',
    "engine/.hidden/run.py": 'print("hidden memory")',
    "engine/data.json": "{}",
    "other/pool.py": 'print("other memory")',
}
WANTED = [(PurePosixPath("engine/__init__.py"), ""), (PurePosixPath("engine/pool.py"), 'print("no memory")')]


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "engine-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    return path


@pytest.fixture(params=["engine-1.2.3/", "engine-1.2.3/src/", "engine-1.2.3/python/"])
def sdist(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "engine-1.2.3.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in {**FILES, "../outside.py": "x"}.items():
            member = tarfile.TarInfo(f"{request.param}{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path / "engine"


def test_a_wheel(wheel: Path):
    package = read_package(wheel)
    assert (package.name, package.version, package.files) == ("engine", "1.2.3", WANTED)


def test_an_sdist(sdist: Path):
    package = read_package(sdist)
    assert (package.name, package.version, package.files) == ("engine", "1.2.3", WANTED)


def test_a_folder(folder: Path):
    assert (read_package(folder).version, read_package(folder).files) == ("?", WANTED)
    (folder.parent / "engine-1.2.3.dist-info").mkdir()
    assert read_package(folder).version == "1.2.3"


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("missing-1.0.tar.gz", "No such file"),
        ("missing.txt", "was expected"),
        ("", "no __init__.py"),
        ("broken-1.0-py3-none-any.whl", "not a zip file"),
    ],
)
def test_what_is_no_package(tmp_path: Path, name: str, complaint: str):
    (tmp_path / "broken-1.0-py3-none-any.whl").write_bytes(b"no zip")
    with pytest.raises(SourceError, match=complaint):
        read_package(tmp_path / name)


def test_an_archive_without_the_package(tmp_path: Path, wheel: Path):
    with pytest.raises(SourceError, match="no Python file of a package 'another'"):
        read_package(wheel.rename(tmp_path / "another-1.0-py3-none-any.whl"))


# ---- from the index


class Answer(io.BytesIO):
    """What the index sends."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, wheel: Path) -> list[list[str]]:
    """A package index that has one release; the commands given to uv."""
    commands: list[list[str]] = []
    data = wheel.read_bytes()

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        Path(command[command.index("--output-file") + 1]).write_text(
            '[[packages]]\nname = "engine"\nversion = "1.2.3"\n'
            f'wheels = [{{ url = "https://index.example/{wheel.name}", hashes = {{ sha256 = "{hashlib.sha256(data).hexdigest()}" }} }}]\n',
            encoding="utf-8",
        )
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: Answer(data))
    return commands


def test_a_release_is_fetched_as_it_is(asked: list[list[str]], tmp_path: Path):
    target = tmp_path / "fetched"
    target.mkdir()
    assert read_package(fetch("engine==1.2.3", target)).files == WANTED
    assert asked[0][-3:-1] == ["--only-binary", ":all:"]  # a release that would have to be built is refused first


def test_another_file_than_the_index_names_is_refused(asked: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: Answer(b"something else"))
    with pytest.raises(SourceError, match="another SHA-256"):
        fetch("engine==1.2.3", tmp_path)


@pytest.mark.usefixtures("asked")
def test_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def offline(*_: Any, **__: Any) -> None:
        raise OSError("Network is unreachable")

    monkeypatch.setattr("urllib.request.urlopen", offline)
    with pytest.raises(SourceError, match=r"engine==1\.2\.3: .*could not be fetched: Network is unreachable"):
        fetch("engine==1.2.3", tmp_path)


def test_a_release_that_uv_cannot_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1, "", "No module named uv"))
    with pytest.raises(SourceError, match=r"engine==9: uv cannot find it: No module named uv"):
        fetch("engine==9", tmp_path)
