"""The memory of cards by name, and which cards fit an amount of memory."""

from __future__ import annotations

import pytest

from analyzer.engines.cards import CARDS, GONE_BEFORE_LOADING, KEPT_BY_DRIVER, memory_above, memory_of
from analyzer.units import BINARY_UNITS, parse_size
from tests.engines.cards import A100, A6000, B200, H20, H100, H200, L40S, MI300X, RTX_4090, RTX_5090, T4

PRO_6000 = 97_887


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AMD Instinct MI300X", (MI300X,)),
        ("NVIDIA A100-SXM4-80GB", (A100,)),
        ("NVIDIA B200", (B200,)),
        ("NVIDIA GeForce RTX 4090", (RTX_4090,)),
        ("NVIDIA GeForce RTX 5090", (RTX_5090,)),
        ("NVIDIA H100 80GB HBM3", (H100,)),
        ("NVIDIA H20", (H20,)),
        ("NVIDIA H200", (H200,)),
        ("NVIDIA L40S", (L40S,)),
        ("NVIDIA RTX A6000", (46_068, A6000)),
        ("Tesla T4", (T4,)),
        ("NVIDIA H100 80G...", ()),
        ("NVIDIA GeForce RTX 3060", ()),
    ],
)
def test_by_name(name: str, expected: tuple[int, ...]) -> None:
    assert memory_of(name) == expected


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        # "total capacity of ... GiB" of public out-of-memory reports, with the card that they name
        ("95.00 GiB", (H20, PRO_6000)),
        ("95.07 GiB", (H20, PRO_6000)),
        ("79.25 GiB", (H100, A100)),
        ("79.14 GiB", (H100, A100)),
        ("31.36 GiB", (RTX_5090,)),
        ("139.81 GiB", (H200,)),
        ("178.35 GiB", (B200,)),
        ("191.98 GiB", (MI300X,)),
        ("287.98 GiB", (294_896,)),
        ("61.27 GiB", ()),
        ("23.99 GiB", (RTX_4090, 24_576)),
    ],
)
def test_by_what_pytorch_sees(seen: str, expected: tuple[int, ...]) -> None:
    assert memory_above(parse_size(seen), KEPT_BY_DRIVER) == expected


def test_by_what_was_free_before_loading() -> None:
    free = parse_size("78.58 GB", units=BINARY_UNITS)
    assert memory_above(free, GONE_BEFORE_LOADING) == (H100, A100)


def test_each_name_stands_once_and_in_order() -> None:
    names = [card.name for card in CARDS]
    assert names == sorted(set(names))
