"""What SGLang does with memory. Source of the formulas: sglang/srt/model_executor/model_runner.py, profile_max_num_token,
the same in every sampled release 0.1.26 - 0.5.23 (from 0.5.17 in sglang/srt/mem_cache/kv_cache_configurator.py).

`pre` is the least free memory of all ranks after distributed initialisation and before the weights,
`post` the same after the weights (and LoRA buffers), `fraction` is mem_fraction_static.
"""

from __future__ import annotations

from analyzer.engines.interval import rounded_up
from analyzer.units import Size

__all__ = ["SUGGESTED_MARGIN", "fraction_for", "fraction_for_more", "kv_budget", "rounded_up", "smallest_fraction", "static_reserve"]

SUGGESTED_MARGIN = 0.03
"""Added to the smallest fraction in a suggestion when the size of a request is not known: about 2 GiB of pool on an 80 GB card."""


def kv_budget(pre: Size, post: Size, fraction: float) -> Size:
    """What is left for the KV pool: post - pre x (1 - fraction). Negative when the weights alone exceed the static share."""
    return post - pre * (1 - fraction)


def smallest_fraction(pre: Size, post: Size) -> float:
    """The fraction at which the KV budget is exactly zero: 1 - post / pre. A working value lies above it."""
    return 1 - post.bytes / pre.bytes


def fraction_for(pre: Size, post: Size, kv: Size) -> float:
    """The fraction whose KV budget is `kv`: (pre - post + kv) / pre."""
    return (pre.bytes - post.bytes + kv.bytes) / pre.bytes


def fraction_for_more(fraction: float, more: Size, pre: Size) -> float:
    """The smallest fraction that can give `more` than `fraction` does, by the ends of what the printed decimals leave open."""
    return fraction + more.low / pre.high


def static_reserve(pre: Size, fraction: float) -> Size:
    """What the fraction leaves for everything but weights and pools: pre x (1 - fraction)."""
    return pre * (1 - fraction)
