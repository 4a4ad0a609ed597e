"""Thresholds in both units, and the band that the selector offers untested."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.settings.selection import budget
from analyzer.settings.thresholds import BALLAST_FOOTPRINT, UntestedBand, in_both_units, untested_band
from analyzer.units import MIB

TOTAL = 34_190_917_632
SAFETY = 0.98
WITHOUT_BALLAST = 33_136_836_608  # what was free on the card with the ballast let go


@pytest.mark.parametrize(
    ("threshold", "measured_pass", "raw_free", "text"),
    [
        (
            23_972_315_586,
            23_970_906_112,
            24_461_546_516,
            "23 972 315 586 is compared with free x 0.98, so it asks for 24 461 546 516 raw free bytes: "
            "491 MB (2.0 %) more than the 23 970 906 112 measured to pass, as a cushion for memory that goes between selection and start",
        ),
        (
            25_572_315_586,
            25_571_033_088,
            26_094_199_578,
            "25 572 315 586 is compared with free x 0.98, so it asks for 26 094 199 578 raw free bytes: "
            "523 MB (2.0 %) more than the 25 571 033 088 measured to pass, as a cushion for memory that goes between selection and start",
        ),
        (
            33_200_000_000,
            34_188_820_480,
            33_877_551_020,
            "33 200 000 000 is compared with free x 0.98, so it asks for 33 877 551 020 raw free bytes: "
            "311 MB (0.9 %) less than the 34 188 820 480 measured to pass",
        ),
    ],
)
def test_in_both_units(threshold: int, measured_pass: int, raw_free: int, text: str):
    found = in_both_units(threshold, measured_pass, TOTAL, 0.99, SAFETY)
    assert (found.raw_free, found.stricter_by, found.selectable) == (raw_free, raw_free - measured_pass, True)
    assert str(found) == text


@pytest.mark.parametrize(
    ("threshold", "utilization", "selectable"),
    [(33_200_000_000, 0.95, False), (33_522_315_586, 0.99, False), (33_507_099_279, 0.99, True), (33_507_099_279, None, True)],
)
def test_a_threshold_that_the_whole_device_does_not_reach(threshold: int, utilization: float | None, selectable: bool):
    assert in_both_units(threshold, TOTAL, TOTAL, utilization, SAFETY).selectable is selectable


def test_the_untested_band_of_the_widest_profile_is_out_of_reach():
    band = untested_band(32_176_640_076, SAFETY, WITHOUT_BALLAST)
    assert band == UntestedBand(32_833_306_200, 33_136_836_608, None)
    assert round(band.width / 10**6) == 304
    assert not band.reachable(WITHOUT_BALLAST)
    assert not band.reachable(WITHOUT_BALLAST, footprint=band.width + 1)
    assert band.reachable(WITHOUT_BALLAST, footprint=band.width)
    assert band.width < BALLAST_FOOTPRINT == 498 * MIB


def test_a_run_that_failed_with_more_memory_settles_it():
    band = untested_band(32_176_640_076, SAFETY, WITHOUT_BALLAST, fails_at=[33_568_063_488], passes_at=[34_188_820_480])
    assert band == UntestedBand(32_833_306_200, 33_136_836_608, "fail")
    whole = untested_band(32_176_640_076, SAFETY, TOTAL, fails_at=[33_568_063_488], passes_at=[34_188_820_480])
    assert whole == UntestedBand(32_833_306_200, 33_568_063_487, "fail")


@pytest.mark.parametrize(
    ("requires", "fails_at", "passes_at", "expected"),
    [
        (50, [], [], UntestedBand(100, 200, None)),
        (50, [60], [150], UntestedBand(100, 149, None)),
        (50, [], [60, 150], UntestedBand(100, 149, "pass")),
        (50, [], [100], None),
        (101, [], [], None),
    ],
)
def test_the_lower_edge_of_what_is_offered(requires: int, fails_at: list[int], passes_at: list[int], expected: UntestedBand | None):
    assert untested_band(requires, 0.5, 200, fails_at, passes_at) == expected


@given(
    st.integers(1, 1000),
    st.decimals("0.01", "1", places=2).map(float),
    st.lists(st.integers(0, 1000)),
    st.lists(st.integers(0, 1000)),
)
def test_the_band_is_offered_untried_and_as_wide_as_can_be(requires: int, safety_factor: float, fails_at: list[int], passes_at: list[int]):
    def offered(free: int) -> bool:
        return budget(1000, free, None, safety_factor) >= requires

    tried = {*fails_at, *passes_at}
    found = untested_band(requires, safety_factor, 1000, fails_at, passes_at)
    edge = next((free for free in range(1001) if offered(free)), None)
    assert (found is None) == (edge is None or edge in tried)
    if found is not None:
        assert found.low == edge
        assert not tried & set(range(found.low, found.high + 1))
        assert found.high == 1000 or found.high + 1 in tried
