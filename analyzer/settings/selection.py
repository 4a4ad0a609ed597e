"""The selector's arithmetic: which serving profile is chosen for a device with this much memory, and why not the others.

A profile fits when budget >= requires_free_bytes, where

    budget = int(min(total * utilization, free * safety_factor))

`free` is raw free memory, as torch.cuda.mem_get_info gives it before the engine starts. All amounts are whole bytes;
fractions are taken as they are written (0.98 is 98/100), so no floating-point error moves a boundary.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from analyzer.settings.model import Profile, Settings

BindingTerm: TypeAlias = Literal["total x utilization", "free x safety"]
Rejection: TypeAlias = Literal["budget", "no requires_free_bytes", "skipped"]


def exact(number: float) -> Fraction:
    """A number as it is written in decimals."""
    return Fraction(str(number))


def budget(total: int, free: int, utilization: float | None, safety_factor: float) -> int:
    """What the selector may hand out, in bytes. Without a utilization only the free memory bounds it."""
    usable_free = free * exact(safety_factor)
    return math.floor(usable_free if utilization is None else min(total * exact(utilization), usable_free))


def binding_term(total: int, free: int, utilization: float | None, safety_factor: float) -> BindingTerm:
    """The term that decides the budget; "free x safety" when both are equal, since less free memory would lower it."""
    if utilization is not None and total * exact(utilization) < free * exact(safety_factor):
        return "total x utilization"
    return "free x safety"


def clamp(utilization: float, free: int, total: int, safety_factor: float) -> float:
    """The utilization handed to the engine: min(utilization, free * safety_factor / total). The selector logs three decimals of it.

    A profile without a utilization is not clamped, and neither is one that is forced by name.
    """
    return float(min(exact(utilization), Fraction(free) * exact(safety_factor) / total))


def engine_utilization(profile: Profile, total: int, free: int, safety_factor: float, engine_default: float) -> float:
    """The utilization the engine starts with when the profile is selected: clamped if the profile states one, else the engine's default."""
    if profile.utilization is None:
        return engine_default
    return clamp(profile.utilization, free, total, safety_factor)


def ceiling(total: int, utilization: float | None) -> int | None:
    """The largest requires_free_bytes a profile can state and still be selected on this device; None when only free memory bounds it."""
    return None if utilization is None else math.floor(total * exact(utilization))


def raw_free_needed(requires: int, safety_factor: float) -> int:
    """A threshold, which is compared with free * safety_factor, in raw free bytes: requires / safety_factor, to the nearest byte."""
    return round(requires / exact(safety_factor))


def least_free(requires: int, safety_factor: float) -> int:
    """The smallest raw free memory of which free * safety_factor reaches the threshold; it may lie a byte above `raw_free_needed`."""
    return math.ceil(requires / exact(safety_factor))


def saturation_point(total: int, utilization: float, safety_factor: float) -> int:
    """The raw free memory from which on the budget no longer grows: utilization / safety_factor * total, rounded up.

    It lies within the device (below `total`) just when the utilization is below the safety factor.
    """
    return math.ceil(total * exact(utilization) / exact(safety_factor))


@dataclass(frozen=True, slots=True)
class Trial:
    """One profile held against the budget. `short_by` is 0 when it fits; `rejection` is None when it was not rejected."""

    profile: str
    requires: int | None
    budget: int
    binding_term: BindingTerm
    short_by: int
    rejection: Rejection | None


@dataclass(frozen=True, slots=True)
class Selection:
    """The outcome: the profile that wins, None when none fits, and the trials up to it in the order they were made."""

    total: int
    free: int
    winner: str | None
    trials: tuple[Trial, ...]


def select(settings: Settings, total: int, free: int, skip: Collection[str] = ()) -> Selection:
    """Tries the profiles in their order and takes the first that fits; those in `skip` are passed over.

    A profile that states no requires_free_bytes cannot be compared and is never selected.
    """
    trials = []
    for name in settings.order:
        trial = _try(settings.profiles[name], total, free, settings.selection.safety_factor, skip)
        trials.append(trial)
        if trial.rejection is None:
            return Selection(total, free, name, tuple(trials))
    return Selection(total, free, None, tuple(trials))


def _try(profile: Profile, total: int, free: int, safety_factor: float, skip: Collection[str]) -> Trial:
    available = budget(total, free, profile.utilization, safety_factor)
    term = binding_term(total, free, profile.utilization, safety_factor)
    requires = profile.requires_free_bytes
    if requires is None:
        return Trial(profile.name, None, available, term, 0, "skipped" if profile.name in skip else "no requires_free_bytes")
    short_by = max(0, requires - available)
    rejection: Rejection | None = "skipped" if profile.name in skip else "budget" if short_by else None
    return Trial(profile.name, requires, available, term, short_by, rejection)
