"""From one log and changed settings: the outcome of each check of the next start, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.analysis import CheckRecord
from analyzer.cases.model import Run
from analyzer.engines.checks import Check, not_shown
from analyzer.what_if.planned import COMPUTED, Planned, planned_after
from analyzer.what_if.refuted import REFUTED, is_refuted
from analyzer.what_if.sglang_checks import sglang_checks
from analyzer.what_if.vllm_checks import vllm_checks


def predict(run: Run, planned: Planned) -> list[Check]:
    """The checks that the figures of the run allow, of the rank that allows most; later ones are made even where one fails.

    Of ranks that allow as many, the one that fails most counts: a start needs all of them. A check that by these figures would have
    ended otherwise in the run itself is not made: something that counts is not among them.
    """
    refuted = {check.name for check in _checks(run, planned_after(run, {}, 0)) if is_refuted(run, check)}
    return [not_shown(check.name, REFUTED) if check.name in refuted else check for check in _checks(run, planned)]


def _checks(run: Run, planned: Planned) -> list[Check]:
    checks = vllm_checks if run.engine == "vllm" else sglang_checks
    found = [list(checks(run, rank, planned)) for rank in run.ranks]
    return max(found, key=lambda row: (len(row), sum(check.outcome == "fails" for check in row)), default=[])


def check_records(checks: Sequence[Check]) -> list[CheckRecord]:
    """The checks as the result has them."""
    return [CheckRecord(name=check.name, outcome=check.outcome, why=check.why) for check in checks]


def uncomputed(run: Run, changed: Sequence[str] | Mapping[str, Any]) -> list[str]:
    """That an argument changes amounts which no figure of the run tells, for each such argument."""
    known = COMPUTED[run.engine] if run.engine is not None else ()
    return [
        f"What {name} changes, these figures do not tell; the checks are made as if it changed nothing."
        for name in changed
        if name not in known
    ]
