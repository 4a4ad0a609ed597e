"""The picture of a ledger."""

from xml.etree import ElementTree as ET

import pytest

from analyzer.analysis import SizeRecord
from analyzer.outputs.waterfall import bars, waterfall_svg
from analyzer.units import parse_size
from tests.outputs.sample import ledger, printed

SVG = "{http://www.w3.org/2000/svg}"


def sizes(**texts: str) -> dict[str, SizeRecord]:
    return {item: printed(text) if text[0] != "-" else SizeRecord.of(-parse_size(text[1:])) for item, text in texts.items()}


def shape(given: dict[str, SizeRecord]) -> list[tuple[str, float, float]]:
    return [(bar.item, round(bar.start / 2**30, 2), round(bar.end / 2**30, 2)) for bar in bars(given)]


def test_each_bar_begins_where_the_one_before_ended() -> None:
    assert shape(ledger()) == [
        ("other_processes", 0.0, 8.83),
        ("weights", 8.83, 25.27),
        ("non_torch", 25.27, 26.01),
        ("kv_pinned", 26.01, 30.86),
        ("unaccounted", 30.86, 31.21),
        ("free_at_failure", 31.21, 31.36),
        ("allocation_refused", 31.21, 31.48),
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, []),
        (sizes(total="24 GiB"), []),
        (sizes(weights="60 GiB", budget="54.6 GiB", kv_cache="-5.4 GiB"), [("weights", 0.0, 60.0), ("kv_cache", 60.0, 54.6)]),
        (
            sizes(weights="16 GiB", kv_cache="11.76 GiB", kv_needed="12.02 GiB"),
            [("weights", 0.0, 16.0), ("kv_cache", 16.0, 27.76), ("kv_needed", 16.0, 28.02)],
        ),
        (sizes(kv_pinned="4 GiB", kv_cache="4 GiB", cuda_graphs="1 GiB"), [("kv_cache", 0.0, 4.0), ("cuda_graphs", 4.0, 5.0)]),
        (sizes(allocated="20 GiB", non_torch="1 GiB"), [("allocated", 0.0, 20.0), ("non_torch", 20.0, 21.0)]),
        (sizes(allocated="20 GiB", weights="16 GiB"), [("weights", 0.0, 16.0)]),
        (sizes(weights="2 GiB", free_at_failure="1 GiB"), [("weights", 0.0, 2.0), ("free_at_failure", 2.0, 3.0)]),
    ],
)
def test_only_what_is_known_is_drawn(given: dict[str, SizeRecord], expected: list[tuple[str, float, float]]) -> None:
    assert shape(given) == expected


def test_what_is_lacking_says_by_how_much() -> None:
    assert [bar.label for bar in bars(sizes(weights="60.00 GiB", kv_cache="-5.40 GiB"))] == ["60.00 GiB", "short by 5.40 GiB"]


def test_nothing_to_draw_gives_no_picture() -> None:
    assert waterfall_svg(sizes(total="24 GiB"), "title", "p-") == ""


def test_the_picture_is_accessible_scalable_and_free_of_the_outside() -> None:
    svg = waterfall_svg(ledger(), "Memory of rank TP0", "picture-3-")
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "Memory of rank TP0"  # type: ignore[union-attr]
    assert root.get("aria-labelledby") == root.find(f"{SVG}title").get("id") == "picture-3-title"  # type: ignore[union-attr]
    assert root.get("viewBox")
    assert (root.get("width"), root.get("height")) == (None, None)
    assert "<metadata" not in svg
    assert "currentColor" in svg
    assert {element.get("id", "picture-3-")[:10] for element in root.iter()} == {"picture-3-"}


def test_words_and_amounts_are_text_and_no_mathematics() -> None:
    hostile = sizes(weights="16.44 GiB")["weights"].model_copy(update={"text": "$\\frac{1}{0}$ <b>&\x00"})
    texts = [element.text for element in ET.fromstring(waterfall_svg({"weights": hostile}, "t", "p-")).iter(f"{SVG}text")]
    assert texts == ["weights", "$\\frac{1}{0}$ <b>&\\x00"]


def test_a_wide_interval_gets_a_whisker_and_a_narrow_one_does_not() -> None:
    narrow = sizes(total="24.00 GiB", weights="16.44 GiB")
    wide = narrow | {"weights": narrow["weights"].model_copy(update={"low": 15 * 2**30, "high": 17 * 2**30})}
    count = [waterfall_svg(given, "t", "p-").count("<path") for given in (narrow, wide)]
    assert count[1] > count[0]


def test_equal_ledgers_give_equal_bytes() -> None:
    assert waterfall_svg(ledger(), "t", "p-") == waterfall_svg(ledger(), "t", "p-")
