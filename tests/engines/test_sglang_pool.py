"""SGLang's KV budget and the fraction that holds a given work."""

import pytest
import yaml
from packaging.version import Version

from analyzer.engines.sglang import fraction_for, fraction_for_more, kv_budget, rounded_up, smallest_fraction, static_reserve
from analyzer.engines.sglang_pool import (
    above_the_minimum,
    default_running_requests,
    enlarged_tokens,
    most_tokens_needed,
    multimodal_reservation,
    pool_budget,
    pool_limits_input,
    smallest_fraction_for,
)
from analyzer.units import GIB, MIB, Size, parse_size


def gib(amount: float) -> Size:
    return Size.exact(amount * GIB)


@pytest.mark.parametrize(
    ("pre", "post", "fraction", "expected"),
    [
        (78, 18, 0.70, -5.4),  # 18 - 78 x 0.30
        (78, 18, 0.85, 6.3),  # 18 - 78 x 0.15
        (96, 36, 0.70, 7.2),  # 96 x 0.7 - 60
        (70, 10, 0.85, -0.5),  # 10 - 70 x 0.15: a neighbour holds 8 GiB
        (70, 10, 0.87, 0.9),  # 10 - 70 x 0.13
    ],
)
def test_budget_for_60_gib_of_weights(pre: float, post: float, fraction: float, expected: float) -> None:
    assert kv_budget(gib(pre), gib(post), fraction).gib == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize(
    ("pre", "post", "expected"),
    [(78, 18, 0.7692), (70, 10, 0.8571), (96, 36, 0.625)],  # 1 - 18 / 78, 1 - 10 / 70, 1 - 36 / 96
)
def test_smallest_fraction(pre: float, post: float, expected: float) -> None:
    assert smallest_fraction(gib(pre), gib(post)) == pytest.approx(expected, abs=5e-5)
    assert kv_budget(gib(pre), gib(post), smallest_fraction(gib(pre), gib(post))).bytes == pytest.approx(0, abs=2)


def test_the_minimum_that_the_engine_printed(fixtures_dir) -> None:
    """Weights of 125.65 GB on an H200: the engine printed 0.9113, and 0.9335 with 3.07 GB of draft weights."""
    case = yaml.safe_load((fixtures_dir / "corpus/sglang-001-dsv4pro-h200-weights-exceed-fraction.yaml").read_text(encoding="utf-8"))
    facts = case["expect"]["facts"]
    assert "avail mem=12.25 GB, mem usage=125.65 GB" in case["log"]
    post, weights, draft = (parse_size(f"{amount} GiB") for amount in (12.25, 125.65, facts["draft_weights_gb"]))
    pre = post + weights
    assert smallest_fraction(pre, post) == pytest.approx(0.9112, abs=5e-5)
    assert smallest_fraction(pre, post - draft) == pytest.approx(0.9334, abs=5e-5)
    # the engine divides unrounded figures: the printed ones leave 0.0001 open
    assert smallest_fraction(pre, post) == pytest.approx(facts["min_viable_mem_fraction_static"], abs=1.5e-4)
    assert smallest_fraction(pre, post - draft) == pytest.approx(facts["min_viable_mem_fraction_static_mtp"], abs=1.5e-4)
    assert rounded_up(facts["min_viable_mem_fraction_static"], 3) == 0.912
    assert kv_budget(pre, post, 0.88) < 0


def test_one_request_needs_more_than_the_break_even() -> None:
    # 32 768 tokens x 160 KiB = 5 GiB; 1 - 18 / 78 + 5 / 78
    assert smallest_fraction_for(gib(78), gib(18), 160 * 1024, 32_768) == pytest.approx(0.7692 + 0.0641, abs=5e-5)
    assert above_the_minimum(0.7692, gib(78), 160 * 1024, 32_768) == pytest.approx(0.8333, abs=5e-5)


