"""Writes docs/worked-example-cards.md; every number in it comes from the engine models. Run: python -m tests.engines.cards_page"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from analyzer.engines.sglang import kv_budget, smallest_fraction, static_reserve
from analyzer.engines.sglang_default_fraction import default_fraction
from analyzer.engines.sglang_launch import Launch
from analyzer.engines.sglang_pool import smallest_fraction_for
from analyzer.engines.sglang_reserve import reserve
from analyzer.engines.tokens import pool_for, tokens_in
from analyzer.engines.vllm import default_utilization, requested_memory
from analyzer.engines.vllm_utilization import smallest_utilization
from analyzer.units import GIB, MIB, Size, group_digits
from tests.engines import cards

PAGE = Path(__file__).resolve().parents[2] / "docs" / "worked-example-cards.md"

WEIGHTS = Size.exact(60 * GIB)
GONE_BEFORE_LOADING = Size.exact(1.65 * GIB)
BESIDE_WEIGHTS = Size.exact(4 * GIB)
PER_TOKEN = 160 * 1024
CONTEXT = 32_768
FRACTIONS = (0.60, 0.65, 0.70, 0.75, 0.80, 0.85, 0.90)
SGLANG_RELEASES = ("0.4.6", "0.5.2", "0.5.3", "0.5.23")
VLLM_RELEASES = ("0.19.1", "0.20.0")


@dataclass(frozen=True, slots=True)
class Card:
    name: str
    mib: int

    @property
    def total(self) -> Size:
        return Size.exact(self.mib * MIB)

    @property
    def pre(self) -> Size:
        return self.total - GONE_BEFORE_LOADING

    @property
    def post(self) -> Size:
        return self.pre - WEIGHTS


CARDS = (Card("H100, 80 GB", cards.H100), Card("H20, 96 GB", cards.H20), Card("H200, 141 GB", cards.H200))


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def one_row(name: str, values: list[str]) -> list[str]:
    return [name, *values]


def pool(budget: Size) -> str:
    """What a budget means: a refusal, or a pool with its tokens."""
    if budget.bytes <= 0:
        return f"refused ({budget.gib:.1f} GiB)"
    return f"{budget.gib:.1f} GiB, {group_digits(tokens_in(budget, PER_TOKEN).low)} tokens"


def measured() -> str:
    rows = [
        one_row("nvidia-smi, MiB", [group_digits(card.mib) for card in CARDS]),
        one_row("free before loading (pre)", [f"{card.pre.gib:.2f} GiB" for card in CARDS]),
        one_row("free after loading (post)", [f"{card.post.gib:.2f} GiB" for card in CARDS]),
        one_row("smallest fraction, 1 - post / pre", [f"{smallest_fraction(card.pre, card.post):.4f}" for card in CARDS]),
        one_row(
            "with room for one request",
            [f"{smallest_fraction_for(card.pre, card.post, PER_TOKEN, CONTEXT):.4f}" for card in CARDS],
        ),
    ]
    return table(["", *(card.name for card in CARDS)], rows)


def by_fraction() -> str:
    rows = [one_row(f"{fraction:.2f}", [pool(kv_budget(card.pre, card.post, fraction)) for card in CARDS]) for fraction in FRACTIONS]
    return table(["mem_fraction_static", *(card.name for card in CARDS)], rows)


def automatic(card: Card, release: str) -> float:
    fraction = default_fraction(Launch(release=Version(release), card_mib=card.mib))
    assert fraction is not None
    return fraction


def by_default() -> str:
    rows = []
    for release in SGLANG_RELEASES:
        cells = []
        for card in CARDS:
            fraction = automatic(card, release)
            cells.append(f"{fraction:.3f}: {pool(kv_budget(card.pre, card.post, fraction))}")
        rows.append(one_row(release, cells))
    return table(["SGLang", *(card.name for card in CARDS)], rows)


def outside() -> str:
    rows = [
        one_row(release, [f"{static_reserve(card.pre, automatic(card, release)).gib:.1f} GiB" for card in CARDS])
        for release in SGLANG_RELEASES
    ]
    return table(["SGLang", *(card.name for card in CARDS)], rows)


def reserve_of_h100() -> str:
    found = reserve(Launch(release=Version("0.5.23"), card_mib=CARDS[0].mib))
    assert found is not None
    rows = [[term.name, term.because, group_digits(round(term.mib))] for term in found.terms]
    return table(["summand", "arithmetic", "MiB"], [*rows, ["sum", "", group_digits(round(found.mib))]])


def by_utilization() -> str:
    rows = []
    for release in VLLM_RELEASES:
        utilization = default_utilization(Version(release))
        assert utilization is not None
        cells = [pool(requested_memory(card.total, utilization) - WEIGHTS - BESIDE_WEIGHTS) for card in CARDS]
        rows.append(one_row(f"{release}, {utilization}", cells))
    needed = pool_for(CONTEXT, PER_TOKEN)
    smallest = [f"{smallest_utilization(card.total, WEIGHTS + BESIDE_WEIGHTS, needed):.4f}" for card in CARDS]
    return table(["vLLM", *(card.name for card in CARDS)], [*rows, one_row("smallest for one request", smallest)])


def render() -> str:
    """The whole page."""
    small, middle, _ = CARDS
    starts = f"{kv_budget(middle.pre, middle.post, 0.70).gib:.1f}"
    missing = f"{-kv_budget(small.pre, small.post, 0.70).gib:.1f}"
    short = f"{kv_budget(small.pre, small.post, 0.80).gib:.1f}"
    token, context, request = f"{PER_TOKEN // 1024} KiB", group_digits(CONTEXT), f"{pool_for(CONTEXT, PER_TOKEN).gib:.1f} GiB"
    gone = f"{GONE_BEFORE_LOADING.gib:.2f} GiB"
    return f"""# One model on three cards

A model with {WEIGHTS.gib:.0f} GiB of weights on one card, {token} of KV cache for a token, a context of {context} tokens:
one request of full length takes {request}. Before loading, {gone} of each card are gone to the driver, the CUDA
context and communication. Every number on this page comes from the engine models of `analyzer/engines`; a test compares them.

## What is there

{measured()}

## SGLang: who starts at which fraction

The KV pool is what is left of the static share: post - pre x (1 - mem_fraction_static).

{by_fraction()}

The same 0.70 that serves on the 96 GB card with {starts} GiB of KV cannot start on the 80 GB card, where {missing} GiB are missing:
there the value has to go **up**. At 0.80 the 80 GB card starts, with {short} GiB, which is less than one request of full length.

## SGLang: the automatic value

Nobody sets the fraction. The engine works it out from the card's size alone (one card, no speculative decoding), and it differs by
release; the pool follows from what was measured above.

{by_default()}

What the automatic value leaves outside the static share, for graphs, activations and everything else:

{outside()}

The reserve of 0.5.23 on the 80 GB card, as the engine adds it up:

{reserve_of_h100()}

## vLLM: the same number means something else

gpu_memory_utilization multiplies the whole card, not what was free before loading, and activations and other memory of the engine
count inside it; here {BESIDE_WEIGHTS.gib:.0f} GiB are assumed for those. The default rose in 0.20.0.

{by_utilization()}
"""


def main() -> None:
    PAGE.write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
