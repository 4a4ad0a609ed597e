"""Files, folders, archives and standard input -> documents. Nothing is run, nothing is fetched."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import BinaryIO

from analyzer.inputs.document import Document
from analyzer.inputs.peel import Patterns

MOST_BYTES = 4 * 2**30
"""An input that unpacks to more than this is refused."""
MOST_LAYERS = 6
"""So are archives within archives, deeper than this."""
LOG_SUFFIXES = {
    "",
    ".log",
    ".txt",
    ".out",
    ".err",
    ".json",
    ".jsonl",
    ".md",
    ".gz",
    ".xz",
    ".bz2",
    ".zip",
    ".tar",
    ".tgz",
}
"""Also all numbers: rotated logs."""
STANDARD_INPUT = "-"

Opener = Callable[[BinaryIO], BinaryIO]
COMPRESSIONS: dict[bytes, Callable[[io.BytesIO], io.BufferedIOBase]] = {
    b"\x1f\x8b": lambda stream: gzip.GzipFile(fileobj=stream),
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"BZh": bz2.BZ2File,
}
UNREADABLE = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!": "rar",
}
"""Forms that are recognised only to say so."""


class InputError(ValueError):
    """An input that cannot be read; the message names it and says why."""


def read_documents(paths: Sequence[Path], prefixes: Patterns, standard_input: BinaryIO) -> list[Document]:
    """All documents under the given paths, in their order; folders and archives give one document per member.

    Raises InputError for a missing file, a folder or archive without any log, and for an archive that is damaged, unpacks to too much,
    or is of a form that cannot be read here.
    """
    return [Document(name, data, prefixes) for path in paths for name, data in _read(path, standard_input)]


def _read(path: Path, standard_input: BinaryIO) -> Iterator[tuple[str, bytes]]:
    if str(path) == STANDARD_INPUT:
        yield from _unpack("<standard input>", standard_input.read())
        return
    if _is_folder(path):
        members = [member for member in sorted(path.rglob("*")) if _is_log(member.name) and member.is_file()]
        if not members:
            raise InputError(f"{path}: no logs in this folder")
        for member in members:
            yield from _unpack(str(member), _bytes_of(member))
        return
    yield from _unpack(str(path), _bytes_of(path))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def _is_log(name: str) -> bool:
    suffix = PurePath(name).suffix.lower()
    return suffix in LOG_SUFFIXES or suffix[1:].isdigit()


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def _unpack(name: str, data: bytes, layer: int = 0) -> Iterator[tuple[str, bytes]]:
    if layer > MOST_LAYERS:
        raise InputError(f"{name}: archives within archives, more than {MOST_LAYERS} deep")
    form = next((form for magic, form in UNREADABLE.items() if data.startswith(magic)), None)
    opener = next((opener for magic, opener in COMPRESSIONS.items() if data.startswith(magic)), None)
    if form is not None:
        raise InputError(f"{name}: {form} cannot be read here; unpack it first")
    if opener is not None:
        yield from _unpack(name, _decompressed(name, opener(io.BytesIO(data))), layer + 1)
    elif data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        yield from _members(name, _zip_members(name, data), layer + 1)
    elif data[257:262] == b"ustar":
        yield from _members(name, _tar_members(name, data), layer + 1)
    else:
        yield name, data


def _decompressed(name: str, stream: io.BufferedIOBase) -> bytes:
    """As much as can be unpacked: a log cut by the crash often ends inside a compressed block."""
    pieces: list[bytes] = []
    size = 0
    try:
        while piece := stream.read1(2**20):  # not read(), which loses what it has when the rest is damaged
            pieces.append(piece)
            size += len(piece)
            if size > MOST_BYTES:
                raise InputError(f"{name}: unpacks to more than {MOST_BYTES} bytes")
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        if not pieces:
            raise InputError(f"{name}: damaged archive ({error})") from error
    return b"".join(pieces)


def _members(name: str, members: Iterator[tuple[str, bytes]], layer: int) -> Iterator[tuple[str, bytes]]:
    found = False
    size = 0
    for member, packed in members:
        found = True
        for document, data in _unpack(f"{name}:{member}", packed, layer):
            size += len(data)
            if size > MOST_BYTES:
                raise InputError(f"{name}: unpacks to more than {MOST_BYTES} bytes")
            yield document, data
    if not found:
        raise InputError(f"{name}: no logs in this archive")


def _zip_members(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                if not member.is_dir() and _is_log(member.filename):
                    with archive.open(member) as stream:
                        yield member.filename, _decompressed(f"{name}:{member.filename}", stream)  # type: ignore[arg-type]
    except (zipfile.BadZipFile, RuntimeError) as error:
        raise InputError(f"{name}: damaged archive ({error})") from error


def _tar_members(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isfile() else None
                if stream is not None and _is_log(member.name):
                    yield member.name, _decompressed(f"{name}:{member.name}", stream)  # type: ignore[arg-type]
    except tarfile.TarError as error:
        raise InputError(f"{name}: damaged archive ({error})") from error
