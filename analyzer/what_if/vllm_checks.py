"""The checks of vLLM's next start, by the figures of one run."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Rank, Run
from analyzer.engines.checks import ROOM, Check, cache_at, not_shown, one_request_fits, room_for_cache, start_up_check, window_is_fitted
from analyzer.figures.vllm_bounds import has_start_up_check
from analyzer.figures.vllm_cache import in_proportion, one_request_of
from analyzer.figures.vllm_figures import utilization_in_effect
from analyzer.figures.vllm_profile import applied_graphs, kv_budget_of, total_of
from analyzer.units import Size, format_bytes
from analyzer.what_if.later_checks import Cache, later_checks
from analyzer.what_if.planned import Planned, window_of


def vllm_checks(run: Run, rank: Rank, planned: Planned) -> Iterator[Check]:
    """Those that the figures of this rank allow, in their order."""
    total, free = total_of(run, rank), rank.size("free_at_start")
    if total is not None and free is not None and planned.share is not None and has_start_up_check(run):
        yield start_up_check(free + planned.more_free, total, planned.share)
    then, now = rank.size("kv_pinned") or rank.size("kv_cache"), _cache(run, rank, planned)
    if now is None:
        if "kv_pinned" in rank.ledger:
            yield not_shown(ROOM, "the run of the log pinned its KV cache, so nothing measured how much room there is without the pin")
        return
    yield room_for_cache(now)
    needed, window = one_request_of(run, rank), window_of(run)
    if planned.window == "auto":
        yield window_is_fitted(now)
    elif needed is not None and window and planned.window is not None:
        yield one_request_fits(now, _needed(run, rank, needed, planned.window, window), planned.window)
    left, beside = _left_by_start(rank), _beside(rank, planned, now)
    estimate = next((size for fact in rank.facts if (size := fact.size("cuda_graphs_estimated")) is not None), None)
    yield from later_checks(run, rank, Cache(then, now - planned.more_free, left, estimate, beside), planned.graphs)


def _cache(run: Run, rank: Rank, planned: Planned) -> Size | None:
    """A pinned arena as it is; else what the run's figures give at the planned share. A run with a pin measured nothing for that."""
    if planned.arena is not None:
        return planned.arena
    utilization, _ = utilization_in_effect(run)
    cache, total = kv_budget_of(run, rank), total_of(run, rank)
    if cache is None or total is None or utilization is None or planned.share is None or "kv_pinned" in rank.ledger:
        return None
    at_share = cache_at(cache, utilization, planned.share, total)
    given_back = applied_graphs(run, rank) if planned.graphs == "none" else None
    return at_share + given_back if given_back is not None and given_back.bytes else at_share


def _needed(run: Run, rank: Rank, needed: Size, window: int, window_then: int) -> Size:
    """KV cache of one request of another window: in proportion, unless layers may have states or a sliding window.

    Those do not shrink and grow with it, so a shorter window needs at least its proportion, a longer one at most. Up to the length
    that the engine estimates to fit, no window needs more than the cache that there was.
    """
    if window == window_then:
        return needed
    shares = (window / window_then, window / window_then) if in_proportion(run) else sorted((1, window / window_then))
    low, high = round(needed.low * shares[0]), round(needed.high * shares[1])
    estimated, cache = run.first("one_request_does_not_fit"), rank.size("kv_cache")
    fits = estimated.integer("estimated_max_model_len") if estimated is not None else None
    if fits is not None and window <= fits and cache is not None:
        high = min(high, cache.low)
    nominal = min(max(round(needed.bytes * window / window_then), low), high)
    spread = high - low > needed.high - needed.low
    return Size(nominal, min(low, nominal), high, f"{format_bytes(low)} to {format_bytes(high)}" if spread else format_bytes(nominal))


def _left_by_start(rank: Rank) -> Size | None:
    """Free memory after the start, with the activations of the profiling run counted as if they stayed."""
    free, cache = rank.size("free_at_start"), rank.size("kv_cache") or rank.size("kv_pinned")
    taken = [rank.size(item) for item in ("weights", "non_torch", "activation_peak", "cuda_graphs")]
    known = [size for size in taken if size is not None]
    if free is None or cache is None or len(known) < len(taken):
        return None
    left = free - cache - sum(known, Size.exact(0))
    return left if left.low >= 0 else None


def _beside(rank: Rank, planned: Planned, now: Size) -> Size | None:
    """What weights, memory outside PyTorch and the planned cache leave of the free memory: the activations have been given back."""
    free, weights, outside = (rank.size(item) for item in ("free_at_start", "weights", "non_torch"))
    return free + planned.more_free - weights - outside - now if free and weights and outside else None
