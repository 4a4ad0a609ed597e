"""Whether the parts of one report agree: advice, the table of settings, and the checks of the next start."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.analysis import Advice, KnobRecord
from analyzer.cases.model import Run
from analyzer.pipeline import Result
from analyzer.what_if.planned import COMPUTED, planned_after
from analyzer.what_if.prediction import predict


def contradictions(result: Result) -> list[str]:
    """Advice that the table rules out, or that its own figures show to fail; of reports on one run."""
    if len(result.case.runs) != 1:
        return []
    (run,), (record,) = result.case.runs, result.analysis.runs
    rows = {row.knob: row for row in record.knobs}
    found = []
    for entry in result.analysis.verdict.advice:
        found += [f"{entry.knob} {entry.direction} {entry.value}: {why}" for why in _against(entry, rows.get(entry.knob), run)]
    return found


def _against(entry: Advice, row: KnobRecord | None, run: Run) -> Iterator[str]:
    value = entry.value if isinstance(entry.value, (int, float)) else None
    if row is not None and entry.direction in ("raise", "lower", "set"):
        yield from _against_table(entry, value, row)
    if value is not None and entry.direction != "none" and run.engine is not None and entry.knob in COMPUTED[run.engine]:
        yield from (
            str(check) for check in predict(run, planned_after(run, {entry.knob: value}, 0)) if check.outcome == "fails" and check.stops
        )


def _against_table(entry: Advice, value: float | None, row: KnobRecord) -> Iterator[str]:
    shown = row.value if isinstance(row.value, (int, float)) else None
    if value is not None and ((row.low is not None and value < row.low) or (row.high is not None and value > row.high)):
        yield f"the table says {row.works}"
    if value is None and shown is not None and entry.direction == "raise" and row.high is not None and row.high <= shown:
        yield f"it is {shown}, and the table says {row.works}"
    if value is None and shown is not None and entry.direction == "lower" and row.low is not None and row.low >= shown:
        yield f"it is {shown}, and the table says {row.works}"
