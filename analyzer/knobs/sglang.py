"""The SGLang settings that bear on memory, as one run shows them."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Run
from analyzer.engines.interval import Bounds, rounded_up
from analyzer.engines.sglang_effective import effective_fraction
from analyzer.engines.sglang_pool import default_running_requests, smallest_fraction_for
from analyzer.engines.tokens import concurrency
from analyzer.figures.argument_source import argument_source
from analyzer.figures.sglang_automatic import chunk_is_default, default_fraction_of, fraction_is_default, graph_batch_is_default
from analyzer.figures.sglang_bounds import fractions, fractions_with_a_pool
from analyzer.figures.sglang_figures import (
    IN_EFFECT,
    asked_per_effect,
    context_length,
    largest_token,
    least_of,
    mem_fraction_static,
    pool_tokens,
)
from analyzer.figures.sglang_launch_of_run import attention_shares, largest_graph, release_of_run
from analyzer.figures.shown import argument, printed
from analyzer.knobs.sglang_other import other_knobs
from analyzer.knobs.shown import Shown

INSTEAD = "make weights, graphs (cuda_graph_max_bs) or activations (chunked_prefill_size) smaller, or use more cards (tp_size)"


def sglang_knobs(run: Run) -> Iterator[Shown]:
    """One row each; of a start that was never completed most figures are missing."""
    yield _fraction(run)
    yield _requests(run)
    yield _chunk(run)
    yield _graphs(run)
    yield _context(run)
    yield from other_knobs(run)


def _fraction(run: Run) -> Shown:
    value = mem_fraction_static(run)
    told = "; ".join(filter(None, (_fraction_source(run, value), _automatic(run), _not_in_effect(run, value))))
    shown, source = (default_fraction_of(run) if value is None else None) or (value, told)
    bounds, note = _bounds(run)
    return Shown("mem_fraction_static", shown, source, bounds, INSTEAD, _fraction_effect(run), note)


def _bounds(run: Run) -> tuple[Bounds, str]:
    """Those that hold a request of the full length; where there are none, those of any pool, and that it holds shorter ones."""
    full, any_pool = fractions(run), fractions_with_a_pool(run)
    if not full.is_empty or any_pool.is_empty or full.low is None:
        return full, ""
    needed = f"one request of {context_length(run)} tokens needs at least {rounded_up(full.low):g}"
    return any_pool, f"{needed}, so shorten context_length with it"


def _automatic(run: Run) -> str:
    shown, _ = argument(run, "mem_fraction_static")
    return fraction_is_default(run, shown) if shown is not None else ""


def _not_in_effect(run: Run, value: float | None) -> str:
    """That the pools were sized with another fraction than the one shown, and what may explain it; of the first rank that tells it."""
    pre, post = least_of(run, "free_at_start"), least_of(run, "free_after_load")
    if value is None or pre is None or post is None or min(pre.low, post.low) <= 0:
        return ""
    for rank in run.ranks:
        pools = rank.size("kv_cache")
        found = effective_fraction(value, pre, post, pools, release_of_run(run)) if pools is not None else None
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
    pre, per_token = least_of(run, "free_at_start"), largest_token(run)
    if pre is None:
        return ""
    step = pre * 0.01
    tokens = f", {step.bytes // per_token.bytes} tokens" if per_token is not None and per_token.bytes > 0 else ""
    return f"0.01 more gives the KV pool {step}{tokens}, and takes them from everything else"


def _requests(run: Run) -> Shown:
    asked, source = argument(run, "max_running_requests")
    value = asked
    if value is None:
        value, source = printed(run, "max_total_num_tokens", "max_running_requests")
    tokens, context = pool_tokens(run), context_length(run)
    if tokens is None or not context:
        return Shown("max_running_requests", value, source)
    if value is not None and value == default_running_requests(tokens, context) and "max_running_requests" not in source:
        source = f"{source}; it is the default for a pool of {tokens} tokens"
    held = f"the pool holds {concurrency(tokens, context):.2f} requests of {context} tokens at once"
    return Shown("max_running_requests", value, source, effect="; ".join(filter(None, (held, _all_asked(run, asked, context)))))


def _all_asked(run: Run, asked: float | None, context: int) -> str:
    """Which fraction holds as many requests of the full context as were asked for: told, not demanded, for few are so long."""
    pre, post, per_token = least_of(run, "free_at_start"), least_of(run, "free_after_load"), largest_token(run)
    if asked is None or asked < 1 or pre is None or post is None or pre.bytes <= 0 or per_token is None:
        return ""
    shares = attention_shares(run.args)
    requests = max(1, int(asked) // shares)
    wanted = f"{requests} such requests" + (f", a rank's share of {asked}," if shares > 1 else "")
    needed = rounded_up(smallest_fraction_for(pre, post, per_token, context, requests) * asked_per_effect(run))
    if needed >= 1:
        return f"no mem_fraction_static holds {wanted} (they are seldom all of full length)"
    return f"{wanted} would take mem_fraction_static = {needed:g} (they are seldom all of full length)"


def _chunk(run: Run) -> Shown:
    value, source = argument(run, "chunked_prefill_size")
    if value is None:
        value, source = printed(run, "max_total_num_tokens", "chunked_prefill_size")
    value, own = chunk_is_default(run, value)
    source = "; ".join(filter(None, (source, own)))
    return Shown("chunked_prefill_size", value, source, effect="activations of a prefill grow with it" if value is not None else "")


def _graphs(run: Run) -> Shown:
    value, own = graph_batch_is_default(run, largest_graph(run.args))
    names = ("cuda_graph_max_bs", "cuda_graph_config", "cuda_graph_max_bs_decode")
    shown = next((found for name in names if (found := argument_source(run, name)) is not None), "") if value is not None else ""
    source = "; ".join(filter(None, (shown, own)))
    taken = [size for rank in run.ranks if (size := rank.size("cuda_graphs")) is not None]
    most = max(taken, key=lambda size: size.bytes, default=None)
    return Shown("cuda_graph_max_bs", value, source, effect=f"the graphs of this start took {most}" if most is not None else "")


def _context(run: Run) -> Shown:
    value, source = argument(run, "context_length")
    if value is None:
        value, source = printed(run, "max_total_num_tokens", "context_len")
    tokens, per_token = pool_tokens(run), largest_token(run)
    plain = per_token is not None and tokens is not None
    bounds = Bounds(high=tokens, high_because="the pool holds no more tokens") if plain else Bounds()
    effect = f"one request of {value} tokens takes {per_token * value} of the pool" if per_token is not None and value is not None else ""
    instead = "raise mem_fraction_static, or store the KV cache in fewer bytes (kv_cache_dtype)"
    return Shown("context_length", value, source, bounds, instead, effect)
