"""Which profile wins where."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from analyzer.settings import Settings, load_settings, parse_settings, select, selection_map
from analyzer.settings.selection import budget
from analyzer.settings.selection_map import Band, Saturation, Unreachable

TOTAL = 34_190_917_632
TOTAL_4090 = 25_757_220_864


def test_the_profiles_as_found(fixtures_dir: Path):
    found = selection_map(load_settings([fixtures_dir / "seeds" / "profiles.as-found.yaml"]), TOTAL)
    assert found.bands == (
        Band(0, 22_834_731_863, None),
        Band(22_834_731_864, 24_544_628_369, "long_262k"),
        Band(24_544_628_370, 32_833_306_199, "long_393k"),
        Band(32_833_306_200, TOTAL, "raw_1010k"),
    )
    assert found.unreachable == ()
    assert found.saturated == (
        Saturation("raw_1010k", 33_144_256_889, TOTAL, 32_481_371_750),
        Saturation("long_393k", 33_144_256_889, TOTAL, 32_481_371_750),
    )


def test_the_repaired_profiles(fixtures_dir: Path):
    settings = load_settings([fixtures_dir / "seeds" / "profiles.repaired.yaml"])
    assert selection_map(settings, TOTAL).bands == (
        Band(0, 24_461_546_516, None),
        Band(24_461_546_517, 26_094_199_577, "long_262k"),
        Band(26_094_199_578, 33_877_551_020, "long_393k"),
        Band(33_877_551_021, TOTAL, "raw_1010k"),
    )
    small = selection_map(settings, TOTAL_4090)
    assert [band.profile for band in small.bands] == [None, "long_262k"]
    assert small.unreachable == (
        Unreachable("raw_1010k", "above total x utilization"),
        Unreachable("long_393k", "above total x utilization"),
    )


def test_why_a_profile_never_wins():
    text = """
        selection: {safety_factor: 0.5, order: [a, shadowed, wide, silent, high, b]}
        profiles:
          a: {requires_free_bytes: 40}
          shadowed: {requires_free_bytes: 45}
          wide: {requires_free_bytes: 51}
          silent: {gpu_memory_utilization: 0.4}
          high: {requires_free_bytes: 40, gpu_memory_utilization: 0.3}
          b: {requires_free_bytes: 0}
          unlisted: {requires_free_bytes: 1}
    """
    found = selection_map(parse_settings({"p.yaml": text}), 100)
    assert found.bands == (Band(0, 79, "b"), Band(80, 100, "a"))
    assert found.unreachable == (
        Unreachable("unlisted", "not in the order"),
        Unreachable("shadowed", "shadowed", by="a"),
        Unreachable("wide", "above the device"),
        Unreachable("silent", "no requires_free_bytes"),
        Unreachable("high", "above total x utilization"),
    )


SHARES = st.sampled_from(["0.3", "0.5", "0.77", "0.9", "0.95", "0.98", "0.99", "1"])


@st.composite
def small_settings(draw: st.DrawFn) -> Settings:
    """Settings for a device of some dozens of bytes, so that every amount of free memory can be tried."""
    names = draw(st.lists(st.sampled_from("abcdef"), min_size=1, unique=True))
    lines = [f"selection: {{safety_factor: {draw(SHARES)}, order: [{', '.join(draw(st.permutations(names)))}]}}", "profiles:"]
    for name in names:
        requires = draw(st.none() | st.integers(0, 70))
        utilization = draw(st.none() | SHARES)
        lines += [f"  {name}:"]
        lines += [f"    requires_free_bytes: {requires}"] if requires is not None else []
        lines += [f"    gpu_memory_utilization: {utilization}"] if utilization is not None else []
    return parse_settings({"p.yaml": "\n".join(lines)})


@given(settings=small_settings(), total=st.integers(1, 60))
def test_the_map_says_of_every_amount_of_free_memory_what_the_selector_does(settings: Settings, total: int):
    found = selection_map(settings, total)
    winners = [band.profile for band in found.bands for _ in range(band.low, band.high + 1)]
    assert winners == [select(settings, total, free).winner for free in range(total + 1)]
    assert found.bands[0].low == 0
    assert all(band.high + 1 == following.low for band, following in zip(found.bands, found.bands[1:], strict=False))
    assert {entry.profile for entry in found.unreachable} == settings.profiles.keys() - set(winners)


@given(settings=small_settings(), total=st.integers(1, 60))
def test_within_the_saturated_band_the_budget_stays_the_same(settings: Settings, total: int):
    for band in selection_map(settings, total).saturated:
        utilization = settings.profiles[band.profile].utilization
        for free in range(band.low, band.high + 1):
            assert budget(total, free, utilization, settings.selection.safety_factor) == band.budget
