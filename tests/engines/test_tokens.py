"""Bytes and tokens of a KV pool."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.engines.tokens import (
    Tokens,
    bytes_per_token,
    concurrency,
    longest_context,
    mha_bytes_per_token,
    mla_bytes_per_token,
    pool_for,
    tokens_in,
)
from analyzer.units import GIB, Size, parse_size


def test_bytes_of_a_token_from_a_pinned_arena() -> None:
    # 5 200 000 000 / 406 726 = 12 785.02
    assert bytes_per_token(Size.exact(5_200_000_000), 406_726).may_equal(12_785)


def test_the_same_model_on_another_card_has_tokens_of_the_same_size() -> None:
    # 365 524 tokens in 4.35 GiB: 12 778 +- 15
    assert bytes_per_token(parse_size("4.35 GiB"), 365_524).may_equal(12_785)


def test_a_window_that_leaves_a_few_percent_spare() -> None:
    spare = 1 - pool_for(393_216, 12_785) / Size.exact(5_200_000_000)
    assert spare == pytest.approx(0.033, abs=0.001)


@pytest.mark.parametrize(
    ("pool", "per_token", "page_size", "expected"),
    [
        (Size.exact(1000), 10, 1, Tokens(100, 100)),
        (Size.exact(1009), 10, 16, Tokens(96, 96)),
        (Size.between(990, 1010), 10, 1, Tokens(99, 101)),
        (Size.exact(1000), Size.between(9, 11), 1, Tokens(90, 111)),
        (Size.exact(-1000), 10, 1, Tokens(-100, -100)),
    ],
)
def test_tokens_in_a_pool(pool: Size, per_token: Size | int, page_size: int, expected: Tokens) -> None:
    assert tokens_in(pool, per_token, page_size) == expected


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 256))
def test_a_pool_made_for_tokens_holds_them(tokens: int, per_token: int, page_size: int) -> None:
    held = tokens_in(pool_for(tokens, per_token), per_token, page_size)
    assert tokens - page_size < held.low == held.high <= tokens


def test_concurrency_and_longest_context() -> None:
    assert concurrency(863_440, 10_240) == pytest.approx(84.32, abs=0.005)
    assert longest_context(Size.exact(GIB), 57_344, 16) == 18_720  # 1 GiB / 57 344 = 18 724.6, in blocks of 16
    assert longest_context(Size.exact(-GIB), 57_344, 16) == 0


def test_bytes_of_attention_layers() -> None:
    assert mha_bytes_per_token(kv_heads=8, head_size=128, layers=36) == 147_456  # 8 x 128 x 36 x 2 x 2
    assert mha_bytes_per_token(kv_heads=8, head_size=128, layers=36, element_bytes=1) == 73_728
    assert mla_bytes_per_token(latent_rank=512, rope_size=64, layers=61) == 70_272  # (512 + 64) x 61 x 2
