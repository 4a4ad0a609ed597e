"""Quantities of SGLang runs under the names that rules use: the fraction, the KV budget, what a pool was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analyzer.cases.model import Event, Rank, Run
from analyzer.engines import sglang
from analyzer.engines.interval import rounded_down, rounded_up
from analyzer.engines.sglang_effective import implied_fraction
from analyzer.engines.sglang_headroom import draft_weights_in_static_share
from analyzer.engines.sglang_pool import most_tokens_needed, pool_limits_input, smallest_fraction_for
from analyzer.engines.tokens import bytes_per_token
from analyzer.facts.fact import Fact
from analyzer.figures.sglang_launch_of_run import sampled_releases
from analyzer.figures.sglang_post_capture import is_post_capture
from analyzer.units import Size

IN_EFFECT = ("kv_weights_leave_none", "kv_not_enough", "args_vlm_mem_reduce", "args_nsa_mem_fraction", "omni_request_too_big")
"""Messages that print the fraction in effect, the surest first; the arguments show what was asked."""
LARGEST_FRACTION = 0.99


def mem_fraction_static(run: Run) -> float | None:
    """SGLang's static fraction in effect: from a message that prints it, else from the arguments."""
    printed = (fact.number("mem_fraction_static") for kind in IN_EFFECT for fact in run.all(kind))
    return next((value for value in (*printed, asked_fraction(run)) if value is not None and 0 < value <= 1), None)


def asked_fraction(run: Run) -> float | None:
    """mem_fraction_static as the arguments show it."""
    asked = run.args.get("mem_fraction_static")
    return float(asked) if isinstance(asked, (int, float)) else None


def run_figures(run: Run) -> dict[str, Any]:
    """What SGLang runs are judged by as a whole."""
    start = {rank.name: size for rank in run.ranks if (size := rank.size("free_at_start")) is not None}
    least = min(start, key=lambda name: start[name].bytes, default=None) if len(start) > 1 else None
    return {
        "asked_fraction": asked_fraction(run),
        "context_length": context_length(run),
        "draft_in_static_share": draft_in_static_share(run) if run.engine == "sglang" else None,
        "least_free_rank": least,
        "least_free": start[least] if least is not None else None,
        "mem_fraction_static": mem_fraction_static(run),
        "omni": is_omni(run),
        "most_free": max(start.values(), key=lambda size: size.bytes) if least is not None else None,
        "pool_tokens": pool_tokens(run),
        "sized_after_capture": is_post_capture(run),
    }


def draft_in_static_share(run: Run) -> bool | None:
    """Whether a draft model's weights are loaded before the pools are sized; None where the releases that the log leaves open differ."""
    found = {draft_weights_in_static_share(release) for release in sampled_releases(run)}
    return found.pop() if len(found) == 1 else None


def is_omni(run: Run) -> bool:
    """Whether stages of sglang-omni print in this run, or stand in its tracebacks."""
    files = (str(fact.fields.get("file")) for fact in run.all("traceback_frame"))
    return any(kind.startswith("omni_") for kind in run.by_kind) or any("sglang_omni/" in file for file in files)


def asked_per_effect(run: Run) -> float:
    """Fraction asked for / fraction in effect: above 1 where the engine reduces it for multimodal models (0.3.5 - 0.4.8.post1)."""
    asked, effect = asked_fraction(run), mem_fraction_static(run)
    return asked / effect if asked is not None and effect is not None and asked > effect else 1.0


def context_length(run: Run) -> int | None:
    """The context length: as asked for, else as printed at the end of the start."""
    asked = run.args.get("context_length")
    return asked if isinstance(asked, int) else _first_integer(run, "max_total_num_tokens", "context_len")


def pool_tokens(run: Run) -> int | None:
    """What the KV pool holds, in tokens: as printed at the end of the start, else by the first pool's own line."""
    total = _first_integer(run, "max_total_num_tokens", "tokens")
    return total if total is not None else _first_integer(run, "kv_cache_allocated", "tokens")


def budget_figures(run: Run, rank: Rank | None) -> dict[str, Any]:
    """The KV budget, from the least free memory of all ranks as the engine computes it, and the fractions that follow from it.

    Only what one token takes depends on the rank; None when no rank printed a figure.
    """
    if run.engine != "sglang":
        return {}
    pre, post, fraction = least_of(run, "free_at_start"), least_of(run, "free_after_load"), mem_fraction_static(run)
    values: dict[str, Any] = {"pre": pre, "post": post}
    computed = sglang.smallest_fraction(pre, post) if pre is not None and post is not None and pre.bytes > 0 else None
    smallest = printed_minimum(run) or computed
    if smallest is not None:
        values["smallest_fraction"] = smallest
        suggested = rounded_up((smallest + sglang.SUGGESTED_MARGIN) * asked_per_effect(run), 2)
        values["suggested_fraction"] = min(suggested, LARGEST_FRACTION) if smallest * asked_per_effect(run) < LARGEST_FRACTION else None
    if pre is None or post is None or pre.bytes <= 0:
        return values
    if fraction is not None:
        values["kv_budget"] = sglang.kv_budget(pre, post, fraction)
    pools = rank.size("kv_cache") if rank is not None else None
    if pools is not None:
        values["implied_fraction"], _, values["implied_at_most"] = implied_fraction(pre, post, pools)
    per_token, context = token_bytes(rank) if rank is not None else None, context_length(run)
    if per_token is not None and context is not None:
        values["fraction_for_one_request"] = rounded_up(smallest_fraction_for(pre, post, per_token, context) * asked_per_effect(run), 3)
    return values


