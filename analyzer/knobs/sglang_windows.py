"""The row of the setting that divides the pools of an SGLang model with sliding-window layers."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Run
from analyzer.engines.interval import Bounds
from analyzer.engines.sglang_two_pools import LARGEST_WINDOW_RATIO, full_tokens_at, full_tokens_at_most
from analyzer.facts.fact import Fact
from analyzer.figures.sglang_windows import CAPPED, POOLS, TOO_SMALL, least_ratio, pools_of, ratio_in_effect, sized_by_requests, split_of
from analyzer.knobs.shown import Shown
from analyzer.units import group_digits

STEP = 0.1
INSTEAD = "raise mem_fraction_static: both pools together are too small"


def window_pool_knobs(run: Run) -> Iterator[Shown]:
    """The row of swa_full_tokens_ratio, of a model that has window layers beside others."""
    if any(kind in run.by_kind for kind in (*POOLS, CAPPED, TOO_SMALL)):
        value, source = ratio_in_effect(run)
        if sized_by_requests(run):
            effect = "none: without prefix cache the window pool is sized by max_running_requests"
            yield Shown("swa_full_tokens_ratio", value, source, effect=effect)
        else:
            yield Shown("swa_full_tokens_ratio", value, source, _bounds(run, value), INSTEAD, _effect(run, value))


def _bounds(run: Run, ratio: float | None) -> Bounds:
    refused = run.first(TOO_SMALL)
    if refused is None or ratio is None:
        return Bounds()
    because = "below, the window pool holds no more than one window and one page"
    return Bounds().raised(least_ratio(run, refused), because).capped(LARGEST_WINDOW_RATIO, "the engine takes no larger one")


def _effect(run: Run, ratio: float | None) -> str:
    """What the pools hold, and what a smaller ratio gives the full one."""
    refused, split = run.first(TOO_SMALL), split_of(run)
    if refused is not None:
        return _effect_of_least(run, refused)
    if split is None or any(kind.startswith("post_capture_kv") for kind in run.by_kind):  # what is printed first is not what it gets
        return ""
    told = f"the full layers hold {group_digits(split.full)} tokens, the window layers {group_digits(split.window)}"
    pools = pools_of(run)
    if pools is None:
        return told
    full, window = pools
    told = f"{told} ({full} and {window})"
    if ratio is None or ratio <= STEP or full.bytes <= 0 or window.bytes <= 0:
        return told
    gained = full_tokens_at(split, full, window, ratio - STEP) - split.full
    return f"{told}; {STEP:g} less gives the full layers about {group_digits(gained)} tokens more"


def _effect_of_least(run: Run, refused: Fact) -> str:
    least, window, page = least_ratio(run, refused), refused.integer("window_tokens"), refused.integer("page_size")
    if least is None or window is None or page is None or least > LARGEST_WINDOW_RATIO:
        return ""
    tokens = group_digits(full_tokens_at_most(least, window, page))
    return f"at the least ratio that works the full layers hold at most {tokens} tokens: the pools are small altogether"
