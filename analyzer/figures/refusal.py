"""An out-of-memory error beside the KV pools, as a bound on what may be given to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.analysis import Phase
from analyzer.cases.model import Event, Rank, Run
from analyzer.engines.interval import rounded_down
from analyzer.units import Size

BESIDE_POOLS = ("warmup", "graph_capture", "serve")
ELSEWHERE = ("resume", "trainer")
"""Places in the code whose memory the KV budget does not explain."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An allocation that was refused, what was free, and what the allocator had reserved in pieces and did not use."""

    tried: Size
    free: Size
    kept: Size
    phase: Phase | None

    def __str__(self) -> str:
        return f"an allocation of {self.tried} was refused with {self.free} free"


def refusals(run: Run, rank: Rank) -> Iterator[Refusal]:
    """The allocations of this rank that were refused beside the pools for want of memory."""
    for event in run.events:
        beside = event.rank in (rank.name, None) and event.phase in BESIDE_POOLS and event.site not in ELSEWHERE
        found = _refusal(event) if beside else None
        if found is not None and found.tried.low > found.free.high:
            yield found


def _refusal(event: Event) -> Refusal | None:
    fields = event.fact.fields if event.kind == "torch_oom" else {}
    tried, free, kept = (fields.get(name) for name in ("tried", "free", "reserved_unallocated"))
    if not isinstance(tried, Size) or not isinstance(free, Size):
        return None
    return Refusal(tried, free, kept if isinstance(kept, Size) else Size.exact(0), event.phase)


def alone_on_card(run: Run) -> bool:
    """Whether no message shows memory of other processes; what they return would move the bounds."""
    return not any("other_processes" in rank.ledger for rank in run.ranks)


def value_to_try(low: float | None, high: float | None) -> float | None:
    """The largest value of two decimals, else of three, up to the upper end; None where there is no such end or nothing up to it."""
    if high is None:
        return None
    values = (rounded_down(high, decimals) for decimals in (2, 3))
    return next((value for value in values if value > 0 and (low is None or low <= value)), None)
