"""The slots for recurrent states of an SGLang run beside its KV pool: how many, of what size, and what gives their number."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.cases.model import Rank, Run
from analyzer.cases.sglang_ledger import pool_size
from analyzer.engines.sglang_pool import LARGEST_PAGE
from analyzer.engines.sglang_two_pools import MAMBA_RATIO_BY_RELEASE, SLOTS_AS_ASKED, implied_ratio, slot_bytes
from analyzer.figures.sglang_default import default_source, value_of_releases
from analyzer.figures.sglang_launch_of_run import shows_all_arguments
from analyzer.figures.shown import argument
from analyzer.units import Size

REFUSALS = ("mamba_not_enough", "mamba_too_small")
DRAFT_STATES = ("intermediate_ssm_state", "intermediate_conv_window")
TOLERANCE = 0.02
"""Of a ratio: what else a release keeps with each slot stays far below it."""


@dataclass(frozen=True, slots=True)
class States:
    """What one rank printed of its states and of its only KV pool. The KV pool has a page more than its `tokens`."""

    slots: int
    size: Size
    tokens: int | None
    kv: Size | None
    drafts: Size | None
    """What is kept for draft tokens."""
    alone: bool
    """Without that and without buffers of other kinds, so that the ratio divides the budget between the two."""

    @property
    def slot(self) -> Size:
        return slot_bytes(self.size, self.slots)


def states_of(run: Run) -> States | None:
    """Of the first rank that prints its slots (SGLang 0.5.3.post3 -)."""
    return next((found for rank in run.ranks if (found := _states(rank)) is not None), None)


def _states(rank: Rank) -> States | None:
    allocated = rank.first("mamba_alloc")
    slots = allocated.integer("slots") if allocated is not None else None
    sizes = [size for name in ("conv_state", "ssm_state") if allocated is not None and (size := allocated.size(name)) is not None]
    if slots is None or slots <= 0 or not sizes or allocated is None:
        return None
    pools = rank.by_kind.get("kv_cache_allocated", ())
    kv = pool_size(pools[0]) if len(pools) == 1 else None
    drafts = [size for name in DRAFT_STATES if (size := allocated.size(name)) is not None]
    return States(
        slots=slots,
        size=sum(sizes, Size.exact(0)),
        tokens=pools[0].integer("tokens") if kv is not None else None,
        kv=kv if kv is not None and "virtual" not in pools[0].fields else None,
        drafts=sum(drafts, Size.exact(0)) if drafts else None,
        alone=not drafts and "mamba_buffers" not in rank.by_kind,
    )


def fixed_by(run: Run) -> str | None:
    """The argument that gives the number of slots itself, so that the ratio has no part in it; None where none is known to.

    Source: SGLang 0.5.4 - 0.5.23, handle_max_mamba_cache.
    """
    asked, _ = argument(run, "max_mamba_cache_size")
    without_cache = run.args.get("disable_radix_cache") is True
    if asked is not None:
        return "max_mamba_cache_size" if without_cache or _as_asked(run, int(asked)) else None
    return "max_running_requests" if without_cache and run.args.get("max_running_requests") is not None else None


def _as_asked(run: Run, slots: int) -> bool:
    """Whether the engine takes the number that was asked for: by the release, else by what it prints (refusals since 0.5.13)."""
    by_release = value_of_releases(run, SLOTS_AS_ASKED)
    if by_release is not None:
        return by_release
    found = states_of(run)
    return found.slots == slots // attention_workers(run) if found is not None else any(map(run.all, REFUSALS))


def ratio_in_effect(run: Run) -> tuple[float | None, str]:
    """mamba_full_memory_ratio and where it comes from: set, what the printed sizes imply, or the release's default.

    None where the log shows neither the arguments nor sizes that agree with the default.
    """
    asked, source = argument(run, "mamba_full_memory_ratio")
    implied, alone = implied_of(run), divided_by_ratio(run)
    in_words = f"by the printed sizes {implied[0]:.3f} to {implied[1]:.3f} was in effect" if implied is not None else ""
    if asked is not None and asked > 0:
        return float(asked), f"{source}; {in_words}" if alone and agrees_with_sizes(run, asked) is False else source
    default, words = value_of_releases(run, MAMBA_RATIO_BY_RELEASE), default_source(run, MAMBA_RATIO_BY_RELEASE[0][0])
    if default is None or fixed_by(run) is not None:
        return None, ""
    if agrees_with_sizes(run, default):
        return default, f"{words}, with which the printed sizes agree"
    if implied is not None and alone:
        return round(sum(implied) / 2, 3), f"{in_words}, not {default:g}, the {words}"
    return (default, words) if alone and implied is None else (None, "")


def agrees_with_sizes(run: Run, ratio: float) -> bool | None:
    """Whether a ratio gives the printed sizes; None where they do not tell.

    With draft states it may be that of the states alone (0.5.7 - 0.5.10), or of both together (0.5.14 -), or of neither: the number of
    requests also bounds them.
    """
    implied, found = implied_of(run), states_of(run)
    if implied is not None:
        return implied[0] * (1 - TOLERANCE) <= ratio <= implied[1] * (1 + TOLERANCE)
    if found is None or found.drafts is None or found.kv is None or found.kv.bytes <= 0:
        return None
    either = (found.size / found.kv, (found.size + found.drafts) / found.kv)
    return any(abs(ratio - one) <= TOLERANCE * ratio for one in either) or None


def implied_of(run: Run) -> tuple[float, float] | None:
    """The ratios that the printed sizes allow; None where other things than the ratio divided the budget."""
    found = states_of(run)
    if found is None or not found.alone or found.kv is None or not found.tokens or found.kv.low <= 0:
        return None
    without_padding = round(found.kv.low * found.tokens / (found.tokens + LARGEST_PAGE))
    return implied_ratio(found.size, found.slots, Size(found.kv.bytes, without_padding, found.kv.high))


def divided_by_ratio(run: Run) -> bool:
    """Whether the arguments show that nothing but the ratio bounds the two pools."""
    unset = all(run.args.get(name) is None for name in ("max_mamba_cache_size", "max_total_tokens", "speculative_algorithm"))
    return shows_all_arguments(run) and unset and (run.args.get("pp_size") or 1) == 1 and not run.args.get("disable_radix_cache")


def slots_per_request(run: Run) -> int | None:
    """State slots that the engine counts for each running request, as it prints them."""
    kinds = ("mamba_too_small", "max_running_reduced")
    return next((slots for kind in kinds for fact in run.all(kind) if (slots := fact.integer("slots_per_request"))), None)


def requests_for_each_worker(run: Run) -> int | None:
    """max_running_requests as asked for, of one worker of data-parallel attention."""
    asked, _ = argument(run, "max_running_requests")
    return max(1, int(asked) // attention_workers(run)) if asked is not None else None


def attention_workers(run: Run) -> int:
    """Into how many parts data-parallel attention divides the requests and the slots."""
    if run.args.get("enable_dp_attention") is not True:
        return 1
    parts = (run.args.get(name) for name in ("dp_size", "dp", "data_parallel_size"))
    return next((value for value in parts if isinstance(value, int) and value > 0), 1)


def slots_needed(run: Run) -> tuple[int, int, int] | None:
    """(slots there are, requests asked for or one, slots that they take), where the engine prints that the slots do not suffice."""
    per_request = slots_per_request(run)
    printed = (*run.all("mamba_too_small"), *run.all("max_running_reduced"))
    slots = next((slots for fact in printed if (slots := fact.integer("slots"))), None)
    if per_request is None or slots is None:
        return None
    requests = requests_for_each_worker(run) or (1 if "mamba_too_small" in run.by_kind else None)
    if requests is None or requests * per_request <= slots:
        return None
    return slots, requests, requests * per_request
