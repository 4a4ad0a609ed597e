"""vLLM's pinned KV arena (kv_cache_memory_bytes, 0.10.2 -): what it switches off, and how large it may be.

Source: vllm/v1/worker/gpu_worker.py, determine_available_memory, checked at 0.10.2 and 0.33.0. The value is per card, in bytes.
From 0.26.0 a plan kept on disk can pin it without an argument (VLLM_ENABLE_STARTUP_PLAN; "Applying persisted startup plan").
"""

from __future__ import annotations

from packaging.version import Version

from analyzer.engines.release import is_within
from analyzer.units import Size

SKIPPED = (
    "measuring memory while profiling",
    "the estimate of CUDA graphs",
    "the line with the available KV cache memory",
    "the ledger line with suggested sizes",
    "the check that free memory did not grow while profiling",
)
"""What a pinned arena makes the engine leave out."""

STILL_DONE = (
    "the start-up check of free memory against utilization x total",
    "the profiling forward pass",
    "kernel autotuning",
    "CUDA graph capture",
    "sampler warm-up",
)
"""What it does not: each of these can still run out of memory, and the first still depends on the utilization."""

DECODE_RESERVE_SINCE = "0.25.0"
"""First release that takes a front end's multimodal decoding reserve off the pinned size too."""


def arena_in_effect(pinned: Size, version: Version, decode_reserve: Size | None = None) -> Size:
    """The KV cache that a pinned arena gives: all of it, from 0.25.0 less the multimodal decoding reserve."""
    return pinned - decode_reserve if decode_reserve is not None and is_within(version, DECODE_RESERVE_SINCE) else pinned


def largest_arena(free_at_start: Size, weights: Size, overhead: Size) -> Size:
    """free at start - weights - overhead: what is left for the arena. `overhead` is what all else took in a run that served."""
    return free_at_start - weights - overhead


def arena_after_refusal(pinned: Size, refused: Size, free_at_failure: Size) -> Size:
    """An upper bound from a run that ran out: the arena, less what the refused allocation lacked. Later allocations may want more."""
    return pinned - (refused - free_at_failure)


def arena_from_two_runs(pinned: Size, free_when_it_served: Size, free_when_it_failed: Size) -> Size:
    """The arena that surely starts where the failed run did: smaller by what the failed run had less at the start.

    Both runs had the same arena and arguments; `free` is the engine's own figure ("Initial free memory").
    """
    return pinned - (free_when_it_served - free_when_it_failed)
