"""The measured runs as a table, from the receipts themselves to the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer import Analysis, analyze
from analyzer.outputs import render
from analyzer.outputs.redaction import redacted
from analyzer.outputs.runs_table import COLUMNS, rows_to_show, runs_table
from tests.outputs.test_formats import EMPTY


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyze([Path(__file__).resolve().parents[2] / "fixtures" / "seeds" / "receipts"])


def test_one_row_per_run(analysis: Analysis) -> None:
    table = runs_table(redacted(analysis))
    assert list(table.columns) == list(COLUMNS)
    assert len(table) == 16
    counted = table[table["counts"]]
    assert counted.groupby("profile").size().to_dict() == {"long_262k": 5, "long_393k": 6, "raw_1010k": 2}
    passed = counted[counted["outcome"] == "pass"].groupby("profile")
    assert passed["free"].min().to_dict() == {"long_262k": 23_970_906_112, "long_393k": 25_571_033_088, "raw_1010k": 34_188_820_480}
    assert set(table["overhead_high"] - table["overhead_low"]) == {10_737_417}
    assert set(table[table["path"] == "forced"]["aside"]) == {
        "the profile was forced by name, past the selector: the run does not test what users get"
    }


def test_what_is_not_known_is_missing(analysis: Analysis) -> None:
    ladder = analysis.ladder[0]
    rung = ladder.rungs[0].model_copy(update={"overhead_low": None, "overhead_high": None})
    lacking = analysis.model_copy(update={"ladder": [ladder.model_copy(update={"rungs": [rung]})]})
    assert runs_table(redacted(lacking))["overhead_low"].isna().all()
    (row,) = rows_to_show(redacted(lacking))
    assert (row["overhead_low"], row["free"]) == (None, rung.free)


def test_no_ladders_make_an_empty_table() -> None:
    assert runs_table(redacted(EMPTY)).empty
    assert rows_to_show(redacted(EMPTY)) == []


def test_the_page_lists_every_run(analysis: Analysis) -> None:
    page = render(analysis, "html")
    assert page.count('<tr class="rung">') == 16
    assert "past the selector: the run does not test what users get" in page
