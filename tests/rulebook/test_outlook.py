"""What to expect over the whole range of free memory."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cases.ladder import build_ladders
from analyzer.cases.receipt_files import read_receipts
from analyzer.cases.receipts import Receipt
from analyzer.rulebook.case import Case
from analyzer.rulebook.forecast import engine_default, forecast, need_of, rung_forecasts
from analyzer.rulebook.outlook import outlook
from analyzer.settings import load_settings, parse_settings, select
from analyzer.units import Size

TOTAL = 34_190_917_632


@pytest.fixture(scope="module")
def receipts(fixtures_dir: Path) -> list[Receipt]:
    files = sorted((fixtures_dir / "seeds" / "receipts").glob("*.json"))
    return [receipt for file in files if (found := read_receipts(file.read_text("utf-8"), file.name)) for receipt in found.receipts]


@pytest.fixture(scope="module")
def as_found(fixtures_dir: Path, receipts: list[Receipt]) -> Case:
    return Case((), load_settings([fixtures_dir / "seeds" / "profiles.as-found.yaml"]), build_ladders(receipts))


@pytest.fixture(scope="module")
def repaired(fixtures_dir: Path, receipts: list[Receipt]) -> Case:
    return Case((), load_settings([fixtures_dir / "seeds" / "profiles.repaired.yaml"]), build_ladders(receipts))


def test_as_found_more_free_memory_picks_a_profile_that_fails(as_found: Case):
    found = outlook(as_found)
    assert found is not None
    assert [(band.low, band.profile, band.expected, band.breaks) for band in found.bands] == [
        (0, None, "nothing fits", False),
        (22_834_731_864, "long_262k", "fails", False),
        (24_544_628_370, "long_393k", "fails", False),
        (25_371_803_649, "long_393k", "cannot tell", False),
        (25_571_033_088, "long_393k", "starts", False),
        (32_833_306_200, "raw_1010k", "fails", True),
        (33_568_063_489, "raw_1010k", "cannot tell", False),
        (34_188_820_480, "raw_1010k", "starts", False),
    ]
    assert found.saturated[0] == "raw_1010k: from 33 144 256 889 bytes on the budget stays at 32 481 371 750"


def test_repaired_no_band_fails(repaired: Case):
    found = outlook(repaired)
    assert found is not None
    assert {band.expected for band in found.bands} == {"nothing fits", "starts", "cannot tell"}
    assert [(band.low, band.high) for band in found.bands if band.expected == "cannot tell"] == [(33_877_551_021, 34_188_820_479)]
    assert {found.expected for found in rung_forecasts(repaired, repaired.settings)} == {"nothing fits", "starts"}  # type: ignore[arg-type]


def test_the_bands_cover_the_device_and_name_what_the_selector_takes(as_found: Case):
    found = outlook(as_found)
    assert found is not None
    assert as_found.settings is not None
    assert (found.bands[0].low, found.bands[-1].high) == (0, TOTAL)
    for band, following in zip(found.bands, found.bands[1:], strict=False):
        assert band.high + 1 == following.low
    for band in found.bands:
        assert {select(as_found.settings, TOTAL, free).winner for free in (band.low, band.high)} == {band.profile}
        assert {forecast(as_found, as_found.settings, TOTAL, free).expected for free in (band.low, band.high)} == {band.expected}


def test_a_profile_that_never_wins_is_named(receipts: list[Receipt]):
    settings = parse_settings({"p.yaml": "profiles: {a: {requires_free_bytes: 20000000000}, b: {requires_free_bytes: 30000000000}}"})
    found = outlook(Case((), settings, build_ladders(receipts)))
    assert found is not None
    assert found.unreachable == ["b comes after a profile that always fits when it does (a)"]


def test_without_a_total_there_is_no_map(fixtures_dir: Path):
    assert outlook(Case((), load_settings([fixtures_dir / "seeds" / "profiles.as-found.yaml"]))) is None


def test_without_a_release_the_least_default_counts(as_found: Case):
    assert engine_default(as_found) == 0.9


@given(shift=st.integers(-5_000_000_000, 5_000_000_000), bounds=st.tuples(st.integers(10**10, 2 * 10**10), st.integers(1, 10**9)))
def test_the_need_moves_with_the_arena(shift: int, bounds: tuple[int, int]):
    arena = 6_000_000_000
    low, high = bounds[0], bounds[0] + bounds[1]
    failed = Receipt("r", "a", "selected", Size.exact(low), "fail", Size.exact(TOTAL), arena=Size.exact(arena))
    runs = [failed, replace(failed, free=Size.exact(high), outcome="pass")]
    settings = parse_settings({"p.yaml": f"profiles: {{a: {{kv_cache_memory_bytes: {arena + shift}, requires_free_bytes: 1}}}}"})
    need = need_of(Case((), settings, build_ladders(runs)), settings.profiles["a"])
    assert (need.low, need.high) == (low + shift, high + shift)


def test_another_profile_shows_nothing_about_this_one(receipts: list[Receipt], fixtures_dir: Path):
    """By the common overhead raw_1010k would need 33.5e9; that is said, and decides nothing."""
    settings = load_settings([fixtures_dir / "seeds" / "profiles.as-found.yaml"])
    found = forecast(Case((), settings, build_ladders(receipts[:11])), settings, TOTAL, 34_188_820_480)
    assert (found.profile, found.expected) == ("raw_1010k", "cannot tell")
    assert "not measured on this profile; by the overhead common to long_393k and long_262k" in found.why
