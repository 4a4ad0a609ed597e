"""Which values of gpu_memory_utilization can work for a vLLM run, by its own figures."""

from __future__ import annotations

from typing import Any

from analyzer.cases.model import Rank, Run
from analyzer.engines.interval import Bounds, rounded_down, rounded_up
from analyzer.engines.release import is_within
from analyzer.engines.vllm_utilization import largest_utilization, utilization_after_refusal, utilization_for
from analyzer.figures.refusal import alone_on_card, refusals, value_to_try
from analyzer.figures.vllm_cache import one_request_of
from analyzer.figures.vllm_figures import arena_pinned, utilization_in_effect
from analyzer.figures.vllm_profile import NOTHING, applied_graphs, kv_budget_of, profile_of, total_of

START_UP_CHECK_SINCE = "0.9.1"
"""vllm/v1/worker/gpu_worker.py, init_device."""
OF_THE_CHECK = ("free_memory_below_utilization", "free_memory_debug", "startup_memory_summary")
"""Messages that only releases with the check print."""


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
    """Whether the engine first wants utilization x total to be free: by its release, or by messages that come with the check.

    V0 never does.
    """
    if run.generation == "V0":
        return False
    by_release = run.version is not None and is_within(run.version, START_UP_CHECK_SINCE)
    return by_release or any(run.all(kind) for kind in OF_THE_CHECK)


def _lower_end(run: Run, rank: Rank, found: Bounds) -> Bounds:
    utilization, _ = utilization_in_effect(run)
    total, available, needed = total_of(run, rank), kv_budget_of(run, rank), one_request_of(run, rank)
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
    total, free = total_of(run, rank), rank.size("free_at_start")
    if total is None or total.bytes <= 0:
        return found
    if free is not None and has_start_up_check(run):
        held = profile_of(run, rank).external_weights
        there = f"{free} that were free" if held is None else f"{free} that were free and the {held} that another process holds"
        passes = largest_utilization(total, free + (held or NOTHING), NOTHING)
        if run.all("free_memory_below_utilization") or utilization is None or utilization <= passes:
            found = found.capped(passes, f"the start-up check wants no more than the {there}")
        outside = rank.size("cuda_graphs")
        if outside is not None and applied_graphs(run, rank) == NOTHING and not arena_pinned(run):
            high = largest_utilization(total, free + (held or NOTHING), outside)
            found = found.capped(high, f"CUDA graphs took {outside} outside the budget, of {there}")
    if utilization is None or arena_pinned(run):
        return found
    for refusal in refusals(run, rank):
        high = utilization_after_refusal(utilization, refusal.tried, refusal.free, total)
        found = found.capped(high, str(refusal), refusal.kept / total)
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
