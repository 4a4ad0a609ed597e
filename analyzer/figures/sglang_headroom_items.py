"""What an SGLang run took beside weights and pools, item by item as far as its log shows it, in words with the sizes.

The draft model is among it where it was loaded after the pools (before 0.5.14); then its own pools are, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.cases.model import Rank
from analyzer.cases.sglang_ledger import graph_items, loading_items, pool_items
from analyzer.engines.sglang_headroom import Headroom
from analyzer.facts.fact import Fact
from analyzer.units import Size, format_bytes

WORDS = {"graphs": "CUDA graphs", "draft_model": "draft model"}
POOL_LINES = ("kv_cache_allocated", "kv_swa_usage")
SIZED_AGAIN = "post_capture_kv"
"""Head of the messages of pools that get their memory after graph capture: until then only addresses were taken."""


def taken_beside_pools(rank: Rank) -> Size | None:
    """Free after the pools - free at the end of the start: graphs and what else came before the first request."""
    after_pools = free_after_pools(rank)
    at_end = next((size for fact in rank.facts if fact.kind == "max_total_num_tokens" and (size := fact.size("free")) is not None), None)
    if after_pools is None or at_end is None:
        return None
    taken = after_pools - at_end
    return taken if taken.low >= 0 else None


def free_after_pools(rank: Rank) -> Size | None:
    """The first "Memory pool end" figure; None where the pools got their memory only later."""
    only_addresses = any("virtual" in fact.fields for kind in POOL_LINES for fact in rank.by_kind.get(kind, ()))
    if only_addresses or any(kind.startswith(SIZED_AGAIN) for kind in rank.by_kind):
        return None
    return next((size for fact in rank.facts if fact.kind == "memory_pool_end" and (size := fact.size("free")) is not None), None)


def headroom_items(rank: Rank) -> Headroom:
    """The items that were taken after the pools and print what they took."""
    after = _after_pools(rank.facts)
    graphs = graph_items(after).get("cuda_graphs")
    return Headroom(graphs=graphs.size if graphs is not None else None, draft_model=_draft_model(after))


def itemized(rank: Rank, taken: Size) -> str:
    """ "CUDA graphs 2.10 GiB, draft model 0.80 GiB, 0.20 GiB other", adding up to `taken`; empty where no item is known.

    What is left over is named only where rounding does not explain it. Items that exceed the sum do not belong to it: then none is named.
    """
    items = headroom_items(rank)
    other = taken - items.total
    if not items.known or other.high < 0:
        return ""
    named = [f"{WORDS[name]} {format_bytes(size.bytes)}" for name, size in items.known.items()]
    return ", ".join([*named, f"{other} other"] if other.low > 0 else named)


def _draft_model(after: Sequence[Fact]) -> Size | None:
    """The weights of a model that was loaded after the pools, and its pools as far as they are printed."""
    weights, pools = loading_items(after).get("weights"), pool_items(after).get("kv_cache")
    if weights is None:
        return None
    return weights.size + pools.size if pools is not None else weights.size


def _after_pools(facts: Sequence[Fact]) -> Sequence[Fact]:
    first = next((place for place, fact in enumerate(facts) if fact.kind == "memory_pool_end"), len(facts))
    return facts[first + 1 :]
