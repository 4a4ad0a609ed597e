"""Thresholds that measured runs recommend: just above what passed, by an overhead common to the profiles where it is constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.cases.ladder import Ladder
from analyzer.cases.ladder_overhead import Constancy
from analyzer.units import Size, group_digits

STEP = 10_000_000
"""Overheads are rounded up to this. Two decimals of GiB leave 10.7 MB of the weights open, so a finer figure would pretend to know more."""
NEAREST = 20_000_000
"""The common overhead is taken when it asks for at most so much more than the profile's own run that passed."""


@dataclass(frozen=True)
class Recommendation:
    """A value for requires_free_bytes, in raw free bytes, or None and why not.

    `measured_pass` is the least raw free memory with which a run that counts passed, `overhead` the rounded overhead in the value, None
    where none is known. `by_constant` is what the overhead common to several profiles would give, recommended or not. The weights cancel
    in the value: it lies `above_pass` bytes above a measured run, whatever their decimals leave open.
    """

    profile: str
    threshold: int | None
    measured_pass: int | None
    overhead: int | None
    by_constant: int | None
    reason: str

    @property
    def above_pass(self) -> int | None:
        return None if self.threshold is None or self.measured_pass is None else self.threshold - self.measured_pass


def recommend(ladders: Sequence[Ladder], found: Constancy) -> list[Recommendation]:
    """What each ladder recommends as the threshold of its profile.

    1. Only a profile of which a run that counts passed, and whose runs do not contradict each other, gets a recommendation.
       An overhead that was measured on other profiles alone shows nothing about this one.
    2. The value is weights + arena + overhead, the overhead rounded up to the next `STEP`: the common one where it is constant and asks
       for at most `NEAREST` more than the profile's own run that passed, else the profile's own. Without weights or arena the run itself,
       rounded up.
    3. It is never below the run that passed, never more than `NEAREST` above it, and never above the device.

    The selector compares this value with free * safety factor and so asks for more raw memory than was measured. That is meant: free memory
    shrinks between the selection and the start of the engine.
    """
    return [_recommend(ladder, found) for ladder in ladders]


def _recommend(ladder: Ladder, found: Constancy) -> Recommendation:
    common = None if found.common is None else _rounded_up(found.common)
    by_constant = None if common is None else _need(ladder, common)
    measured_pass = ladder.threshold.high if ladder.threshold else None
    if measured_pass is None:
        reason = f"{_why_unmeasured(ladder)}. {_aside(ladder, found, by_constant)}".rstrip()
        return Recommendation(ladder.profile, None, None, None, by_constant, reason)
    shared = common if ladder.profile in found.profiles else None
    own = None if ladder.overhead.at_most is None else _rounded_up(ladder.overhead.at_most.bytes)
    overhead, threshold = _least_above(measured_pass, [(amount, _need(ladder, amount)) for amount in (shared, own) if amount is not None])
    device = next((size for rung in ladder.counted if (size := rung.receipt.total) is not None), None)
    if device is not None and threshold > device.high:
        reason = (
            f"{group_digits(threshold)}, just above the run that passed, is more than the device has. {_aside(ladder, found, by_constant)}"
        )
        return Recommendation(ladder.profile, None, measured_pass, None, by_constant, reason.rstrip())
    origin = f"the overhead common to {' and '.join(found.profiles)}" if overhead is not None and overhead == shared else "its own overhead"
    formula = "the run that passed, rounded up" if overhead is None else f"weights + arena + {group_digits(overhead)}, {origin} rounded up"
    reason = f"{formula}; {group_digits(threshold - measured_pass)} bytes above the run that passed with {group_digits(measured_pass)} free"
    return Recommendation(ladder.profile, threshold, measured_pass, overhead, by_constant, reason)


def _least_above(measured_pass: int, candidates: Sequence[tuple[int, int | None]]) -> tuple[int | None, int]:
    """The first overhead whose need lies near the run that passed, with the threshold; else the run itself, rounded up."""
    for overhead, need in candidates:
        if need is not None and need - measured_pass <= NEAREST:
            return overhead, max(measured_pass, need)
    return None, _rounded_up(measured_pass)


def _need(ladder: Ladder, overhead: int) -> int | None:
    """weights + arena + overhead, in the middle of what their decimals leave open."""
    loaded = ladder.weights_and_arena
    return None if loaded is None else Size.between(loaded.low + overhead, loaded.high + overhead).bytes


def _why_unmeasured(ladder: Ladder) -> str:
    if ladder.contradictions:
        return "Its runs contradict each other"
    return "No run that counts passed" if ladder.counted else "No run of it counts"


def _aside(ladder: Ladder, found: Constancy, by_constant: int | None) -> str:
    """What the overhead of other profiles would ask for, and why that does not settle it."""
    if by_constant is None:
        return ""
    would = f"The overhead common to {' and '.join(found.profiles)} would give {group_digits(by_constant)}"
    failed = max(ladder.fails_at, default=0)
    if failed >= by_constant:
        return f"{would}, but it failed with {group_digits(failed)} free: its threshold is not shown to be wrong by a constant."
    return f"{would}; that was not measured on this profile, so its threshold is not shown to be wrong."


def _rounded_up(amount: int) -> int:
    return -(-amount // STEP) * STEP
