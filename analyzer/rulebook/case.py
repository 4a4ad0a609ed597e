"""The case a rulebook judges: the runs of all logs together, the settings given beside them, and the ladders of all runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from analyzer.cases.ladder import Ladder
from analyzer.cases.ladder_overhead import Constancy, constancy
from analyzer.cases.ladder_thresholds import Recommendation, recommend
from analyzer.cases.model import Run
from analyzer.cases.receipts import NotARung, Receipt
from analyzer.settings.errors import Problem
from analyzer.settings.model import Settings
from analyzer.units import Size


@dataclass(frozen=True)
class Case:
    """`most_free` is the most raw free memory that an instrument can leave, `total` the device, where the user or a receipt says so."""

    runs: Sequence[Run]
    settings: Settings | None = None
    ladders: Sequence[Ladder] = ()
    left_out: Sequence[NotARung] = ()
    """Runs that stand on no ladder, and why."""
    problems: Sequence[Problem] = ()
    """Values of the settings that cannot be meant; the settings are without them."""
    most_free: int | None = None
    total: int | None = None

    @property
    def measured_run(self) -> Run | None:
        """The run whose figures speak for the profiles: the last one that measured anything."""
        return next((run for run in reversed(self.runs) if run.ranks), self.runs[-1] if self.runs else None)

    @cached_property
    def constancy(self) -> Constancy:
        """Whether one overhead explains the ladders of several profiles."""
        return constancy(self.ladders)

    @cached_property
    def recommendations(self) -> Mapping[str, Recommendation]:
        """What the ladders recommend as thresholds, by profile."""
        return {found.profile: found for found in recommend(self.ladders, self.constancy)}

    @cached_property
    def device(self) -> Size | None:
        """Total memory of the device, as the selector counts it: as given, else as receipts or selectors of logs tell it."""
        if self.total is not None:
            return Size.exact(self.total)
        totals = [size for receipt in self.receipts if (size := receipt.total) is not None]
        totals += [run.choice.total for run in self.runs if run.choice.total is not None]
        return min(totals, key=lambda size: size.high - size.low, default=None)

    @cached_property
    def instrument_reach(self) -> int | None:
        """The most raw free memory there can be while probing: as given, else as a receipt tells it; None when nothing does."""
        told = [receipt.free_without_ballast.high for receipt in self.receipts if receipt.free_without_ballast is not None]
        return self.most_free if self.most_free is not None else max(told, default=None)

    @property
    def compares_runs(self) -> bool:
        """Whether there is a ladder to speak of: runs from receipts, or two runs of one profile."""
        logged = {run.id for run in self.runs}
        return any(len(ladder.rungs) > 1 for ladder in self.ladders) or any(receipt.source not in logged for receipt in self.receipts)

    @property
    def weights(self) -> Size | None:
        """The weights that a receipt states."""
        return next((receipt.weights for receipt in self.receipts if receipt.weights is not None), None)

    @property
    def receipts(self) -> list[Receipt]:
        return [rung.receipt for ladder in self.ladders for rung in ladder.rungs]

    def ladder_of(self, profile: str) -> Ladder | None:
        return next((ladder for ladder in self.ladders if ladder.profile == profile), None)
