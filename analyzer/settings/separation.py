"""Whether a selector can tell the free memory that works from the free memory that does not.

Below the safety factor, a utilization caps the budget at total * utilization: from there on more free memory changes nothing, and no
threshold separates a run that fails from one that passes (`selection.saturation_point`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.settings.selection import budget, exact
from analyzer.units import group_digits

THRESHOLD_STEP = 10_000_000
"""A proposed threshold is a multiple of this, so that nobody takes it for a measured figure."""


@dataclass(frozen=True, slots=True)
class Separation:
    """Thresholds above `low` and up to `high`, in the selector's bytes, reject every run that failed and accept every one that passed."""

    low: int
    high: int

    @property
    def exists(self) -> bool:
        return self.low < self.high

    @property
    def proposed(self) -> int | None:
        """The middle, to the nearest `THRESHOLD_STEP` if that still separates; None when nothing does."""
        if not self.exists:
            return None
        middle = (self.low + self.high + 1) // 2
        rounded = round(middle / THRESHOLD_STEP) * THRESHOLD_STEP
        return rounded if self.low < rounded <= self.high else middle


@dataclass(frozen=True, slots=True)
class MeasuredRuns:
    """Raw free memory, in bytes, with which runs of one profile failed and passed on a device of `total` bytes."""

    total: int
    fails_at: Sequence[int]
    passes_at: Sequence[int]


@dataclass(frozen=True, slots=True)
class FitCondition:
    """The two figures of a profile that decide whether it fits."""

    utilization: float | None
    requires_free_bytes: int


@dataclass(frozen=True, slots=True)
class Replay:
    """What the selector would do at each measured free value.

    `selected_failures` were measured to fail and would be selected; `rejected_passes` were measured to pass and would be rejected, which
    is the price of a discount. `selectable` says whether any free memory up to the whole device gets the profile selected.
    """

    condition: FitCondition
    selected_failures: tuple[int, ...]
    rejected_passes: tuple[int, ...]
    selectable: bool

    @property
    def agrees(self) -> bool:
        """Whether just the runs that passed would be selected."""
        return not self.selected_failures and not self.rejected_passes

    @property
    def enough(self) -> bool:
        """Whether no run that failed would be selected, and the profile still can be."""
        return not self.selected_failures and self.selectable

    def __str__(self) -> str:
        faults = [f"selects it with {group_digits(free)} bytes free, where it fails" for free in self.selected_failures]
        faults += [f"rejects it with {group_digits(free)} bytes free, where it passes" for free in self.rejected_passes]
        if not self.selectable:
            faults.append("never selects it on this device")
        return "; ".join(faults) or "agrees with every run"


@dataclass(frozen=True, slots=True)
class Repairs:
    """Two changes of a profile, each alone and both together."""

    utilization_alone: Replay
    threshold_alone: Replay
    both: Replay

    @property
    def both_needed(self) -> bool:
        return self.both.enough and not self.utilization_alone.enough and not self.threshold_alone.enough


def separation(measured: MeasuredRuns, utilization: float | None, safety_factor: float) -> Separation | None:
    """The thresholds that tell the runs apart; None unless some failed and some passed."""
    if not measured.fails_at or not measured.passes_at:
        return None
    ends = (max(measured.fails_at), min(measured.passes_at))
    return Separation(*(budget(measured.total, free, utilization, safety_factor) for free in ends))


def replay(measured: MeasuredRuns, condition: FitCondition, safety_factor: float) -> Replay:
    """Holds a condition against the measured runs."""

    def selected(free: int) -> bool:
        return budget(measured.total, free, condition.utilization, safety_factor) >= condition.requires_free_bytes

    return Replay(
        condition,
        tuple(free for free in measured.fails_at if selected(free)),
        tuple(free for free in measured.passes_at if not selected(free)),
        selected(measured.total),
    )


def compare_repairs(measured: MeasuredRuns, before: FitCondition, after: FitCondition, safety_factor: float) -> Repairs:
    """Whether it takes both the utilization and the threshold of `after`, or one of them does."""
    return Repairs(
        replay(measured, FitCondition(after.utilization, before.requires_free_bytes), safety_factor),
        replay(measured, FitCondition(before.utilization, after.requires_free_bytes), safety_factor),
        replay(measured, after, safety_factor),
    )


def following_utilization(safety_factor: float) -> float:
    """The least utilization in hundredths with which the budget follows free memory all the way: above the safety factor, 1 at most.

    The engine is not handed more for it: the clamp lowers the utilization to free * safety factor / total.
    """
    return min(1.0, (math.floor(100 * exact(safety_factor)) + 1) / 100)
