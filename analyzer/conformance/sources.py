"""The Python files of a package, unpacked or in a wheel or an sdist. Nothing of it is built, installed or run."""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

NO_ENGINE = frozenset({"benchmark", "benchmarks", "docs", "example", "examples", "test", "tests"})
"""Folders whose messages no engine prints."""
_ARCHIVE = re.compile(r"(?P<name>[A-Za-z0-9_.]+)-(?P<version>[^-]+)(?:-.+\.whl|\.tar\.gz|\.zip)")


class SourceError(ValueError):
    """A package that cannot be read; the message says which and what was expected."""


@dataclass(frozen=True)
class Package:
    """A package's Python files: (path that begins with the package's name, text)."""

    name: str
    version: str
    files: list[tuple[PurePosixPath, str]]


def read_package(path: Path) -> Package:
    """The package in a folder (the one that has its __init__.py), a wheel or an sdist. Raises SourceError when there is none."""
    try:
        if path.is_dir():
            return _of_folder(path)
        named = _ARCHIVE.fullmatch(path.name)
        if named is None:
            raise SourceError(f"{path}: the folder of a package, a wheel or an sdist was expected")
        name = named["name"].replace("-", "_")
        members = _of_zip(path) if path.suffix in (".whl", ".zip") else _of_tar(path)
        files = [(inner, _text(data)) for member, data in members if (inner := _within(member, name)) is not None]
    except (OSError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise SourceError(f"{path}: {error}") from error
    if not files:
        raise SourceError(f"{path}: no Python file of a package {name!r} in it")
    return Package(name, named["version"], sorted(files))


def _of_folder(path: Path) -> Package:
    if not (path / "__init__.py").is_file():
        raise SourceError(f"{path}: no __init__.py in it; the folder of the package itself was expected")
    root = path.resolve()
    found = (PurePosixPath(file.relative_to(root.parent).as_posix()) for file in sorted(root.rglob("*.py")))
    return Package(root.name, _version_beside(root), [(file, _text((root.parent / file).read_bytes())) for file in found if _prints(file)])


def _version_beside(root: Path) -> str:
    """The version of an installed or unpacked package, from the metadata beside it; a question mark where there is none."""
    beside = sorted(root.parent.glob(f"{root.name}-*.dist-info"))
    return beside[0].name.removesuffix(".dist-info").partition("-")[2] if beside else "?"


def _of_zip(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".py"):
                yield PurePosixPath(name), archive.read(name)


def _of_tar(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() and member.name.endswith(".py") else None
            if file is not None:
                yield PurePosixPath(member.name), file.read()


def _within(member: PurePosixPath, name: str) -> PurePosixPath | None:
    """A file's path from its package on: wheels begin with it, sdists have it in their root, in src/ or in python/."""
    for depth in range(3):
        if member.parts[depth : depth + 1] == (name,):
            inner = PurePosixPath(*member.parts[depth:])
            return inner if _prints(inner) else None
    return None


def _prints(file: PurePosixPath) -> bool:
    return not any(part in NO_ENGINE or part.startswith(".") for part in file.parts[:-1])


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def warn(message: str) -> None:
    """Tell what was left out, on standard error."""
    sys.stderr.write(f"{message}\n")
