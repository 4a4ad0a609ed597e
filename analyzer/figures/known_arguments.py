"""Which arguments a run's release takes, so that nothing is advised which it would refuse."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.version import Version

from analyzer.cases.model import Run
from analyzer.engines import omni, sglang_arguments, vllm_arguments
from analyzer.engines.argument import Argument, is_known
from analyzer.figures.sglang_figures import is_omni
from analyzer.figures.sglang_launch_of_run import sampled_releases

TABLES = {"sglang": sglang_arguments.ARGUMENTS, "vllm": vllm_arguments.ARGUMENTS}


def takes(run: Run | None, knob: str) -> bool:
    """Whether the run's release takes an argument; what cannot be told counts as taken."""
    if run is None or run.engine is None:
        return True
    rows = _rows(omni.ARGUMENTS, knob) if run.engine == "sglang" and is_omni(run) else []
    if rows:
        return _any_takes(rows, (omni.omni_release(run.version, run.by_kind),))
    rows, release = _rows(TABLES[run.engine], knob), _release_of_engine(run)
    untold = run.engine == "sglang" and release is None and not is_omni(run)
    return not rows or _any_takes(rows, (untold and sampled_releases(run)) or (release,))


def _any_takes(rows: Sequence[Argument], releases: Sequence[Version | None]) -> bool:
    return any(is_known(row, release) is not False for row in rows for release in releases)


def _rows(table: Sequence[Argument], knob: str) -> list[Argument]:
    return [row for row in table if row.name == knob]


def _release_of_engine(run: Run) -> Version | None:
    """The run's release; of the SGLang inside, where the log names that of sglang-omni."""
    outside = is_omni(run) and run.version is not None and omni.is_release_of_omni(run.version)
    return omni.sglang_release(run.version) if outside else run.version
