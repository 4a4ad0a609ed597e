"""What the tests of cases share: the ladder that was measured on an RTX 5090."""

from pathlib import Path

import pytest

from analyzer.cases.ladder import Ladder, build_ladders
from analyzer.cases.receipt_files import read_receipts
from analyzer.cases.receipts import Receipt


@pytest.fixture(scope="session")
def receipts(fixtures_dir: Path) -> list[Receipt]:
    files = sorted((fixtures_dir / "seeds" / "receipts").glob("*.json"))
    readings = [read_receipts(file.read_text(encoding="utf-8"), file.name) for file in files]
    return [receipt for reading in readings if reading for receipt in reading.receipts]


@pytest.fixture(scope="session")
def ladders(receipts: list[Receipt]) -> dict[str, Ladder]:
    return {ladder.profile: ladder for ladder in build_ladders(receipts)}
