"""Which values of mem_fraction_static can work for an SGLang run, by its own figures."""

from __future__ import annotations

from typing import Any

from analyzer.cases.model import Rank, Run
from analyzer.engines import sglang
from analyzer.engines.interval import Bounds, rounded_down, rounded_up
from analyzer.engines.sglang_headroom import fraction_after_refusal, largest_fraction
from analyzer.engines.sglang_pool import smallest_fraction_for
from analyzer.figures.refusal import Refusal, alone_on_card, refusals, value_to_try
from analyzer.figures.sglang_figures import (
    asked_per_effect,
    context_length,
    least_of,
    mem_fraction_static,
    printed_minimum,
    token_bytes,
)
from analyzer.figures.sglang_headroom_items import free_after_pools, itemized, taken_beside_pools
from analyzer.figures.sglang_post_capture import is_post_capture


def fractions(run: Run) -> Bounds:
    """The values to pass: those that leave a KV pool for one request, and what ran out or was taken beside it in this run.

    The lower end is the fraction of an empty pool where the size of a request is not known.
    """
    pre, post, context = least_of(run, "free_at_start"), least_of(run, "free_after_load"), context_length(run)
    found = fractions_with_a_pool(run)
    if pre is None or post is None or pre.bytes <= 0 or context is None:
        return found
    for rank in run.ranks:
        per_token = token_bytes(rank)
        if per_token is not None:
            one = smallest_fraction_for(pre, post, per_token, context) * asked_per_effect(run)
            found = found.raised(one, f"below, the pool does not hold one request of {context} tokens")
    return found


def fractions_with_a_pool(run: Run) -> Bounds:
    """The same for a pool of any size: SGLang serves with one that holds no request of the full length, and refuses longer ones."""
    scale = asked_per_effect(run)
    found = _lower_end(run, scale)
    for rank in () if is_post_capture(run) else run.ranks:  # the pools get their memory last, and make room for the rest
        found = _upper_end(run, rank, scale, found)
    return found


def _lower_end(run: Run, scale: float) -> Bounds:
    pre, post = least_of(run, "free_at_start"), least_of(run, "free_after_load")
    minimum = printed_minimum(run)
    if pre is None or post is None or pre.bytes <= 0:
        return Bounds().raised(minimum * scale if minimum else None, "the minimum that the engine prints, at which the pool is empty")
    empty = minimum if minimum is not None else sglang.smallest_fraction(pre, post)
    return Bounds().raised(empty * scale, f"below, the weights leave no KV pool: {pre} free before loading, {post} after it")


def _upper_end(run: Run, rank: Rank, scale: float, found: Bounds) -> Bounds:
    """By refused allocations, and by what a start that came to its end had taken beside the pools."""
    pre, fraction = rank.size("free_at_start") or least_of(run, "free_at_start"), mem_fraction_static(run)
    if pre is None or pre.bytes <= 0 or fraction is None:
        return found
    for refusal in refusals(run, rank):
        high = fraction_after_refusal(fraction, pre, refusal.tried, refusal.free)
        found = found.capped(high * scale, f"{refusal}{_held_beside_pools(rank, refusal)}", refusal.kept / pre * scale)
    taken = taken_beside_pools(rank)
    if taken is not None:
        items = itemized(rank, taken)
        because = f"this start took {taken} beside weights and pools{f': {items}' if items else ''}, before any load"
        found = found.capped(largest_fraction(pre, taken) * scale, because)
    return found


def _held_beside_pools(rank: Rank, refusal: Refusal) -> str:
    """What was taken since the pools when an allocation was refused, where the log names some of it."""
    after_pools = free_after_pools(rank)
    held = after_pools - refusal.free if after_pools is not None else None
    items = itemized(rank, held) if held is not None and held.low >= 0 else ""
    return f", when {held} were taken beside weights and pools: {items}" if items else ""


NAMES = (
    "fraction_holds_no_full_request",
    "fraction_to_try",
    "least_fraction",
    "lower_fraction",
    "no_fraction_because",
    "no_fraction_works",
)


def bound_figures(run: Run) -> dict[str, Any]:
    """The interval under the names that rules use; of the upper end, only one that is smaller than the fraction asked for."""
    if run.engine != "sglang":
        return {"fraction_holds_no_full_request": False, "no_fraction_works": False}
    fraction, found, full = mem_fraction_static(run), fractions_with_a_pool(run), fractions(run)
    shorter = full.is_empty and not found.is_empty
    low = found.low if full.is_empty else full.low
    asked = fraction * asked_per_effect(run) if fraction is not None else None
    lower = None if found.high is None or asked is None or found.high >= asked else found.high
    return {
        "lower_fraction": rounded_down(lower) if lower is not None and lower > 0 else None,
        "least_fraction": rounded_up(low) if low is not None else None,
        "fraction_holds_no_full_request": shorter,
        "fraction_to_try": value_to_try(low, lower),
        "no_fraction_works": found.is_empty and alone_on_card(run),
        "no_fraction_because": found.reason if found.is_empty else None,
    }
