"""Texts people read, kept as files beside the tests: `UPDATE_SNAPSHOTS=1 pytest tests/outputs` writes them again."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"


def assert_snapshot(name: str, text: str) -> None:
    """Fails unless the text is, byte for byte, what the file holds."""
    path = FOLDER / name
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8", newline="")
    assert text == path.read_bytes().decode("utf-8")
