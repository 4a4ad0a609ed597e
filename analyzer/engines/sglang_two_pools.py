"""SGLang's models with two pools: attention KV beside recurrent states, and full beside sliding-window attention."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.units import Size

MAMBA_RATIO = 0.9
"""--mamba-full-memory-ratio when nobody sets it, 0.5.4 - 0.5.23 (server_args.py, from 0.5.20 arg_groups/fields/schedule.py)."""

SLIDING_WINDOW_RATIO = 0.8
"""--swa-full-tokens-ratio when nobody sets it, 0.4.10 - 0.5.23 (the same files)."""

WINDOW_SIZED_BY_REQUESTS = (("0.4.9.post3", False), ("0.5.14", True))
"""Whether the window pool is sized by --max-running-requests where that is set and the prefix cache is off (pool_configurator.py)."""

MAMBA_RATIO_BY_RELEASE = (("0.5.3.post2", MAMBA_RATIO),)
SLIDING_WINDOW_RATIO_BY_RELEASE = (("0.4.9.post3", SLIDING_WINDOW_RATIO),)
"""Some models set another default: Inkling 0.1 for both (0.5.16 -), DeepSeek V4 0.1, MiMo and Step with the hierarchical cache 1.0."""

SLOTS_AS_ASKED = (("0.5.2", True), ("0.5.3.post2", False), ("0.5.7", True))
"""Whether --max-mamba-cache-size gives the number of slots with the prefix cache on too; without it, it always does (model_runner.py)."""

LARGEST_WINDOW_RATIO = 1.0
"""A larger --swa-full-tokens-ratio is refused, 0.5.7 - 0.5.23 (server_args.py, from 0.5.19 arg_groups/kv_cache_hook.py)."""


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


def slot_bytes(states: Size, slots: int) -> Size:
    """What the states of one slot take, from the printed size of all. One slot more than `slots` is allocated, for padding.

    Source: SGLang 0.5.2 - 0.5.23, memory_pool.py, MambaPool.
    """
    return Size.between(states.low / (slots + 1), states.high / (slots + 1))


def rest_for_slots(slot: Size, slots: int, ratio: float) -> Size:
    """The least budget whose share of the states holds so many slots, without draft states (`split_states`)."""
    return slot * (slots * (1 + ratio) / ratio)


def implied_ratio(states: Size, slots: int, kv: Size) -> tuple[float, float]:
    """The lowest and the highest ratio that split the budget into these pools; only without draft states.

    `kv` is what the pool may have been sized with. The share of the states holds from no slot to one more than the whole slots that
    were made of it, and the padding slot is outside it up to 0.5.16 (`split_states`), inside it from 0.5.17.
    """
    slot = slot_bytes(states, slots)
    rest = max(1, kv.low - slot.high)
    return slots * slot.low / kv.high, (slots + 2) * slot.high / rest


def ratio_for_slots(ratio: float, slots: int, wanted: int) -> float | None:
    """A ratio that certainly gives `wanted` slots where `ratio` gives `slots`; None when not even the whole budget is sure to.

    The slots are the states' share of the budget, ratio / (1 + ratio), less a constant, in whole slots (`split_states`), with or
    without draft states; so so many times the share gives at least so many times the slots.
    """
    share = ratio / (1 + ratio) * wanted / slots
    return share / (1 - share) if share < 1 else None


def tokens_beside_states(tokens: int, ratio: float, new_ratio: float) -> int:
    """Tokens of the KV pool at another ratio, to about one slot; only without draft states."""
    return int(tokens * (1 + ratio) / (1 + new_ratio))


def largest_state_ratio(tokens: int, kv: Size, slot: Size, ratio: float, tokens_needed: int) -> float | None:
    """The ratio above which the KV pool certainly holds fewer than `tokens_needed`; None where that is no bound.

    `tokens` and `kv` are of the pool at `ratio`, its padding page included. Only without draft states.
    """
    one_slot = slot.high * tokens / kv.low
    kv_share = (tokens_needed - one_slot) / tokens / (1 + ratio)
    return 1 / kv_share - 1 if 0 < kv_share <= 1 else None


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


def implied_window_ratio(full: int, window: int, page_size: int) -> tuple[float, float]:
    """The ratios that give these pools, `low` included and `high` not: window tokens are rounded down to whole pages."""
    return window / full, (window + page_size) / full


def least_window_ratio(ratio: float, window_tokens: int, window_size: int, page_size: int) -> float:
    """The ratio below which the window pool certainly admits no request, where `ratio` gives a pool of `window_tokens`.

    With a larger ratio each full token takes more of the budget, so the window pool grows by less than the ratio. What `ratio` gives
    lies by less than a page of each pool above the printed tokens. It may exceed `LARGEST_WINDOW_RATIO`: then no ratio works.
    Source: `split_window` and `window_is_too_small`.
    """
    return ratio * (window_size + page_size + 1) / (window_tokens + page_size * (1 + ratio))


def full_tokens_at_most(ratio: float, window_size: int, page_size: int) -> int:
    """Tokens of the full pool where the window pool at this ratio is only just large enough: the next whole page / ratio."""
    return int((window_size + 3 * page_size) / ratio)


def full_tokens_at(split: WindowSplit, full_pool: Size, window_pool: Size, ratio: float) -> int:
    """About how many tokens the full pool holds at another ratio in the same budget (`split_window`); the pools are those of `split`."""
    full_bytes, window_bytes = full_pool.bytes / split.full, window_pool.bytes / split.window
    return int((full_pool.bytes + window_pool.bytes) / (full_bytes + ratio * window_bytes))


def largest_window_requests(requests: int, workers: int, cap: Size, available: Size) -> int:
    """Above so many requests at once the window pool certainly leaves nothing for the full pool, where `requests` gave a pool of `cap`.

    The cap is a constant and so many tokens for each request of one of the `workers`; 0 where not even one fits. Source: SGLang
    0.5.14 - 0.5.23, pool_configurator.py, SWAChunkCapPoolConfigurator, later SWARequestCapPoolConfigurator.
    """
    of_each = int(max(1, requests // workers) * available.high / cap.low)
    return (of_each + 1) * workers - 1 if of_each > 0 else 0
