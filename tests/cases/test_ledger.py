"""Where the memory of a device went: every figure in its place, and the sum closes."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cases.ledger import CLOSING, IN_ALLOCATED, build_ledger
from analyzer.cases.model import LEDGER_ITEMS, Engine, Item
from analyzer.facts.fact import Fact
from analyzer.units import GIB, MIB, Size
from tests.cases.making import gib, made


def ledger_of(
    *facts: Fact, engine: Engine | None = "vllm", utilization: float | None = None, pids: frozenset[int] = frozenset()
) -> dict[str, Item]:
    return build_ledger(facts, engine, utilization, pids)


def figures(ledger: dict[str, Item]) -> dict[str, str]:
    return {item: f"{entry.size.gib:.2f}" for item, entry in ledger.items()}


OOM = made(
    "torch_oom",
    9,
    tried="0.27 GiB",
    gpu=0,
    total="31.36 GiB",
    free="0.15 GiB",
    process=[{"pid": 7001, "in_use": gib("8.00")}],
    this_process=gib("22.90"),
    allocated="21.00 GiB",
    reserved_unallocated="0.40 GiB",
)


def test_figures_named_like_an_item_are_that_item():
    ledger = ledger_of(
        made("weights_memory", 1, weights="16.44 GiB", seconds=3.1),
        made("kv_memory_pinned", 2, free_at_start="23.0 GiB", kv_pinned="4.84 GiB"),
        made("available_kv_memory", 3, kv_cache="11.76 GiB"),
    )
    assert figures(ledger) == {"free_at_start": "23.00", "weights": "16.44", "kv_pinned": "4.84"}
    assert (ledger["weights"].basis, ledger["weights"].source) == ("measured", "weights_memory")
    assert ledger["weights"].fact is not None
    assert ledger["weights"].fact.line.number == 1


def test_unknown_is_absent():
    assert ledger_of() == {}
    assert ledger_of(made("weights_memory", seconds=3.1), made("other", weights="auto", free=gib("1.00"))) == {}


def test_items_come_in_the_order_of_the_contract():
    ledger = ledger_of(OOM, made("weights_memory", weights="16.44 GiB"), utilization=0.9)
    assert list(ledger) == [item for item in LEDGER_ITEMS if item in ledger]


def test_a_later_figure_replaces_an_earlier_one_unless_it_only_repeats_it_with_fewer_decimals():
    assert figures(ledger_of(made("a", 1, weights="16.44 GiB"), made("b", 2, weights="17.00 GiB"))) == {"weights": "17.00"}
    kept = ledger_of(made("a", 1, weights="16.4412 GiB"), made("b", 2, weights="16.44 GiB"))["weights"]
    assert kept.size.text == "16.4412 GiB"


def test_an_out_of_memory_message_fills_the_ledger():
    ledger = ledger_of(OOM, made("weights_memory", weights="16.44 GiB"))
    assert figures(ledger) == {
        "total": "31.36",
        "weights": "16.44",
        "non_torch": "1.50",  # 22.90 - 21.00 - 0.40
        "other_processes": "8.00",
        "free_at_failure": "0.15",
        "allocation_refused": "0.27",
        "allocated": "21.00",
        "reserved_unallocated": "0.40",
        "unaccounted": "4.87",  # 31.36 - 0.15 - 8.00 - 16.44 - 1.50 - 0.40
    }
    assert ledger["unaccounted"].source == "total - free_at_failure - other_processes - weights - non_torch - reserved_unallocated"
    assert ledger["other_processes"].source == "processes 7001"


def test_memory_of_this_engines_other_processes_is_named_too():
    ledger = ledger_of(OOM, pids=frozenset({7001}))
    assert figures(ledger)["other_processes"] == "8.00"
    assert ledger["other_processes"].source == "this engine's other processes"


def test_the_first_failure_counts():
    later = made("torch_oom", 12, tried="9.00 GiB", free="5.00 GiB", total="31.36 GiB")
    assert figures(ledger_of(OOM, later))["allocation_refused"] == "0.27"
    assert figures(ledger_of(OOM, later))["free_at_failure"] == "0.15"


def test_the_budget_of_vllm():
    total = made("startup_memory_summary", total="31.36 GiB")
    ledger = ledger_of(total, utilization=0.9)
    assert figures(ledger)["budget"] == "28.22"
    assert ledger["budget"].basis == "computed"
    assert "budget" not in ledger_of(total, utilization=None)
    assert "budget" not in ledger_of(total, engine="sglang", utilization=0.9)
    printed = made("free_memory_below_utilization", total="31.36 GiB", budget="28.85 GiB")
    assert figures(ledger_of(printed, utilization=0.9))["budget"] == "28.85"


def test_weights_and_memory_outside_pytorch_in_one_figure():
    """vLLM 0.27.0 -: what was consumed less the weights lies outside PyTorch, as far as nothing measures it."""
    summary = made("startup_memory_summary", 2, consumed="15.25 GiB", activation_peak="1.66 GiB")
    ledger = ledger_of(made("weights_memory", 1, weights="14.20 GiB"), summary)
    assert figures(ledger) == {"weights": "14.20", "activation_peak": "1.66", "non_torch": "1.05"}
    assert (ledger["non_torch"].basis, ledger["non_torch"].source) == ("computed", "consumed memory - weights")
    assert "non_torch" not in ledger_of(summary)
    measured = ledger_of(made("weights_memory", 1, weights="14.20 GiB"), summary, OOM)["non_torch"]
    assert measured.source == "in use by this process - allocated - reserved"


def test_the_peak_in_debug_output_is_the_activations():
    ledger = ledger_of(made("profile_debug", torch_peak_increase="1.89 GiB", non_torch="0.25 GiB", weights="14.99 GiB"))
    assert figures(ledger) == {"weights": "14.99", "activation_peak": "1.89", "non_torch": "0.25"}


def test_without_the_free_memory_nothing_closes():
    assert "unaccounted" not in ledger_of(made("a", total="31.36 GiB", weights="16.44 GiB"))
    assert "unaccounted" not in ledger_of(made("torch_oom", free="1.00 GiB", tried="2.00 GiB"))


def test_sglang_names_its_figures_through_its_own_messages():
    ledger = ledger_of(
        made("load_weight_begin", 1, family="sglang", free="78.58 GiB"),
        made("load_weight_end", 2, family="sglang", free="61.12 GiB", weights="17.46 GiB"),
        made("kv_cache_allocated", 3, family="sglang", tokens=1000, k_size="20.00 GiB", v_size="20.00 GiB"),
        engine="sglang",
    )
    assert figures(ledger) == {"free_at_start": "78.58", "weights": "17.46", "kv_cache": "40.00", "free_after_load": "61.12"}


sizes = st.integers(0, 24 * GIB).map(lambda size: Size.between(size - 5 * MIB, size + 5 * MIB))
KNOWN = ("weights", "kv_cache", "kv_pinned", "activation_peak", "non_torch", "cuda_graphs")


@given(
    st.dictionaries(st.sampled_from(KNOWN), sizes),
    st.fixed_dictionaries(
        {"total": sizes, "free": sizes}, optional={"tried": sizes, "allocated": sizes, "reserved_unallocated": sizes, "this_process": sizes}
    ),
    st.lists(st.fixed_dictionaries({"pid": st.integers(1, 9), "in_use": sizes}), max_size=3),
    st.frozensets(st.integers(1, 9), max_size=3),
)
def test_the_ledger_closes(known: dict[str, Size], failure: dict[str, Size], processes: list[dict[str, object]], pids: frozenset[int]):
    facts = [replace(made("figures", 1), fields=known), replace(made("torch_oom", 2), fields={"process": processes, **failure})]
    ledger = ledger_of(*facts, pids=pids)
    allocated = () if IN_ALLOCATED & ledger.keys() else ("allocated",)
    named = [ledger[item].size for item in ("free_at_failure", "unaccounted", *CLOSING, *allocated) if item in ledger]
    total = ledger["total"].size
    assert sum(size.bytes for size in named) == total.bytes
    assert sum(size.low for size in named) <= total.low <= total.high <= sum(size.high for size in named)
    assert not {"kv_cache", "kv_pinned"} <= ledger.keys()
    assert set(ledger) <= set(LEDGER_ITEMS)


def test_what_pytorch_allocated_stands_for_its_parts_where_none_of_them_is_known():
    failure = made("torch_oom", 2, total="40.00 GiB", free="1.00 GiB", allocated="30.00 GiB")
    assert figures(ledger_of(failure))["unaccounted"] == "9.00"
    assert figures(ledger_of(made("figures", 1, weights="16.00 GiB"), failure))["unaccounted"] == "23.00"


@pytest.mark.parametrize("item", CLOSING)
def test_each_named_item_lowers_what_is_unaccounted(item: str):
    # a process that holds too little for what PyTorch has allocated is another one
    common: dict[str, Any] = {"allocated": gib("20.00")} if item == "other_processes" else {}
    without = ledger_of(made("torch_oom", total="40.00 GiB", free="1.00 GiB", **common))["unaccounted"].size
    figure: dict[str, Any] = {"process": [{"pid": 7, "in_use": gib("3.00")}]} if item == "other_processes" else {item: gib("3.00")}
    with_it = ledger_of(made("torch_oom", total="40.00 GiB", free="1.00 GiB", **common, **figure))["unaccounted"].size
    assert (without - with_it).may_equal(gib("3.00"))
    assert not without.may_equal(with_it)
