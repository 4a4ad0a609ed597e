"""Where the content folders lie: inside the installed package, or at the root of a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def content_folder(name: str) -> Path:
    """The folder `grammars`, `rules`, `reports` or `fixtures`. Raises FileNotFoundError when neither place has it."""
    for candidate in (_PACKAGE / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"content folder {name!r} is missing beside {_PACKAGE}")
