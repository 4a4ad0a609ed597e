"""The checks of a start, with amounts whose last decimal is open."""

import pytest

from analyzer.engines.checks import (
    beside_cache,
    cache_at,
    came_through,
    enough,
    longest_request,
    one_request_fits,
    room_for_cache,
    start_up_check,
)
from analyzer.units import GIB, Size, parse_size


def gib(amount: float) -> Size:
    return Size.exact(amount * GIB)


def test_the_start_up_check_wants_its_share_of_the_whole_card() -> None:
    check = start_up_check(gib(17.05), gib(23.6), 0.9)
    assert (check.name, check.outcome) == ("start-up check", "fails")
    assert check.why == "0.9 x 23.60 GiB = 21.24 GiB wanted and 17.05 GiB free, 4.19 GiB short"
    assert start_up_check(gib(21.25), gib(23.6), 0.9).outcome == "passes"


def test_what_the_decimals_leave_open_is_not_decided() -> None:
    assert enough(parse_size("21.24 GiB"), parse_size("21.24 GiB")) == "cannot tell"
    assert enough(parse_size("21.25 GiB"), parse_size("21.24 GiB")) == "passes", "21.245 is the end of both"
    assert enough(parse_size("21.22 GiB"), parse_size("21.24 GiB")) == "fails"


@pytest.mark.parametrize(("cache", "outcome"), [(1.0, "passes"), (0.0, "fails"), (-5.4, "fails")])
def test_room_for_the_cache(cache: float, outcome: str) -> None:
    assert room_for_cache(gib(cache)).outcome == outcome


def test_one_request_is_held_against_the_cache() -> None:
    assert one_request_fits(gib(4.28), gib(4.7), 393216).outcome == "fails"
    assert one_request_fits(gib(4.84), gib(4.7), 393216).why == "393216 tokens need 4.70 GiB and 4.84 GiB are there"


def test_a_pool_below_one_request_does_not_stop_sglang() -> None:
    check = longest_request(gib(2.4), gib(3.15), 32768)
    assert (check.outcome, check.stops) == ("fails", False)
    assert check.why == "32768 tokens need 3.15 GiB and 2.40 GiB are there; the server starts without, and refuses requests that do not fit"
    assert longest_request(gib(4), gib(3.15), 32768).why == "32768 tokens need 3.15 GiB and 4.00 GiB are there"
    assert one_request_fits(gib(2.4), gib(3.15), 32768).stops


def test_a_refused_allocation_finds_what_a_smaller_cache_leaves() -> None:
    assert beside_cache("graphs", gib(0.5), gib(0.1), gib(5), gib(4.7)).outcome == "fails", "0.4 GiB for 0.5"
    assert beside_cache("graphs", gib(0.5), gib(0.1), gib(5), gib(4.5)).outcome == "passes"


def test_a_larger_cache_than_the_one_that_served_shows_nothing() -> None:
    assert came_through("graphs", gib(5), gib(5)).outcome == "passes"
    assert came_through("graphs", gib(5), gib(5.1)).outcome == "cannot tell"


def test_the_cache_follows_the_share() -> None:
    assert cache_at(gib(-5.4), 0.7, 0.85, gib(78)).gib == pytest.approx(6.3, abs=1e-6)
