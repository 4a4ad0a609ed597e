"""Which arguments a run's release takes, so that nothing is advised which it would refuse."""

from __future__ import annotations

from analyzer.cases.model import Run
from analyzer.engines import sglang_arguments, vllm_arguments
from analyzer.engines.argument import is_known

TABLES = {"sglang": sglang_arguments.ARGUMENTS, "vllm": vllm_arguments.ARGUMENTS}


def takes(run: Run | None, knob: str) -> bool:
    """Whether the run's release takes an argument; what cannot be told counts as taken."""
    if run is None or run.engine is None:
        return True
    rows = [row for row in TABLES[run.engine] if row.name == knob]
    return not rows or any(is_known(row, run.version) is not False for row in rows)
