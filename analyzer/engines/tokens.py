"""Bytes and tokens of a KV pool, for both engines."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.units import Size, as_size


@dataclass(frozen=True, slots=True)
class Tokens:
    """A number of tokens known to lie between `low` and `high`."""

    low: int
    high: int

    def may_be(self, tokens: int) -> bool:
        return self.low <= tokens <= self.high


def bytes_per_token(pool: Size, tokens: int) -> Size:
    """What one token takes: pool / tokens. Raises ZeroDivisionError for an empty pool."""
    return Size.between(pool.low / tokens, pool.high / tokens)


def pool_for(tokens: int, per_token: Size | int) -> Size:
    """What so many tokens take."""
    return as_size(per_token) * tokens


def tokens_in(pool: Size, per_token: Size | int, page_size: int = 1) -> Tokens:
    """How many tokens a pool holds, in whole pages (vLLM: blocks). Negative for a negative budget, as the engines compute it."""
    one = as_size(per_token)
    ends = sorted(pages // one_end for pages in (pool.low, pool.high) for one_end in (one.low, one.high))
    return Tokens(ends[0] // page_size * page_size, ends[-1] // page_size * page_size)


def concurrency(tokens: int, context_tokens: int) -> float:
    """How many requests of the full context length a pool holds. Not valid for models with state layers or sliding windows."""
    return tokens / context_tokens


def longest_context(pool: Size, per_token: Size | int, page_size: int = 1) -> int:
    """The longest context of which one request certainly fits into the pool, in tokens; 0 when not even one page does."""
    return max(0, tokens_in(pool, per_token, page_size).low)


def mha_bytes_per_token(kv_heads: int, head_size: int, layers: int, element_bytes: float = 2) -> int:
    """Keys and values of every layer: heads x size x layers x 2 x bytes of an element.

    Heads are those of one tensor-parallel rank, layers those of one pipeline stage.
    Source: SGLang 0.1.26 - 0.5.23, model_runner.py and pool_configurator.py; the same in vLLM's attention specifications.
    """
    return round(kv_heads * head_size * layers * 2 * element_bytes)


def mla_bytes_per_token(latent_rank: int, rope_size: int, layers: int, element_bytes: float = 2) -> int:
    """Multi-head latent attention: (latent rank + rope size) x layers x bytes of an element, the same on every tensor-parallel rank.

    Source: SGLang 0.3 - 0.5.23, model_runner.py and pool_configurator.py.
    """
    return round((latent_rank + rope_size) * layers * element_bytes)
