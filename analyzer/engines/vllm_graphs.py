"""Whether vLLM's KV budget leaves room for CUDA graphs, by release, platform and model runner.

Source: vllm/envs.py (VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS), vllm/v1/worker/gpu_worker.py and gpu_model_runner.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from packaging.version import Version

from analyzer.engines.release import is_within, value_since
from analyzer.units import Size

Platform = Literal["cuda", "rocm", "xpu"]

ESTIMATED_SINCE: dict[Platform, str] = {"cuda": "0.18.0", "rocm": "0.26.0", "xpu": "0.31.0"}
"""First release in which a platform estimates its graphs at all."""

DEDUCTED_BY_DEFAULT = (("0.18.0", False), ("0.20.0", True))
"""VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS when nobody sets it. The log dates the change to 0.21.0; it came with 0.20.0."""

SECOND_RUNNER_ESTIMATES_SINCE = "0.29.0"
"""Before, the second model runner estimates zero, so nothing is deducted whatever the variable says."""


def graphs_deducted(
    version: Version | None, platform: Platform = "cuda", runner: Literal["first", "second"] = "first", asked: bool | None = None
) -> bool | None:
    """Whether the estimated graphs come off the KV budget. `asked` is the environment variable, None where it is not set.

    None when the release is unknown. Where it is False, graphs live in what the utilization leaves free.
    """
    if version is None:
        return None
    if not is_within(version, ESTIMATED_SINCE[platform]):
        return False
    if runner == "second" and not is_within(version, SECOND_RUNNER_ESTIMATES_SINCE):
        return False
    return asked if asked is not None else value_since(DEDUCTED_BY_DEFAULT, version)


@dataclass(frozen=True, slots=True)
class EquivalentUtilization:
    """The two values of the engine's hint: the utilization that gives the same pool without the deduction, and the one that makes up
    for it."""

    without_deduction: float
    to_make_up: float


def equivalent_utilization(utilization: float, graphs: Size, total: Size) -> EquivalentUtilization:
    """utilization - graphs / total and utilization + graphs / total, at most 1, to four decimals (0.18.0 -, gpu_worker.py)."""
    share = graphs.bytes / total.bytes
    return EquivalentUtilization(round(utilization - share, 4), round(min(1.0, utilization + share), 4))
