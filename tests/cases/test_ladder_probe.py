"""The next probe halves what is open, and is one that can be made."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cases.ladder import Ladder, build_ladders
from analyzer.cases.ladder_probe import PROBE_STEP, next_probe
from analyzer.cases.receipts import Ending, Receipt
from analyzer.units import MIB, Size


@pytest.mark.parametrize(("profile", "free"), [("long_393k", 25_472_466_944), ("long_262k", 23_717_150_720), ("raw_1010k", 33_878_441_984)])
def test_the_middle_of_the_bracket_in_steps_of_the_instrument(ladders: dict[str, Ladder], profile: str, free: int):
    bracket = ladders[profile].threshold
    probe = next_probe(ladders[profile])
    assert bracket is not None
    assert bracket.low is not None
    assert bracket.high is not None
    assert probe.free == free
    assert (free - bracket.low) % PROBE_STEP == 0
    assert abs(free - (bracket.low + bracket.high) / 2) <= PROBE_STEP / 2


def test_not_where_the_selector_takes_another_profile_or_the_instrument_does_not_reach(ladders: dict[str, Ladder]):
    long = ladders["long_393k"]
    low, high = 25_371_803_648, 25_571_033_088
    above = next_probe(long, lowest=high - 10 * MIB).free
    assert above is not None
    assert high - 10 * MIB <= above < high - 8 * MIB
    assert next_probe(long, highest=low + 3 * MIB).free == low + 2 * MIB
    assert next_probe(long, lowest=high).free is None
    unreachable = next_probe(ladders["raw_1010k"], highest=33_136_836_608)
    assert unreachable.free is None
    assert unreachable.reason == "the threshold lies between 33 568 063 488 and 34 188 820 480, where nothing can be probed"


def test_a_bracket_open_on_one_side_ends_at_what_is_known(ladders: dict[str, Ladder]):
    long = ladders["long_393k"]
    loaded, total = 22_846_946_878, 34_190_917_632
    upwards = next_probe(Ladder("p", tuple(long.failed))).free
    downwards = next_probe(Ladder("p", tuple(long.passed))).free
    assert upwards == pytest.approx((25_371_803_648 + total) / 2, abs=PROBE_STEP)
    assert downwards == pytest.approx((loaded + 25_571_033_088) / 2, abs=PROBE_STEP)


def test_contradictory_runs_are_repeated_first(receipts: list[Receipt]):
    (ladder,) = build_ladders([receipts[2], replace(receipts[3], outcome="fail")])
    probe = next_probe(ladder)
    assert probe.free == 25_571_033_088
    assert probe.reason.startswith("repeat this run first")


@pytest.mark.parametrize(
    ("runs", "reason"),
    [
        ([(0, "fail"), (2 * MIB, "pass")], "the threshold lies between 0 and 2 097 152, which is as finely as free memory can be set"),
        ([(5, "pass")], "neither runs nor weights, arena and device tell where the threshold may lie"),
    ],
)
def test_where_no_run_would_tell_more(runs: list[tuple[int, Ending]], reason: str):
    probe = next_probe(ladder_of(runs))
    assert (probe.free, probe.reason) == (None, reason)


def test_figures_that_disagree():
    ladder = ladder_of([(5, "pass")])
    loaded = replace(ladder.rungs[0].receipt, weights=Size.exact(7), arena=Size.exact(1))
    probe = next_probe(build_ladders([loaded])[0])
    assert (probe.free, probe.reason) == (None, "the figures disagree: nothing lies between 8 and 5")


@given(st.integers(0, 10**6), st.integers(2, 10**6), st.integers(1, 1000))
def test_the_probe_leaves_half_whatever_its_outcome(low: int, width: int, step: int):
    high = low + width
    probe = next_probe(ladder_of([(low, "fail"), (high, "pass")]), step=step)
    if width <= step:
        assert probe.free is None
    else:
        assert probe.free is not None
        assert low < probe.free < high
        assert 2 * max(probe.free - low, high - probe.free) <= width + 2 * step


def ladder_of(runs: list[tuple[int, Ending]]) -> Ladder:
    (ladder,) = build_ladders([Receipt("r.json", "p", "selected", Size.exact(free), outcome) for free, outcome in runs])
    return ladder
