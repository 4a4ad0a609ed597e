"""The ledger items of SGLang, whose lines come once for each model and each pool: what is the first, the last, or a sum of them.

A draft model is loaded like the target model, with lines of its own: after the target's pools and graphs up to 0.5.13, before any pool
from 0.5.14. Source: sglang/srt/model_executor/model_runner.py, sglang/srt/mem_cache/memory_pool.py, 0.1.26 - 0.5.23.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from analyzer.cases.model import Item
from analyzer.facts.fact import Fact
from analyzer.units import Size

POOL_SIZES = ("k_size", "v_size", "kv_size")
STATE_SIZES = ("conv_state", "ssm_state", "intermediate_ssm_state", "intermediate_conv_window")
SIZED = frozenset({"kv_alloc_noop", "kv_cache_allocated", "kv_not_enough", "kv_weights_leave_none", "mamba_alloc", "memory_pool_end"})
"""Messages at which the pools have been sized, so that a model loaded later is outside their budget."""


def sglang_items(facts: Sequence[Fact]) -> dict[str, Item]:
    """Weights, free memory before and after loading, pools and graphs of one rank, as far as SGLang printed them."""
    return loading_items(facts) | pool_items(facts) | graph_items(facts)


def loading_items(facts: Sequence[Fact]) -> dict[str, Item]:
    """Free memory before the first load and after the last one that the pools were sized after; the weights of all loads."""
    loads = _with_sizes([fact for fact in facts if fact.kind == "load_weight_end"], ("free",))
    start = _first_free(facts, "load_weight_begin") or _first_free(facts, "init_torch_distributed_end")
    if not loads:
        return {"free_at_start": start} if start else {}
    before_sizing = _with_sizes(list(takewhile(lambda fact: fact.kind not in SIZED, facts)), ("free",))
    last, after = ([load for load in loads if load in before_sizing] or loads[:1])[-1]
    weights = _weights([fact for fact, _ in loads]) or _difference(start, after, last)
    if start is None:
        start = _before_loading(*loads[0])
    known = {"free_at_start": start, "free_after_load": Item(after, "measured", "load_weight_end", last), "weights": weights}
    return {name: item for name, item in known.items() if item is not None}


def _weights(loads: Sequence[Fact]) -> Item | None:
    """The sum of what the loads took; None when one of them does not say it (before 0.4.3.post4)."""
    sizes = [size for fact in loads if (size := fact.size("weights")) is not None]
    if len(sizes) < len(loads):
        return None
    if len(sizes) == 1:
        return Item(sizes[0], "measured", "load_weight_end", loads[0])
    return Item(_sum(sizes), "computed", f"sum of {len(sizes)} loads", loads[0])


def _difference(start: Item | None, after: Size, load: Fact) -> Item | None:
    return Item(start.size - after, "computed", "free before loading - free after it", load) if start is not None else None


def _before_loading(load: Fact, free: Size) -> Item | None:
    weights = load.size("weights")
    return Item(free + weights, "computed", "free after loading + weights", load) if weights is not None else None


def pool_items(facts: Sequence[Fact]) -> dict[str, Item]:
    """All KV pools and state caches together. A reserved address range is none, and a summary line repeats the lines of its pools."""
    backed = [fact for fact in facts if fact.kind in ("post_capture_kv", "post_capture_kv_draft")]
    allocated = _without_ranges([fact for fact in facts if fact.kind == "kv_cache_allocated"], backed)
    summaries = [fact for fact in facts if fact.kind == "kv_swa_usage" and "virtual" not in fact.fields]
    pools = _larger(_with_sizes([*allocated, *backed], POOL_SIZES), _with_sizes(summaries, POOL_SIZES))
    states = _with_sizes([fact for fact in facts if fact.kind == "mamba_alloc"], STATE_SIZES)
    if pools:
        words = "sum of the KV pools and state caches" if states else "sum of the KV pools"
        sizes = [size for _, size in (*pools, *states)]
        return {"kv_cache": Item(_sum(sizes), "computed", words, pools[0][0])}
    before, after = _first_free(facts, "load_weight_end"), _first_free(facts, "memory_pool_end")
    if before is None or after is None:
        return {}
    return {"kv_cache": Item(before.size - after.size, "computed", "free after loading - free after the pools", after.fact)}


def pool_size(pool: Fact) -> Size | None:
    """What the line of one pool adds up to: keys and values, or both together; None where it prints no size."""
    parts = [size for name in POOL_SIZES if (size := pool.size(name)) is not None]
    return sum(parts, Size.exact(0)) if parts else None


def _without_ranges(pools: Sequence[Fact], backed: Sequence[Fact]) -> list[Fact]:
    """The pools that are memory, not an address range that is backed after graph capture.

    Such a range is called one from 0.5.18; in 0.5.17 its line, the first for each pool that is backed later, reads like any other.
    """
    named = [pool for pool in pools if "virtual" in pool.fields]
    unnamed = len([pool for pool in backed if pool.size("kv_size") is not None]) - len(named)
    return [pool for pool in pools if pool not in named][max(unnamed, 0) :]


def graph_items(facts: Sequence[Fact]) -> dict[str, Item]:
    """The graphs of all captures: decode, prefill, draft."""
    graphs = _with_sizes([fact for fact in facts if fact.kind == "capture_graph_end"], ("cuda_graphs",))
    if not graphs:
        return {}
    sizes = [size for _, size in graphs]
    if len(sizes) == 1:
        return {"cuda_graphs": Item(sizes[0], "measured", "capture_graph_end", graphs[0][0])}
    return {"cuda_graphs": Item(_sum(sizes), "computed", f"sum of {len(sizes)} captures", graphs[0][0])}


def _first_free(facts: Sequence[Fact], kind: str) -> Item | None:
    found = ((fact, size) for fact in facts if fact.kind == kind and (size := fact.size("free")) is not None)
    return next((Item(size, "measured", kind, fact) for fact, size in found), None)


def _larger(lines: list[tuple[Fact, Size]], summaries: list[tuple[Fact, Size]]) -> list[tuple[Fact, Size]]:
    """The lines of the pools, unless a summary is larger: then some of them are missing in this log."""
    if not lines or not summaries:
        return lines or summaries
    listed, summed_up = _sum([size for _, size in lines]), _sum([size for _, size in summaries])
    return summaries if summed_up.low > listed.high else lines


def _with_sizes(facts: Sequence[Fact], names: Sequence[str]) -> list[tuple[Fact, Size]]:
    return [(fact, size) for fact in facts for name in names if (size := fact.size(name)) is not None]


def _sum(sizes: Sequence[Size]) -> Size:
    total = sizes[0]
    for size in sizes[1:]:
        total = total + size
    return total
