"""The vLLM settings that bear on memory, as one run shows them."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Run
from analyzer.engines.interval import Bounds
from analyzer.engines.vllm_arena import STILL_DONE
from analyzer.rulebook.shown import Shown, argument, printed
from analyzer.rulebook.vllm_bounds import arenas, utilizations
from analyzer.rulebook.vllm_figures import arena_pinned, utilization_in_effect
from analyzer.units import Size

INSTEAD = (
    "make the window (max_model_len), the batches (max_num_batched_tokens, max_num_seqs) or the weights smaller, or use more cards "
    "(tensor_parallel_size)"
)


def vllm_knobs(run: Run) -> Iterator[Shown]:
    """One row each; of a start that was never completed most figures are missing."""
    yield _utilization(run)
    yield _arena(run)
    yield _window(run)
    yield _sequences(run)
    yield Shown("max_num_batched_tokens", *argument(run, "max_num_batched_tokens"))


def _utilization(run: Run) -> Shown:
    value, words = utilization_in_effect(run)
    asked, source = argument(run, "gpu_memory_utilization")
    if arena_pinned(run):
        effect = "none on the KV cache, whose size is pinned; only the start-up check uses it"
    else:
        total = _largest(run, "total")
        effect = f"0.01 more gives the KV cache {total * 0.01}{_tokens_of(run, total * 0.01)}" if total is not None else ""
    return Shown("gpu_memory_utilization", value, (source if asked is not None else "") or words or "", utilizations(run), INSTEAD, effect)


def _arena(run: Run) -> Shown:
    value, source = argument(run, "kv_cache_memory_bytes")
    pinned = _largest(run, "kv_pinned")
    if value is None and pinned is not None:
        plan = run.first("startup_plan_applied")
        value = pinned.bytes
        source = "printed by the engine" if plan is None else f"a plan kept from an earlier start, line {plan.line.number}"
    bounds = Bounds()
    for rank in run.ranks if value is not None else ():
        own = arenas(run, rank)
        bounds = bounds.raised(own.low, own.low_because).capped(own.high, own.high_because)
    effect = f"with it the engine measures nothing; it still does {', '.join(STILL_DONE)}" if value is not None else ""
    return Shown("kv_cache_memory_bytes", value, source, bounds, "shorten max_model_len, or free memory of the card", effect)


def _window(run: Run) -> Shown:
    value, source = argument(run, "max_model_len")
    if value is None:
        value, source = printed(run, "one_request_does_not_fit", "max_model_len")
    bounds = Bounds()
    for kind, name, because in LONGEST:
        for fact in run.all(kind):
            tokens = fact.fields.get(name)
            if isinstance(tokens, int):
                bounds = bounds.capped(tokens, because)
    needed, instead = _largest(run, "kv_needed"), "raise gpu_memory_utilization, or store the KV cache in fewer bytes (kv_cache_dtype)"
    effect = f"one request of {value} tokens takes {needed} of KV cache" if needed is not None and value is not None else ""
    return Shown("max_model_len", value, source, bounds, instead, effect)


LONGEST = (
    ("one_request_does_not_fit", "estimated_max_model_len", "the engine's own estimate"),
    ("max_len_above_kv_tokens", "kv_tokens", "the KV cache holds no more tokens"),
    ("max_len_auto_fit", "max_model_len", "what the engine shortened it to"),
)
"""Messages that print the longest window that fits."""


def _sequences(run: Run) -> Shown:
    value, source = argument(run, "max_num_seqs")
    bounds = Bounds()
    for fact in run.all("mamba_blocks_exceeded"):
        blocks = fact.fields.get("blocks")
        if isinstance(blocks, int):
            bounds = bounds.capped(blocks, "the engine has no more state blocks")
    for fact in run.all("sampler_warmup_oom"):
        tried = fact.fields.get("num_seqs")
        if isinstance(tried, int):
            bounds = bounds.capped(tried - 1, f"the warm-up with {tried} requests ran out of memory")
    told = run.first("max_concurrency")
    held, window = (told.fields.get("concurrency"), told.fields.get("tokens_per_request")) if told is not None else (None, None)
    effect = f"the KV cache holds {held} requests of {window} tokens at once" if held is not None and window is not None else ""
    return Shown("max_num_seqs", value, source, bounds, effect=effect)


def _tokens_of(run: Run, step: Size) -> str:
    """How many tokens an amount holds, by the size and the tokens that the engine prints; models with states have no such constant."""
    tokens, _ = printed(run, "kv_cache_tokens", "tokens")
    cache = _largest(run, "kv_cache")
    return f", about {step.bytes * tokens // cache.bytes} tokens" if tokens and cache is not None and cache.bytes > 0 else ""


def _largest(run: Run, item: str) -> Size | None:
    return max((size for rank in run.ranks if (size := rank.size(item)) is not None), key=lambda size: size.bytes, default=None)
