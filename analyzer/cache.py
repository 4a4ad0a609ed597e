"""Results that take long to make, kept in the user's cache folder between runs. A cache that cannot be used only costs time."""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
from pathlib import Path
from typing import Any

DIGEST_BYTES = 32


def cache_folder() -> Path | None:
    """This program's cache folder; None for a user without a home. A relative XDG_CACHE_HOME is invalid by its specification."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (folder if folder.is_absolute() else Path.home() / ".cache") / "vram-postmortem"
    except RuntimeError:
        return None


def recall(stored: Path) -> Any:
    """What `remember` stored there; None when there is nothing, when the file is damaged, or when somebody else could have written it."""
    try:
        with stored.open("rb") as file:
            if not (_is_ours(os.fstat(file.fileno())) and _is_ours(stored.parent.stat())):
                return None
            digest, data = file.read(DIGEST_BYTES), file.read()
    except OSError:
        return None
    if hashlib.sha256(data).digest() != digest:
        return None
    return pickle.loads(data)  # noqa: S301 - whole as this program wrote it, in a place that only this user can write to


def remember(stored: Path, result: Any) -> None:
    """Store a result under a name that says what it was made from."""
    data = pickle.dumps(result, protocol=5)
    try:
        stored.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not _is_ours(stored.parent.stat()):
            return
        draft = stored.with_suffix(f".{os.getpid()}")
        draft.write_bytes(hashlib.sha256(data).digest() + data)
        draft.chmod(0o600)
        draft.replace(stored)
    except OSError:
        return


def _is_ours(status: os.stat_result) -> bool:
    """Whether only this user may write to a file or folder. Where there are no user numbers, the folder's place must do."""
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
