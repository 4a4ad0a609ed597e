"""What a failed or healthy run proves about the memory its settings need."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.cases.model import Rank, Run
from analyzer.units import Size


@dataclass(frozen=True)
class Measured:
    """Quantities that follow from the ledger of one rank of one run. Each is None when a figure it needs is not in the log."""

    run: Run
    rank: Rank

    @property
    def arena(self) -> Size | None:
        """The pinned KV arena: to the byte from the arguments, else as the engine printed it."""
        asked = self.run.args.get("kv_cache_memory_bytes")
        return Size.exact(asked) if isinstance(asked, int) and "kv_pinned" in self.rank.ledger else self.rank.size("kv_pinned")

    @property
    def shortfall(self) -> Size | None:
        """What the refused allocation lacked. Zero at least: an allocation can be refused although as much is free."""
        refused, free = self.rank.size("allocation_refused"), self.rank.size("free_at_failure")
        if refused is None or free is None:
            return None
        lacking = refused - free
        return Size(max(lacking.bytes, 0), max(lacking.low, 0), max(lacking.high, 0), "0 B" if lacking.bytes <= 0 else lacking.text)

    @property
    def overhead_spent(self) -> Size | None:
        """Free at start - weights - arena: what was there for everything else, in the engine's own count."""
        free, weights, arena = self.rank.size("free_at_start"), self.rank.size("weights"), self.arena
        return free - weights - arena if free is not None and weights is not None and arena is not None else None

    @property
    def overhead_at_least(self) -> Size | None:
        """A lower bound of the overhead in the engine's count: a run that failed lacked `shortfall` more than it had."""
        spent, lacking = self.overhead_spent, self.shortfall
        return spent + lacking if spent is not None and lacking is not None else None

    @property
    def need_at_least(self) -> Size | None:
        """A lower bound of the threshold, in the selector's discounted bytes: what it had available, plus the shortfall."""
        available, lacking = self.run.choice.available, self.shortfall
        return available + lacking if available is not None and lacking is not None else None

    @property
    def selector_overhead_at_least(self) -> Size | None:
        """The same bound as an overhead beyond weights and arena, in the selector's discounted bytes."""
        need, weights, arena = self.need_at_least, self.rank.size("weights"), self.arena
        return need - weights - arena if need is not None and weights is not None and arena is not None else None
