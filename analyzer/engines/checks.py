"""The checks of an engine's start in their order, with amounts that a log measured and settings that change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from analyzer.engines.vllm import requested_memory
from analyzer.engines.vllm_budget import gate_shortfall
from analyzer.units import Size

Outcome = Literal["passes", "fails", "cannot tell"]

START_UP, ROOM, REQUEST = "start-up check", "room for the KV cache", "one request of the full window"
GRAPHS, WARM_UP, SERVING = "CUDA graphs", "warm-up", "serving"


@dataclass(frozen=True, slots=True)
class Check:
    """One check: what there is against what it wants; `why` names both. `stops` is whether the engine ends when it fails."""

    name: str
    outcome: Outcome
    why: str
    stops: bool = True

    def __str__(self) -> str:
        return f"{self.name}: {self.outcome}, {self.why}"


def enough(available: Size, wanted: Size) -> Outcome:
    """Whether an amount suffices, by the intervals that the printed decimals leave."""
    if available.low >= wanted.high:
        return "passes"
    return "fails" if available.high < wanted.low else "cannot tell"


def start_up_check(free: Size, total: Size, utilization: float) -> Check:
    """vLLM 0.9.1 -: utilization x total must be free at the start (vllm/v1/worker/gpu_worker.py, init_device)."""
    wanted = requested_memory(total, utilization)
    short = gate_shortfall(free, wanted)
    lacking = f", {short} short" if short.low > 0 else ""
    return Check(START_UP, enough(free, wanted), f"{utilization:.3g} x {total} = {wanted} wanted and {free} free{lacking}")


def room_for_cache(cache: Size) -> Check:
    """Whether anything is left for the KV cache; both engines refuse a budget of zero or less."""
    outcome: Outcome = "passes" if cache.low > 0 else "fails" if cache.high <= 0 else "cannot tell"
    return Check(ROOM, outcome, f"{cache} left for it")


def one_request_fits(cache: Size, needed: Size, tokens: int) -> Check:
    """Whether the KV cache holds one request of the whole window."""
    return Check(REQUEST, enough(cache, needed), f"{tokens} tokens need {needed} and {cache} are there")


def longest_request(cache: Size, needed: Size, tokens: int) -> Check:
    """SGLang starts with a pool that is smaller than one request of the whole context, and refuses longer ones (tp_worker.py, 0.1.26 -)."""
    check = one_request_fits(cache, needed, tokens)
    without = "; the server starts without, and refuses requests that do not fit" if check.outcome != "passes" else ""
    return replace(check, why=f"{check.why}{without}", stops=False)


def window_is_fitted(cache: Size) -> Check:
    """vLLM 0.14.0 -: with max_model_len auto the engine shortens the window to what the cache holds (vllm/v1/core/kv_cache_utils.py)."""
    outcome: Outcome = "passes" if cache.low > 0 else "cannot tell"
    return Check(REQUEST, outcome, "the engine shortens the window to what the KV cache holds")


def beside_cache(name: str, tried: Size, free: Size, cache_then: Size, cache_now: Size) -> Check:
    """An allocation that was refused, tried again with another KV cache: free then + KV cache then - KV cache now."""
    left = free + cache_then - cache_now
    return Check(name, enough(left, tried), f"the allocation of {tried} that was refused would find {left} free")


def came_through(name: str, cache_then: Size, cache_now: Size, left: Size | None = None) -> Check:
    """A run that came through this phase, with another KV cache: a smaller one leaves more than it had.

    `left` is what the run had free when the phase was over, where that is known: a larger cache may take it.
    """
    if cache_now.high <= cache_then.high:
        return Check(name, "passes", f"the run of the log came through with {cache_then} of KV cache, and it is {cache_now} now")
    more = cache_now - cache_then
    taken = f"the KV cache takes {more} more than in the run of the log, which came through"
    if left is None:
        return Check(name, "cannot tell", taken)
    return Check(name, "passes" if enough(left, more) == "passes" else "cannot tell", f"{taken} with {left} to spare")


def estimated_graphs(estimate: Size, free: Size) -> Check:
    """CUDA graphs by the engine's own estimate, against what weights and KV cache leave of the free memory (vLLM 0.18.0 -)."""
    return Check(GRAPHS, enough(free, estimate), f"the engine estimates {estimate} for them, and weights and KV cache leave {free}")


def no_graphs() -> Check:
    """A start that captures none."""
    return Check(GRAPHS, "passes", "none are captured")


def not_shown(name: str, why: str) -> Check:
    """A check for which the log has no figures."""
    return Check(name, "cannot tell", why)


def cache_at(cache_then: Size, share_then: float, share_now: float, whole: Size) -> Size:
    """The KV cache at another share of `whole`: then + whole x (now - then).

    `whole` is the card's total memory for vLLM (every release), free memory before loading for SGLang (0.1.26 - 0.5.23).
    """
    return cache_then + whole * round(share_now - share_then, 6)
