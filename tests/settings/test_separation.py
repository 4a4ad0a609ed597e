"""Whether a selector can tell the runs that fail from those that pass, and which repairs that takes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cases.ladder import build_ladders
from analyzer.cases.receipt_files import read_receipts
from analyzer.settings.separation import (
    FitCondition,
    MeasuredRuns,
    Separation,
    compare_repairs,
    following_utilization,
    replay,
    separation,
)

TOTAL = 34_190_917_632
SAFETY = 0.98
AS_FOUND = FitCondition(0.95, 32_176_640_076)
REPAIRED = FitCondition(0.99, 33_200_000_000)


@pytest.fixture(scope="module")
def runs(fixtures_dir: Path) -> dict[str, MeasuredRuns]:
    files = sorted((fixtures_dir / "seeds" / "receipts").glob("*.json"))
    readings = [read_receipts(file.read_text(encoding="utf-8"), file.name) for file in files]
    ladders = build_ladders([receipt for reading in readings if reading for receipt in reading.receipts])
    return {ladder.profile: MeasuredRuns(TOTAL, ladder.fails_at, ladder.passes_at) for ladder in ladders}


def test_a_saturated_budget_tells_nothing_apart(runs: dict[str, MeasuredRuns]):
    before = separation(runs["raw_1010k"], 0.95, SAFETY)
    assert before == Separation(32_481_371_750, 32_481_371_750)
    assert not before.exists
    assert before.proposed is None


def test_above_the_safety_factor_there_are_thresholds_that_do(runs: dict[str, MeasuredRuns]):
    after = separation(runs["raw_1010k"], 0.99, SAFETY)
    assert after == Separation(32_896_702_218, 33_505_044_070)
    assert after.exists
    assert after.proposed == 33_200_000_000


@pytest.mark.parametrize(
    ("threshold", "agrees"), [(32_896_702_218, False), (32_896_702_219, True), (33_505_044_070, True), (33_505_044_071, False)]
)
def test_just_those_thresholds(runs: dict[str, MeasuredRuns], threshold: int, agrees: bool):
    assert replay(runs["raw_1010k"], FitCondition(0.99, threshold), SAFETY).agrees is agrees


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (AS_FOUND, "selects it with 33 568 063 488 bytes free, where it fails"),
        (FitCondition(0.99, 32_176_640_076), "selects it with 33 568 063 488 bytes free, where it fails"),
        (FitCondition(0.95, 33_200_000_000), "rejects it with 34 188 820 480 bytes free, where it passes; never selects it on this device"),
        (REPAIRED, "agrees with every run"),
    ],
)
def test_the_run_that_disagrees_is_named(runs: dict[str, MeasuredRuns], condition: FitCondition, told: str):
    assert str(replay(runs["raw_1010k"], condition, SAFETY)) == told


def test_neither_repair_alone_is_enough_and_both_together_are(runs: dict[str, MeasuredRuns]):
    repairs = compare_repairs(runs["raw_1010k"], AS_FOUND, REPAIRED, SAFETY)
    assert (repairs.utilization_alone.enough, repairs.threshold_alone.enough, repairs.both.enough) == (False, False, True)
    assert repairs.both_needed


def test_where_the_threshold_alone_is_enough(runs: dict[str, MeasuredRuns]):
    repairs = compare_repairs(runs["long_393k"], FitCondition(0.95, 24_053_735_802), FitCondition(0.99, 25_572_315_586), SAFETY)
    assert (repairs.utilization_alone.enough, repairs.threshold_alone.enough) == (False, True)
    assert not repairs.both_needed


@pytest.mark.parametrize(
    ("profile", "condition", "rejected"),
    [
        ("long_393k", FitCondition(0.95, 25_572_315_586), (25_571_033_088, 25_971_589_120)),
        ("long_262k", FitCondition(0.95, 23_972_315_586), (23_970_906_112,)),
    ],
)
def test_the_discount_rejects_some_that_pass(
    runs: dict[str, MeasuredRuns], profile: str, condition: FitCondition, rejected: tuple[int, ...]
):
    found = replay(runs[profile], condition, SAFETY)
    assert (found.rejected_passes, found.selected_failures) == (rejected, ())
    assert found.enough
    assert not found.agrees


def test_runs_of_one_outcome_need_no_separation():
    assert separation(MeasuredRuns(100, [50], []), None, SAFETY) is None
    assert separation(MeasuredRuns(100, [], [50]), None, SAFETY) is None


@pytest.mark.parametrize(("safety_factor", "utilization"), [(0.98, 0.99), (0.9, 0.91), (0.985, 0.99), (0.99, 1.0), (1.0, 1.0)])
def test_the_utilization_with_which_the_budget_follows_free_memory(safety_factor: float, utilization: float):
    assert following_utilization(safety_factor) == utilization


frees = st.lists(st.integers(0, 1000), min_size=1, max_size=5)
shares = st.decimals("0.01", "1", places=2).map(float)


@given(frees, frees, st.none() | shares, shares, st.integers(0, 1001))
def test_a_threshold_agrees_with_the_runs_just_when_it_separates(
    fails_at: list[int], passes_at: list[int], utilization: float | None, safety_factor: float, threshold: int
):
    measured = MeasuredRuns(1000, fails_at, passes_at)
    found = separation(measured, utilization, safety_factor)
    assert found is not None
    assert replay(measured, FitCondition(utilization, threshold), safety_factor).agrees == (found.low < threshold <= found.high)
    assert (found.proposed is not None) == found.exists
    if found.proposed is not None:
        assert found.low < found.proposed <= found.high


@given(st.integers(0, 999), st.integers(1, 1000), st.decimals("0.01", "1", places=2).map(float))
def test_with_that_utilization_the_budget_is_never_saturated(low: int, above: int, safety_factor: float):
    """Two amounts of free memory far enough apart always give two budgets."""
    high = min(1000, low + above)
    found = separation(MeasuredRuns(1000, [low], [high]), following_utilization(safety_factor), safety_factor)
    assert found is not None
    assert found.exists or (high - low) * safety_factor < 1
