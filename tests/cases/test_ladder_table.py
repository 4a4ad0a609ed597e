"""The ladder as a table."""

from dataclasses import replace

from analyzer.cases.ladder import Ladder, build_ladders
from analyzer.cases.ladder_table import COLUMNS, ladder_table
from analyzer.cases.receipts import Receipt


def test_one_row_per_run(ladders: dict[str, Ladder]):
    table = ladder_table(list(ladders.values()))
    assert list(table.columns) == list(COLUMNS)
    assert len(table) == 16
    counted = table[table["counts"]]
    assert counted.groupby("profile").size().to_dict() == {"long_262k": 5, "long_393k": 6, "raw_1010k": 2}
    passed = counted[counted["outcome"] == "pass"].groupby("profile")
    assert passed["free"].min().to_dict() == {"long_262k": 23_970_906_112, "long_393k": 25_571_033_088, "raw_1010k": 34_188_820_480}
    assert passed["overhead"].min().to_dict() == {"long_262k": 2_718_590_525, "long_393k": 2_718_717_501, "raw_1010k": 3_386_504_893}
    assert set(table["overhead_high"] - table["overhead_low"]) == {10_737_417}
    assert set(table[table["path"] == "forced"]["note"]) == {
        "the profile was forced by name, past the selector: the run does not test what users get"
    }


def test_what_is_not_known_is_missing(receipts: list[Receipt]):
    table = ladder_table(build_ladders([replace(receipts[0], weights=None)]))
    assert table["overhead"].isna().all()
    assert table["free"].tolist() == [25_229_197_312]


def test_no_runs_make_an_empty_table():
    assert ladder_table([]).empty
