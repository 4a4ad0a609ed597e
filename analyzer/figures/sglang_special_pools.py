"""Pools of SGLang beside one plain KV pool, when one of them is refused: states, sliding windows, host memory."""

from __future__ import annotations

from typing import Any

from analyzer.cases.model import Event, Run
from analyzer.figures.sglang_host_cache import host_figures
from analyzer.figures.sglang_state_figures import state_figures
from analyzer.figures.sglang_windows import window_figures


def special_pool_figures(run: Run, event: Event) -> dict[str, Any]:
    """What such a pool lacked when it was refused, under the names that rules use."""
    return state_figures(run, event) | window_figures(run, event) | host_figures(run, event)
