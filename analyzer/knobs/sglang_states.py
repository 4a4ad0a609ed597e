"""The rows of the settings that size the slots for recurrent states of an SGLang run."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Run
from analyzer.engines.interval import Bounds, rounded_up
from analyzer.engines.sglang_pool import LARGEST_PAGE
from analyzer.engines.sglang_two_pools import SLOTS_AS_ASKED, largest_state_ratio, ratio_for_slots, tokens_beside_states
from analyzer.figures.sglang_default import value_of_releases
from analyzer.figures.sglang_figures import context_length
from analyzer.figures.sglang_states import (
    REFUSALS,
    attention_workers,
    divided_by_ratio,
    fixed_by,
    ratio_in_effect,
    slots_needed,
    slots_per_request,
    states_of,
)
from analyzer.figures.shown import argument
from analyzer.knobs.shown import Shown
from analyzer.units import group_digits

KINDS = ("mamba_alloc", "mamba_slot_exhausted", *REFUSALS)
INSTEAD = "raise mem_fraction_static, or shorten context_length"


def state_pool_knobs(run: Run) -> Iterator[Shown]:
    """A row for the ratio and one for the number of slots, of a model that has states."""
    if any(kind in run.by_kind for kind in KINDS):
        yield _ratio(run)
        yield _slots(run)


def _ratio(run: Run) -> Shown:
    value, source = ratio_in_effect(run)
    fixed = fixed_by(run)
    if fixed is not None:
        return Shown("mamba_full_memory_ratio", value, source, effect=f"none: {fixed} gives the number of slots")
    effect = "; ".join(filter(None, (_pools(run), _wanted(run, value))))
    return Shown("mamba_full_memory_ratio", value, source, _ratio_bounds(run, value), INSTEAD, effect)


def _pools(run: Run) -> str:
    found = states_of(run)
    if found is None:
        return ""
    drafts = f", {found.drafts} for draft tokens" if found.drafts is not None else ""
    beside = f", beside a KV pool of {group_digits(found.tokens)} tokens ({found.kv})" if found.tokens and found.kv is not None else ""
    return f"{found.slots} slots of {found.slot} each{drafts}{beside}"


def _wanted(run: Run, ratio: float | None) -> str:
    """What the requests asked for would take, where the engine admits fewer."""
    needed = slots_needed(run)
    if needed is None or ratio is None:
        return ""
    slots, requests, wanted = needed
    new = ratio_for_slots(ratio, slots, wanted)
    if new is None:
        return f"{requests} requests at once take {wanted} slots, which no ratio is sure to give"
    found = states_of(run)
    tokens = found.tokens if found is not None and found.alone else None
    left = f" and leaves about {group_digits(tokens_beside_states(tokens, ratio, new))} tokens of KV pool" if tokens else ""
    return f"{requests} requests at once take {wanted} slots: a ratio of {rounded_up(new):g} gives them{left}"


def _ratio_bounds(run: Run, ratio: float | None) -> Bounds:
    """Above: by the KV pool, which has to hold one request."""
    found, context = states_of(run), context_length(run)
    if ratio is None or found is None or not found.alone or not divided_by_ratio(run):
        return Bounds()
    if found.kv is None or found.kv.low <= 0 or found.tokens is None or context is None or found.tokens < context:
        return Bounds()
    high = largest_state_ratio(found.tokens + LARGEST_PAGE, found.kv, found.slot, ratio, context)
    return Bounds().capped(high, f"above, the KV pool does not hold one request of {context} tokens")


def _slots(run: Run) -> Shown:
    value, source = argument(run, "max_mamba_cache_size")
    if value is None:
        return Shown("max_mamba_cache_size")
    if value_of_releases(run, SLOTS_AS_ASKED) is False and fixed_by(run) is None:
        return Shown("max_mamba_cache_size", value, source, effect="none in this release while the prefix cache is on")
    per_request, bounds = slots_per_request(run), Bounds()
    if per_request is not None:
        bounds = bounds.raised(per_request * attention_workers(run), f"each request takes {per_request} slots")
    return Shown("max_mamba_cache_size", value, source, bounds, effect=_pools(run))
