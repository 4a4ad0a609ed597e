"""The process clauses of an out-of-memory message: which one is the engine itself, and what others hold.

NVML reports host process ids, so inside a container the engine's own process carries a foreign number. Source of the clauses:
c10/cuda/CUDACachingAllocator.cpp of torch 2.1 and later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.units import Size


@dataclass(frozen=True)
class DeviceUse:
    """Memory in use on the device at the moment of a refused allocation, by process."""

    own: Size | None
    own_front_end: Size | None
    """Contexts of this engine's other processes (API server, sibling ranks), known by their pids."""
    others: Size | None
    other_pids: tuple[int, ...]

    @property
    def beside(self) -> Size | None:
        """What all processes but this one hold, the engine's own ones included."""
        return _total([size for size in (self.others, self.own_front_end) if size is not None])

    @property
    def described(self) -> str:
        """Whose memory `beside` is, in words."""
        strangers = f"processes {', '.join(map(str, self.other_pids))}" if self.other_pids else ""
        return " and ".join(part for part in (strangers, "this engine's other processes" if self.own_front_end is not None else "") if part)


def device_use(
    this_process: Size | None, processes: Sequence[Mapping[str, Any]], allocated: Size | None, own_pids: frozenset[int]
) -> DeviceUse:
    """Sort the clauses. Without a clause for this process, the one process that holds at least what PyTorch allocated is taken for it.

    Where more than one could be it, or nothing tells what it holds, what others hold is not known either.
    """
    known = [
        (clause.get("pid"), clause["in_use"])
        for clause in processes
        if isinstance(clause.get("in_use"), Size) and clause["in_use"].bytes > 0
    ]
    own, rest = this_process, known
    if own is None:
        holders = [entry for entry in known if allocated is None or entry[1].high >= allocated.low]
        sure = len(holders) == 1 and allocated is not None
        own = holders[0][1] if sure else None
        rest = [entry for entry in known if entry not in holders] if sure or not holders else []
    family = [size for pid, size in rest if pid in own_pids]
    strangers = [(pid, size) for pid, size in rest if pid not in own_pids]
    return DeviceUse(
        own, _total(family), _total([size for _, size in strangers]), tuple(pid for pid, _ in strangers if isinstance(pid, int))
    )


def _total(sizes: Sequence[Size]) -> Size | None:
    if not sizes:
        return None
    total = sizes[0]
    for size in sizes[1:]:
        total = total + size
    return total
