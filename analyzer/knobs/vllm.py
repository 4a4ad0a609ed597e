"""The vLLM settings that bear on memory, as one run shows them."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Run
from analyzer.engines.interval import Bounds
from analyzer.engines.vllm_arena import STILL_DONE
from analyzer.figures.known_arguments import takes
from analyzer.figures.shown import argument, printed
from analyzer.figures.vllm_arena_bounds import arenas
from analyzer.figures.vllm_bounds import utilizations
from analyzer.figures.vllm_cache import (
    bytes_per_token,
    cache_tokens,
    in_proportion,
    least_cache,
    one_request_holds,
    one_request_of,
    requests_at_once,
    window,
)
from analyzer.figures.vllm_figures import arena_pinned, utilization_in_effect
from analyzer.figures.vllm_profile import computed_budget, printed_budget, total_of, unexplained
from analyzer.knobs.shown import Shown
from analyzer.units import GIB, Size

INSTEAD = (
    "make the window (max_model_len), the batches (max_num_batched_tokens, max_num_seqs) or the weights smaller, or use more cards "
    "(tensor_parallel_size)"
)
LONGEST = (
    ("one_request_does_not_fit", "estimated_max_model_len", "the engine's own estimate"),
    ("max_len_above_kv_tokens", "kv_tokens", "the KV cache holds no more tokens"),
    ("max_len_auto_fit", "max_model_len", "what the engine shortened it to"),
)
"""Messages that print the longest window that fits."""
TOO_MANY = (
    ("mamba_blocks_exceeded", "blocks", 0, "the engine has no more state blocks"),
    ("sampler_warmup_oom", "num_seqs", 1, "the warm-up of the sampler with one more ran out of memory"),
    ("pooler_warmup_oom", "num_seqs", 1, "the warm-up of the pooler with one more ran out of memory"),
)
"""Messages that print how many requests were too many, and how many less are not known to be."""


def vllm_knobs(run: Run) -> Iterator[Shown]:
    """One row each; of a start that was never completed most figures are missing."""
    yield _utilization(run)
    yield _arena(run)
    yield _window(run)
    yield _sequences(run)
    yield _batched_tokens(run)


def _utilization(run: Run) -> Shown:
    value, words = utilization_in_effect(run)
    asked, source = argument(run, "gpu_memory_utilization")
    total = next((size for rank in run.ranks if (size := total_of(run, rank)) is not None), None)
    if arena_pinned(run):
        by = " by a plan kept from an earlier start" if run.all("startup_plan_applied") else ""
        effect = f"none on the KV cache, whose size is pinned{by}; only the start-up check uses it"
    else:
        effect = f"0.01 more gives the KV cache {total * 0.01}{_holding(run, total * 0.01)}{_off_formula(run)}" if total is not None else ""
    return Shown("gpu_memory_utilization", value, (source if asked is not None else "") or words or "", utilizations(run), INSTEAD, effect)


def _off_formula(run: Run) -> str:
    """Where the engine prints another KV cache than the formula of its release gives: a build that the tables do not describe."""
    for rank in run.ranks:
        more, computed = unexplained(run, rank), computed_budget(run, rank)
        if more is not None and not more.may_equal(0):
            return f"; the engine prints {printed_budget(run, rank)}, and by the formula of its release its figures leave {computed}"
    return ""


def _arena(run: Run) -> Shown:
    knob, (asked, source), bounds = "kv_cache_memory_bytes", argument(run, "kv_cache_memory_bytes"), arenas(run)
    value: int | float | str | None = asked
    pinned, plan = _largest(run, "kv_pinned"), run.first("startup_plan_applied")
    if value is None and pinned is not None:
        size = (plan.size(knob) if plan is not None else None) or pinned
        value = size.bytes if size.is_exact else size.text
        source = "printed by the engine" if plan is None else f"a plan kept from an earlier start, line {plan.line.number}"
    if value is None:
        offered = bounds.high is not None and run.generation != "V0" and takes(run, knob)
        value, source, bounds = ("not pinned", _unpinned(run), bounds) if offered else (None, "", Bounds())
    effect = f"with it the engine measures nothing; it still does {', '.join(STILL_DONE)}{_one_gib(run)}"
    return Shown(knob, value, source, bounds, "shorten max_model_len, or free memory of the card", effect)


def _unpinned(run: Run) -> str:
    """What the engine does instead, or with the plans that it keeps on disk."""
    saved, rejected = run.first("startup_plan_saved"), run.first("startup_plan_rejected")
    if rejected is not None:
        return f"the plan kept from an earlier start wants more free memory, line {rejected.line.number}"
    if saved is not None:
        return f"this start kept a plan that may pin it in the next, line {saved.line.number}"
    return "the engine measured how much is left"


def _window(run: Run) -> Shown:
    value, source = window(run)
    bounds = Bounds()
    for kind, name, because in LONGEST:
        for fact in run.all(kind):
            tokens = fact.fields.get(name)
            if isinstance(tokens, int):
                bounds = bounds.capped(tokens, because)
    holds = one_request_holds(run)
    if bounds.high is None and holds is not None and holds.tokens > 0 and (holds.exact or (value is not None and holds.tokens < value)):
        bounds = bounds.capped(holds.tokens, _because(run))
    instead = "raise gpu_memory_utilization, or store the KV cache in fewer bytes (kv_cache_dtype)"
    return Shown("max_model_len", value, source, bounds, instead, _window_effect(run, value))


def _because(run: Run) -> str:
    per_token = bytes_per_token(run)
    if per_token is not None:
        return f"the KV cache of this run holds no more, at {per_token} a token"
    return f"the KV cache of this run holds no more{'' if in_proportion(run) else ', in proportion to what a request of the window needs'}"


def _window_effect(run: Run, value: int | None) -> str:
    """What one request takes, and how long one can be where layers may differ: by its share of the cache, or longer."""
    needed = next((size for rank in run.ranks if (size := one_request_of(run, rank)) is not None), None)
    told, holds = requests_at_once(run), one_request_holds(run)
    parts = []
    if needed is not None and value is not None:
        parts.append(f"one request of {value} tokens takes {needed} of KV cache")
    if told is not None:
        parts.append(f"the KV cache holds {told[0]:g} requests of {told[1]} tokens")
    if holds is not None and not holds.exact and value is not None and holds.tokens > value:
        parts.append(f"one of about {holds.tokens} would fit")
    return ", ".join(parts)


def _sequences(run: Run) -> Shown:
    value, source = argument(run, "max_num_seqs")
    if value is None:
        value, source = printed(run, "mamba_blocks_exceeded", "max_num_seqs")
    bounds = Bounds()
    for kind, name, less, because in TOO_MANY:
        for fact in run.all(kind):
            tried = fact.fields.get(name)
            if isinstance(tried, int):
                bounds = bounds.capped(tried - less, because)
    return Shown("max_num_seqs", value, source, bounds, effect=_requests(run))


def _requests(run: Run) -> str:
    """How many requests of the full window the KV cache holds at once: as printed, else the cache / what one takes."""
    told, (length, _), cache = requests_at_once(run), window(run), least_cache(run)
    if told is not None:
        return f"the KV cache holds {told[0]:g} requests of {told[1]} tokens at once"
    needed = next((size for rank in run.ranks if (size := one_request_of(run, rank)) is not None), None)
    if needed is None or needed.bytes <= 0 or cache is None or length is None or cache.low < 0:
        return ""
    return f"the KV cache holds {cache / needed:.2f} requests of {length} tokens at once"


def _batched_tokens(run: Run) -> Shown:
    value, source = argument(run, "max_num_batched_tokens")
    if value is None:
        value, source = printed(run, "chunked_prefill_budget", "max_num_batched_tokens")
    peak, summary = _largest(run, "activation_peak"), run.first("startup_memory_summary")
    graphs = " and the estimated CUDA graphs" if summary is not None and "consumed" in summary.fields else ""
    effect = f"the activations of such a batch{graphs} took {peak} off the KV cache" if peak is not None else ""
    return Shown("max_num_batched_tokens", value, source, effect=effect)


def _holding(run: Run, step: Size) -> str:
    """How many tokens and requests of the full window an amount of KV cache holds, by the cache of the run."""
    cache, tokens, told = least_cache(run), cache_tokens(run), requests_at_once(run)
    if cache is None or cache.bytes <= 0 or tokens is None:
        return ""
    more = f", about {step.bytes * tokens.low // cache.bytes} tokens"
    return f"{more} or {told[0] * step.bytes / cache.bytes:.2f} requests of {told[1]}" if told is not None else more


def _one_gib(run: Run) -> str:
    held = _holding(run, Size.exact(GIB))
    return f"; 1 GiB of it holds{held.removeprefix(',')}" if held else ""


def _largest(run: Run, item: str) -> Size | None:
    return max((size for rank in run.ranks if (size := rank.size(item)) is not None), key=lambda size: size.bytes, default=None)
