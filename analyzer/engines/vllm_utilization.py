"""vLLM's gpu_memory_utilization from a measured ledger: the values that can work, and whether the engine's own hint is right.

The utilization multiplies the card's total memory, in all releases (vllm/worker/worker.py, vllm/v1/worker/gpu_worker.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from analyzer.engines.interval import FractionInterval
from analyzer.units import Size


def smallest_utilization(total: Size, non_kv: Size, kv_needed: Size) -> float:
    """(weights, non-torch, activations and applied graph estimate + KV needed) / total: the smallest that holds the KV needed.

    The budget of 0.6.5 - 0.33.0 solved for the utilization; `non_kv` is what the release takes off (`analyzer.engines.vllm_budget`).
    """
    return (non_kv.bytes + kv_needed.bytes) / total.bytes


def utilization_for(utilization: float, needed: Size, available: Size, total: Size) -> float:
    """The same from a refusal that prints both sizes: utilization in effect + (needed - available) / total."""
    return utilization + (needed.bytes - available.bytes) / total.bytes


def largest_utilization(total: Size, free_at_start: Size, outside: Size) -> float:
    """(free at start - what is taken outside the budget) / total: the largest that does not overfill the card.

    `outside` is what the release does not budget: graphs where they are not deducted, sampler buffers, communication. Where it is
    zero this is the start-up check of 0.9.1 -.
    """
    return (free_at_start.bytes - outside.bytes) / total.bytes


def utilization_interval(total: Size, free_at_start: Size, non_kv: Size, kv_needed: Size, outside: Size) -> FractionInterval:
    """The utilizations that hold `kv_needed` and leave `outside` on the card. Empty when the card has no room for both."""
    return FractionInterval(
        low=smallest_utilization(total, non_kv, kv_needed),
        high=largest_utilization(total, free_at_start, outside),
        low_because=f"{non_kv} beside the KV cache and {kv_needed} of it, of {total}",
        high_because=f"{free_at_start} free at start less {outside} outside the budget, of {total}",
    )


def utilization_after_refusal(utilization: float, refused: Size, free: Size, total: Size) -> float:
    """An upper bound from a run that ran out beside the KV cache: the utilization in effect - (refused - free) / total.

    The pool shrinks by total x the difference, in every release; later allocations may want more than the refused one.
    """
    return utilization - (refused.bytes - free.bytes) / total.bytes


@dataclass(frozen=True, slots=True)
class HintAudit:
    """Whether the engine's hint to increase or decrease the utilization helps, and the value if it does."""

    holds: bool
    value: float | None
    why: str


def audit_hint(hint: Literal["increase", "decrease"], utilization: float, works: FractionInterval, pinned: Size | None) -> HintAudit:
    """The hint judged by the utilizations that work; `pinned` is a fixed KV arena, if there is one.

    The messages that give the hint ("Try increasing", "Decrease GPU memory utilization", "try lowering") do not look at the ledger.
    """
    if pinned is not None:
        return HintAudit(False, None, f"the KV arena is pinned at {pinned}: its size does not depend on the utilization")
    if works.is_empty:
        return HintAudit(False, None, works.reason)
    if hint == "increase":
        value = works.smallest()
        helps = utilization < works.low and value is not None
    else:
        value = works.largest()
        helps = utilization > works.high and value is not None
    if helps:
        return HintAudit(True, value, works.reason)
    inside = works.low <= utilization <= works.high
    why = (
        f"{utilization} already lies where it works" if inside else "the utilization has to go the other way, or no two-decimal value works"
    )
    return HintAudit(False, None, f"{why}: {works.reason}")