def test_several_requests_and_a_reservation() -> None:
    # 1 - 18 / 78 + (2 x 5 + 1) / 78
    value = smallest_fraction_for(gib(78), gib(18), 160 * 1024, 32_768, requests=2, reserved=gib(1))
    assert value == pytest.approx((60 + 11) / 78)
    assert pool_budget(gib(78), gib(18), value, gib(1)).gib == pytest.approx(10)


def test_budget_and_fraction_are_inverse() -> None:
    assert fraction_for(gib(78), gib(18), kv_budget(gib(78), gib(18), 0.85)) == pytest.approx(0.85)
    assert static_reserve(gib(78), 0.85).gib == pytest.approx(11.7)


def test_the_fraction_for_more_than_there_is() -> None:
    pre, post = gib(78), gib(18)
    more = fraction_for_more(0.8, gib(2), pre)
    assert (kv_budget(pre, post, more) - kv_budget(pre, post, 0.8)).gib == pytest.approx(2)
    assert fraction_for_more(0.8, parse_size("2.00 GiB"), pre) < more, "the least that the decimals leave open"


@pytest.mark.parametrize(
    ("version", "transport", "mib"),
    [("0.5.17", "cuda_ipc", 0), ("0.5.18", None, 100), ("0.5.18", "cuda_ipc", 1124), ("0.5.23", "cuda_vmm", 1124), ("0.5.23", "cpu", 100)],
)
def test_multimodal_caches_come_off_the_pool_from_0_5_18(version: str, transport: str | None, mib: int) -> None:
    assert multimodal_reservation(Version(version), transport).bytes == mib * MIB


@pytest.mark.parametrize(
    ("version", "tokens"), [("0.4.3.post2", 1000), ("0.4.3.post3", 1000 + 8 * (3 * 4 + 16) + 100), ("0.5.6.post2", 1324), ("0.5.7", 1000)]
)
def test_eagle_enlarged_the_pool_up_to_0_5_6(version: str, tokens: int) -> None:
    assert enlarged_tokens(1000, Version(version), requests=8, steps=3, top_k=4, draft_tokens=16) == tokens


@pytest.mark.parametrize(
    ("tokens", "expected"), [(100_000, 2048), (1_000_000, 3906), (10_000_000, 4096), (4096, 2048), (4094, 2047), (1000, 500)]
)
def test_running_requests_when_nobody_sets_them(tokens: int, expected: int) -> None:
    assert default_running_requests(tokens, 131_072) == expected


@pytest.mark.parametrize(
    ("tokens", "page_size", "decoding", "most"),
    [
        pytest.param(148, 64, True, 9472, id="each of 148 requests may need a page of its own"),
        pytest.param(148, None, True, 18944, id="the largest page size is assumed where none is known"),
        pytest.param(8192, 1, False, 8256, id="a prefill of pages of one token"),
        pytest.param(8192, 64, False, 12288, id="a prefill leaves at most a page empty for each of its requests"),
        pytest.param(10, 64, False, 650, id="no more requests than tokens"),
    ],
)
def test_most_tokens_an_allocation_takes(tokens: int, page_size: int | None, decoding: bool, most: int) -> None:
    assert most_tokens_needed(tokens, page_size, decoding) == most


@pytest.mark.parametrize(
    ("allowed", "pool", "context", "limits"),
    [
        pytest.param(51603, 51609, 131072, True, id="both are known, the pool is smaller"),
        pytest.param(32762, 51609, 32768, False, id="both are known, the context is smaller"),
        pytest.param(51603, 51609, None, True, id="the pool is known"),
        pytest.param(59862, None, 163840, True, id="below the context length"),
        pytest.param(32762, None, 32768, False, id="the context length"),
        pytest.param(59862, None, None, True, id="no context length is 59 868"),
        pytest.param(32762, None, None, None, id="32 768 may be either"),
        pytest.param(9994, None, None, None, id="so may 10 000"),
    ],
)
def test_what_limits_the_longest_input(allowed: int, pool: int | None, context: int | None, limits: bool | None) -> None:
    assert pool_limits_input(allowed, pool, context) is limits
