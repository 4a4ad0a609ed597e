"""From one log and changed settings: the outcome of each check of the next start, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.cases.model import Rank, Run
from analyzer.engines import sglang
from analyzer.engines.checks import Check, beside_cache, cache_at, came_through, one_request_fits, room_for_cache, start_up_check
from analyzer.engines.tokens import pool_for
from analyzer.rulebook.refusal import refusals
from analyzer.rulebook.sglang_figures import asked_per_effect, context_length, least_of, mem_fraction_static, token_bytes
from analyzer.rulebook.vllm_bounds import has_start_up_check, one_request
from analyzer.rulebook.vllm_figures import utilization_in_effect
from analyzer.settings.model import Profile
from analyzer.units import Size, format_bytes

LATER = "graphs, warm-up and serving"


@dataclass(frozen=True, slots=True)
class Planned:
    """What the next start is given: the share of memory, a pinned arena, the window in tokens; None where the settings say nothing.

    `more_free` is by how much more memory is free than at the start of the log's run.
    """

    share: float | None
    arena: Size | None = None
    window: int | None = None
    more_free: int = 0


def planned_by(profile: Profile, share: float | None, more_free: int) -> Planned:
    """Of a profile, with the share that the selector hands to the engine."""
    window = profile.value("max_model_len") or profile.value("context_length")
    return Planned(share, profile.size("kv_cache_memory_bytes"), window if isinstance(window, int) else None, more_free)


def predict(run: Run, planned: Planned) -> list[Check]:
    """The checks that the figures of the run allow, of its first rank that allows any; later ones are made even where one fails."""
    checks = _vllm if run.engine == "vllm" else _sglang
    return next((found for rank in run.ranks if (found := list(checks(run, rank, planned)))), [])


def _vllm(run: Run, rank: Rank, planned: Planned) -> Iterator[Check]:
    total, free = rank.size("total"), rank.size("free_at_start")
    if total is not None and free is not None and planned.share is not None and has_start_up_check(run):
        yield start_up_check(free + planned.more_free, total, planned.share)
    then, now = rank.size("kv_pinned") or rank.size("kv_cache"), _vllm_cache(run, rank, planned)
    if now is None:
        return
    yield room_for_cache(now)
    needed, window_then = one_request(rank), _window(run)
    if needed is not None and window_then:
        window = planned.window or window_then
        yield one_request_fits(now, _needed(run, rank, needed, window, window_then), window)
    if then is not None:
        yield from _later(run, rank, then, now - planned.more_free)


def _vllm_cache(run: Run, rank: Rank, planned: Planned) -> Size | None:
    """A pinned arena as it is; else what the run's figures give at the planned share. A run with a pin measured nothing for that."""
    utilization, _ = utilization_in_effect(run)
    cache, total = rank.size("kv_cache"), rank.size("total")
    if planned.arena is not None:
        return planned.arena
    if cache is None or total is None or utilization is None or planned.share is None or "kv_pinned" in rank.ledger:
        return None
    return cache_at(cache, utilization, planned.share, total)


def _window(run: Run) -> int | None:
    window = run.args.get("max_model_len")
    if isinstance(window, int):
        return window
    printed = (fact.fields.get("max_model_len") for fact in run.all("one_request_does_not_fit"))
    return next((tokens for tokens in printed if isinstance(tokens, int)), None)


def _needed(run: Run, rank: Rank, needed: Size, window: int, window_then: int) -> Size:
    """KV cache of one request of another window: in proportion, unless layers have states or a sliding window.

    Those do not shrink and grow with it, so a shorter window needs at least its proportion, a longer one at most. Up to the length
    that the engine estimates to fit, no window needs more than the cache that there was.
    """
    if window == window_then:
        return needed
    ends = sorted((needed.bytes, round(needed.bytes * window / window_then)))
    low, high = round(ends[0] * needed.low / needed.bytes), round(ends[1] * needed.high / needed.bytes)
    estimated, cache = run.first("one_request_does_not_fit"), rank.size("kv_cache")
    fits = estimated.fields.get("estimated_max_model_len") if estimated is not None else None
    if isinstance(fits, int) and window <= fits and cache is not None:
        high = min(high, cache.low)
    proportional = ends[0] if window < window_then else ends[1]
    nominal = min(max(proportional, low), high)
    return Size(nominal, min(low, nominal), high, f"{format_bytes(nominal)} in proportion")


def _sglang(run: Run, rank: Rank, planned: Planned) -> Iterator[Check]:
    pre, post = least_of(run, "free_at_start"), least_of(run, "free_after_load")
    if pre is None or post is None or planned.share is None:
        return
    share, share_then, then = planned.share / asked_per_effect(run), mem_fraction_static(run), rank.size("kv_cache")
    now = sglang.kv_budget(pre + planned.more_free, post + planned.more_free, share)
    if then is not None and share_then is not None:  # the pools of the log know what the fraction in effect was
        now = cache_at(then, share_then, share, pre) + round(planned.more_free * share)
    yield room_for_cache(now)
    per_token, context = token_bytes(rank), planned.window or context_length(run)
    if per_token is not None and context is not None:
        yield one_request_fits(now, pool_for(context, per_token), context)
    if then is not None:
        yield from _later(run, rank, then, now - planned.more_free)


def _later(run: Run, rank: Rank, then: Size, now: Size) -> Iterator[Check]:
    """What comes beside the KV cache. `now` is counted as if the same memory were free at the start."""
    failed = list(refusals(run, rank))
    for refusal in failed:
        yield beside_cache(LATER, refusal.tried, refusal.free, then, now)
    if not failed and run.outcome == "served":
        yield came_through(LATER, then, now)
