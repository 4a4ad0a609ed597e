"""Which sizes of a pinned KV arena (kv_cache_memory_bytes) can work for a vLLM run, by its own figures."""

from __future__ import annotations

from analyzer.cases.model import Rank, Run
from analyzer.engines.interval import Bounds
from analyzer.engines.vllm import SUGGESTION_RESERVE
from analyzer.engines.vllm_arena import arena_after_refusal, largest_arena
from analyzer.engines.vllm_budget import Profile
from analyzer.figures.measured import Measured
from analyzer.figures.refusal import refusals
from analyzer.figures.vllm_cache import one_request_of
from analyzer.figures.vllm_profile import NOTHING, applied_graphs, profile_of
from analyzer.units import Size, as_size


def arenas(run: Run) -> Bounds:
    """In bytes: at least one request of the window, at most what leaves everything else its place, on every rank."""
    found = Bounds()
    for rank in run.ranks:
        own = _of_rank(run, rank)
        found = found.raised(own.low, own.low_because).capped(own.high, own.high_because, own.leeway)
    return found


def _of_rank(run: Run, rank: Rank) -> Bounds:
    found, arena = Bounds(), Measured(run, rank).arena
    needed = one_request_of(run, rank)
    if needed is not None:
        found = found.raised(needed.high, f"one request needs {needed}")
    if arena is None:
        return _by_measured(run, rank, found)
    found = _by_weights(rank, found)
    for refusal in refusals(run, rank):
        found = found.capped(arena_after_refusal(arena, refusal.tried, refusal.free).low, str(refusal), refusal.kept.high)
    return found


def _by_measured(run: Run, rank: Rank, found: Bounds) -> Bounds:
    """Free at start - what the profiling run measured - graphs - what the engine keeps off its own suggestions."""
    profile = profile_of(run, rank)
    free, beside, graphs = profile.free_at_start, _beside(profile), _graphs(run, rank)
    if free is None or beside is None or graphs is None:
        return found
    beside = beside - _held_twice(run, rank, profile)
    largest = largest_arena(free, beside, graphs + SUGGESTION_RESERVE)
    suggested = next((size for fact in rank.facts if (size := fact.size("largest_kv_cache_memory_bytes")) is not None), None)
    if suggested is not None and largest.may_equal(suggested):
        largest = suggested
    because = f"{free} free at start, {beside} taken beside it, {graphs} by CUDA graphs, {as_size(SUGGESTION_RESERVE)} to spare"
    return found.capped(largest.low, because, SUGGESTION_RESERVE) if largest.low > 0 else found


def _by_weights(rank: Rank, found: Bounds) -> Bounds:
    """With a pinned arena the engine measures nothing else: what weights and graphs leave is more than can work."""
    free, weights, graphs = rank.size("free_at_start"), rank.size("weights"), rank.size("cuda_graphs") or NOTHING
    if free is None or weights is None:
        return found
    left = largest_arena(free, weights, graphs)
    taken = f"{weights} of weights" if graphs is NOTHING else f"{weights} of weights, {graphs} of CUDA graphs"
    return found.capped(left.high, f"{free} free at start, {taken}, and activations on top") if left.high > 0 else found


def _beside(profile: Profile) -> Size | None:
    """Weights, memory outside PyTorch and the peak of activations."""
    if profile.consumed is not None and profile.headroom is not None:
        return profile.consumed + profile.headroom
    if profile.weights is None or profile.non_torch is None or profile.activation_peak is None:
        return None
    return profile.weights + profile.non_torch + profile.activation_peak


def _graphs(run: Run, rank: Rank) -> Size | None:
    """What the graphs took, else what the engine estimates for them; zero where none are captured."""
    if run.args.get("enforce_eager") is True:
        return NOTHING
    estimates = (size for fact in rank.facts if (size := fact.size("cuda_graphs_estimated")) is not None)
    return rank.size("cuda_graphs") or next(estimates, None)


def _held_twice(run: Run, rank: Rank, profile: Profile) -> Size:
    """The applied estimate where the printed peak of activations holds it: the graphs themselves are taken off too."""
    applied = applied_graphs(run, rank)
    return applied if applied is not None and profile.graphs == NOTHING else NOTHING
