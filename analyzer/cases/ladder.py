"""Ladders: runs of one profile at several amounts of free memory, and the threshold between failing and passing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from analyzer.analysis import LadderRecord, Path
from analyzer.cases.receipts import Receipt
from analyzer.units import Size, group_digits

ASIDE: Mapping[Path, str] = {
    "forced": "the profile was forced by name, past the selector: the run does not test what users get",
    "flags": "its parameters were passed by hand, past the profiles: the run does not test what users get",
    "unknown": "it is not known whether the selector chose the profile",
}
"""Why a run that took another path than the selector's does not count."""


@dataclass(frozen=True)
class Rung:
    """One run on a ladder. `aside` says why it does not count, and is empty when it does."""

    receipt: Receipt
    aside: str = ""

    @property
    def counts(self) -> bool:
        return not self.aside

    @property
    def weights_and_arena(self) -> Size | None:
        weights, arena = self.receipt.weights, self.receipt.arena
        return None if weights is None or arena is None else weights + arena

    @property
    def overhead(self) -> Size | None:
        """What was free beyond weights and arena: for activations, workspaces of kernels, CUDA contexts and everything else.

        A run that failed needed more than this; one that passed needed this at most.
        """
        loaded = self.weights_and_arena
        return None if loaded is None else self.receipt.free - loaded


@dataclass(frozen=True)
class Bracket:
    """The threshold is more than `low` and at most `high`, in raw free bytes; None where no run bounds it on that side."""

    low: int | None
    high: int | None


@dataclass(frozen=True)
class OverheadBounds:
    """The overhead is more than the one and at most the other; None where no run with known weights and arena bounds it."""

    more_than: Size | None
    at_most: Size | None


@dataclass(frozen=True)
class Contradiction:
    """A run that passed with no more free memory than another had that failed: one threshold cannot explain both."""

    passed: Rung
    failed: Rung

    def __str__(self) -> str:
        passed, failed = (group_digits(rung.receipt.free.bytes) for rung in (self.passed, self.failed))
        return f"it passed with {passed} bytes free ({self.passed.receipt.source}) and failed with {failed} ({self.failed.receipt.source})"


