"""The picture of free memory against outcome."""

from xml.etree import ElementTree as ET

from analyzer.analysis import BandRecord, LadderRecord, MapRecord, RungRecord
from analyzer.outputs.ladder_plot import ladder_svg, span
from analyzer.units import GIB

RUNGS = [
    RungRecord(free=23 * GIB, outcome="fail", counts=True),
    RungRecord(free=24 * GIB, outcome="pass", counts=True),
    RungRecord(free=22 * GIB, outcome="fail", counts=False),
]
LADDER = LadderRecord(profile="wide", fails_at=[23 * GIB], passes_at=[24 * GIB], threshold={"low": 23 * GIB, "high": 24 * GIB}, rungs=RUNGS)
MAP = MapRecord(
    total=32 * GIB,
    bands=[
        BandRecord(low=0, high=20 * GIB - 1, profile=None, expected="nothing fits", why=""),
        BandRecord(low=20 * GIB, high=32 * GIB, profile="wide & <more>", expected="starts", why=""),
    ],
)


def test_it_is_an_element_with_a_title_and_the_names_in_it():
    drawn = ET.fromstring(ladder_svg([LADDER], MAP, "free memory", "ladder-"))
    texts = ["".join(element.itertext()) for element in drawn.iter() if element.tag.endswith("}text")]
    assert {"wide", "selected", "wide & <more>", "raw free memory at the selection, GiB"} <= set(texts)
    assert next(element.text for element in drawn if element.tag.endswith("}title")) == "free memory"


def test_equal_input_gives_equal_bytes():
    assert ladder_svg([LADDER], MAP, "t", "p-") == ladder_svg([LADDER], MAP, "t", "p-")


def test_the_ladder_alone_and_the_map_alone():
    assert "selected" not in ladder_svg([LADDER], None, "t", "p-")
    assert "selected" in ladder_svg([], MAP, "t", "p-")


def test_nothing_to_draw():
    assert ladder_svg([], None, "t", "p-") == ""
    assert ladder_svg([LadderRecord(profile="wide")], None, "t", "p-") == ""


def test_the_empty_band_at_the_bottom_takes_no_room():
    low, high = span([LADDER], MAP.bands)
    assert 19 * GIB < low < 20 * GIB
    assert 32 * GIB < high < 33 * GIB


def test_what_passed_is_told_from_what_failed_by_its_shape():
    failing = LADDER.model_copy(update={"rungs": [rung.model_copy(update={"outcome": "fail"}) for rung in RUNGS]})
    shapes = [svg.count("<use ") for svg in (ladder_svg([LADDER], None, "t", "p-"), ladder_svg([failing], None, "t", "p-"))]
    assert shapes[0] == shapes[1]
    assert ladder_svg([LADDER], None, "t", "p-") != ladder_svg([failing], None, "t", "p-")
