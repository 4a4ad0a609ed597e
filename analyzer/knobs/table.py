"""The settings of a run that bear on memory: value in effect, where it comes from, the interval that works, what a change does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from analyzer.analysis import KnobRecord
from analyzer.cases.model import Run
from analyzer.engines.interval import rounded_down, rounded_up
from analyzer.knobs.omni import omni_knobs
from analyzer.knobs.sglang import sglang_knobs
from analyzer.knobs.sglang_special_pools import special_pool_knobs
from analyzer.knobs.shown import Shown
from analyzer.knobs.vllm import vllm_knobs
from analyzer.units import format_bytes

DECIMALS = 3


def knobs(run: Run) -> list[KnobRecord]:
    """The rows of the table, those of which the log shows nothing left out."""
    rows: Iterator[Shown] = iter(())
    if run.engine == "sglang":
        rows = chain(sglang_knobs(run), special_pool_knobs(run), omni_knobs(run))
    elif run.engine == "vllm":
        rows = vllm_knobs(run)
    return [_record(row) for row in rows if row.value is not None or not row.bounds.is_open]


def _record(row: Shown) -> KnobRecord:
    low, high = _on_grid(row.bounds.low, rounded_up), _on_grid(row.bounds.high, rounded_down)
    at_least = f"at least {_written(row.knob, low)} ({row.bounds.low_because})" if low is not None else ""
    at_most = f"at most {_written(row.knob, high)} ({row.bounds.high_because})" if high is not None else ""
    works = "; ".join(filter(None, (", ".join(filter(None, (at_least, at_most))), row.note)))
    if row.bounds.is_empty:
        works = f"no value works: {works}; {row.instead}"
    return KnobRecord(knob=row.knob, value=row.value, source=row.source, low=low, high=high, works=works, effect=row.effect)


def _on_grid(end: float | None, rounded: Callable[[float, int], float]) -> int | float | None:
    return end if end is None or isinstance(end, int) else rounded(end, DECIMALS)


def _written(knob: str, value: int | float) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return format_bytes(value) if knob.endswith("_bytes") else str(value)
