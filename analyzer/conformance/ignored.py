"""The messages that are left out on purpose, each with the reason: grammars/ignored.yaml."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import yaml

from analyzer.conformance.templates import Template
from analyzer.content import content_folder

FILE = "ignored.yaml"
KEYS = {"reason", "files", "levels", "texts", "unless"}


class IgnoredError(ValueError):
    """A list of ignored messages that cannot be used; the message names the file, the entry and what was expected."""


@dataclass(frozen=True)
class Ignored:
    """A group of messages left out for one reason. A message belongs to it when every condition that is given holds."""

    reason: str
    files: tuple[str, ...] = ()
    """Patterns for the path in the package, as of a shell."""
    levels: tuple[str, ...] = ()
    """Beginnings of the level: "debug", "exception"."""
    texts: tuple[re.Pattern[str], ...] = ()
    """Regular expressions of which one must be found in the template."""
    unless: tuple[re.Pattern[str], ...] = ()
    """Regular expressions of which none may be found in it."""

    def covers(self, template: Template) -> bool:
        """Whether a message is left out for this reason."""
        return (
            (not self.files or any(fnmatch(template.file, pattern) for pattern in self.files))
            and (not self.levels or template.level.startswith(self.levels))
            and (not self.texts or any(pattern.search(template.text) for pattern in self.texts))
            and not any(pattern.search(template.text) for pattern in self.unless)
        )


def load_ignored(folder: Path | None = None) -> list[Ignored]:
    """The groups, in the order in which they are tried. Raises IgnoredError for a list that cannot be used."""
    path = (folder or content_folder("grammars")) / FILE
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise IgnoredError(f"{path}: {error}") from error
    if not isinstance(entries, list):
        raise IgnoredError(f"{path}: a list of groups was expected")
    return [_group(path, number, entry) for number, entry in enumerate(entries, 1)]


def _group(path: Path, number: int, entry: object) -> Ignored:
    if not isinstance(entry, dict) or not isinstance(entry.get("reason"), str) or not entry.keys() <= KEYS or len(entry) < 2:
        raise IgnoredError(f"{path}: entry {number}: a reason and some of {', '.join(sorted(KEYS - {'reason'}))} were expected")
    lists = {key: tuple(value) if isinstance(value, list) else (value,) for key, value in entry.items() if key != "reason"}
    if not all(isinstance(item, str) for items in lists.values() for item in items):
        raise IgnoredError(f"{path}: entry {number}: texts were expected")
    try:
        patterns = {key: tuple(re.compile(text, re.IGNORECASE) for text in lists.get(key, ())) for key in ("texts", "unless")}
    except re.error as error:
        raise IgnoredError(f"{path}: entry {number}: {error}") from error
    return Ignored(entry["reason"], lists.get("files", ()), lists.get("levels", ()), patterns["texts"], patterns["unless"])


def reason_for(template: Template, groups: Sequence[Ignored]) -> str | None:
    """Why a message is left out; None when it is not."""
    return next((group.reason for group in groups if group.covers(template)), None)
