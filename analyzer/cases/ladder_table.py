"""Ladders as a table for reports and plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analyzer.cases.ladder import Ladder, Rung

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = {
    "profile": "object",
    "path": "object",
    "free": "Int64",
    "outcome": "object",
    "overhead": "Int64",
    "overhead_low": "Int64",
    "overhead_high": "Int64",
    "counts": "bool",
    "note": "object",
    "source": "object",
}


def ladder_table(ladders: Sequence[Ladder]) -> DataFrame:
    """One row per run, from little free memory to much within a profile; amounts in bytes, missing where they are not known.

    A run that failed needed more overhead than its row says, one that passed at most that; decimals leave it open from low to high.
    """
    import pandas  # noqa: PLC0415, ICN001 (a run without tables must not pay for it)

    rows = [_row(ladder.profile, rung) for ladder in ladders for rung in ladder.rungs]
    return pandas.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _row(profile: str, rung: Rung) -> tuple[object, ...]:
    receipt, spent = rung.receipt, rung.overhead
    amounts = (None, None, None) if spent is None else (spent.bytes, spent.low, spent.high)
    return (profile, receipt.path, receipt.free.bytes, receipt.outcome, *amounts, rung.counts, rung.aside, receipt.source)
