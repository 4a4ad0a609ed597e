"""SGLang's KV pool: its budget, the fraction that holds a given work, the limits on running requests.

`pre`, `post` and `fraction` are those of `analyzer.engines.sglang`.
"""

from __future__ import annotations

from packaging.version import Version

from analyzer.engines.release import is_within
from analyzer.engines.sglang import fraction_for, kv_budget
from analyzer.engines.tokens import pool_for
from analyzer.units import MIB, Size

NOTHING = Size.exact(0)

EMBEDDING_CACHE_MIB = 100
"""SGLANG_VLM_CACHE_SIZE_MB when it is not set, 0.5.18 - 0.5.23 (environ.py)."""

FEATURE_CACHE_MIB = 1024
"""SGLANG_MM_FEATURE_CACHE_MB when it is not set, 0.5.18 - 0.5.23 (environ.py)."""

DEVICE_TRANSPORTS = ("cuda_ipc", "cuda_vmm")
"""Values of --mm-feature-transport that keep a feature pool on the device."""


def multimodal_reservation(
    version: Version,
    feature_transport: str | None,
    embedding_cache_mib: int = EMBEDDING_CACHE_MIB,
    feature_cache_mib: int = FEATURE_CACHE_MIB,
) -> Size:
    """What a multimodal model takes off the KV budget for caches that are allocated after the pool.

    Source: SGLang 0.5.18 - 0.5.23, kv_cache_configurator.py, mm_runtime_reservation_gb; nothing before.
    """
    if not is_within(version, "0.5.18"):
        return NOTHING
    on_device = feature_cache_mib if feature_transport in DEVICE_TRANSPORTS else 0
    return Size.exact((embedding_cache_mib + on_device) * MIB)


def pool_budget(pre: Size, post: Size, fraction: float, reserved: Size = NOTHING) -> Size:
    """What is left for all pools together, less what is reserved beforehand (multimodal caches, speculative states).

    The engine refuses to start when this is zero or less. From 0.5.14 its message gives 1 - post / pre as the minimum, which leaves
    `reserved` out; `smallest_fraction_for` counts it.
    """
    return kv_budget(pre, post, fraction) - reserved


def smallest_fraction_for(
    pre: Size, post: Size, per_token: Size | int, context_tokens: int, requests: int = 1, reserved: Size = NOTHING
) -> float:
    """The fraction whose KV pool holds so many requests of the full context length.

    1 - post / pre + (bytes per token x context x requests + reserved) / pre; SGLang 0.1.26 - 0.5.23, solved for the fraction.
    """
    return fraction_for(pre, post, pool_for(context_tokens * requests, per_token) + reserved)


def above_the_minimum(minimum: float, pre: Size, per_token: Size | int, context_tokens: int) -> float:
    """The "minimum viable" fraction of the engine's message (SGLang 0.5.14 -), raised so that one request of full length fits too."""
    return minimum + pool_for(context_tokens, per_token).bytes / pre.bytes


def enlarged_tokens(tokens: int, version: Version, requests: int, steps: int, top_k: int, draft_tokens: int) -> int:
    """What EAGLE adds to the profiled number of tokens without budgeting it: requests x (steps x top k + draft tokens) + 100.

    Source: SGLang 0.4.3.post3 - 0.5.6.post2, model_runner.py, init_memory_pool. Before, only the draft model's own pool was larger.
    """
    return tokens + requests * (steps * top_k + draft_tokens) + 100 if is_within(version, "0.4.3.post3", "0.5.7") else tokens


def default_running_requests(tokens: int, context_tokens: int) -> int:
    """max_running_requests when nobody sets it: tokens / context x 512, at least 2048, at most 4096, and at most half the tokens.

    Source: SGLang 0.4 - 0.5.23, init_memory_pool and resolve_max_num_reqs; the half in tp_worker.py.
    """
    return min(max(min(tokens * 512 // context_tokens, 4096), 2048), tokens // 2)


LARGEST_PAGE = 128
"""Of the attention backends' page sizes (64 FlashMLA, 128 CUTLASS MLA and Ascend): assumed where none is known."""

MOST_REQUESTS_OF_A_PREFILL = 64
"""A prefill batch seldom starts more requests at once; each may leave one page partly empty."""


def most_tokens_needed(tokens: int, page_size: int | None, decoding: bool) -> int:
    """What an allocation of so many tokens takes from the pool at most, since each request's last page is its own.

    Decoding asks for one token (in some releases one page) a request. Source: SGLang 0.4.4 - 0.5.23, schedule_batch.py,
    alloc_paged_token_slots_extend and _decode (from 0.5.4 mem_cache/common.py).
    """
    page = page_size or LARGEST_PAGE
    requests = tokens if decoding else min(tokens, MOST_REQUESTS_OF_A_PREFILL)
    return tokens * page if decoding else tokens + requests * page


KEPT_FOR_OUTPUT = 6
"""The longest input is the smaller of pool and context length, less 6: max_req_len - 5, which is one less (tp_worker.py)."""

ROUND = (1000, 1024)
"""A context length is a multiple of one of these; a pool is seldom."""


def pool_limits_input(allowed_tokens: int, pool_tokens: int | None, context_tokens: int | None) -> bool | None:
    """Whether the longest input that is allowed is what the pool holds, and not the context length; None when it cannot be told.

    With neither known, a limit that no context length would give is the pool's. Source: SGLang 0.1.26 - 0.5.23, tp_worker.py.
    """
    limit = allowed_tokens + KEPT_FOR_OUTPUT
    if context_tokens is not None and limit < context_tokens:
        return True
    if pool_tokens is not None:
        return limit >= pool_tokens
    if context_tokens is not None:
        return False
    return None if any(limit % step == 0 for step in ROUND) else True
