"""Quantities of vLLM runs under the names that rules use: the utilization in effect, whether the arena is pinned, the start-up check."""

from __future__ import annotations

from typing import Any

from analyzer.cases.model import Event, Rank, Run
from analyzer.engines import vllm
from analyzer.engines.vllm_utilization import utilization_for
from analyzer.figures.vllm_cache import one_request_holds
from analyzer.units import Size

PRINTS_UTILIZATION = (
    "free_memory_below_utilization",
    "startup_memory_summary",
    "profiling_result_v0",
    "cudagraph_profiling_hint",
    "free_memory_debug",
)
"""Messages that print the utilization in effect, the surest first; the last one to two decimals until 0.13.0."""
AS_PRINTED = "as the engine printed it"

FULL_CACHE_PERCENT = 95
"""From this usage on a request of ordinary length finds no room; the scheduler then lets it wait."""


def run_figures(run: Run) -> dict[str, Any]:
    """What vLLM runs are judged by as a whole."""
    utilization, source = utilization_in_effect(run)
    return {
        "largest_kv_cache": lambda: rank.ledger["kv_cache"].size if (rank := rank_with_largest_kv_cache(run)) else None,
        "largest_kv_cache_rank": lambda: rank.name if (rank := rank_with_largest_kv_cache(run)) else None,
        "arena_pinned": arena_pinned(run),
        "default_utilization": vllm.default_utilization(run.version) if run.engine == "vllm" else None,
        "waiting_at_full_cache": lambda: waiting_at_full_cache(run),
        "kv_cache_usage": lambda: max((fact.number("kv_cache_usage") or 0 for fact in run.all("stats")), default=0) or None,
        "utilization": utilization,
        "utilization_source": source,
        "window_held": lambda: held.tokens if (held := one_request_holds(run)) else None,
    }


def rank_with_largest_kv_cache(run: Run) -> Rank | None:
    """The rank that has the most for its KV cache, of several that print it; each computes its own, from what its card has free."""
    ranks = [rank for rank in run.ranks if "kv_cache" in rank.ledger]
    return max(ranks, key=lambda rank: rank.ledger["kv_cache"].size.bytes) if len(ranks) > 1 else None


def waiting_at_full_cache(run: Run) -> int | None:
    """The most requests that waited while the KV cache was as good as full; None when it never was."""
    full = (fact for fact in run.all("stats") if (fact.number("kv_cache_usage") or 0) >= FULL_CACHE_PERCENT)
    return max((fact.integer("waiting") or 0 for fact in full), default=None)


def arena_pinned(run: Run) -> bool:
    """Whether the KV arena has a fixed size: the engine says so, or its arguments do."""
    return any("kv_pinned" in rank.ledger for rank in run.ranks) or run.args.get("kv_cache_memory_bytes") not in (None, "None", 0)


def utilization_in_effect(run: Run) -> tuple[float | None, str | None]:
    """vLLM's utilization and where it comes from: the arguments, then the engine's own messages, then the default of the release."""
    if run.engine != "vllm":
        return None, None
    asked = run.args.get("gpu_memory_utilization")
    printed = next(
        (value for kind in PRINTS_UTILIZATION for fact in run.all(kind) if (value := fact.number("utilization")) is not None),
        None,
    )
    default = vllm.default_utilization(run.version)
    if isinstance(asked, (int, float)):
        return float(asked), "as passed to the engine"
    if printed is not None and printed == default:
        return printed, f"the engine's default, because nothing sets it (vLLM {run.version_text})"
    if printed is not None:
        return printed, AS_PRINTED
    return (default, f"the engine's default (vLLM {run.version_text})") if default is not None and not run.head_cut else (None, None)


def smallest_utilization(run: Run, rank: Rank) -> float | None:
    """The utilization whose KV cache holds one request, or is just empty where it came out negative; None when a figure is missing."""
    utilization, _ = utilization_in_effect(run)
    available, total = rank.size("kv_cache"), rank.size("total")
    if utilization is None or available is None or total is None or total.bytes <= 0:
        return None
    needed = rank.size("kv_needed") or (Size.exact(0) if available.high < 0 else None)
    return utilization_for(utilization, needed, available, total) if needed is not None else None


def startup_check_figures(run: Run, event: Event) -> dict[str, Any]:
    """What was in use before the engine took anything, and the largest utilization that every rank which refused would pass."""
    total, free = event.fact.size("total"), event.fact.size("free_at_start")
    if total is None or free is None:
        return {}
    refusals = [(fact.size("free_at_start"), fact.size("total")) for fact in run.all(event.kind)]
    passing = [vllm.largest_passing_utilization(left, whole) for left, whole in refusals if left is not None and whole is not None]
    return {"taken_elsewhere": total - free, "largest_passing_utilization": min(passing)}
