"""Which values of gpu_memory_utilization and kv_cache_memory_bytes can work for a vLLM run, by its own figures."""

from __future__ import annotations

from typing import Any

from analyzer.cases.model import Rank, Run
from analyzer.engines.interval import Bounds, rounded_down, rounded_up
from analyzer.engines.release import is_within
from analyzer.engines.vllm_arena import arena_after_refusal
from analyzer.engines.vllm_graphs import graphs_deducted
from analyzer.engines.vllm_utilization import largest_utilization, utilization_after_refusal, utilization_for
from analyzer.rulebook.measured import Measured
from analyzer.rulebook.refusal import alone_on_card, refusals, value_to_try
from analyzer.rulebook.vllm_figures import arena_pinned, utilization_in_effect
from analyzer.units import Size

START_UP_CHECK_SINCE = "0.9.1"
"""vllm/v1/worker/gpu_worker.py, init_device."""
OF_THE_CHECK = ("free_memory_below_utilization", "startup_memory_summary")
"""Messages that only releases with the check print."""
NOTHING = Size.exact(0)


def utilizations(run: Run) -> Bounds:
    """The utilizations that hold one request, pass the start-up check, and leave what this run took or lacked beside the KV cache.

    With a pinned arena only the start-up check bounds it.
    """
    found = Bounds()
    for rank in run.ranks:
        found = _upper_ends(run, rank, found)
        if not arena_pinned(run):
            found = _lower_end(run, rank, found)
    return found


def has_start_up_check(run: Run) -> bool:
    """Whether the engine first wants utilization x total to be free: by its release, or by messages that come with the check."""
    by_release = run.version is not None and is_within(run.version, START_UP_CHECK_SINCE)
    return by_release or any(run.all(kind) for kind in OF_THE_CHECK)


def _lower_end(run: Run, rank: Rank, found: Bounds) -> Bounds:
    utilization, _ = utilization_in_effect(run)
    total, available, needed = rank.size("total"), rank.size("kv_cache"), one_request(rank)
    if utilization is None or total is None or available is None or total.bytes <= 0:
        return found
    if needed is not None:
        low = utilization_for(utilization, needed, available, total)
        return found.raised(low, f"one request needs {needed} of KV cache, and {utilization} gives {available}")
    if available.high < 0:
        return found.raised(utilization_for(utilization, NOTHING, available, total), f"below, there is no KV cache: {available} now")
    return found


def _upper_ends(run: Run, rank: Rank, found: Bounds) -> Bounds:
    utilization, _ = utilization_in_effect(run)
    total, free = rank.size("total"), rank.size("free_at_start")
    if total is None or total.bytes <= 0:
        return found
    if free is not None and has_start_up_check(run):
        passes = largest_utilization(total, free, NOTHING)
        if run.all("free_memory_below_utilization") or utilization is None or utilization <= passes:
            found = found.capped(passes, f"the start-up check wants no more than the {free} that were free")
        outside = rank.size("cuda_graphs")
        if outside is not None and graphs_deducted(run.version) is False and not arena_pinned(run):
            high = largest_utilization(total, free, outside)
            found = found.capped(high, f"CUDA graphs took {outside} outside the budget, of {free} that were free")
    if utilization is None or arena_pinned(run):
        return found
    for refusal in refusals(run, rank):
        high = utilization_after_refusal(utilization, refusal.tried, refusal.free, total)
        found = found.capped(high, str(refusal), refusal.kept / total)
    return found


def one_request(rank: Rank) -> Size | None:
    """KV cache of one request of the full window: as the engine prints it, else the cache / the concurrency it prints."""
    needed, cache = rank.size("kv_needed"), rank.size("kv_cache") or rank.size("kv_pinned")
    if needed is not None or cache is None:
        return needed
    facts = [fact for fact in rank.facts if fact.kind == "max_concurrency"]
    printed = next((value for fact in facts if (value := fact.number("concurrency"))), None)
    if printed is None or printed <= 0.005 or cache.low < 0:
        return None
    return Size.between(cache.low / (printed + 0.005), cache.high / (printed - 0.005))


def arenas(run: Run, rank: Rank) -> Bounds:
    """The sizes of a pinned arena, in bytes: at least one request, at most what leaves the refused allocation its place."""
    found, arena = Bounds(), Measured(run, rank).arena
    needed = rank.size("kv_needed")
    if needed is not None:
        found = found.raised(needed.high, f"one request needs {needed}")
    if arena is None:
        return found
    for refusal in refusals(run, rank):
        found = found.capped(arena_after_refusal(arena, refusal.tried, refusal.free).low, str(refusal), refusal.kept.high)
    return found


NAMES = (
    "largest_utilization",
    "least_utilization",
    "lower_utilization",
    "no_utilization_because",
    "no_utilization_works",
    "utilization_to_try",
)


def bound_figures(run: Run) -> dict[str, Any]:
    """The interval under the names that rules use."""
    if run.engine != "vllm":
        return {"no_utilization_works": False}
    found, (utilization, _) = utilizations(run), utilization_in_effect(run)
    lower = None if found.high is None or (utilization is not None and found.high >= utilization) else found.high
    return {
        "largest_utilization": rounded_down(found.high) if found.high is not None and found.high > 0 else None,
        "lower_utilization": rounded_down(lower) if lower is not None and lower > 0 else None,
        "least_utilization": rounded_up(found.low) if found.low is not None else None,
        "utilization_to_try": value_to_try(found.low, lower),
        "no_utilization_works": found.is_empty and alone_on_card(run),
        "no_utilization_because": found.reason if found.is_empty else None,
    }
