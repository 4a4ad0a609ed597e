"""The pool of sliding-window layers of an SGLang run, beside that of the layers with full attention: the setting that divides the two."""

from __future__ import annotations

from typing import Any

from analyzer.cases.model import Event, Rank, Run
from analyzer.cases.sglang_ledger import pool_size
from analyzer.engines.interval import rounded_up
from analyzer.engines.sglang import fraction_for_more
from analyzer.engines.sglang_pool import LARGEST_PAGE
from analyzer.engines.sglang_two_pools import (
    LARGEST_WINDOW_RATIO,
    SLIDING_WINDOW_RATIO_BY_RELEASE,
    WINDOW_SIZED_BY_REQUESTS,
    WindowSplit,
    implied_window_ratio,
    largest_window_requests,
    least_window_ratio,
)
from analyzer.facts.fact import Fact
from analyzer.figures.sglang_default import default_source, value_of_releases
from analyzer.figures.sglang_figures import least_of, mem_fraction_static
from analyzer.figures.sglang_launch_of_run import shows_all_arguments
from analyzer.figures.sglang_states import attention_workers
from analyzer.figures.shown import argument
from analyzer.units import Size

POOLS = ("kv_swa_split", "kv_swa_usage")
CAPPED = "kv_swa_cap_fail"
TOO_SMALL = "kv_swa_request_fail"


def split_of(run: Run) -> WindowSplit | None:
    """The tokens of both pools; None where the log does not show them, or a model has window layers alone."""
    for kind in POOLS:
        for fact in run.all(kind):
            full, window = fact.integer("full_tokens"), fact.integer("swa_tokens")
            if full and window:
                return WindowSplit(full, window)
    return None


def sized_by_requests(run: Run) -> bool:
    """Whether the window pool is sized by the requests at once and not by the ratio, as a message shows or the pools do."""
    if CAPPED in run.by_kind or value_of_releases(run, WINDOW_SIZED_BY_REQUESTS) is False:
        return CAPPED in run.by_kind
    explicit = run.args.get("disable_radix_cache") is True and run.args.get("max_running_requests") is not None
    asked, _ = argument(run, "swa_full_tokens_ratio")
    return explicit and asked is not None and _agrees(run, float(asked)) is False


def ratio_in_effect(run: Run) -> tuple[float | None, str]:
    """swa_full_tokens_ratio and where it comes from: set, what the printed pools imply, or the release's default."""
    asked, source = argument(run, "swa_full_tokens_ratio")
    split = split_of(run)
    implied = f"by the printed pools {split.window / split.full:.3f} was in effect" if split is not None else ""
    if asked is not None:
        differs = _agrees(run, float(asked)) is False
        return float(asked), f"{source}; {implied}" if differs else source
    default, words = value_of_releases(run, SLIDING_WINDOW_RATIO_BY_RELEASE), default_source(run, SLIDING_WINDOW_RATIO_BY_RELEASE[0][0])
    if default is None:
        return None, ""
    agrees = _agrees(run, default)
    if agrees:
        return default, f"{words}, with which the printed pools agree"
    if split is not None:
        return round(split.window / split.full, 3), f"{implied}, not {default:g}, the {words}"
    return (default, words) if shows_all_arguments(run) else (None, "")


def _agrees(run: Run, ratio: float) -> bool | None:
    """Whether a ratio gives the printed pools; None where they are not shown."""
    split = split_of(run)
    if split is None:
        return None
    low, high = implied_window_ratio(split.full, split.window, _page(run))
    return low <= ratio < high


def _page(run: Run) -> int:
    page = run.args.get("page_size")
    return page if isinstance(page, int) and page > 0 else LARGEST_PAGE


def pools_of(run: Run) -> tuple[Size, Size] | None:
    """(full, window), what the pools of the first rank take that prints a line for each.

    Lines are told apart by their labels (0.5.17 -), else by their tokens, else by their order: the window pool comes first.
    Source: SGLang 0.5.4 - 0.5.23, SWAKVPool.
    """
    split = split_of(run)
    return next((found for rank in run.ranks if split is not None and (found := _pools(rank, split)) is not None), None)


def _pools(rank: Rank, split: WindowSplit) -> tuple[Size, Size] | None:
    lines = [fact for fact in rank.by_kind.get("kv_cache_allocated", ()) if "virtual" not in fact.fields]
    own = [fact for fact in lines if fact.integer("tokens") in (split.full, split.window)][:2]
    if len(own) < 2:
        return None
    labels = [fact.text("label") for fact in own]
    window, full = own
    if "Full" in labels or "SWA" in labels:
        full, window = (own[0], own[1]) if labels[0] == "Full" or labels[1] == "SWA" else (own[1], own[0])
    elif split.full != split.window and window.integer("tokens") == split.full:
        full, window = window, full
    sizes = pool_size(full), pool_size(window)
    return (sizes[0], sizes[1]) if sizes[0] is not None and sizes[1] is not None else None


def least_ratio(run: Run, refused: Fact) -> float | None:
    """The ratio below which the refused window pool certainly stays too small."""
    ratio, _ = ratio_in_effect(run)
    tokens, window, page = (refused.integer(name) for name in ("swa_tokens", "window_tokens", "page_size"))
    if ratio is None or not tokens or window is None or page is None:
        return None
    return least_window_ratio(ratio, tokens, window, page)


def window_figures(run: Run, event: Event) -> dict[str, Any]:
    """Of a refused window pool, under the names that rules use: the ratio, the fraction and the requests at once that it needs."""
    if event.kind == TOO_SMALL:
        least = least_ratio(run, event.fact)
        return {
            "least_window_ratio": rounded_up(least) if least is not None and least <= LARGEST_WINDOW_RATIO else None,
            "no_window_ratio_works": least is not None and least > LARGEST_WINDOW_RATIO,
        }
    return _of_cap(run, event.fact) if event.kind == CAPPED else {}


def _of_cap(run: Run, refused: Fact) -> dict[str, Any]:
    cap, available = refused.size("swa_size"), refused.size("available")
    if cap is None or available is None or cap.low <= 0:
        return {}
    requests, _ = argument(run, "max_running_requests")
    most = largest_window_requests(int(requests), attention_workers(run), cap, available) if requests is not None else None
    pre, fraction = least_of(run, "free_at_start"), mem_fraction_static(run)
    low = fraction_for_more(fraction, cap - available, pre) if pre is not None and fraction is not None else None
    return {
        "fraction_for_window_pool": rounded_up(low) if low is not None and low < 1 else None,
        "largest_window_requests": most or None,
    }
