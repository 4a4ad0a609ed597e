"""What all tests share: where the examples lie, and how hypothesis searches."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# No deadline: the first example pays for compiling a grammar. In CI the same examples are tried each time.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session")
def fixtures_dir() -> Path:
    """The folder of example logs, settings and receipts."""
    return ROOT / "fixtures"
