"""Release numbers of the engines, as logs print them, and tables by release."""

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


def published(version: Version) -> Version:
    """The release a build belongs to: its post number is kept, its candidate, development and local parts are dropped."""
    return Version(version.base_version if version.post is None else f"{version.base_version}.post{version.post}")


def is_within(version: Version, since: str, before: str | None = None) -> bool:
    """Whether a release is `since` or later and, where an end is given, earlier than `before`."""
    own = published(version)
    return Version(since) <= own and (before is None or own < Version(before))


def value_since(table: Sequence[tuple[str, T]], version: Version | None) -> T | None:
    """The value of a table of (first release, value), oldest first, for one release; None when the release is unknown.

    With no release known the result is still given when all rows agree.
    """
    if version is None:
        values = {repr(value) for _, value in table}
        return table[0][1] if len(values) == 1 else None
    found = None
    for since, value in table:
        if is_within(version, since):
            found = value
    return found
