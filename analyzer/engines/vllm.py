"""What vLLM does with memory, by release. Sources: vllm/worker/gpu_worker.py, vllm/config/cache.py of the releases named."""

from __future__ import annotations

from packaging.version import Version

from analyzer.engines.release import value_since
from analyzer.units import MIB, Size

DEFAULT_UTILIZATION = (("0.2.7", 0.9), ("0.20.0", 0.92))
"""vllm/config/cache.py, CacheConfig.gpu_memory_utilization."""

PINNED_ARENA_SINCE = "0.10.2"
"""First release with kv_cache_memory_bytes."""

SUGGESTION_RESERVE = 150 * MIB
"""Taken off every suggested --kv-cache-memory value, 0.10.2 - 0.33.0 (gpu_worker.py, compile_or_warm_up_model)."""


def default_utilization(version: Version | None) -> float | None:
    """gpu_memory_utilization when nobody sets it."""
    return value_since(DEFAULT_UTILIZATION, version)


def requested_memory(total: Size, utilization: float) -> Size:
    """What the start-up check wants free: utilization x total, in every release with that check (0.9.1 -)."""
    return total * utilization


def largest_passing_utilization(free_at_start: Size, total: Size) -> float:
    """The largest two-decimal utilization whose start-up check this much free memory passes for certain."""
    return max(0, int(100 * free_at_start.low / total.high)) / 100
