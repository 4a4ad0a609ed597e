"""What SGLang's automatic mem_fraction_static depends on, and what the engine fills in by the card.

Sources: sglang/srt/server_args.py; from 0.5.19 arg_groups/memory_hook.py and cuda_graph_hook.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from packaging.version import Version

from analyzer.engines.release import is_within, value_since

Role = Literal["whole", "prefill", "decode"]
"""Of a disaggregated deployment ("whole": not disaggregated)."""

UNKNOWN_CARD = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One server. What is None was not asked for, and the engine fills it in (`filled`).

    `card_mib` is nvidia-smi's memory.total, the smallest of all cards it lists; None when it could not be had.
    `prefill_graphs` is whether prefill (piecewise) graphs are captured; None lets the engine's own rule decide, which knows more
    than is recorded here: adapters, CPU offload, hierarchical cache and some model families switch them off too.
    `vision` is (layers, hidden size) of the vision tower.
    """

    release: Version | None
    card_mib: float | None
    tp: int = 1
    pp: int = 1
    dp: int = 1
    attention_dp: int | None = None
    dp_attention: bool = False
    chunked_prefill_size: int | None = None
    max_prefill_tokens: int = 16384
    graph_max_batch_size: int | None = None
    decode_graphs: bool = True
    prefill_graphs: bool | None = None
    prefill_graph_max_tokens: int | None = None
    max_total_tokens: int | None = None
    max_running_requests: int | None = None
    context_length: int | None = None
    speculative_algorithm: str | None = None
    draft_tokens: int | None = None
    role: Role = "whole"
    platform: Literal["cuda", "rocm", "xpu", "npu"] = "cuda"
    attention_backend: str | None = None
    mla: bool = False
    sparse_attention: bool = False
    deepep: bool = False
    multimodal: bool = False
    vision: tuple[int, int] | None = None
    post_capture_sizing: bool = False

    def is_within(self, since: str, before: str | None = None) -> bool:
        """Whether the release is known and in this range."""
        return self.release is not None and is_within(self.release, since, before)


CHUNK_BY_CARD = (
    # first release, ((card below MiB, chunked_prefill_size), ...)
    ("0.2.13", ((UNKNOWN_CARD, 8192),)),
    ("0.3.5.post2", ((25000, 2048), (UNKNOWN_CARD, 8192))),
    ("0.4.7", ((25000, 2048), (180001, 8192), (UNKNOWN_CARD, 16384))),
    ("0.4.7.post1", ((35 * 1024, 2048), (160 * 1024, 8192), (UNKNOWN_CARD, 16384))),
    ("0.5.3", ((35 * 1024, 2048), (60 * 1024, 4096), (160 * 1024, 8192), (UNKNOWN_CARD, 16384))),
    ("0.5.20", ((20 * 1024, 2048), (60 * 1024, 4096), (160 * 1024, 8192), (UNKNOWN_CARD, 16384))),
)

CHUNK_OF_UNKNOWN_CARD = (("0.2.13", 8192), ("0.4.7.post1", 4096))

CHUNK_OF_DISAGGREGATED: tuple[tuple[str, int | None], ...] = (("0.4.6.post2", 16384), ("0.4.7.post1", None))
"""0.4.6.post2 - 0.4.7: a disaggregated server on a card of 25 000 to 180 000 MiB, or an unknown one."""

GRAPH_BATCH_BY_CARD = (
    # first release, ((card below MiB, cuda_graph_max_bs with tp below 4, with tp 4 and more), ...)
    ("0.5.3", ((20 * 1024, 8, 8), (35 * 1024, 16, 80), (60 * 1024, 32, 160), (160 * 1024, 256, 512), (UNKNOWN_CARD, 512, 512))),
    ("0.5.4.post1", ((20 * 1024, 8, 8), (35 * 1024, 24, 80), (60 * 1024, 32, 160), (160 * 1024, 256, 512), (UNKNOWN_CARD, 512, 512))),
    ("0.5.20", ((20 * 1024, 8, 8), (35 * 1024, 48, 160), (60 * 1024, 32, 160), (160 * 1024, 256, 512), (UNKNOWN_CARD, 512, 512))),
)

GRAPH_BATCH_OF_UNKNOWN_CARD = 160


def default_chunk(launch: Launch) -> int | None:
    """chunked_prefill_size when nobody sets it; None for an unknown release and before chunking was on by default (0.2.13)."""
    if launch.release is None:
        return None
    disaggregated = value_since(CHUNK_OF_DISAGGREGATED, launch.release) if launch.role != "whole" else None
    if launch.card_mib is None:
        return disaggregated or value_since(CHUNK_OF_UNKNOWN_CARD, launch.release)
    rows = value_since(CHUNK_BY_CARD, launch.release) or ()
    chunk = next((chunk for below, chunk in rows if launch.card_mib < below), None)
    return disaggregated if disaggregated is not None and chunk == 8192 else chunk


def default_graph_batch(launch: Launch) -> int | None:
    """cuda_graph_max_bs when nobody sets it, 0.5.3 -; None for an unknown release and before, where the fraction does not depend on it.

    From 0.5.22 it does not exceed an explicit max_running_requests.
    """
    if not launch.is_within("0.5.3"):
        return None
    rows = value_since(GRAPH_BATCH_BY_CARD, launch.release) or ()
    card = launch.card_mib
    batch = (
        GRAPH_BATCH_OF_UNKNOWN_CARD
        if card is None
        else next(small if launch.tp < 4 else large for below, small, large in rows if card < below)
    )
    capped = launch.max_running_requests if launch.is_within("0.5.22") else None
    return min(batch, capped) if capped is not None else batch


def filled(launch: Launch) -> Launch:
    """The launch with what the engine fills in by the card."""
    chunk, batch = launch.chunked_prefill_size, launch.graph_max_batch_size
    return replace(
        launch,
        chunked_prefill_size=chunk if chunk is not None else default_chunk(launch),
        graph_max_batch_size=batch if batch is not None else default_graph_batch(launch),
    )
