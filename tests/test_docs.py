"""The generated pages are those of the present sources."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_generated_pages_are_up_to_date() -> None:
    specification = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert specification is not None
    assert specification.loader is not None
    generate = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(generate)
    stale = [name for name, text in generate.pages().items() if (ROOT / "docs" / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run `make docs`"
