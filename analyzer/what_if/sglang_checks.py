"""The checks of SGLang's next start, by the figures of one run."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Rank, Run
from analyzer.engines import sglang
from analyzer.engines.checks import ROOM, Check, cache_at, longest_request, not_shown, room_for_cache
from analyzer.engines.tokens import pool_for
from analyzer.figures.sglang_figures import asked_per_effect, least_of, mem_fraction_static, token_bytes
from analyzer.figures.sglang_post_capture import is_post_capture
from analyzer.units import Size
from analyzer.what_if.later_checks import Cache, later_checks
from analyzer.what_if.planned import Planned


def sglang_checks(run: Run, rank: Rank, planned: Planned) -> Iterator[Check]:
    """Those that the figures of this rank allow, in their order."""
    pre, post = least_of(run, "free_at_start"), least_of(run, "free_after_load")
    if pre is None or post is None or planned.share is None:
        return
    if is_post_capture(run):
        yield not_shown(ROOM, "the pools of the log were sized again after graph capture, from what was free then")
        return
    share, share_then, then = planned.share / asked_per_effect(run), mem_fraction_static(run), rank.size("kv_cache")
    now = sglang.kv_budget(pre + planned.more_free, post + planned.more_free, share)
    if then is not None and share_then is not None and not isinstance(run.args.get("max_total_tokens"), int):
        # the pools of the log know what the fraction in effect was, where it alone sized them
        now = cache_at(then, share_then, share, pre) + round(planned.more_free * share)
    now = _capped(now, rank, planned)
    yield room_for_cache(now)
    per_token = token_bytes(rank)
    if per_token is not None and isinstance(planned.window, int) and now.high > 0:
        yield longest_request(now, pool_for(planned.window, per_token), planned.window)
    yield from later_checks(run, rank, Cache(then, now - planned.more_free, _left_by_start(rank)), planned.graphs)


def _capped(cache: Size, rank: Rank, planned: Planned) -> Size:
    """max_total_tokens can make the pool smaller, never larger."""
    per_token = token_bytes(rank)
    if planned.most_tokens is None or per_token is None:
        return cache
    cap = pool_for(planned.most_tokens, per_token)
    return cap if cap.bytes < cache.bytes else cache


def _left_by_start(rank: Rank) -> Size | None:
    """Free memory as printed when the start was over."""
    return next((size for fact in rank.facts if fact.kind == "max_total_num_tokens" and (size := fact.size("free")) is not None), None)
