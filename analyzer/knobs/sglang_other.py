"""SGLang settings beside the fraction that bear on memory: a cap on the pool, the prefill, the draft model, the cache's format."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Run
from analyzer.cases.sglang_ledger import SIZED
from analyzer.engines.sglang_pool import LARGEST_PAGE
from analyzer.figures.sglang_figures import draft_in_static_share, largest_token, pool_tokens
from analyzer.figures.sglang_headroom_items import headroom_items
from analyzer.figures.shown import argument, word
from analyzer.knobs.shown import Shown
from analyzer.units import group_digits

NO_DRAFT_MODEL = "NGRAM"
"""The speculative algorithm that takes its drafts from the prompt (0.5.3 -)."""
PLACE = {
    "lower": "beside weights and pools: mem_fraction_static has to be the lower for it",
    "raise": "inside the static share: mem_fraction_static has to be the higher for it",
}
"""Where the draft model's weights are, by the direction that gives them room."""


def other_knobs(run: Run) -> Iterator[Shown]:
    """One row for each that the log shows."""
    yield _cap(run)
    yield _prefill(run)
    yield _speculation(run)
    yield _format(run)


def _cap(run: Run) -> Shown:
    """max_total_tokens, against the pool that was allocated: whole pages of it, so it may hold a few tokens less than the cap."""
    cap, source = argument(run, "max_total_tokens")
    tokens = pool_tokens(run)
    if cap is None or tokens is None:
        return Shown("max_total_tokens", cap, source)
    if tokens + LARGEST_PAGE <= cap:
        effect = f"none: the pool holds {group_digits(tokens)} tokens, which the cap does not reach"
    else:
        effect = f"caps the pool at {group_digits(tokens)} tokens: a higher mem_fraction_static does not make it larger"
    return Shown("max_total_tokens", cap, source, effect=effect)


def _prefill(run: Run) -> Shown:
    """max_prefill_tokens, which bounds a prefill where the chunk does not."""
    tokens, source = argument(run, "max_prefill_tokens")
    chunk, _ = argument(run, "chunked_prefill_size")
    if tokens is None or chunk is None:
        return Shown("max_prefill_tokens", tokens, source)
    bounded = 0 < chunk <= tokens
    effect = f"none while a chunk of {chunk} tokens bounds a prefill" if bounded else "activations of a prefill grow with it"
    return Shown("max_prefill_tokens", tokens, source, effect=effect)


def _speculation(run: Run) -> Shown:
    """speculative_algorithm, with where its draft model lies and what it took."""
    algorithm, source = word(run, "speculative_algorithm")
    if algorithm is None:
        return Shown("speculative_algorithm")
    if algorithm.upper() == NO_DRAFT_MODEL:
        return Shown("speculative_algorithm", algorithm, source, effect="there is no draft model")
    direction = direction_for_draft(run)
    took = [size for rank in run.ranks if (size := headroom_items(rank).draft_model) is not None]
    most = max(took, key=lambda size: size.bytes, default=None)
    effect = f"the draft model lies {PLACE[direction]}" if direction is not None else ""
    return Shown("speculative_algorithm", algorithm, source, effect=f"{effect}; it took {most}" if effect and most is not None else effect)


def direction_for_draft(run: Run) -> str | None:
    """Which way mem_fraction_static has to go for the draft model's weights: by the order of the log's lines, else by its releases."""
    for rank in run.ranks:
        kinds = [fact.kind for fact in rank.facts]
        loads = [place for place, kind in enumerate(kinds) if kind == "load_weight_begin"]
        sized = next((place for place, kind in enumerate(kinds) if kind in SIZED), None)
        if len(loads) > 1 and sized is not None:
            return "raise" if loads[1] < sized else "lower"
    inside = draft_in_static_share(run)
    return None if inside is None else "raise" if inside else "lower"


def _format(run: Run) -> Shown:
    """kv_cache_dtype, with what a token takes in it."""
    name, source = word(run, "kv_cache_dtype")
    token = largest_token(run)
    if token is None:
        return Shown("kv_cache_dtype", name if name != "auto" else None, source)
    return Shown("kv_cache_dtype", name, source, effect=f"a token takes {token} of the pool" if name is not None else "")