@dataclass(frozen=True)
class Ladder:
    """The runs of one profile, from little free memory to much."""

    profile: str
    rungs: tuple[Rung, ...]

    @property
    def counted(self) -> list[Rung]:
        return [rung for rung in self.rungs if rung.counts]

    @property
    def failed(self) -> list[Rung]:
        return [rung for rung in self.counted if rung.receipt.outcome == "fail"]

    @property
    def passed(self) -> list[Rung]:
        return [rung for rung in self.counted if rung.receipt.outcome == "pass"]

    @property
    def fails_at(self) -> list[int]:
        """Raw free bytes of the runs that failed: the least that they certainly had."""
        return sorted(rung.receipt.free.low for rung in self.failed)

    @property
    def passes_at(self) -> list[int]:
        """Raw free bytes of the runs that passed: the most that they can have had."""
        return sorted(rung.receipt.free.high for rung in self.passed)

    @cached_property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Each run that passed at or below one that failed, with the highest of those."""
        if not self.failed:
            return ()
        highest = max(self.failed, key=lambda rung: rung.receipt.free.low)
        return tuple(Contradiction(rung, highest) for rung in self.passed if rung.receipt.free.high <= highest.receipt.free.low)

    @property
    def threshold(self) -> Bracket | None:
        """Between the highest run that fails and the lowest that passes; None when no run counts, or when runs contradict each other."""
        if not self.counted or self.contradictions:
            return None
        return Bracket(max(self.fails_at, default=None), min(self.passes_at, default=None))

    @property
    def weights_and_arena(self) -> Size | None:
        """Those of the setup, from a run that counts if one knows them."""
        return next((size for rung in (*self.counted, *self.rungs) if (size := rung.weights_and_arena) is not None), None)

    @property
    def device(self) -> Size | None:
        """Total memory of the device, from a run that counts if one knows it."""
        return next((rung.receipt.total for rung in (*self.counted, *self.rungs) if rung.receipt.total is not None), None)

    @property
    def overhead(self) -> OverheadBounds:
        """What the runs say about the memory needed beyond weights and arena; nothing when they contradict each other."""
        if self.contradictions:
            return OverheadBounds(None, None)
        failed = [rung.overhead for rung in self.failed if rung.overhead is not None]
        passed = [rung.overhead for rung in self.passed if rung.overhead is not None]
        return OverheadBounds(max(failed, key=lambda size: size.low, default=None), min(passed, key=lambda size: size.high, default=None))


def build_ladders(receipts: Sequence[Receipt]) -> list[Ladder]:
    """One ladder for each profile, in the order in which the profiles first appear.

    Only runs that the selector started count, since only they test its threshold; and only those with the same device, arena and window
    as most runs of the profile, since the threshold is one of that setup.
    """
    profiles: dict[str, list[Receipt]] = {}
    for receipt in receipts:
        profiles.setdefault(receipt.profile, []).append(receipt)
    return [_ladder(profile, own) for profile, own in profiles.items()]


def to_record(ladder: Ladder) -> LadderRecord:
    """The ladder in the shape of the JSON contract. A bracket that is open on one side is told in the notes."""
    threshold, bounds = ladder.threshold, ladder.overhead
    return LadderRecord(
        profile=ladder.profile,
        fails_at=ladder.fails_at,
        passes_at=ladder.passes_at,
        threshold=_closed(threshold.low, threshold.high) if threshold else None,
        overhead=_closed(bounds.more_than.bytes, bounds.at_most.bytes) if bounds.more_than and bounds.at_most else None,
        notes=notes(ladder),
    )


def notes(ladder: Ladder) -> list[str]:
    """What the figures of a ladder do not say by themselves."""
    found = [f"Contradictory runs, so no threshold: {contradiction}." for contradiction in ladder.contradictions]
    if ladder.failed and not ladder.passed:
        found.append("No run that counts passed, so the threshold is only known from below.")
    if ladder.passed and not ladder.failed:
        found.append("No run that counts failed, so the threshold is only known from above.")
    at_most = ladder.overhead.at_most
    if at_most is not None and not at_most.is_exact:
        found.append(f"The printed decimals leave {(at_most.high - at_most.low) / 2e6:.1f} MB of the overhead open either way.")
    for reason in dict.fromkeys(rung.aside for rung in ladder.rungs if not rung.counts):
        amounts = ", ".join(group_digits(rung.receipt.free.bytes) for rung in ladder.rungs if rung.aside == reason)
        found.append(f"Not counted ({amounts} bytes free): {reason}.")
    return found


def _closed(low: int | None, high: int | None) -> dict[str, int] | None:
    return None if low is None or high is None else {"low": low, "high": high}


def _ladder(profile: str, receipts: Sequence[Receipt]) -> Ladder:
    candidates = [receipt for receipt in receipts if receipt.path not in ASIDE] or receipts
    reference = max(candidates, key=lambda candidate: sum(not _other_setup(receipt, candidate) for receipt in candidates))
    rungs = [Rung(receipt, ASIDE.get(receipt.path, "") or _other_setup(receipt, reference)) for receipt in receipts]
    return Ladder(profile, tuple(sorted(rungs, key=lambda rung: (rung.receipt.free.bytes, rung.receipt.outcome))))


def _other_setup(receipt: Receipt, reference: Receipt) -> str:
    """What differs for certain from the setup of another run; empty when nothing does. What is not known differs from nothing."""
    if _differ(receipt.total, reference.total):
        return f"it ran on a device of {receipt.total}, the others on one of {reference.total}"
    if _differ(receipt.arena, reference.arena):
        return f"its arena was {receipt.arena}, that of the others {reference.arena}"
    if receipt.window and reference.window and receipt.window != reference.window:
        return f"its window was {receipt.window}, that of the others {reference.window}"
    return ""


def _differ(one: Size | None, other: Size | None) -> bool:
    return one is not None and other is not None and not one.may_equal(other)
