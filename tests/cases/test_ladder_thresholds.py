"""Recommended thresholds: never below a run that passed, never far above it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cases.ladder import Ladder, build_ladders
from analyzer.cases.ladder_overhead import constancy
from analyzer.cases.ladder_thresholds import NEAREST, STEP, Recommendation, recommend
from analyzer.cases.receipts import Receipt
from analyzer.units import Size


def recommended(receipts: list[Receipt]) -> dict[str, Recommendation]:
    ladders = build_ladders(receipts)
    return {found.profile: found for found in recommend(ladders, constancy(ladders))}


@pytest.mark.parametrize(
    ("profile", "measured_pass", "threshold"),
    [("long_262k", 23_970_906_112, 23_972_315_586), ("long_393k", 25_571_033_088, 25_572_315_586)],
)
def test_just_above_what_passed(receipts: list[Receipt], profile: str, measured_pass: int, threshold: int):
    found = recommended(receipts)[profile]
    assert (found.measured_pass, found.threshold, found.overhead) == (measured_pass, threshold, 2_720_000_000)
    assert found.above_pass is not None
    assert 0 <= found.above_pass <= 20_000_000
    assert found.reason.startswith("weights + arena + 2 720 000 000, the overhead common to long_393k and long_262k rounded up; 1 ")


def test_the_widest_profile_is_left_alone_by_the_constant(receipts: list[Receipt]):
    before = recommended(receipts[:14])["raw_1010k"]  # its forced runs only
    assert before == Recommendation(
        profile="raw_1010k",
        threshold=None,
        measured_pass=None,
        overhead=None,
        by_constant=33_522_315_586,
        reason="No run of it counts. The overhead common to long_393k and long_262k would give 33 522 315 586; "
        "that was not measured on this profile, so its threshold is not shown to be wrong.",
    )
    after = recommended(receipts)["raw_1010k"]
    assert (after.threshold, after.above_pass, after.by_constant) == (None, None, 33_522_315_586)
    assert after.measured_pass == 34_188_820_480
    assert after.reason == (
        "34 192 315 586, just above the run that passed, is more than the device has. "
        "The overhead common to long_393k and long_262k would give 33 522 315 586, but it failed with 33 568 063 488 free: "
        "its threshold is not shown to be wrong by a constant."
    )


def test_the_decimals_of_the_weights_do_not_move_it_away_from_the_run_that_passed(receipts: list[Receipt]):
    for gib in (16.435, 16.445):
        weights = Size.exact(gib * 2**30)
        found = recommended([replace(receipt, weights=weights) for receipt in receipts])
        for profile in ("long_262k", "long_393k"):
            above = found[profile].above_pass
            assert above is not None
            assert 0 <= above <= STEP


def test_one_profile_alone_is_recommended_by_its_own_overhead(receipts: list[Receipt]):
    found = recommended(receipts[:6])["long_393k"]
    assert (found.threshold, found.by_constant) == (25_572_315_586, None)
    assert found.reason.startswith("weights + arena + 2 720 000 000, its own overhead rounded up")


def test_without_weights_the_run_itself_is_rounded_up(receipts: list[Receipt]):
    found = recommended([replace(receipt, weights=None) for receipt in receipts])["long_393k"]
    assert (found.threshold, found.overhead) == (25_580_000_000, None)
    assert found.reason == ("the run that passed, rounded up; 8 966 912 bytes above the run that passed with 25 571 033 088 free")


def test_a_common_overhead_far_above_the_profiles_own_is_not_taken(receipts: list[Receipt]):
    """27 MB apart are within one per cent, so the overhead counts as constant; still each value stays near its own run."""
    higher = [
        replace(receipt, free=receipt.free + 27_000_000) if (receipt.profile, receipt.outcome) == ("long_393k", "pass") else receipt
        for receipt in receipts[:11]
    ]
    found = recommended(higher)
    assert found["long_393k"].overhead == 2_750_000_000
    assert found["long_262k"].overhead == 2_720_000_000
    assert found["long_262k"].by_constant == 24_002_315_586


@pytest.mark.parametrize(
    ("runs", "reason"),
    [
        ([("selected", "fail")], "No run that counts passed."),
        ([("forced", "pass")], "No run of it counts."),
        ([("selected", "pass"), ("selected", "fail")], "Its runs contradict each other."),
    ],
)
def test_no_recommendation_without_a_run_that_passed(receipts: list[Receipt], runs: list[tuple[str, str]], reason: str):
    found = recommended([replace(receipts[0], path=path, outcome=outcome) for path, outcome in runs])["long_393k"]  # type: ignore[arg-type]
    assert found == Recommendation("long_393k", None, None, None, None, reason)


@given(
    st.lists(st.integers(1, 5_000).map(lambda megabytes: megabytes * 1_048_576 + 1), min_size=1, max_size=4),
    st.integers(0, 3),
    st.sampled_from([Size.exact(16 * 10**9), Size(16 * 10**9, 16 * 10**9 - 5_368_709, 16 * 10**9 + 5_368_709)]),
)
def test_it_lies_at_or_little_above_the_run_that_passed(overheads: list[int], failed_below: int, weights: Size):
    ladders = [ladder(f"p{index}", index * 10**9, overhead, failed_below, weights) for index, overhead in enumerate(overheads)]
    for found in recommend(ladders, constancy(ladders)):
        assert found.above_pass is not None
        assert 0 <= found.above_pass <= NEAREST


def ladder(profile: str, arena: int, overhead: int, failed_below: int, weights: Size) -> Ladder:
    """A profile that passes with this overhead, and fails with so many MB less (0: no run failed)."""
    free = weights.bytes + arena + overhead
    runs = [Receipt("r.json", profile, "selected", Size.exact(free), "pass", weights=weights, arena=Size.exact(arena))]
    if failed_below:
        runs.append(replace(runs[0], free=Size.exact(free - failed_below * 10**6), outcome="fail"))
    (built,) = build_ladders(runs)
    return built
