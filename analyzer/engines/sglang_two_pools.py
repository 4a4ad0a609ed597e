"""SGLang's models with two pools: attention KV beside recurrent states, and full beside sliding-window attention."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.units import Size

MAMBA_RATIO = 0.9
"""--mamba-full-memory-ratio when nobody sets it, 0.5.4 - 0.5.22 (server_args.py)."""

SLIDING_WINDOW_RATIO = 0.8
"""--swa-full-tokens-ratio when nobody sets it, 0.4.10 - 0.5.22 (server_args.py)."""


@dataclass(frozen=True, slots=True)
class StateSplit:
    """`states` goes to the recurrent states, in `slots` of one request each; `kv` is left for the attention layers."""

    states: Size
    slots: int
    kv: Size


def split_states(rest: Size, slot: Size, ratio: float = MAMBA_RATIO, draft_states: Size | None = None) -> StateSplit:
    """The budget `rest` between states and KV so that states / KV = ratio; `slot` is the state of one request, in whole slots.

    `draft_states` is what speculative decoding keeps for its draft tokens; it is taken off first.
    Source: SGLang 0.5.4 - 0.5.23, model_runner_kv_cache_mixin.py and kv_cache_configurator.py, handle_max_mamba_cache. In later
    releases the draft states come out of the states' part and one slot is kept for padding; the ratio of the sums is the same.
    """
    free = rest - draft_states if draft_states is not None else rest
    share = free * ratio
    slots = int(share.bytes / (1 + ratio) // slot.bytes)
    states = slot * slots
    return StateSplit(states, slots, free - states)


def fixed_states(rest: Size, slot: Size, slots: int) -> StateSplit:
    """The budget where --max-mamba-cache-size says how many slots there are (SGLang 0.5.2 -): KV gets the rest."""
    states = slot * slots
    return StateSplit(states, slots, rest - states)


@dataclass(frozen=True, slots=True)
class WindowSplit:
    """How many tokens the pool of the full layers and that of the sliding-window layers hold."""

    full: int
    window: int


def split_window(
    budget: Size, full_bytes_per_token: int, window_bytes_per_token: int, ratio: float = SLIDING_WINDOW_RATIO, page_size: int = 1
) -> WindowSplit:
    """Tokens of both pools so that window = ratio x full and both fill the budget; bytes per token are those of all layers of a kind.

    Source: SGLang 0.4.10 - 0.5.23, model_runner.py, set_num_tokens_hybrid_swa and pool_configurator.py. Up to 0.5.8 the same with one
    size for both kinds of layers.
    """
    full = int(budget.bytes / (full_bytes_per_token + ratio * window_bytes_per_token)) // page_size * page_size
    return WindowSplit(full, int(full * ratio) // page_size * page_size)


def window_is_too_small(window_tokens: int, window_size: int, page_size: int) -> bool:
    """Whether the sliding-window pool can never admit a request: it holds no more than one window and one page.

    Source: SGLang 0.5.23, pool_configurator.py, validate_swa_pool_size, which refuses to start; earlier releases hang.
    """
    return window_tokens <= window_size + page_size
