"""The next probe: the amount of free memory at which one more run says most about a threshold."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.cases.ladder import Ladder
from analyzer.units import MIB, group_digits

PROBE_STEP = 2 * MIB
"""A ballast process takes device memory in pieces of this size: CUDA maps physical memory in granules of 2 MiB."""


@dataclass(frozen=True)
class Probe:
    """The raw free memory to set for the next run, in bytes, or None where no run would tell more; and why."""

    profile: str
    free: int | None
    reason: str


def next_probe(ladder: Ladder, lowest: int | None = None, highest: int | None = None, step: int = PROBE_STEP) -> Probe:
    """The middle of the bracket, which halves it whatever the outcome, in whole steps from the run that bounds it from below.

    `lowest` and `highest` bound what can be probed: where the selector takes this profile, and what the instrument can set.
    A bracket that is open below begins at weights + arena, with which nothing can start; one that is open above ends at the device.
    """
    if ladder.contradictions:
        unclear = ladder.contradictions[0].passed.receipt.free.bytes
        return Probe(ladder.profile, unclear, f"repeat this run first, since runs contradict each other: {ladder.contradictions[0]}")
    bracket = ladder.threshold
    loaded = ladder.weights_and_arena
    low = bracket.low if bracket and bracket.low is not None else loaded.low if loaded is not None else None
    high = bracket.high if bracket and bracket.high is not None else _device(ladder)
    if low is None or high is None:
        return Probe(ladder.profile, None, "neither runs nor weights, arena and device tell where the threshold may lie")
    span = f"{group_digits(low)} and {group_digits(high)}"
    if low >= high:
        return Probe(ladder.profile, None, f"the figures disagree: nothing lies between {span}")
    if high - low <= step:
        return Probe(ladder.profile, None, f"the threshold lies between {span}, which is as finely as free memory can be set")
    first = -((low - max(low + 1, lowest or 0)) // step)
    last = (min(high - 1, high if highest is None else highest) - low) // step
    if first > last:
        return Probe(ladder.profile, None, f"the threshold lies between {span}, where nothing can be probed")
    free = low + step * min(max(round((high - low) / 2 / step), first), last)
    return Probe(ladder.profile, free, f"as near to the middle of {span}, where the threshold lies, as can be set in steps of {step} bytes")


def _device(ladder: Ladder) -> int | None:
    return next((rung.receipt.total.high for rung in ladder.rungs if rung.receipt.total), None)
