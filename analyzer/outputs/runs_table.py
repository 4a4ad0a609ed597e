"""The measured runs of all ladders as one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.outputs.redaction import RedactedAnalysis

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = {
    "profile": "object",
    "path": "object",
    "free": "Int64",
    "outcome": "object",
    "overhead_low": "Int64",
    "overhead_high": "Int64",
    "counts": "bool",
    "aside": "object",
    "source": "object",
}


def runs_table(analysis: RedactedAnalysis) -> DataFrame:
    """One row per run, from little free memory to much within a profile; amounts in bytes, missing where they are not known.

    A run that failed needed more overhead than its row says, one that passed at most that; decimals leave it open from low to high.
    """
    import pandas  # noqa: PLC0415, ICN001 (a page without runs must not pay for it)

    rows = [{"profile": record.profile, **rung.model_dump()} for record in analysis.ladder for rung in record.rungs]
    return pandas.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def rows_to_show(analysis: RedactedAnalysis) -> list[dict[str, object]]:
    """The rows of the table as a page prints them: what is not known is None. Nothing without ladders."""
    if not analysis.ladder:
        return []
    table = runs_table(analysis)
    return [{str(name): value for name, value in row.items()} for row in table.astype(object).where(table.notna(), None).to_dict("records")]
