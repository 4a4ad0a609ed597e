"""Every vLLM log of the corpus against the formulas: what it prints of inputs and results must agree within the printed decimals.

Each list names the logs that print all inputs of one formula. It is compared with what is found, so that it cannot shrink unseen.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from analyzer.cases.model import Rank, Run
from analyzer.engines.tokens import tokens_in
from analyzer.engines.vllm import requested_memory
from analyzer.engines.vllm_budget import gate_shortfall
from analyzer.engines.vllm_suggestion import suggested
from analyzer.figures.vllm_cache import gpu_blocks, in_proportion, printed_tokens, tokens_by_blocks, tokens_by_requests
from analyzer.figures.vllm_figures import utilization_in_effect
from analyzer.figures.vllm_profile import computed_budget, printed_budget, unexplained
from analyzer.figures.vllm_suggestions import BESIDE_KV
from analyzer.units import GIB, MIB, Size
from tests.corpus.score import cases
from tests.runs import runs_of

REQUESTED = {
    "vllm-001#1 TP0", "vllm-002#1 TP0", "vllm-005#1 TP0", "vllm-006#1 TP0", "vllm-009#1 TP0", "vllm-014#2 TP0", "vllm-048#1 TP0",
    "vllm-101#1 TP0", "vllm-103#1 TP0", "vllm-103#1 TP1", "vllm-105#1 TP0",
}  # fmt: skip
"""Utilization, total and requested memory."""
CACHE = {"vllm-009#1 TP0", "vllm-023#1 TP0", "vllm-048#1 TP0", "vllm-101#1 TP0", "vllm-103#1 TP0", "vllm-103#1 TP1"}
"""All that the KV cache is computed from, and the KV cache."""
SUGGESTIONS = {"vllm-103#1 TP0", "vllm-103#1 TP1", "vllm-105#1 TP0"}
"""The ledger at the end of the start, and the size of the KV cache that the engine suggests."""
BLOCKS = {"vllm-023#1 TP0", "vllm-048#1 TP0", "vllm-101#1 TP0"}
"""Blocks of the device and of the host, whose number follows from the swap space."""
TOKENS = {
    "vllm-016#1": True,
    "vllm-023#1": True,
    "vllm-048#1": True,
    "vllm-083#1": True,
    "vllm-088#1": True,
    "vllm-101#1": True,
    "vllm-106#1": False,
}
"""Tokens or blocks, and requests at once or the tokens of an error; whether they agree. The one that does not has layers with states."""

MOST_OFF = 16 * MIB
"""Three figures of two decimals."""
SWAP_SPACE = 4 * GIB
"""swap_space of vLLM 0.2.7 - 0.17.1 when nobody sets it (vllm/config.py); none of these logs shows another."""


@cache
def all_runs() -> dict[str, Run]:
    """The runs of vLLM logs, "vllm-014#2"."""
    found = {}
    for case in cases():
        if case["id"].startswith("vllm-"):
            for number, run in enumerate(runs_of(case["log"] + "\n"), 1):
                found[f"{case['id'][:8]}#{number}"] = run
    return found


def all_ranks() -> Iterator[tuple[str, Run, Rank]]:
    for name, run in all_runs().items():
        for rank in run.ranks:
            yield f"{name} {rank.name}", run, rank


def found(place: str) -> tuple[Run, Rank]:
    return next((run, rank) for name, run, rank in all_ranks() if name == place)


def requested_of(run: Run, rank: Rank) -> tuple[Size, Size] | None:
    """What utilization and total make, and what is printed."""
    utilization, total, budget = utilization_in_effect(run)[0], rank.size("total"), rank.ledger.get("budget")
    if utilization is None or total is None or budget is None or budget.basis != "measured" or run.all("metal_no_room_for_kv"):
        return None
    return requested_memory(total, utilization), budget.size


def test_the_lists_are_complete() -> None:
    assert {name for name, run, rank in all_ranks() if requested_of(run, rank) is not None} == REQUESTED
    assert {name for name, run, rank in all_ranks() if unexplained(run, rank) is not None} == CACHE
    assert {name for name, _, rank in all_ranks() if rank.first("startup_memory_summary") is not None} == SUGGESTIONS
    assert {name for name, run, _ in all_ranks() if gpu_blocks(run) and run.first("num_blocks")} == BLOCKS
    assert {name for name, run in all_runs().items() if two_counts(run) is not None} == TOKENS.keys()


@pytest.mark.parametrize("place", sorted(REQUESTED))
def test_requested_memory(place: str) -> None:
    run, rank = found(place)
    figures = requested_of(run, rank)
    assert figures is not None
    computed, printed = figures
    assert computed.may_equal(printed)
    free = rank.size("free_at_start")
    if free is not None:
        assert (gate_shortfall(free, computed).low > 0) == bool(run.all("free_memory_below_utilization"))


@pytest.mark.parametrize("place", sorted(CACHE))
def test_the_cache(place: str) -> None:
    run, rank = found(place)
    computed, printed, more = computed_budget(run, rank), printed_budget(run, rank), unexplained(run, rank)
    assert computed is not None
    assert printed is not None
    assert more is not None
    assert more.may_equal(0)
    assert abs(computed.bytes - printed.bytes) <= MOST_OFF


@pytest.mark.parametrize("place", sorted(SUGGESTIONS))
def test_suggested_sizes(place: str) -> None:
    """The ledger of the line closes: from what was requested, and from what was free, the engine comes to the sizes it suggests."""
    _, rank = found(place)
    fact = rank.first("startup_memory_summary")
    assert fact is not None
    beside = sum((size for name in BESIDE_KV if (size := fact.size(name)) is not None), Size.exact(0))
    graphs = fact.size("cuda_graphs")
    assert graphs is not None
    checked = 0
    for basis, value in (("budget", "suggested_kv_cache_memory_bytes"), ("free_at_start", "largest_kv_cache_memory_bytes")):
        start, printed = fact.size(basis), fact.size(value)
        if start is not None and printed is not None:
            checked += 1
            assert suggested(start, beside, graphs).may_equal(printed)
    assert checked >= 1


@pytest.mark.parametrize("place", sorted(BLOCKS))
def test_blocks_and_tokens_of_the_computed_cache(place: str) -> None:
    """The size of a block follows from the blocks of the host; the computed KV cache then has the printed number of them."""
    run, rank = found(place)
    printed, budget = run.first("num_blocks"), computed_budget(run, rank)
    assert printed is not None
    assert budget is not None
    on_host, on_device = printed.integer("cpu_blocks"), printed.integer("gpu_blocks")
    assert on_host is not None
    assert on_device is not None
    block = Size.between(SWAP_SPACE / (on_host + 1), SWAP_SPACE / on_host)
    assert tokens_in(budget, block).may_be(on_device)
    assert (block * on_device).may_equal(budget)
    assert tokens_by_blocks(run) == on_device * 16


def two_counts(run: Run) -> bool | None:
    """Whether the tokens that are printed, or follow from blocks, are those of an error or of the requests at once."""
    by_requests, by_blocks, printed = tokens_by_requests(run), tokens_by_blocks(run), printed_tokens(run)
    if by_requests is not None and (known := printed or by_blocks) is not None:
        return by_requests.may_be(known)
    return printed == by_blocks if printed is not None and by_blocks is not None else None


@pytest.mark.parametrize("name", TOKENS)
def test_tokens(name: str) -> None:
    run = all_runs()[name]
    assert two_counts(run) is TOKENS[name]
    if not TOKENS[name]:
        assert in_proportion(run) is False
