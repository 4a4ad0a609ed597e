"""The templates of a release as a small file, so that checking it needs neither the package nor the index."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from analyzer.conformance.sources import Package, warn
from analyzer.conformance.templates import Template, templates_of


@dataclass(frozen=True)
class Messages:
    """The messages of one release that speak of memory."""

    package: str
    version: str
    templates: list[Template]


def messages_of(package: Package) -> Messages:
    """Take them out of a package's files. A file that cannot be parsed is told on standard error, and left out."""
    found: set[Template] = set()
    for file, source in package.files:
        try:
            found |= templates_of(source, file)
        except (SyntaxError, RecursionError) as error:
            warn(f"{file}: left out: {error}")
    return Messages(package.name, package.version, sorted(found))


def store(messages: Messages, folder: Path) -> Path:
    """Write `<package>-<version>.json`: by file, the level and text of each message, one a line."""
    file = folder / f"{messages.package}-{messages.version}.json"
    by_file = groupby(sorted(messages.templates), key=lambda template: template.file)
    blocks = (
        f"  {json.dumps(name)}: [\n"
        + ",\n".join(f"   {json.dumps([template.level, template.text], ensure_ascii=False)}" for template in group)
        + "\n  ]"
        for name, group in by_file
    )
    head = f'{{\n "package": {json.dumps(messages.package)},\n "version": {json.dumps(messages.version)},\n "files": {{\n'
    file.write_text(head + ",\n".join(blocks) + "\n }\n}\n", encoding="utf-8")
    return file


def recall(file: Path) -> Messages:
    """Read such a file."""
    data = json.loads(file.read_text(encoding="utf-8"))
    return Messages(
        data["package"],
        data["version"],
        sorted(Template(name, level, text) for name, found in data["files"].items() for level, text in found),
    )
