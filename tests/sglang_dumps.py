"""Whole dumps of SGLang's server arguments, with the names that a release has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROWS = json.loads((Path(__file__).resolve().parents[1] / "fixtures" / "arguments" / "sglang.json").read_text(encoding="utf-8"))
RELEASES = [row["release"] for row in ROWS]


def names_of(release: str) -> set[str]:
    """The arguments of one of the releases of the fixture."""
    names: set[str] = set()
    for row in ROWS[: RELEASES.index(release) + 1]:
        names = (names - set(row["removed"].split())) | set(row["added"].split())
    return names


def dump(release: str, **shown: Any) -> str:
    """The line that this release prints, with these values; every other argument is None. Names that it does not have are refused."""
    names = names_of(release)
    assert set(shown) <= names, f"{release} has no {sorted(set(shown) - names)}"
    values = ", ".join(f"{name}={shown.get(name)!r}" for name in sorted(names))
    return f"[2026-03-02 10:00:00] server_args=ServerArgs({values})\n"
