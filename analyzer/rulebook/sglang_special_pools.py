"""Pools of SGLang beside one plain KV pool: states, sliding windows, host memory, sizes after graph capture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzer.cases.model import Event, Run
from analyzer.rulebook.sglang_host_cache import host_cache_knobs, host_figures
from analyzer.rulebook.sglang_post_capture_pool import post_capture_knobs
from analyzer.rulebook.sglang_state_figures import state_figures
from analyzer.rulebook.sglang_state_knobs import state_pool_knobs
from analyzer.rulebook.sglang_windows import window_figures, window_pool_knobs
from analyzer.rulebook.shown import Shown


def special_pool_knobs(run: Run) -> Iterator[Shown]:
    """The rows of the settings that size them, each in a run that has such a pool."""
    yield from state_pool_knobs(run)
    yield from window_pool_knobs(run)
    yield from host_cache_knobs(run)
    yield from post_capture_knobs(run)


def special_pool_figures(run: Run, event: Event) -> dict[str, Any]:
    """What such a pool lacked when it was refused, under the names that rules use."""
    return state_figures(run, event) | window_figures(run, event) | host_figures(run, event)