def printed_minimum(run: Run) -> float | None:
    """The fraction at which the KV pool is empty, as the engine prints it since 0.5.14. A working value lies above it."""
    refusals = run.all("kv_weights_leave_none")
    printed = [value for fact in refusals if (value := fact.number("minimum") or fact.number("suggested")) is not None]
    return max(printed, default=None)


def pool_figures(run: Run, event: Event) -> dict[str, Any]:
    """What a request wanted of the KV pool, and what there was."""
    fact = event.fact
    allowed, asked = fact.fields.get("allowed_tokens"), fact.fields.get("asked_tokens")
    if isinstance(allowed, int):
        return {"pool_limits": pool_limits_input(allowed, pool_tokens(run), context_length(run))}
    if fact.kind != "pool_out_of_memory":
        return {}
    page = run.args.get("page_size")
    needed = most_tokens_needed(asked, page if isinstance(page, int) else None, "decode" in fact.fields) if isinstance(asked, int) else None
    return {
        "full_tokens_available": _part(fact, "full"),
        "pool_available": pool_available(fact),
        "pool_needed_at_most": needed,
        "state_slots_available": _part(fact, "mamba"),
        "window_tokens_available": _part(fact, "swa"),
    }


def pool_available(fact: Fact) -> int | None:
    """Tokens that were free or could be evicted: of a hybrid pool, in the part that has the fewest."""
    parts = [tokens for name in ("full", "swa") if (tokens := _part(fact, name)) is not None]
    whole = fact.integer("available_tokens")
    if whole is None and not parts:
        available, evictable = fact.integer("available"), fact.integer("evictable")
        whole = available + (evictable or 0) if available is not None else None
    return min(parts) if parts else whole


def _part(fact: Fact, name: str) -> int | None:
    value = fact.mapping(name).get("available_tokens")
    return value if isinstance(value, int) else None


def _first_integer(run: Run, kind: str, name: str) -> int | None:
    return next((value for fact in run.all(kind) if (value := fact.integer(name)) is not None), None)


def least_of(run: Run, item: str) -> Size | None:
    sizes = [size for rank in run.ranks if (size := rank.size(item)) is not None]
    return min(sizes, key=lambda size: size.bytes, default=None)


def token_bytes(rank: Rank) -> Size | None:
    """What a token takes, of a rank with one plain KV pool. With several pools or state caches it is no constant."""
    pools = [fact for fact in rank.facts if fact.kind == "kv_cache_allocated" and fact.integer("tokens")]
    size = rank.size("kv_cache")
    plain = len(pools) == 1 and size is not None and not any(fact.kind in ("kv_swa_usage", "mamba_alloc") for fact in rank.facts)
    return bytes_per_token(size, pools[0].fields["tokens"]) if plain and size is not None else None


def largest_token(run: Run) -> Size | None:
    """What a token takes on the rank where it takes most."""
    return max((size for rank in run.ranks if (size := token_bytes(rank)) is not None), key=lambda size: size.bytes, default=None)


REFUSALS = ("kv_not_enough", "kv_weights_leave_none", "no_tokens_profiled", "memory_pool_too_small")
AFTER_LOADING = ("kv_alloc", "warmup", "graph_capture", "serve")


def ran_out_beside_pools(event: Event) -> bool:
    return event.kind == "torch_oom" and event.phase in AFTER_LOADING


def trial_figures(runs: Sequence[Run]) -> dict[str, Any]:
    """Of several runs: the largest fraction that left no pool, the smallest one that left too little beside the pools, one between them."""
    tried = [(run, fraction) for run in runs if run.engine == "sglang" and (fraction := mem_fraction_static(run)) is not None]
    refused = [(run, fraction) for run, fraction in tried if any(kind in run.by_kind for kind in REFUSALS)]
    ran_out = [(run, fraction) for run, fraction in tried if any(ran_out_beside_pools(event) for event in run.events)]
    return {
        "largest_refused_fraction": max((fraction for _, fraction in refused), default=None),
        "smallest_exceeded_fraction": min((fraction for _, fraction in ran_out), default=None),
        "fraction_between_trials": _between(refused, ran_out),
    }


def _between(refused: Sequence[tuple[Run, float]], ran_out: Sequence[tuple[Run, float]]) -> float | None:
    """A fraction in the middle of what was too small and too large for one model on as many cards; None where there is none."""
    if not refused or not ran_out or len({_served_model(run) for run, _ in (*refused, *ran_out)}) > 1:
        return None
    too_large = min(fraction for _, fraction in ran_out)
    too_small = max(max(fraction, _empty_pool(run) or 0.0) for run, fraction in refused)
    middles = (rounded_down((too_small + too_large) / 2, decimals) for decimals in (2, 3))
    return next((middle for middle in middles if too_small < middle < too_large), None)


def _served_model(run: Run) -> tuple[Any, ...]:
    return tuple(run.args.get(name) for name in ("model_path", "tp_size", "pp_size", "quantization"))


def _empty_pool(run: Run) -> float | None:
    """The fraction at which the run's KV pool is empty, as far as it shows its figures."""
    smallest = budget_figures(run, None).get("smallest_fraction")
    return smallest * asked_per_effect(run) if smallest is not None else None
