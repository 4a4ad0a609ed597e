"""Whether a start found less free memory than the start before it in the same log: what a dead server may have left behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.cases.model import Item, Rank, Run
from analyzer.cases.runs import ENGINES
from analyzer.units import Size

AT_LEAST = 0.05
"""Of the free memory then: smaller differences are contexts and buffers that come and go."""


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """`less` is what is missing at the start, on the rank that misses most; `before` is the id of the earlier run."""

    before: str
    rank: str
    less: Size


def left_behind(runs: Sequence[Run], run: Run) -> LeftBehind | None:
    """Against the nearest earlier run of the same log and engine with figures for the same ranks; None when nothing is missing."""
    for earlier in reversed(runs[: runs.index(run)]):
        if earlier.source != run.source or earlier.engine != run.engine:
            continue
        pairs = [(rank, other) for rank in run.ranks for other in earlier.ranks if rank.name == other.name]
        found = [(rank.name, less) for rank, other in pairs if (less := _less(rank, other)) is not None]
        if found:
            name, less = max(found, key=lambda entry: entry[1].bytes)
            return LeftBehind(earlier.id, name, less)
    return None


def _less(rank: Rank, earlier: Rank) -> Size | None:
    """What the earlier start had more, of figures that the engine itself printed; a selector counts in its own way."""
    now, then = rank.ledger.get("free_at_start"), earlier.ledger.get("free_at_start")
    if now is None or then is None or {_family(now), _family(then)} - set(ENGINES):
        return None
    less = then.size - now.size
    return less if less.low > then.size.bytes * AT_LEAST else None


def _family(item: Item) -> str | None:
    return item.fact.family if item.fact is not None else None
