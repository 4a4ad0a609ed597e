"""Writes patched settings to the disk, only when asked to."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from analyzer.settings.errors import SettingsError
from analyzer.settings.patch import FilePatch


def write_edits(patches: Sequence[FilePatch]) -> None:
    """Replaces each file by its patched text, whole or not at all, keeping its mode; links are followed.

    Raises SettingsError before anything is written when a file is not what the patch was made for any more,
    and when a file cannot be written.
    """
    for patch in patches:
        try:
            changed = Path(patch.file).read_bytes() != patch.old_text.encode()
        except OSError as error:
            raise SettingsError.at(patch.file, None, f"cannot be read: {error.strerror}") from error
        if changed:
            raise SettingsError.at(patch.file, None, "has changed since it was read: expected the text that the patch was made for")
    for patch in patches:
        try:
            _replace(Path(patch.file).resolve(), patch.new_text.encode())
        except OSError as error:
            raise SettingsError.at(patch.file, None, f"cannot be written: {error.strerror}") from error


def _replace(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(path, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
