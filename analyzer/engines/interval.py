"""The values of a memory fraction that can work: between what the engine needs inside it and what it needs outside."""

from __future__ import annotations

import math
from dataclasses import dataclass

_HAIR = 1e-9  # keeps 0.85 computed as 0.8500000000000001 from being rounded to 0.86


def rounded_up(fraction: float, decimals: int = 3) -> float:
    """The next fraction of so many decimals that is not smaller."""
    scale = float(10**decimals)
    return math.ceil(fraction * scale - _HAIR) / scale


def rounded_down(fraction: float, decimals: int = 3) -> float:
    """The next fraction of so many decimals that is not larger."""
    scale = float(10**decimals)
    return math.floor(fraction * scale + _HAIR) / scale


@dataclass(frozen=True, slots=True)
class FractionInterval:
    """The values from `low` to `high`, both included, and what sets each end. Empty when `low` exceeds `high`."""

    low: float
    high: float
    low_because: str
    high_because: str

    @property
    def is_empty(self) -> bool:
        return self.low > self.high

    @property
    def reason(self) -> str:
        """One sentence for the reader: the interval, or why there is none."""
        at_least, at_most = f"at least {self.low:.4f} ({self.low_because})", f"at most {self.high:.4f} ({self.high_because})"
        return f"no value works: {at_least} and {at_most}" if self.is_empty else f"{at_least}, {at_most}"

    def smallest(self, decimals: int = 2) -> float | None:
        """The smallest value of so many decimals inside; None when there is none."""
        value = rounded_up(self.low, decimals)
        return value if value <= self.high + _HAIR else None

    def largest(self, decimals: int = 2) -> float | None:
        """The largest value of so many decimals inside; None when there is none."""
        value = rounded_down(self.high, decimals)
        return value if value >= self.low - _HAIR else None


def interval_from_trials(refused: tuple[float, ...], ran_out: tuple[float, ...], decimals: int = 2) -> FractionInterval:
    """What runs of one set-up at several fractions leave open, on a grid of so many decimals.

    `refused` are the fractions at which the engine found no room for the KV pool, `ran_out` those at which it ran out of memory
    later. Raises ValueError when either is missing: then that end is open.
    """
    if not refused or not ran_out:
        raise ValueError("trials on both sides are needed: at least one fraction that was refused and one that ran out later")
    step = 10.0**-decimals
    return FractionInterval(
        low=rounded_up(max(refused) + step, decimals),
        high=rounded_down(min(ran_out) - step, decimals),
        low_because=f"{max(refused)} was refused",
        high_because=f"{min(ran_out)} ran out of memory",
    )


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is known of the values of a knob that can work; either end may be open (None).

    `leeway` is how much higher the upper end may lie: the bound is what certainly suffices for one allocation, and memory that an
    allocator held in pieces might have served. Empty when `low` exceeds `high` and the leeway together.
    """

    low: float | None = None
    high: float | None = None
    low_because: str = ""
    high_because: str = ""
    leeway: float = 0.0

    @property
    def is_empty(self) -> bool:
        return self.low is not None and self.high is not None and self.low > self.high + self.leeway

    @property
    def reason(self) -> str:
        """The two ends and what sets them, in words; an open end is left out."""
        at_least = f"at least {self.low:.3f} ({self.low_because})" if self.low is not None else ""
        at_most = f"at most {self.high:.3f} ({self.high_because})" if self.high is not None else ""
        return ", ".join(filter(None, (at_least, at_most)))

    @property
    def is_open(self) -> bool:
        """Whether nothing bounds the value."""
        return self.low is None and self.high is None

    def capped(self, high: float | None, because: str, leeway: float = 0.0) -> Bounds:
        """The same with another upper end, where that one is lower."""
        if high is None or (self.high is not None and self.high <= high):
            return self
        return Bounds(self.low, high, self.low_because, because, leeway)

    def raised(self, low: float | None, because: str) -> Bounds:
        """The same with another lower end, where that one is higher."""
        if low is None or (self.low is not None and self.low >= low):
            return self
        return Bounds(low, self.high, because, self.high_because, self.leeway)
