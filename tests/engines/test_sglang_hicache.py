"""SGLang's hierarchical cache: host memory of each rank. Its gigabytes are decimal."""

import pytest
import yaml
from packaging.version import Version

from analyzer.engines.sglang_hicache import (
    available_from_refusal,
    host_budget,
    host_pool,
    host_tokens,
    host_tokens_of_size,
    is_larger_than_device_pool,
    is_refused_below_device_pool,
    largest_by_refusal,
    largest_host_pool,
)
from analyzer.engines.tokens import mha_bytes_per_token
from analyzer.units import GIB, Size, parse_size


def test_pool_of_a_healthy_log(fixtures_dir) -> None:
    """105 600 tokens of a 4B model at ratio 1: one page of 64 more, 15.58 GB."""
    case = fixtures_dir / "corpus/sglang-123-healthy-qwen3-4b-hicache-mooncake.yaml"
    facts = yaml.safe_load(case.read_text(encoding="utf-8"))["expect"]["facts"]
    tokens = host_tokens(facts["kv_tokens"], ratio=1.0, page_size=64, version=Version("0.5.9"))
    assert tokens == 105_664
    pool = host_pool(tokens, mha_bytes_per_token(kv_heads=8, head_size=128, layers=36))
    assert parse_size(f"{facts['host_request_gb']} GB").may_equal(pool)


@pytest.mark.parametrize(("version", "tokens"), [("0.5.3", 1984), ("0.5.5.post2", 1984), ("0.5.5.post3", 2048), ("0.5.23", 2048)])
def test_pages_are_rounded_down_up_to_0_5_5_post2(version: str, tokens: int) -> None:
    assert host_tokens(1000, ratio=2.0, page_size=64, version=Version(version)) == tokens


def test_the_size_flag_is_decimal_gigabytes() -> None:
    assert host_tokens_of_size(40, per_token=100_000, page_size=64, version=Version("0.5.3")) == 400_000
    assert host_tokens_of_size(40, per_token=100_000, page_size=64, version=Version("0.5.23")) == 400_064


def test_the_host_pool_has_to_exceed_the_device_pool() -> None:
    assert is_larger_than_device_pool(1001, 1000)
    assert not is_larger_than_device_pool(1000, 1000)


def test_ranks_share_the_host_only_from_0_5_19() -> None:
    available = Size.exact(410 * GIB)
    assert host_budget(available, 8, Version("0.5.18")).bytes == 400 * GIB
    assert host_budget(available, 8, Version("0.5.19")).bytes == 50 * GIB
    assert largest_host_pool(available, 8).bytes == 50 * GIB


def test_a_refusal_that_seems_to_contradict_itself(fixtures_dir) -> None:
    """40.00 GB asked, 44.87 GB "free": 10 GiB of them are kept for others, so 34.13 GB were to be had."""
    log = yaml.safe_load((fixtures_dir / "corpus/sglang-090-hicache-40gb-asked-44-87-free-refused.yaml").read_text(encoding="utf-8"))["log"]
    assert "Requesting 40.00 GB but only have 44.87 GB free" in log
    asked, printed = parse_size("40.00 GB"), parse_size("44.87 GB")
    available = available_from_refusal(printed, Version("0.4.9"))
    assert available == printed
    assert host_budget(available, 1, Version("0.4.9")).bytes / 1e9 == pytest.approx(34.13, abs=0.005)
    assert host_budget(available, 1, Version("0.4.9")) < asked


def test_later_refusals_print_what_was_to_be_had() -> None:
    printed = parse_size("34.13 GB")
    assert available_from_refusal(printed, Version("0.4.9.post2")) == printed
    available = available_from_refusal(printed, Version("0.4.9.post3"))
    assert available == printed + Size.exact(10 * GIB)
    assert host_budget(available, 1, Version("0.4.9.post3")).may_equal(printed)


@pytest.mark.parametrize(("version", "refused"), [("0.4.9", True), ("0.5.14", True), ("0.5.15", False), (None, None)])
def test_a_pool_below_that_on_the_device_is_refused_up_to_0_5_14(version: str | None, refused: bool | None) -> None:
    assert is_refused_below_device_pool(Version(version) if version is not None else None) is refused


@pytest.mark.parametrize(
    ("version", "free", "gigabytes"),
    [
        ("0.4.9", "60.00 GB", (60 - 10.737418240 + 52.43) / 2),  # all that was available is printed
        ("0.5.1", "60.00 GB", None),  # not read
        ("0.5.2", "40.00 GB", (40 + 52.43) / 2),  # less the 10 GiB
        ("0.5.18", "40.00 GB", (40 + 52.43) / 2),
        ("0.5.19", "40.00 GB", (40 + 52.43 / 2) / 1.5),  # one rank's part of what the other left
        ("0.5.19", "60.00 GB", None),  # no refusal: less was asked
    ],
)
def test_the_most_for_each_of_two_ranks(version: str, free: str, gigabytes: float | None) -> None:
    asked = parse_size("52.43 GB")
    found = largest_by_refusal(asked, parse_size(free), asked, 2, Version(version))
    assert (found.bytes / 1e9 if found is not None else None) == (pytest.approx(gigabytes) if gigabytes is not None else None)


@pytest.mark.parametrize(("version", "gibibytes"), [("0.5.18", 50), ("0.5.19", 210)])
def test_the_printed_figure_is_of_one_rank_from_0_5_19(version: str, gibibytes: int) -> None:
    available = available_from_refusal(Size.exact(40 * GIB), Version(version), ranks_on_host=5)
    assert available == Size.exact(gibibytes * GIB)
