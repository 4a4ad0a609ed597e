"""The SGLang settings that bear on memory, as one run shows them."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Run
from analyzer.engines.interval import Bounds
from analyzer.engines.sglang_effective import effective_fraction
from analyzer.engines.sglang_pool import default_running_requests
from analyzer.engines.tokens import concurrency
from analyzer.rulebook.sglang_bounds import fractions
from analyzer.rulebook.sglang_figures import IN_EFFECT, context_length, least_of, mem_fraction_static, pool_tokens, token_bytes
from analyzer.rulebook.shown import Shown, argument, printed
from analyzer.units import Size

INSTEAD = "make weights, graphs (cuda_graph_max_bs) or activations (chunked_prefill_size) smaller, or use more cards (tp_size)"


def sglang_knobs(run: Run) -> Iterator[Shown]:
    """One row each; of a start that was never completed most figures are missing."""
    yield _fraction(run)
    yield _requests(run)
    chunk, source = argument(run, "chunked_prefill_size")
    if chunk is None:
        chunk, source = printed(run, "max_total_num_tokens", "chunked_prefill_size")
    yield Shown("chunked_prefill_size", chunk, source, effect="activations of a prefill grow with it" if chunk is not None else "")
    yield _graphs(run)
    yield _context(run)


def _fraction(run: Run) -> Shown:
    value = mem_fraction_static(run)
    source = "; ".join(filter(None, (_fraction_source(run, value), _not_in_effect(run, value))))
    return Shown("mem_fraction_static", value, source, fractions(run), INSTEAD, _fraction_effect(run))


def _not_in_effect(run: Run, value: float | None) -> str:
    """That the pools were sized with another fraction than the one shown, and what may explain it; of the first rank that tells it."""
    pre, post = least_of(run, "free_at_start"), least_of(run, "free_after_load")
    if value is None or pre is None or post is None or min(pre.low, post.low) <= 0:
        return ""
    for rank in run.ranks:
        pools = rank.size("kv_cache")
        found = effective_fraction(value, pre, post, pools, run.version) if pools is not None else None
        if found is not None and found.differs:
            fitting = next((explanation.text for explanation in found.explanations if explanation.fits), "")
            return f"by the size of the pools {found.implied:.3f} was in effect{f': {fitting}' if fitting else ''}"
    return ""


def _fraction_source(run: Run, value: float | None) -> str:
    asked, source = argument(run, "mem_fraction_static")
    if value is None or value == asked:
        return source
    printing = next((fact for kind in IN_EFFECT for fact in run.all(kind) if fact.number("mem_fraction_static") == value), None)
    where = f"printed by the engine, line {printing.line.number}" if printing is not None else ""
    return f"{where}; {asked} {source}" if asked is not None else where


def _fraction_effect(run: Run) -> str:
    """What 0.01 more gives, of the least free memory of all ranks."""
    pre, per_token = least_of(run, "free_at_start"), _token(run)
    if pre is None:
        return ""
    step = pre * 0.01
    tokens = f", {step.bytes // per_token.bytes} tokens" if per_token is not None and per_token.bytes > 0 else ""
    return f"0.01 more gives the KV pool {step}{tokens}, and takes them from everything else"


def _requests(run: Run) -> Shown:
    value, source = argument(run, "max_running_requests")
    if value is None:
        value, source = printed(run, "max_total_num_tokens", "max_running_requests")
    tokens, context = pool_tokens(run), context_length(run)
    if tokens is None or not context:
        return Shown("max_running_requests", value, source)
    default = default_running_requests(tokens, context, run.version) if run.version is not None else None
    if value is not None and value == default and "max_running_requests" not in source:
        source = f"{source}; it is the default for a pool of {tokens} tokens"
    held = concurrency(tokens, context)
    return Shown("max_running_requests", value, source, effect=f"the pool holds {held:.2f} requests of {context} tokens at once")


def _graphs(run: Run) -> Shown:
    value, source = argument(run, "cuda_graph_max_bs")
    taken = [size for rank in run.ranks if (size := rank.size("cuda_graphs")) is not None]
    most = max(taken, key=lambda size: size.bytes, default=None)
    return Shown("cuda_graph_max_bs", value, source, effect=f"the graphs of this start took {most}" if most is not None else "")


def _context(run: Run) -> Shown:
    value, source = argument(run, "context_length")
    if value is None:
        value, source = printed(run, "max_total_num_tokens", "context_len")
    tokens, per_token = pool_tokens(run), _token(run)
    plain = per_token is not None and tokens is not None
    bounds = Bounds(high=tokens, high_because="the pool holds no more tokens") if plain else Bounds()
    effect = f"one request of {value} tokens takes {per_token * value} of the pool" if per_token is not None and value is not None else ""
    instead = "raise mem_fraction_static, or store the KV cache in fewer bytes (kv_cache_dtype)"
    return Shown("context_length", value, source, bounds, instead, effect)


def _token(run: Run) -> Size | None:
    """What a token takes on the rank where it takes most."""
    return max((size for rank in run.ranks if (size := token_bytes(rank)) is not None), key=lambda size: size.bytes, default=None)
