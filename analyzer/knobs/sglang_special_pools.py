"""Pools of SGLang beside one plain KV pool, as rows of the table: states, sliding windows, host memory, sizes after graph capture."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Run
from analyzer.knobs.sglang_host_cache import host_cache_knobs
from analyzer.knobs.sglang_post_capture import post_capture_knobs
from analyzer.knobs.sglang_states import state_pool_knobs
from analyzer.knobs.sglang_windows import window_pool_knobs
from analyzer.knobs.shown import Shown


def special_pool_knobs(run: Run) -> Iterator[Shown]:
    """The rows of the settings that size them, each in a run that has such a pool."""
    yield from state_pool_knobs(run)
    yield from window_pool_knobs(run)
    yield from host_cache_knobs(run)
    yield from post_capture_knobs(run)
