"""Release numbers of the engines, as logs print them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from packaging.version import InvalidVersion, Version

T = TypeVar("T")


def release(text: str | None) -> Version | None:
    """The release behind "v0.24.0", "0.5.6.post1", "0.11.1rc6.dev35"; None when there is none to read."""
    if not text:
        return None
    try:
        return Version(text.strip().lstrip("vV").strip("()"))
    except InvalidVersion:
        return None


def value_since(table: Sequence[tuple[str, T]], version: Version | None) -> T | None:
    """The value of a table of (first release, value), oldest first, for one release; None when the release is unknown.

    With no release known the result is still given when all rows agree.
    """
    if version is None:
        values = {repr(value) for _, value in table}
        return table[0][1] if len(values) == 1 else None
    base = Version(version.base_version)
    found = None
    for since, value in table:
        if base >= Version(since):
            found = value
    return found
