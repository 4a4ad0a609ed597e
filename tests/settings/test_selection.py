"""The selector's arithmetic, with the figures that were measured on an RTX 5090."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.settings import Settings, load_settings, parse_settings
from analyzer.settings.selection import (
    binding_term,
    budget,
    ceiling,
    clamp,
    engine_utilization,
    least_free,
    raw_free_needed,
    saturation_point,
    select,
)

TOTAL = 34_190_917_632
SAFETY = 0.98

totals = st.integers(1, 300_000_000_000)
shares = st.decimals("0.01", "1", places=2).map(float)


@pytest.fixture
def as_found(fixtures_dir: Path) -> Settings:
    return load_settings([fixtures_dir / "seeds" / "profiles.as-found.yaml"])


@pytest.fixture
def repaired(fixtures_dir: Path) -> Settings:
    return load_settings([fixtures_dir / "seeds" / "profiles.repaired.yaml"])


@pytest.mark.parametrize(
    ("free", "utilization", "expected", "term"),
    [
        (33_568_063_488, 0.95, 32_481_371_750, "total x utilization"),
        (34_188_820_480, 0.95, 32_481_371_750, "total x utilization"),
        (33_568_063_488, 0.99, 32_896_702_218, "free x safety"),
        (34_188_820_480, 0.99, 33_505_044_070, "free x safety"),
        (25_229_197_312, 0.95, 24_724_613_365, "free x safety"),
        (25_229_197_312, None, 24_724_613_365, "free x safety"),
        (34_188_820_480, None, 33_505_044_070, "free x safety"),
    ],
)
def test_budget(free: int, utilization: float | None, expected: int, term: str):
    assert budget(TOTAL, free, utilization, SAFETY) == expected
    assert binding_term(TOTAL, free, utilization, SAFETY) == term


@pytest.mark.parametrize(
    ("free", "utilization", "logged"),
    [
        (25_229_197_312, 0.95, 0.723),
        (25_971_589_120, 0.95, 0.744),
        (26_720_272_384, 0.95, 0.766),
        (27_471_052_800, 0.95, 0.787),
        (34_188_820_480, 0.95, 0.95),
        (34_188_820_480, 0.99, 0.98),
    ],
)
def test_clamp(free: int, utilization: float, logged: float):
    assert round(clamp(utilization, free, TOTAL, SAFETY), 3) == logged


@pytest.mark.parametrize(
    ("requires", "raw"),
    [(23_972_315_586, 24_461_546_516), (25_572_315_586, 26_094_199_578), (32_176_640_076, 32_833_306_200)],
)
def test_a_threshold_in_raw_free_bytes(requires: int, raw: int):
    assert raw_free_needed(requires, SAFETY) == raw


@pytest.mark.parametrize(
    ("requires", "measured", "stricter"), [(23_972_315_586, 23_970_906_112, 490), (25_572_315_586, 25_571_033_088, 523)]
)
def test_the_safety_factor_asks_for_more_than_was_measured(requires: int, measured: int, stricter: int):
    assert (raw_free_needed(requires, SAFETY) - measured) // 10**6 == stricter


def test_a_threshold_above_the_ceiling_cannot_be_selected():
    assert ceiling(TOTAL, 0.95) == 32_481_371_750 < 33_200_000_000
    assert ceiling(TOTAL, 0.99) == 33_849_008_455 > 33_200_000_000
    assert ceiling(TOTAL, None) is None


@pytest.mark.parametrize(("utilization", "point"), [(0.95, 33_144_256_889), (0.98, TOTAL), (0.99, 34_539_804_547)])
def test_the_budget_saturates_within_the_device_just_when_the_utilization_is_below_the_safety_factor(utilization: float, point: int):
    assert saturation_point(TOTAL, utilization, SAFETY) == point
    assert (point < TOTAL) == (utilization < SAFETY)


def test_the_failing_run_was_given_long_393k(as_found: Settings):
    selection = select(as_found, TOTAL, 25_229_197_312)
    assert selection.winner == "long_393k"
    first, second = selection.trials
    assert (first.profile, first.rejection, first.short_by) == ("raw_1010k", "budget", 32_176_640_076 - 24_724_613_365)
    assert (second.profile, second.rejection, second.short_by) == ("long_393k", None, 0)
    assert f"{first.budget / 2**30:.2f}" == "23.03"


def test_the_repaired_profiles_give_long_262k_in_its_place(repaired: Settings):
    selection = select(repaired, TOTAL, 25_229_197_312)
    assert selection.winner == "long_262k"
    assert [trial.short_by for trial in selection.trials] == [33_200_000_000 - 24_724_613_365, 25_572_315_586 - 24_724_613_365, 0]
    long_262k = repaired.profiles["long_262k"]
    assert round(engine_utilization(long_262k, TOTAL, 25_229_197_312, SAFETY, engine_default=0.92), 3) == 0.723


def test_as_found_the_wide_profile_is_taken_where_it_fails(as_found: Settings, repaired: Settings):
    for free, after in ((33_568_063_488, "long_393k"), (34_188_820_480, "raw_1010k")):
        assert select(as_found, TOTAL, free).winner == "raw_1010k"
        assert select(repaired, TOTAL, free).winner == after


@pytest.mark.parametrize(
    ("free", "before", "after"),
    [
        (20_470_759_424, None, None),
        (22_471_442_432, None, None),
        (23_461_298_176, "long_262k", None),
        (23_970_906_112, "long_262k", None),
        (25_371_803_648, "long_393k", "long_262k"),
        (25_571_033_088, "long_393k", "long_262k"),
        (26_720_272_384, "long_393k", "long_393k"),
    ],
)
def test_the_ladder(as_found: Settings, repaired: Settings, free: int, before: str | None, after: str | None):
    assert select(as_found, TOTAL, free).winner == before
    assert select(repaired, TOTAL, free).winner == after


def test_without_a_utilization_nothing_is_clamped_and_the_engines_default_counts(as_found: Settings):
    long_262k = as_found.profiles["long_262k"]
    assert engine_utilization(long_262k, TOTAL, 25_229_197_312, SAFETY, engine_default=0.92) == 0.92


def test_skipped_profiles_are_passed_over(as_found: Settings):
    selection = select(as_found, TOTAL, 25_229_197_312, skip={"long_393k"})
    assert selection.winner == "long_262k"
    assert [trial.rejection for trial in selection.trials] == ["budget", "skipped", None]


def test_a_profile_without_a_threshold_is_never_selected():
    settings = parse_settings({"p.yaml": "profiles: {a: {max_model_len: 5}}"})
    selection = select(settings, TOTAL, TOTAL)
    assert selection.winner is None
    assert selection.trials[0].rejection == "no requires_free_bytes"


@given(total=totals, free=totals, utilization=st.none() | shares, safety_factor=shares)
def test_the_budget_is_within_both_terms_and_grows_with_free_memory(total: int, free: int, utilization: float | None, safety_factor: float):
    found = budget(total, free, utilization, safety_factor)
    assert found <= free
    assert utilization is None or found <= total
    assert budget(total, free + 1, utilization, safety_factor) >= found


@given(requires=totals, safety_factor=shares)
def test_the_least_free_memory_fits_and_one_byte_less_does_not(requires: int, safety_factor: float):
    least = least_free(requires, safety_factor)
    assert budget(least, least, None, safety_factor) >= requires
    assert budget(least, least - 1, None, safety_factor) < requires
    assert least - raw_free_needed(requires, safety_factor) in {0, 1}


@given(total=totals, utilization=shares, safety_factor=shares, more=st.integers(0, 10**9))
def test_beyond_the_saturation_point_the_budget_is_the_ceiling(total: int, utilization: float, safety_factor: float, more: int):
    point = saturation_point(total, utilization, safety_factor)
    assert budget(total, point + more, utilization, safety_factor) == ceiling(total, utilization)
    assert binding_term(total, point - 1, utilization, safety_factor) == "free x safety"
