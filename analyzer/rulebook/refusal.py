"""An out-of-memory error beside the KV pools, as a bound on what may be given to them."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Event, Rank, Run
from analyzer.engines.interval import rounded_down
from analyzer.units import Size

BESIDE_POOLS = ("warmup", "graph_capture", "serve")
ELSEWHERE = ("resume", "trainer")
"""Places in the code whose memory the KV budget does not explain."""


def refusals(run: Run, rank: Rank) -> Iterator[tuple[Size, Size]]:
    """(refused, free to the allocator) of each allocation of this rank that was refused for want of memory beside the pools."""
    for event in run.events:
        if event.rank not in (rank.name, None) or event.phase not in BESIDE_POOLS or event.site in ELSEWHERE:
            continue
        refused, free = _figures(event)
        if refused is not None and free is not None and refused.low > free.high:
            yield refused, free


def _figures(event: Event) -> tuple[Size | None, Size | None]:
    """What the allocator had reserved and not used counts as free: a bound from it holds whatever was fragmented."""
    fields = event.fact.fields if event.kind == "torch_oom" else {}
    refused, free, kept = (fields.get(name) for name in ("tried", "free", "reserved_unallocated"))
    if not isinstance(refused, Size) or not isinstance(free, Size):
        return None, None
    return refused, free + kept if isinstance(kept, Size) else free


def alone_on_card(run: Run) -> bool:
    """Whether no message shows memory of other processes; what they return would move the bounds."""
    return not any("other_processes" in rank.ledger for rank in run.ranks)


def value_to_try(low: float | None, high: float | None) -> float | None:
    """The largest value of two decimals below the upper end; None where there is no upper end or nothing between the two."""
    value = rounded_down(high, 2) if high is not None else None
    return value if value is not None and value > 0 and (low is None or low <= value) else None
