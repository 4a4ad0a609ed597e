"""Which profile wins at which amount of free memory, for one device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from analyzer.settings.model import Profile, Settings
from analyzer.settings.selection import ceiling, least_free, saturation_point

Obstacle: TypeAlias = Literal["not in the order", "no requires_free_bytes", "above total x utilization", "above the device", "shadowed"]


@dataclass(frozen=True, slots=True)
class Band:
    """From `low` to `high` raw free bytes, both included, this profile wins; None where none fits."""

    low: int
    high: int
    profile: str | None


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A profile that wins nowhere on this device, and why; `by` is the profile that is always taken before it, if it is shadowed."""

    profile: str
    obstacle: Obstacle
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Saturation:
    """From `low` to `high` raw free bytes the budget of a profile stays the same: no threshold tells these amounts apart."""

    profile: str
    low: int
    high: int
    budget: int


@dataclass(frozen=True, slots=True)
class SelectionMap:
    """The bands cover 0 to `total` without gap or overlap, from little free memory to much."""

    total: int
    bands: tuple[Band, ...]
    unreachable: tuple[Unreachable, ...]
    saturated: tuple[Saturation, ...]


def selection_map(settings: Settings, total: int) -> SelectionMap:
    """Where each profile is selected on a device of `total` bytes.

    For whole bytes, int(min(total * u, free * s)) >= requires just when total * u >= requires and free >= ceil(requires / s),
    so each profile fits from one amount of free memory upwards, or nowhere; the first in the order wins where several fit.
    """
    safety_factor = settings.selection.safety_factor
    unreachable = [Unreachable(name, "not in the order") for name in settings.profiles if name not in settings.order]
    entries: dict[str, int] = {}
    for name in settings.order:
        profile = settings.profiles[name]
        obstacle = _obstacle(profile, total, safety_factor)
        if obstacle is not None:
            unreachable.append(Unreachable(name, obstacle))
            continue
        entry = least_free(profile.requires_free_bytes or 0, safety_factor)
        earlier = next((other for other, begins in entries.items() if begins <= entry), None)
        if earlier is not None:
            unreachable.append(Unreachable(name, "shadowed", earlier))
            continue
        entries[name] = entry
    saturated = [_saturation(settings.profiles[name], total, safety_factor) for name in settings.order]
    return SelectionMap(total, _bands(entries, total), tuple(unreachable), tuple(found for found in saturated if found is not None))


def _obstacle(profile: Profile, total: int, safety_factor: float) -> Obstacle | None:
    requires = profile.requires_free_bytes
    if requires is None:
        return "no requires_free_bytes"
    highest = ceiling(total, profile.utilization)
    if highest is not None and requires > highest:
        return "above total x utilization"
    return "above the device" if least_free(requires, safety_factor) > total else None


def _bands(entries: dict[str, int], total: int) -> tuple[Band, ...]:
    """Each later profile in the order begins below all earlier ones, or it would be shadowed: so it ends where the next one begins."""
    ascending = sorted((begins, name) for name, begins in entries.items())
    starts: list[tuple[int, str | None]] = [(0, None), *ascending]
    ends = [begins - 1 for begins, _ in ascending] + [total]
    return tuple(Band(low, high, name) for (low, name), high in zip(starts, ends, strict=True) if low <= high)


def _saturation(profile: Profile, total: int, safety_factor: float) -> Saturation | None:
    """None for a budget that grows with free memory all the way."""
    highest = ceiling(total, profile.utilization)
    if profile.utilization is None or highest is None:
        return None
    low = saturation_point(total, profile.utilization, safety_factor)
    return Saturation(profile.name, low, total, highest) if low < total else None
