"""sglang-omni: fractions of stages on shared cards."""

import pytest
from packaging.version import Version

from analyzer.engines.argument import flag_of
from analyzer.engines.omni import (
    ARGUMENTS,
    card_budget,
    largest_encoder_reserve,
    least_stage_fraction,
    less_encoder_reserve,
    pinned_pool_shortfall,
    sglang_release,
    stage_budget,
)
from analyzer.units import GIB, Size, parse_size


@pytest.mark.parametrize(
    ("fraction", "reserve", "expected"),
    [
        (0.874, 0.05, 0.824),  # the thinker of Qwen3-Omni on an H100
        (0.8745, 0.05, 0.825),
        (0.8745, 0.0, 0.8745),  # without a reserve nothing is rounded
        (0.95, 0.8, 0.15),
        (0.868, 0.8, None),  # 0.068
    ],
)
def test_less_the_encoders_reserve(fraction: float, reserve: float, expected: float | None) -> None:
    assert less_encoder_reserve(fraction, reserve) == expected


def test_a_stage_that_shares_its_card_counts_from_the_whole_card() -> None:
    # 0.900 of 79.11 GiB less 62.30 used by the process: the profile line prints 8.90
    budget = stage_budget(parse_size("79.11 GiB"), 0.9, parse_size("62.30 GiB"))
    assert budget.may_equal(parse_size("8.90 GiB"))


def test_the_fraction_at_which_a_stages_pool_is_empty() -> None:
    total, used = parse_size("79.11 GiB"), parse_size("62.30 GiB")
    least = least_stage_fraction(total, used)
    assert least == pytest.approx(62.30 / 79.11, abs=0.0002)
    assert stage_budget(total, least - 0.0005, used) < 0


def test_the_largest_reserve_is_the_last_that_is_taken_off() -> None:
    largest = largest_encoder_reserve(0.874)
    assert largest == pytest.approx(0.774)
    assert less_encoder_reserve(0.874, largest - 1e-6) == 0.1
    assert less_encoder_reserve(0.874, largest + 0.001) is None
    assert largest_encoder_reserve(0.05) == 0


def test_stages_add_up_on_one_card() -> None:
    total = Size.exact(80 * GIB)
    fits = card_budget(total, {"thinker": 0.7, "talker": 0.28, "code2wav": 0.02})
    assert fits.fraction == pytest.approx(1.0)
    assert fits.excess.bytes == 0
    over = card_budget(total, {"thinker": 0.8, "talker": 0.28})
    assert over.excess.gib == pytest.approx(6.4)


def test_byte_reserves_count_against_the_card_and_fractions_against_the_limit() -> None:
    total = Size.exact(80 * GIB)
    reserved = card_budget(total, {"thinker": 0.9}, {"encoder": 12 * GIB})
    assert reserved.declared.gib == pytest.approx(84)
    assert reserved.excess.gib == pytest.approx(4)
    limited = card_budget(total, {"thinker": 0.9}, limit=0.85)
    assert limited.excess.gib == pytest.approx(4)
    assert card_budget(total, {"thinker": 0.5}).excess.gib == pytest.approx(-40)


def test_a_pinned_pool_only_has_to_be_free() -> None:
    assert pinned_pool_shortfall(8 * GIB, parse_size("6.50 GiB")).gib == pytest.approx(1.5)
    assert pinned_pool_shortfall(8 * GIB, parse_size("8.50 GiB")) < 0


@pytest.mark.parametrize(
    ("name", "version", "flag"),
    [
        ("thinker_mem_fraction_static", "0.1.3", "--thinker-mem-fraction-static"),
        ("thinker_mem_fraction_static", "0.1.4", "--thinker.engine.mem_fraction_static"),
        ("mem_fraction_static", "0.1.9", "--mem-fraction-static"),
        ("thinker_mem_fraction_static", "0.1.0", None),
        ("kv_cache_bytes", "0.1.4", None),
        ("kv_cache_bytes", "0.1.5", "--thinker.engine.kv_cache_bytes"),
    ],
)
def test_flags_by_release(name: str, version: str, flag: str | None) -> None:
    assert flag_of(ARGUMENTS, name, Version(version)) == flag


@pytest.mark.parametrize(
    ("omni", "inside"),
    [
        ("0.1.0", None),
        ("0.1.1", "0.5.16"),
        ("0.1.2", "0.5.16"),
        ("0.1.3", "0.5.16"),
        ("0.1.4", None),
        ("0.1.5", "0.5.19"),
        ("0.1.6", None),
        ("0.1.7", "0.5.20"),
        ("0.1.8", None),
        ("0.1.9", "0.5.22"),
        (None, None),
    ],
)
def test_the_engine_inside(omni: str | None, inside: str | None) -> None:
    found = sglang_release(Version(omni) if omni is not None else None)
    assert found == (Version(inside) if inside is not None else None)
