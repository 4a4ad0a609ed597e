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
    """The ladders of all runs, from receipts and from logs, and the runs that stand on none, with the reason.

    A run of the log that a receipt quotes is the receipt's own: it tells why the run failed, and is no second rung.
    """
    receipts = [receipt for reading in readings for receipt in reading.receipts]
    quoted = {log_name(receipt): receipt for receipt in receipts if receipt.log}
    rungs: list[Receipt | NotARung] = [_of_receipt(receipt, runs, rulings) for receipt in receipts]
    rungs += [run for reading in readings for run in reading.left_out]
    rungs += [_of_log(run, rulings) for run in runs if run.source not in quoted]
    return build_ladders([rung for rung in rungs if isinstance(rung, Receipt)]), [rung for rung in rungs if isinstance(rung, NotARung)]


def log_name(receipt: Receipt) -> str:
    """How the log that a receipt quotes is named among the inputs."""
    return f"{receipt.source}: log"


def _of_receipt(receipt: Receipt, runs: Sequence[Run], rulings: Sequence[Ruling]) -> Receipt | NotARung:
    own = [run for run in runs if run.source == log_name(receipt)] if receipt.log and receipt.outcome == "fail" else []
    causes = [verdict.cause for run in own if (verdict := run_verdict(run, rulings)) is not None and verdict.cause != "unknown"]
    return _no_rung(receipt.source, causes[-1]) if causes and causes[-1] in NO_DEVICE_MEMORY else receipt


def _of_log(run: Run, rulings: Sequence[Ruling]) -> Receipt | NotARung:
    verdict = run_verdict(run, rulings)
    if verdict is not None and verdict.outcome == "failed" and verdict.cause in NO_DEVICE_MEMORY:
        return _no_rung(run.id, verdict.cause)
    return receipt_from_run(run, verdict.outcome if verdict else None)


def _no_rung(source: str, cause: str) -> NotARung:
    return NotARung(source, f"it did not fail for want of device memory (cause {cause})")
