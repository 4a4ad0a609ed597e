"""What the KV cache of a vLLM run holds: tokens, requests of the full window, and the longest window."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.cases.model import Rank, Run
from analyzer.engines.release import is_within
from analyzer.engines.tokens import Tokens
from analyzer.figures.measured import Measured
from analyzer.figures.shown import argument, printed
from analyzer.units import Size

WINDOW_IN = (
    ("max_len_auto_fit", "max_model_len"),
    ("max_len_auto_fit_full", "max_model_len"),
    ("one_request_does_not_fit", "max_model_len"),
    ("max_len_above_kv_tokens", "max_model_len"),
    ("max_concurrency", "tokens_per_request"),
    ("using_max_model_len", "max_model_len"),
)
"""Messages that print the window in effect."""
NOT_IN_PROPORTION = (
    "gdn_warmup_oom_risk",
    "hybrid_kv_disabled",
    "kda_verify_records",
    "kv_layer_padding",
    "mamba_block_size",
    "mamba_blocks_exceeded",
    "mamba_cudagraph_cap",
    "mamba_page_padding",
)
"""Messages of models whose layers differ: those with states or sliding windows do not take so many bytes a token."""
COUNTED_APART = ("0.9.2", "0.20.1")
"""V1 releases that count the tokens of the pool from its blocks, and the requests at once from what each layer needs, so that the two
disagree where layers differ (vllm/v1/core/kv_cache_utils.py). Later ones make the tokens of the requests."""
HALF_OF_LAST_DECIMAL = 0.005
LARGEST_BLOCK = 256
"""Tokens in a block of a model whose layers are all alike, at most."""


@dataclass(frozen=True, slots=True)
class OneRequest:
    """The longest request that the KV cache holds, in tokens. `exact` is whether it is proved that all tokens take the same.

    Where it is not, layers with states or sliding windows may take less than their share of a longer request, and more of a shorter one:
    a number above the window is then the least that fits, one below it the most.
    """

    tokens: int
    exact: bool


def window(run: Run) -> tuple[int | None, str]:
    """The longest request that the run had to hold, in tokens, and where the log shows it. -1 asks the engine for the longest that fits."""
    shown = [argument(run, "max_model_len"), *(printed(run, kind, name) for kind, name in WINDOW_IN)]
    return next(((value, source) for value, source in shown if isinstance(value, int) and value > 0), (None, ""))


def requests_at_once(of: Run | Rank) -> tuple[float, int] | None:
    """How many requests of how many tokens the KV cache holds, as printed; the fewest of several engines."""
    told = [
        (concurrency, tokens)
        for fact in of.by_kind.get("max_concurrency", ())
        if (concurrency := fact.number("concurrency")) is not None and (tokens := fact.integer("tokens_per_request"))
    ]
    return min(told, default=None)


def tokens_by_requests(run: Run) -> Tokens | None:
    """Requests at once x their tokens, as far as the two printed decimals leave it open."""
    told = requests_at_once(run)
    if told is None:
        return None
    concurrency, tokens = told
    low, high = (concurrency - HALF_OF_LAST_DECIMAL) * tokens, (concurrency + HALF_OF_LAST_DECIMAL) * tokens
    return Tokens(max(0, math.ceil(low)), math.floor(high))


def tokens_by_blocks(run: Run) -> int | None:
    """Blocks of the device x their size."""
    blocks, size = gpu_blocks(run), block_size(run)
    return blocks * size if blocks is not None and size is not None else None


def gpu_blocks(run: Run) -> int | None:
    """As the engine prints it; the fewest of several engines."""
    return min(_integers(run, ("num_blocks", "gpu_blocks"), ("engine_num_gpu_blocks", "gpu_blocks")), default=None)


def block_size(run: Run) -> int | None:
    """Tokens in a block: from the arguments, from the engine's own figure, else the one whole number that the requests at once allow."""
    asked, _ = argument(run, "block_size")
    told = min(_integers(run, ("mamba_block_size", "block_size")), default=None)
    blocks, tokens, by_requests = gpu_blocks(run), printed_tokens(run), tokens_by_requests(run)
    if isinstance(asked, int) or told is not None or not blocks:
        return asked if isinstance(asked, int) else told
    if tokens is not None:
        return tokens // blocks if tokens % blocks == 0 else None
    low, high = (math.ceil(by_requests.low / blocks), by_requests.high // blocks) if by_requests is not None else (0, 0)
    return low if low == high > 0 else None


def printed_tokens(of: Run | Rank) -> int | None:
    """Tokens of the KV cache, as printed; the fewest of several engines."""
    return min(_integers(of, ("kv_cache_tokens", "tokens"), ("max_len_above_kv_tokens", "kv_tokens")), default=None)


def cache_tokens(run: Run) -> Tokens | None:
    """Tokens of the KV cache: as printed, else by its blocks, else by the requests at once."""
    known = printed_tokens(run) or tokens_by_blocks(run)
    return Tokens(known, known) if known is not None else tokens_by_requests(run)


def in_proportion(run: Run) -> bool | None:
    """Whether every token takes the same KV cache, whatever the window; None when the log does not prove one or the other.

    V0 counts blocks for any model. V1 is judged by messages about differing layers, and by figures that agree only in proportion.
    """
    if any(run.all(kind) for kind in NOT_IN_PROPORTION):
        return False
    if run.generation == "V0":
        return True
    tokens, by_requests = printed_tokens(run), tokens_by_requests(run)
    counted_apart = run.version is not None and is_within(run.version, *COUNTED_APART)
    if tokens is not None and by_requests is not None and not run.all("kv_size_cp_multiplier"):
        agree = by_requests.may_be(tokens)
        if not agree or counted_apart:
            return agree
    return _estimate_in_proportion(run)


def one_request_holds(run: Run) -> OneRequest | None:
    """From what one request needed and the cache that there was, else from the requests at once, else from the tokens of the cache."""
    proved = in_proportion(run)
    refused, told = run.first("one_request_does_not_fit"), tokens_by_requests(run)
    if refused is not None:
        needed, cache, tokens = refused.size("kv_needed"), refused.size("kv_cache"), refused.integer("max_model_len")
        if needed is not None and cache is not None and tokens is not None and needed.low > 0:
            ends = (cache.low, needed.high) if proved else (cache.high, needed.low)
            return OneRequest(max(0, ends[0] * tokens // ends[1]), proved is True)
    known = cache_tokens(run) if proved else told
    return OneRequest(known.low, proved is True) if known is not None else None


def one_request_of(run: Run, rank: Rank) -> Size | None:
    """KV cache of one request of the full window: as printed, else the cache / the requests it holds, of a pinned arena to the byte.

    Stages of a pipeline have different layers: for those, nothing is told.
    """
    needed, cache = rank.size("kv_needed"), Measured(run, rank).arena or rank.size("kv_cache")
    refused, least = run.first("one_request_does_not_fit"), least_cache(run)
    if needed is None and cache is not None and rank.first("max_concurrency") is not None:
        return _one_of(cache, requests_at_once(rank), printed_tokens(rank))
    if needed is not None or pipelined(run):
        return needed
    needed = refused.size("kv_needed") if refused is not None else None
    if needed is not None or least is None:
        return needed
    return _one_of(least, requests_at_once(run), printed_tokens(run))


def least_cache(run: Run) -> Size | None:
    """The KV cache of the rank that has least: all ranks take no more blocks than it."""
    caches = [size for rank in run.ranks if (size := rank.size("kv_cache") or rank.size("kv_pinned")) is not None]
    return min(caches, key=lambda size: size.bytes, default=None)


def pipelined(run: Run) -> bool:
    """Whether the layers are spread over stages."""
    stages = run.args.get("pipeline_parallel_size")
    return (isinstance(stages, int) and stages > 1) or any(re.search(r"\bPP\d", rank.name) for rank in run.ranks)


def bytes_per_token(run: Run) -> Size | None:
    """KV cache that a token takes on one rank; None unless it is proved to be the same for every token."""
    cache, tokens = least_cache(run), printed_tokens(run) or tokens_by_blocks(run)
    refused = run.first("one_request_does_not_fit")
    if not in_proportion(run) or pipelined(run):
        return None
    if refused is not None and (needed := refused.size("kv_needed")) is not None and (length := refused.integer("max_model_len")):
        return Size.between(needed.low / length, needed.high / length)
    return Size.between(cache.low / tokens, cache.high / tokens) if cache is not None and tokens and cache.low > 0 else None


def _one_of(cache: Size, told: tuple[float, int] | None, tokens: int | None) -> Size | None:
    """The cache / the requests it holds. Where the tokens agree with the requests, they tell them more precisely, but for a block."""
    if told is None or told[0] <= HALF_OF_LAST_DECIMAL or cache.low < 0:
        return None
    concurrency, length = told
    low, high = concurrency - HALF_OF_LAST_DECIMAL, concurrency + HALF_OF_LAST_DECIMAL
    if tokens is not None and low <= tokens / length <= high:
        low, high = max(low, (tokens - LARGEST_BLOCK) / length), min(high, (tokens + LARGEST_BLOCK) / length)
    return Size.between(cache.low / high, cache.high / low)


def _estimate_in_proportion(run: Run) -> bool | None:
    """Whether the length that the engine estimates to fit is, but for a block, the window x what there was / what was needed."""
    refused = run.first("one_request_does_not_fit")
    if refused is None:
        return None
    needed, cache = refused.size("kv_needed"), refused.size("kv_cache")
    asked, fits = refused.integer("max_model_len"), refused.integer("estimated_max_model_len")
    if needed is None or cache is None or not asked or not fits:
        return None
    return needed.low * fits <= cache.high * asked and needed.high * (fits + LARGEST_BLOCK) >= cache.low * asked


def _integers(of: Run | Rank, *places: tuple[str, str]) -> Iterator[int]:
    for kind, name in places:
        for fact in of.by_kind.get(kind, ()):
            value = fact.integer(name)
            if value is not None:
                yield value
