"""The comparison of two runs -> its record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analyzer.analysis import ArgumentDifference, ComparisonRecord, ItemChange, SizeRecord
from analyzer.cases.comparison import Comparison, compare, pair_of
from analyzer.cases.model import Run
from analyzer.engines.release_changes import release_changes
from analyzer.figures.sglang_launch_of_run import sampled_releases

NOT_SET = "not set"


def comparison_record(runs: Sequence[Run]) -> ComparisonRecord | None:
    """What differs between two runs of one engine; None for any other number of runs, or when nothing can be compared."""
    pair = pair_of(runs)
    if pair is None:
        return None
    found = _record(compare(*pair))
    return found if found.items or found.same or found.arguments or found.others or found.releases else None


def _record(found: Comparison) -> ComparisonRecord:
    certain = [change for change in found.changes if change.is_certain]
    return ComparisonRecord(
        before=found.before.id,
        after=found.after.id,
        items=[
            ItemChange(
                rank=change.rank,
                item=change.item,
                before=SizeRecord.of(change.before),
                after=SizeRecord.of(change.after),
                grew=SizeRecord.of(change.grew),
            )
            for change in certain
        ],
        same=len(found.changes) - len(certain),
        arguments=[
            ArgumentDifference(name=change.name, before=_written(change.before), after=_written(change.after)) for change in found.arguments
        ],
        others=list(found.others),
        releases=_release_changes(found.before, found.after),
        arena=found.arena.low if found.arena is not None else None,
    )


def _release_changes(before: Run, after: Run) -> list[str]:
    """What certainly changed between the two: of releases that only the arguments tell, between the ends nearest to each other."""
    first, second = sampled_releases(before), sampled_releases(after)
    if after.engine is None or not first or not second:
        return []
    if max(first) <= min(second):
        return release_changes(after.engine, max(first), min(second))
    return release_changes(after.engine, min(first), max(second)) if max(second) <= min(first) else []


def _written(value: Any) -> str:
    return NOT_SET if value is None else str(value)
