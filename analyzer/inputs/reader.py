"""Files, folders, archives and standard input -> documents. Nothing is run, nothing is fetched."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from analyzer.inputs.document import Document
from analyzer.inputs.peel import Patterns

MOST_BYTES = 4 * 2**30
"""An input that unpacks to more than this is refused."""
LOG_SUFFIXES = {
    "",
    ".log",
    ".txt",
    ".out",
    ".err",
    ".json",
    ".jsonl",
    ".md",
    ".1",
    ".2",
    ".3",
    ".gz",
    ".xz",
    ".bz2",
    ".zip",
    ".tar",
    ".tgz",
}
STANDARD_INPUT = "-"

Opener = Callable[[BinaryIO], BinaryIO]
COMPRESSIONS: dict[bytes, Callable[[io.BytesIO], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream),
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
}


class InputError(ValueError):
    """An input that cannot be read; the message names it and says why."""


def read_documents(paths: Sequence[Path], prefixes: Patterns, standard_input: BinaryIO) -> list[Document]:
    """All documents under the given paths, in their order; folders and archives give one document per member.

    Raises InputError for a missing file, a folder or archive without any log, or a damaged archive.
    """
    return [Document(name, data, prefixes) for path in paths for name, data in _read(path, standard_input)]


def _read(path: Path, standard_input: BinaryIO) -> Iterator[tuple[str, bytes]]:
    if str(path) == STANDARD_INPUT:
        yield from _unpack("<standard input>", standard_input.read())
        return
    if path.is_dir():
        members = [member for member in sorted(path.rglob("*")) if member.is_file() and member.suffix.lower() in LOG_SUFFIXES]
        if not members:
            raise InputError(f"{path}: no logs in this folder")
        for member in members:
            yield from _unpack(str(member), _bytes_of(member))
        return
    yield from _unpack(str(path), _bytes_of(path))


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def _unpack(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    for magic, opener in COMPRESSIONS.items():
        if data.startswith(magic):
            yield from _unpack(name, _decompressed(name, opener(io.BytesIO(data))))
            return
    if data.startswith(b"PK\x03\x04"):
        yield from _members(name, _zip_members(name, data))
    elif data[257:262] == b"ustar":
        yield from _members(name, _tar_members(name, data))
    else:
        yield name, data


def _decompressed(name: str, stream: io.BufferedIOBase) -> bytes:
    """As much as can be unpacked: a log cut by the crash often ends inside a compressed block."""
    pieces: list[bytes] = []
    size = 0
    try:
        while piece := stream.read(2**20):
            pieces.append(piece)
            size += len(piece)
            if size > MOST_BYTES:
                raise InputError(f"{name}: unpacks to more than {MOST_BYTES} bytes")
    except (EOFError, OSError, lzma.LZMAError) as error:
        if not pieces:
            raise InputError(f"{name}: damaged archive ({error})") from error
    return b"".join(pieces)


def _members(name: str, members: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    found = False
    for member, data in members:
        found = True
        yield from _unpack(f"{name}:{member}", data)
    if not found:
        raise InputError(f"{name}: no logs in this archive")


def _zip_members(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                if not member.is_dir() and Path(member.filename).suffix.lower() in LOG_SUFFIXES:
                    with archive.open(member) as stream:
                        yield member.filename, _decompressed(member.filename, stream)  # type: ignore[arg-type]
    except (zipfile.BadZipFile, RuntimeError) as error:
        raise InputError(f"{name}: damaged archive ({error})") from error


def _tar_members(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isfile() else None
                if stream is not None and Path(member.name).suffix.lower() in LOG_SUFFIXES:
                    yield member.name, _decompressed(member.name, stream)  # type: ignore[arg-type]
    except tarfile.TarError as error:
        raise InputError(f"{name}: damaged archive ({error})") from error
