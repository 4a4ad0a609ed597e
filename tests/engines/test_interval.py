"""Intervals of a memory fraction."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.engines.interval import Bounds, FractionInterval, interval_from_trials, rounded_down, rounded_up


@pytest.mark.parametrize(
    ("fraction", "decimals", "up", "down"),
    [(0.9112, 3, 0.912, 0.911), (0.85, 2, 0.85, 0.85), (0.1 + 0.2, 2, 0.3, 0.3), (0.8751, 2, 0.88, 0.87)],
)
def test_rounding(fraction: float, decimals: int, up: float, down: float) -> None:
    assert rounded_up(fraction, decimals) == up
    assert rounded_down(fraction, decimals) == down


@given(st.floats(0, 1), st.integers(1, 4))
def test_rounding_stays_within_one_step(fraction: float, decimals: int) -> None:
    step = 10.0**-decimals
    assert fraction - step < rounded_down(fraction, decimals) <= fraction + 1e-8
    assert fraction - 1e-8 <= rounded_up(fraction, decimals) < fraction + step


def test_values_inside() -> None:
    interval = FractionInterval(0.8532, 0.8769, "weights", "graphs")
    assert not interval.is_empty
    assert (interval.smallest(2), interval.largest(2)) == (0.86, 0.87)
    assert (interval.smallest(3), interval.largest(3)) == (0.854, 0.876)
    assert interval.reason == "at least 0.8532 (weights), at most 0.8769 (graphs)"


def test_an_interval_too_narrow_for_two_decimals() -> None:
    interval = FractionInterval(0.8532, 0.8569, "weights", "graphs")
    assert (interval.is_empty, interval.smallest(2), interval.largest(2), interval.smallest(3)) == (False, None, None, 0.854)


def test_empty_says_why() -> None:
    interval = FractionInterval(0.87, 0.84, "weights", "graphs")
    assert interval.is_empty
    assert (interval.smallest(), interval.largest()) == (None, None)
    assert interval.reason == "no value works: at least 0.8700 (weights) and at most 0.8400 (graphs)"


def test_084_refused_and_085_ran_out_leave_nothing_at_two_decimals() -> None:
    assert interval_from_trials(refused=(0.8, 0.84), ran_out=(0.9, 0.85)).is_empty
    at_three = interval_from_trials(refused=(0.84,), ran_out=(0.85,), decimals=3)
    assert (at_three.low, at_three.high) == (0.841, 0.849)


@pytest.mark.parametrize(("refused", "ran_out"), [((), (0.85,)), ((0.84,), ())])
def test_trials_on_one_side_leave_an_end_open(refused: tuple[float, ...], ran_out: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="both sides"):
        interval_from_trials(refused, ran_out)


def test_bounds_begin_open_and_get_narrower() -> None:
    found = Bounds()
    assert found.is_open
    assert found.reason == ""
    found = found.raised(0.8, "weights").raised(0.7, "less").capped(0.9, "graphs").capped(0.95, "more").capped(None, "unknown")
    assert (found.low, found.high, found.low_because, found.high_because) == (0.8, 0.9, "weights", "graphs")
    assert (found.is_open, found.is_empty) == (False, False)
    assert found.reason == "at least 0.800 (weights), at most 0.900 (graphs)"


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.2))
def test_bounds_are_empty_only_beyond_the_leeway(low: float, high: float, leeway: float) -> None:
    assert Bounds().raised(low, "").capped(high, "", leeway).is_empty == (low > high + leeway)


def test_one_open_end_is_never_empty() -> None:
    assert not Bounds(low=2.0).is_empty
    assert not Bounds(high=-1.0).is_empty
