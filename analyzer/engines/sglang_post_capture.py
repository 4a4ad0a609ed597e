"""SGLang's pools sized after graph capture (0.5.16 -, SGLANG_ENABLE_POST_CAPTURE_KV_SIZING, off by default).

Source: model_runner_components/kv_pool_runtime.py (0.5.19 -), model_runner.py before.
"""

from __future__ import annotations

from analyzer.engines.sglang import static_reserve
from analyzer.engines.sglang_launch import Launch
from analyzer.engines.sglang_pool import NOTHING
from analyzer.engines.sglang_reserve import FLOOR_MIB, LARGE_CARD_MIB, activation_tokens
from analyzer.units import MIB, Size


def activation_reserve(launch: Launch) -> Size:
    """What is kept free where graphs do not cover all work: 512 + 1.5 x tokens + tp x pp / 8 GiB, at least 10 GiB on a large card."""
    mib = 512 + 1.5 * activation_tokens(launch) + launch.tp * launch.pp / 8 * 1024
    if launch.card_mib is not None and launch.card_mib > LARGE_CARD_MIB:
        mib = max(mib, FLOOR_MIB)
    return Size.exact(mib * MIB)


def headroom(pre: Size, fraction: float, uncovered: Size | None = None) -> Size:
    """What the second sizing leaves free: pre x (1 - fraction), at least `uncovered`.

    `uncovered` is `activation_reserve` for a model with recurrent states, and where the decode graphs stop below
    max_running_requests; None otherwise.
    """
    share = static_reserve(pre, fraction)
    return uncovered if uncovered is not None and uncovered.bytes > share.bytes else share


def budget_after_capture(free: Size, kept: Size, backed: Size, multimodal: Size = NOTHING) -> Size:
    """The final size of the pools: free after capture - headroom - multimodal caches, at least zero, plus what is backed already.

    It never exceeds the first sizing; the engine cuts it there.
    """
    left = free - kept - multimodal
    return Size(max(0, left.bytes), max(0, left.low), max(0, left.high)) + backed
