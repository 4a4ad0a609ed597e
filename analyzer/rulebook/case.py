"""The case a rulebook judges: the runs of all logs together, and the settings given beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.cases.model import Run
from analyzer.settings.model import Settings


@dataclass(frozen=True)
class Case:
    runs: Sequence[Run]
    settings: Settings | None = None

    @property
    def measured_run(self) -> Run | None:
        """The run whose figures speak for the profiles: the last one that measured anything."""
        return next((run for run in reversed(self.runs) if run.ranks), self.runs[-1] if self.runs else None)
