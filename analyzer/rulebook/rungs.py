"""Receipts and judged runs -> ladders."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.cases.ladder import Ladder, build_ladders
from analyzer.cases.model import Run
from analyzer.cases.receipt_files import Reading
from analyzer.cases.receipts import NotARung, Receipt, receipt_from_run
from analyzer.rulebook.judge import Ruling
from analyzer.rulebook.verdict import run_verdict

NO_DEVICE_MEMORY = frozenset(
    {"hang", "host-memory", "not-memory", "pool-accounting", "shared-memory-too-small", "unknown", "workspace-too-small"}
)
"""Causes that more free device memory does not cure, or of which nobody knows whether it would."""


def ladders_of(readings: Sequence[Reading], runs: Sequence[Run], rulings: Sequence[Ruling]) -> tuple[list[Ladder], list[NotARung]]:
    """The ladders of all runs, from receipts and from logs, and the runs that stand on none, with the reason."""
    receipts = [receipt for reading in readings for receipt in reading.receipts]
    left_out = [run for reading in readings for run in reading.left_out]
    for run in runs:
        rung = _rung(run, rulings)
        if isinstance(rung, Receipt):
            receipts.append(rung)
        else:
            left_out.append(rung)
    return build_ladders(receipts), left_out


def _rung(run: Run, rulings: Sequence[Ruling]) -> Receipt | NotARung:
    verdict = run_verdict(run, rulings)
    if verdict is not None and verdict.outcome == "failed" and verdict.cause in NO_DEVICE_MEMORY:
        return NotARung(run.id, f"it did not fail for want of device memory (cause {verdict.cause})")
    return receipt_from_run(run, verdict.outcome if verdict else None)
