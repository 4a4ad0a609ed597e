"""SGLang's automatic mem_fraction_static, for every era of its rule: what the server arguments show when nobody sets it.

Source: sglang/srt/server_args.py, __post_init__ and _handle_gpu_memory_settings; from 0.5.19 arg_groups/memory_hook.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from packaging.version import Version

from analyzer.engines.release import value_since
from analyzer.engines.sglang_launch import GRAPH_BATCH_BY_CARD, Launch
from analyzer.engines.sglang_prefill_graphs import SWITCHED_OFF_BY
from analyzer.engines.sglang_reserve import POST_CAPTURE_BASE_MIB, SPECULATIVE_MIB, reserve
from analyzer.engines.sglang_vlm import POST_CAPTURE_RESERVE_MIB, fraction_in_effect

BY_PARALLEL_SIZE = (
    # first release, fraction at 16 ranks and more, 8, 4, 2, 1
    ("0.1.26", (0.80, 0.84, 0.86, 0.88, 0.89)),
    ("0.2.7", (0.79, 0.83, 0.85, 0.87, 0.88)),
    ("0.3.6", (0.79, 0.82, 0.85, 0.87, 0.88)),
    ("0.4.0", (0.79, 0.81, 0.85, 0.87, 0.88)),
)

PARALLEL_SIZES = (16, 8, 4, 2, 1)

FRACTION_OF_UNKNOWN_CARD = (("0.4.7.post1", 0.88), ("0.5.20", 0.95))

AITER_FACTOR = (("0.5.4.post1", 0.90), ("0.5.4.post2", 0.85))
"""ROCm's aiter attention with a context of more than 8192 tokens (server_args.py; before, unseen, in model_runner.py)."""

AITER_CONTEXT = 8192

SPARSE_ATTENTION_FRACTION = 0.8
"""DeepSeek sparse attention in 0.5.3, whatever is asked (server_args.py)."""


def default_fraction(launch: Launch) -> float | None:
    """mem_fraction_static when nobody sets it, as the server arguments show it.

    None when an input that the rule needs is unknown. With the release unknown, the value is given only where all eras agree.
    """
    if launch.release is None:
        values = {default_fraction(replace(launch, release=Version(since))) for since in ERAS}
        return values.pop() if len(values) == 1 else None
    rule = value_since(RULES, launch.release)
    if rule is None:
        return None
    if launch.sparse_attention and launch.is_within("0.5.3", "0.5.3.post1"):
        return SPARSE_ATTENTION_FRACTION
    fraction = rule(launch)
    if fraction is None:
        return None
    return _for_aiter(launch, _for_vision(launch, fraction))


def _by_tensor_parallel_size(launch: Launch) -> float | None:
    """0.1.26 - 0.4.5."""
    return _of_table(launch, launch.tp)


def _by_card_of_80_gib(launch: Launch) -> float | None:
    """0.4.5.post3 - 0.4.6.post1."""
    if launch.card_mib is None:
        return None
    return _of_table(launch, launch.tp) if launch.card_mib <= 81920 else (launch.card_mib - 13 * 1024) / launch.card_mib


def _by_card_of_96_gib(launch: Launch) -> float | None:
    """0.4.6.post2 - 0.4.6.post5."""
    card, base = launch.card_mib, _base(launch)
    return base if card is None or base is None or card <= 96 * 1024 else _on_large_card(base, card, 18 * 1024)


def _by_card_and_speculation(launch: Launch) -> float | None:
    """0.4.7."""
    card, base, speculative = launch.card_mib, _base(launch), launch.speculative_algorithm is not None
    if base is None or (card is not None and card > 180_000 and launch.platform == "cuda"):
        return base if base is None else 0.79
    if card is not None and card > 96 * 1024:
        return _on_large_card(base, card, (20 if speculative else 18) * 1024)
    return base * 0.95 if speculative else base


def _by_reserve(launch: Launch) -> float | None:
    """0.4.7.post1 -."""
    card = launch.card_mib
    if card is None:
        return value_since(FRACTION_OF_UNKNOWN_CARD, launch.release)
    reserved = reserve(launch)
    return round((card - reserved.mib) / card, 3) if reserved is not None else None


def _base(launch: Launch) -> float | None:
    """The table by parallel size up to 80 GiB, 0.88 above and for an unknown card."""
    small = launch.card_mib is not None and launch.card_mib <= 81920
    return _of_table(launch, launch.tp * launch.pp) if small else 0.88


def _of_table(launch: Launch, ranks: int) -> float | None:
    row = value_since(BY_PARALLEL_SIZE, launch.release)
    return None if row is None else next(value for size, value in zip(PARALLEL_SIZES, row, strict=True) if ranks >= size)


def _on_large_card(base: float, card: float, reserved: float) -> float:
    return min(base + 48 * 1024 * (1 - base) / card, (card - reserved) / card)


def _for_vision(launch: Launch, fraction: float) -> float | None:
    """0.4.9 -. Before, the runner changes its own copy, which the server arguments do not show (`sglang_vlm`)."""
    release = launch.release
    if release is None or not launch.multimodal or not launch.is_within("0.4.9"):
        return fraction
    if launch.role == "decode" and launch.is_within("0.5.17"):
        return fraction
    if launch.post_capture_sizing and launch.is_within("0.5.20"):
        return fraction - POST_CAPTURE_RESERVE_MIB / launch.card_mib if launch.card_mib is not None else fraction
    return fraction_in_effect(release, fraction, "automatic", launch.vision)


def _for_aiter(launch: Launch, fraction: float | None) -> float | None:
    applies = launch.attention_backend == "aiter" and (launch.context_length or 0) > AITER_CONTEXT
    factor = value_since(AITER_FACTOR, launch.release) if applies else None
    return fraction * factor if factor is not None and fraction is not None else fraction


RULES: tuple[tuple[str, Callable[[Launch], float | None]], ...] = (
    ("0.1.26", _by_tensor_parallel_size),
    ("0.4.5.post3", _by_card_of_80_gib),
    ("0.4.6.post2", _by_card_of_96_gib),
    ("0.4.7", _by_card_and_speculation),
    ("0.4.7.post1", _by_reserve),
)

ERAS = sorted(
    {
        since
        for table in (
            BY_PARALLEL_SIZE,
            FRACTION_OF_UNKNOWN_CARD,
            GRAPH_BATCH_BY_CARD,
            POST_CAPTURE_BASE_MIB,
            RULES,
            SPECULATIVE_MIB,
            SWITCHED_OFF_BY,
        )
        for since, _ in table
    },
    key=Version,
)
"""The first release of each era."""
