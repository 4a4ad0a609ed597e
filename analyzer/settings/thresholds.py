"""Thresholds against measured runs: in both units, and where the selector offers a profile that nobody has tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from analyzer.settings.selection import budget, least_free, raw_free_needed
from analyzer.units import MIB, group_digits

BALLAST_FOOTPRINT = 498 * MIB
"""What a probe's process took with nothing but its CUDA context, measured on an RTX 5090. An assumption on any other device or driver."""


@dataclass(frozen=True, slots=True)
class BothUnits:
    """A threshold as the selector compares it, with discounted free memory, and as the raw free memory that it asks for."""

    threshold: int
    raw_free: int
    measured_pass: int
    safety_factor: float
    selectable: bool

    @property
    def stricter_by(self) -> int:
        """Raw bytes asked for beyond what a run was measured to pass with; negative when the selector asks for less."""
        return self.raw_free - self.measured_pass

    def __str__(self) -> str:
        percent = 100 * abs(self.stricter_by) / self.measured_pass
        amount = f"{abs(self.stricter_by) / 10**6:.0f} MB ({percent:.1f} %)"
        against = f"than the {group_digits(self.measured_pass)} measured to pass"
        asked = (
            f"{group_digits(self.threshold)} is compared with free x {self.safety_factor}, "
            f"so it asks for {group_digits(self.raw_free)} raw free bytes"
        )
        if self.stricter_by < 0:
            return f"{asked}: {amount} less {against}"
        return f"{asked}: {amount} more {against}, as a cushion for memory that goes between selection and start"


def in_both_units(threshold: int, measured_pass: int, total: int, utilization: float | None, safety_factor: float) -> BothUnits:
    """A threshold beside the raw free memory a run passed with; `selectable` when the whole device, free, gets the profile selected."""
    selectable = budget(total, total, utilization, safety_factor) >= threshold
    return BothUnits(threshold, raw_free_needed(threshold, safety_factor), measured_pass, safety_factor, selectable)


@dataclass(frozen=True, slots=True)
class UntestedBand:
    """From `low` to `high` raw free bytes, both included, the selector offers the profile although no run that counts was made there.

    `implied` is what runs elsewhere say of it, if more free memory never hurts: it fails where one with more memory failed, and passes
    where one with less passed.
    """

    low: int
    high: int
    implied: Literal["fail", "pass"] | None

    @property
    def width(self) -> int:
        return self.high - self.low

    def reachable(self, most_free: int, footprint: int = BALLAST_FOOTPRINT) -> bool:
        """Whether an instrument can set free memory within the band, which itself takes `footprint` bytes of the `most_free` there are."""
        return most_free - footprint >= self.low


def untested_band(
    requires: int, safety_factor: float, most_free: int, fails_at: Sequence[int] = (), passes_at: Sequence[int] = ()
) -> UntestedBand | None:
    """The lower edge of what the selector offers: from the least free memory that fits the threshold to the first run that counts.

    `most_free` is the most raw free memory there can be: with the instrument's ballast let go, or the whole device.
    None when a run was made at the very edge, or when the edge lies above what can be free.
    """
    low = least_free(requires, safety_factor)
    above = [free for free in (*fails_at, *passes_at) if free >= low]
    high = min(most_free, min(above, default=most_free + 1) - 1)
    if low > high:
        return None
    if any(free >= high for free in fails_at):
        return UntestedBand(low, high, "fail")
    return UntestedBand(low, high, "pass" if any(free <= low for free in passes_at) else None)
