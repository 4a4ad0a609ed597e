"""From one log and changed settings: the outcome of each check of the next start, in order."""

from __future__ import annotations

from analyzer.cases.model import Run
from analyzer.engines.checks import Check
from analyzer.rulebook.planned import Planned
from analyzer.rulebook.sglang_prediction import sglang_checks
from analyzer.rulebook.vllm_prediction import vllm_checks


def predict(run: Run, planned: Planned) -> list[Check]:
    """The checks that the figures of the run allow, of the rank that allows most; later ones are made even where one fails.

    Of ranks that allow as many, the one that fails most counts: a start needs all of them.
    """
    checks = vllm_checks if run.engine == "vllm" else sglang_checks
    found = [list(checks(run, rank, planned)) for rank in run.ranks]
    return max(found, key=lambda row: (len(row), sum(check.outcome == "fails" for check in row)), default=[])
