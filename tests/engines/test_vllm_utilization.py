"""vLLM's utilization and pinned arena from measured figures."""

from typing import Literal

import pytest
from packaging.version import Version

from analyzer.engines.interval import FractionInterval
from analyzer.engines.vllm import largest_passing_utilization
from analyzer.engines.vllm_arena import (
    SKIPPED,
    STILL_DONE,
    arena_after_refusal,
    arena_from_two_runs,
    arena_in_effect,
    largest_arena,
)
from analyzer.engines.vllm_utilization import (
    audit_hint,
    largest_utilization,
    smallest_utilization,
    utilization_after_refusal,
    utilization_for,
    utilization_interval,
)
from analyzer.units import GIB, Size, parse_size


def gib(amount: float) -> Size:
    return Size.exact(amount * GIB)


def test_smallest_utilization_from_a_ledger() -> None:
    # 52 beside the KV cache and 4 of it, of 80
    assert smallest_utilization(gib(80), gib(52), gib(4)) == pytest.approx(0.7)


def test_smallest_utilization_from_a_refusal() -> None:
    # 12.02 needed, 11.76 available at 0.95 of 31.36: 0.95 + 0.26 / 31.36
    value = utilization_for(0.95, parse_size("12.02 GiB"), parse_size("11.76 GiB"), parse_size("31.36 GiB"))
    assert value == pytest.approx(0.9583, abs=5e-5)


def test_largest_utilization() -> None:
    assert largest_utilization(gib(80), gib(75), gib(3)) == pytest.approx(0.9)
    # 23.0 of 31.36 GiB free passes the start-up check up to 0.73
    assert largest_passing_utilization(parse_size("23.0 GiB", decimals=2), parse_size("31.36 GiB")) == 0.73


def test_interval() -> None:
    interval = utilization_interval(gib(80), free_at_start=gib(75), non_kv=gib(52), kv_needed=gib(4), outside=gib(3))
    assert (interval.smallest(), interval.largest()) == (0.7, 0.9)
    assert utilization_interval(gib(80), gib(58), gib(52), gib(4), gib(3)).is_empty


WORKS = FractionInterval(0.70, 0.90, "the ledger", "free memory")
NOTHING_WORKS = FractionInterval(0.95, 0.90, "the ledger", "free memory")


@pytest.mark.parametrize(
    ("hint", "utilization", "works", "pinned", "holds", "value"),
    [
        ("increase", 0.65, WORKS, None, True, 0.70),
        ("increase", 0.80, WORKS, None, False, None),
        ("increase", 0.95, WORKS, None, False, None),
        ("increase", 0.65, NOTHING_WORKS, None, False, None),
        ("increase", 0.65, WORKS, gib(4.84), False, None),
        ("decrease", 0.95, WORKS, None, True, 0.90),
        ("decrease", 0.65, WORKS, None, False, None),
        ("decrease", 0.92, NOTHING_WORKS, None, False, None),
    ],
)
def test_the_engines_hint(
    hint: Literal["increase", "decrease"],
    utilization: float,
    works: FractionInterval,
    pinned: Size | None,
    holds: bool,
    value: float | None,
) -> None:
    audit = audit_hint(hint, utilization, works, pinned)
    assert (audit.holds, audit.value) == (holds, value)


def test_why_a_hint_does_not_hold() -> None:
    assert (
        audit_hint("increase", 0.65, WORKS, gib(4.84)).why
        == "the KV arena is pinned at 4.84 GiB: its size does not depend on the utilization"
    )
    assert audit_hint("increase", 0.8, WORKS, None).why.startswith("0.8 already lies where it works")
    assert audit_hint("increase", 0.65, NOTHING_WORKS, None).why.startswith("no value works")


# ---- the pinned arena


def test_largest_arena_from_weights_and_overhead() -> None:
    # 25.229 GB free as selected is 23.0 GiB to the engine: 23.0 - 16.44 - 2.42
    assert largest_arena(gib(23.0), gib(16.44), gib(2.42)).gib == pytest.approx(4.14)


def test_arena_after_a_refused_allocation() -> None:
    # 272.00 MiB asked, 149.06 MiB free: 122.94 MiB too many
    arena = arena_after_refusal(Size.exact(5_200_000_000), parse_size("272.00 MiB"), parse_size("149.06 MiB"))
    assert arena.may_equal(5_200_000_000 - round(122.94 * 2**20))


def test_arena_from_a_good_and_a_bad_run() -> None:
    # 23.7 GiB free served, 23.0 did not: 5.2e9 - 0.7 GiB
    arena = arena_from_two_runs(Size.exact(5_200_000_000), parse_size("23.7 GiB", decimals=2), parse_size("23.0 GiB", decimals=2))
    assert arena.may_equal(5_200_000_000 - round(0.7 * GIB))
    assert arena.high - arena.low == pytest.approx(0.02 * GIB, rel=0.01)


def test_a_decoding_reserve_comes_off_the_pinned_size_from_0_25_0() -> None:
    assert arena_in_effect(gib(5), Version("0.24.0"), gib(1)).gib == 5
    assert arena_in_effect(gib(5), Version("0.25.0"), gib(1)).gib == 4
    assert arena_in_effect(gib(5), Version("0.25.0")).gib == 5


def test_the_start_up_check_is_not_skipped() -> None:
    assert not set(SKIPPED) & set(STILL_DONE)
    assert STILL_DONE[0].startswith("the start-up check")


def test_the_utilization_that_follows_from_a_refused_allocation() -> None:
    found = utilization_after_refusal(0.95, parse_size("500.00 MiB"), parse_size("11.12 MiB"), parse_size("23.52 GiB"))
    assert found == pytest.approx(0.95 - 488.88 / 1024 / 23.52, abs=1e-6)
