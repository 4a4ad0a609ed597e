"""Overhead across profiles: whether all need the same beyond weights and arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from analyzer.cases.ladder import Ladder
from analyzer.cases.receipts import Receipt
from analyzer.units import Size, group_digits

Constant: TypeAlias = Literal["constant", "not constant", "cannot tell"]

SAME_WITHIN = 0.01
"""Passing overheads this close, as a share of the largest, may stand for one figure. Wider brackets intersect by being wide."""


@dataclass(frozen=True)
class Constancy:
    """Whether one overhead explains the runs of all profiles. `verdict` speaks of `profiles`; `exceptions` are those it does not hold for.

    `low` < a common overhead <= `high`, in bytes. `passing` is the least overhead with which each bracketed profile passed; `spread` is the
    largest difference of these among `profiles`, in bytes and as `percent` of the largest. `may_differ_by` is how far apart the true
    overheads can still lie, since each is only bracketed. Where all weights are the same printed figure, of one model, they cancel in
    these differences, and their decimals leave nothing open.
    """

    verdict: Constant
    profiles: tuple[str, ...]
    exceptions: tuple[str, ...]
    passing: Mapping[str, Size]
    low: int | None
    high: int | None
    spread: int | None
    percent: float | None
    may_differ_by: int | None
    reason: str

    @property
    def common(self) -> int | None:
        """The least overhead with which every one of `profiles` has passed, in bytes; None when it is not constant."""
        return max(self.passing[profile].bytes for profile in self.profiles) if self.verdict == "constant" else None


def constancy(ladders: Sequence[Ladder]) -> Constancy:
    """Tests whether the overhead is constant across the profiles of which a run failed and a run passed.

    Each ladder brackets the overhead of its profile. The overhead is
    - constant, when the brackets of more than half of these profiles, and of two at least, share a value, and the overheads with which
      those passed lie within `SAME_WITHIN` of each other;
    - not constant, when no such majority shares a value;
    - untold, when fewer than two profiles are bracketed, or when brackets share a value only because they are wide.
    """
    brackets = _brackets(ladders)
    passing = {ladder.profile: size for ladder in ladders if ladder.profile in brackets and (size := ladder.overhead.at_most)}
    profiles = tuple(brackets)
    if len(profiles) < 2:
        reason = "it takes two profiles with a run that failed and a run that passed"
        return Constancy("cannot tell", profiles, (), passing, None, None, None, None, None, reason)
    sharing = max((_sharing(brackets, high) for _, high in sorted(brackets.values(), key=lambda bracket: bracket[1])), key=len)
    if 2 * len(sharing) <= len(profiles):
        reason = "their brackets share no value: " + "; ".join(_bracket(profile, brackets[profile]) for profile in profiles)
        return Constancy("not constant", profiles, (), passing, None, None, *_spread(passing, profiles), _apart(brackets, profiles), reason)
    low, high = max(brackets[profile][0] for profile in sharing), min(brackets[profile][1] for profile in sharing)
    spread, percent = _spread(passing, sharing)
    exceptions = tuple(profile for profile in brackets if profile not in sharing)
    reason = f"{' and '.join(sharing)} passed with overheads {group_digits(spread)} bytes ({percent:.3f} %) apart"
    reason += "".join(f"; not so {_bracket(profile, brackets[profile])}" for profile in exceptions)
    verdict: Constant = "constant" if percent <= 100 * SAME_WITHIN else "cannot tell"
    return Constancy(verdict, sharing, exceptions, passing, low, high, spread, percent, _apart(brackets, sharing), reason)


def _brackets(ladders: Sequence[Ladder]) -> dict[str, tuple[int, int]]:
    """Of each profile with both bounds, the interval (low, high] in which its overhead lies."""
    weights = {(size.low, size.high) for ladder in ladders for rung in ladder.counted if (size := rung.receipt.weights) is not None}
    comparable = [_with_weights_as_printed(ladder) for ladder in ladders] if len(weights) == 1 else ladders
    bounds = {ladder.profile: ladder.overhead for ladder in comparable}
    return {profile: (found.more_than.low, found.at_most.high) for profile, found in bounds.items() if found.more_than and found.at_most}


def _with_weights_as_printed(ladder: Ladder) -> Ladder:
    """For differences between ladders with one figure for the weights: whatever it leaves open is the same in all of them."""
    return replace(ladder, rungs=tuple(replace(rung, receipt=_as_printed(rung.receipt)) for rung in ladder.rungs))


def _as_printed(receipt: Receipt) -> Receipt:
    return receipt if receipt.weights is None else replace(receipt, weights=Size.exact(receipt.weights.bytes))


def _sharing(brackets: Mapping[str, tuple[int, int]], value: int) -> tuple[str, ...]:
    return tuple(profile for profile, (low, high) in brackets.items() if low < value <= high)


def _spread(passing: Mapping[str, Size], profiles: Sequence[str]) -> tuple[int, float]:
    amounts = [passing[profile].bytes for profile in profiles]
    spread = max(amounts) - min(amounts)
    return spread, 100 * spread / max(amounts) if max(amounts) > 0 else 0.0


def _apart(brackets: Mapping[str, tuple[int, int]], profiles: Sequence[str]) -> int:
    """The largest difference between the true overheads of two of the profiles that their brackets allow."""
    return max(brackets[one][1] - brackets[other][0] for one in profiles for other in profiles if one != other)


def _bracket(profile: str, bracket: tuple[int, int]) -> str:
    return f"{profile}, which needs more than {group_digits(bracket[0])} and at most {group_digits(bracket[1])}"
