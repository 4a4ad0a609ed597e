"""Facts of one rank -> its ledger: where the device's memory went. Unknown is absent, never zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.cases.model import LEDGER_ITEMS, Engine, Item
from analyzer.cases.processes import DeviceUse, device_use
from analyzer.cases.sglang_ledger import sglang_items
from analyzer.facts.fact import Fact
from analyzer.units import Size

ITEM_OF_FIELD: Mapping[tuple[str, str], str] = {
    ("hsa_out_of_resources", "free"): "free_at_failure",
    ("omni_ar_started", "free_before_load"): "free_at_start",
    ("omni_ar_startup", "free_before_load"): "free_at_start",
    ("profile_debug", "torch_peak_increase"): "activation_peak",
    ("torch_oom", "free"): "free_at_failure",
    ("torch_oom", "tried"): "allocation_refused",
}
"""Fields whose meaning depends on the message. A field named like a ledger item is that item in any message."""

CLOSING = ("other_processes", "weights", "kv_cache", "kv_pinned", "activation_peak", "non_torch", "cuda_graphs", "reserved_unallocated")
"""What is subtracted, with the free memory, from the total; the rest is `unaccounted`."""

IN_ALLOCATED = frozenset({"weights", "kv_cache", "kv_pinned", "activation_peak", "cuda_graphs"})
"""What PyTorch's allocated memory consists of: where none of it is known, that figure stands for all of them."""


def build_ledger(facts: Sequence[Fact], engine: Engine | None, utilization: float | None, own_pids: frozenset[int]) -> dict[str, Item]:
    """The ledger of one rank. `utilization` is vLLM's gpu_memory_utilization in effect, None when unknown or for SGLang."""
    ledger = _measured(facts) | sglang_items(facts)
    _take_weights_off_peak(ledger, facts)
    _split_failure(ledger, facts, own_pids)
    _split_consumed(ledger, facts)
    if engine == "vllm" and utilization is not None and "total" in ledger and not {"budget", "kv_pinned"} & ledger.keys():
        ledger["budget"] = Item(ledger["total"].size * utilization, "computed", f"total x gpu_memory_utilization {utilization}")
    if "kv_pinned" in ledger:
        ledger.pop("kv_cache", None)
    _close(ledger)
    return {item: ledger[item] for item in LEDGER_ITEMS if item in ledger}


def _measured(facts: Sequence[Fact]) -> dict[str, Item]:
    ledger: dict[str, Item] = {}
    for fact in facts:
        for name, value in fact.fields.items():
            item = ITEM_OF_FIELD.get((fact.kind, name), name)
            if item not in LEDGER_ITEMS or not isinstance(value, Size):
                continue
            known = ledger.get(item)
            if known is None or not _same_but_coarser(value, known.size):
                ledger[item] = Item(value, "measured", fact.kind, fact)
    return ledger


def _same_but_coarser(new: Size, known: Size) -> bool:
    """Whether a later figure only repeats an earlier one with fewer decimals."""
    return new.may_equal(known) and new.high - new.low > known.high - known.low


def _take_weights_off_peak(ledger: dict[str, Item], facts: Sequence[Fact]) -> None:
    """vLLM 0.6.4 prints the peak of PyTorch's memory with the weights in it (vllm/worker/worker.py)."""
    peak = next((size for fact in facts if fact.kind == "profiling_result_v0" and (size := fact.size("torch_peak")) is not None), None)
    if peak is not None and "weights" in ledger and "activation_peak" not in ledger:
        ledger["activation_peak"] = Item(peak - ledger["weights"].size, "computed", "peak of PyTorch's memory - weights")


def _split_consumed(ledger: dict[str, Item], facts: Sequence[Fact]) -> None:
    """vLLM prints one figure for weights and memory outside PyTorch from 0.27.0 on (vllm/v1/worker/gpu_worker.py)."""
    consumed = next((size for fact in facts if (size := fact.size("consumed")) is not None), None)
    if consumed is not None and "weights" in ledger and "non_torch" not in ledger:
        ledger["non_torch"] = Item(consumed - ledger["weights"].size, "computed", "consumed memory - weights")


def _split_failure(ledger: dict[str, Item], facts: Sequence[Fact], own_pids: frozenset[int]) -> None:
    """What the clauses of an out-of-memory message add: memory of other processes, and what lies outside PyTorch's allocator."""
    oom = next((fact for fact in facts if fact.kind == "torch_oom"), None)
    if oom is None:
        return
    for name, item in (("free", "free_at_failure"), ("tried", "allocation_refused"), ("allocated", "allocated")):
        value = oom.fields.get(name)
        if isinstance(value, Size):
            ledger[item] = Item(value, "measured", oom.kind, oom)
    use = use_at_failure(oom, own_pids)
    if use.beside is not None:
        ledger["other_processes"] = Item(use.beside, "measured", use.described, oom)
    outside = outside_torch(oom, use)
    if outside is not None and "non_torch" not in ledger:
        ledger["non_torch"] = Item(outside, "computed", "in use by this process - allocated - reserved", oom)


def use_at_failure(oom: Fact, own_pids: frozenset[int]) -> DeviceUse:
    """The process clauses of an out-of-memory message, sorted."""
    allocated = oom.fields.get("allocated")
    own = oom.fields.get("this_process")
    clauses: list[Mapping[str, Any]] = [clause for clause in oom.many("process") if isinstance(clause, dict)]
    return device_use(
        own if isinstance(own, Size) and own.bytes else None, clauses, allocated if isinstance(allocated, Size) else None, own_pids
    )


def outside_torch(oom: Fact, use: DeviceUse) -> Size | None:
    """What this process holds outside PyTorch's allocator: in use by it - allocated - reserved but unallocated."""
    held = _held_by_torch(oom)
    return use.own - held if use.own is not None and held is not None else None


def held_elsewhere(oom: Fact, use: DeviceUse) -> Size | None:
    """What others hold of the device: total - free - what this process holds (its own clause, else what its allocator holds)."""
    total, free = oom.fields.get("total"), oom.fields.get("free")
    own = use.own if use.own is not None else _held_by_torch(oom)
    if not isinstance(total, Size) or not isinstance(free, Size) or own is None:
        return None
    rest = total - free - own
    return rest - use.own_front_end if use.own_front_end is not None else rest


def _held_by_torch(oom: Fact) -> Size | None:
    """Memory in the segments of PyTorch's allocator: printed as one figure, or allocated + reserved but unallocated."""
    whole, allocated, rest = (oom.fields.get(name) for name in ("reserved_total", "allocated", "reserved_unallocated"))
    if isinstance(whole, Size):
        return whole
    if isinstance(allocated, Size):
        return allocated + rest if isinstance(rest, Size) else allocated
    return None


def _close(ledger: dict[str, Item]) -> None:
    """total = free + everything named + unaccounted."""
    free = ledger.get("free_at_failure")
    if "total" not in ledger or free is None:
        return
    rest = ledger["total"].size - free.size
    named = [item for item in CLOSING if item in ledger]
    if "allocated" in ledger and not IN_ALLOCATED & ledger.keys():
        named.append("allocated")
    for item in named:
        rest = rest - ledger[item].size
    ledger["unaccounted"] = Item(rest, "computed", " - ".join(["total", "free_at_failure", *named]))
