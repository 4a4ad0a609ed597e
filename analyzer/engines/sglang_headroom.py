"""What SGLang needs outside the static share, how large the fraction may be for it, and the interval that is left.

Graphs, activations, encoders and late communication buffers live in pre x (1 - fraction). SGLang 0.1.26 - 0.5.23, model_runner.py:
nothing enforces that share, so a value too large shows only when an allocation is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from packaging.version import Version

from analyzer.engines.interval import FractionInterval
from analyzer.engines.release import value_since
from analyzer.engines.sglang import fraction_for, static_reserve
from analyzer.units import Size

DRAFT_WEIGHTS_IN_STATIC_SHARE = (("0.1.26", False), ("0.5.14", True))
"""Whether a draft model's weights are loaded before the pools are sized (model_runner.py, two-phase start from 0.5.14)."""


@dataclass(frozen=True, slots=True)
class Headroom:
    """What a run took outside weights and pools, as far as the log shows it; absent is unknown."""

    graphs: Size | None = None
    activations: Size | None = None
    draft_model: Size | None = None
    encoder: Size | None = None
    communication: Size | None = None

    @property
    def known(self) -> dict[str, Size]:
        """The items the log shows, by name."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) is not None}

    @property
    def total(self) -> Size:
        """The sum of the known items: a lower bound of what is needed."""
        return sum(self.known.values(), Size.exact(0))


def needed_at_failure(free_after_pools: Size, free_at_failure: Size, refused: Size) -> Size:
    """A lower bound of the headroom, from an allocation that was refused: what was used since the pools, plus what was asked.

    `free_after_pools` is the "Memory pool end" figure; where it is missing, pre x (1 - fraction) stands for it.
    """
    return free_after_pools - free_at_failure + refused


def largest_fraction(pre: Size, needed: Size) -> float:
    """The largest fraction that leaves `needed` outside the static share: 1 - needed / pre."""
    return 1 - needed.bytes / pre.bytes


def fraction_after_refusal(fraction: float, pre: Size, refused: Size, free: Size) -> float:
    """An upper bound from a run that ran out beside the pools: 1 - (pre x (1 - fraction) - free + refused) / pre.

    Later allocations may want more than the refused one.
    """
    return largest_fraction(pre, needed_at_failure(static_reserve(pre, fraction), free, refused))


def fraction_interval(pre: Size, post: Size, kv_needed: Size, headroom: Size, headroom_from: str) -> FractionInterval:
    """The fractions whose pool holds `kv_needed` and that still leave `headroom`; `headroom_from` says where that figure comes from.

    Empty when weights, pool and headroom exceed `pre` together: then no fraction helps, and something has to get smaller.
    """
    weights = pre - post
    return FractionInterval(
        low=fraction_for(pre, post, kv_needed),
        high=largest_fraction(pre, headroom),
        low_because=f"weights {weights} and a KV pool of {kv_needed}, of {pre} free before loading",
        high_because=f"{headroom} outside the static share: {headroom_from}",
    )


def draft_weights_in_static_share(version: Version | None) -> bool | None:
    """Whether the fraction has to cover the draft model's weights; None when the release is unknown."""
    return value_since(DRAFT_WEIGHTS_IN_STATIC_SHARE, version)


def direction_for_draft_weights(version: Version | None) -> Literal["raise", "lower"] | None:
    """Which way the fraction has to go when loading the draft model runs out of memory; None when the release is unknown.

    Up to 0.5.13 the draft is loaded after the target's pools, into the headroom: lower. From 0.5.14 it is loaded before them, and
    its weights take their part of the static share: raise.
    """
    inside = draft_weights_in_static_share(version)
    return None if inside is None else "raise" if inside else "lower"
