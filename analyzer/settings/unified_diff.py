"""A unified diff that `git apply` and `patch -p1` accept."""

from __future__ import annotations

import difflib
from pathlib import PurePath

_ESCAPES = {ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n", ord("\t"): "\\t", ord("\r"): "\\r"}


def unified_diff(name: str, old: str, new: str) -> str:
    """The changes of one file; empty when there are none. Lines end at line feeds only, so CRLF endings stay part of their lines."""
    if old == new:
        return ""
    lines = difflib.unified_diff(_lines(old), _lines(new), _label("a", name), _label("b", name), lineterm="\n")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _label(side: str, name: str) -> str:
    """`a/configs/profiles.yaml`; git ends a name that contains spaces with a tab, and quotes one that contains control characters."""
    path = f"{side}/{PurePath(name).as_posix().lstrip('/')}"
    escaped = path.translate(_ESCAPES)
    if escaped != path:
        return f'"{escaped}"'
    return f"{path}\t" if " " in path else path
