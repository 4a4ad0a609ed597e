"""What a start took beside weights and pools, item by item."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from analyzer.cases.model import Rank
from analyzer.figures.sglang_bounds import fractions
from analyzer.figures.sglang_headroom_items import free_after_pools, headroom_items, itemized, taken_beside_pools
from analyzer.units import GIB, Size
from tests.runs import run_of

Read = Callable[[str], Rank]

ARGS = "[2025-09-02 10:00:00] server_args=ServerArgs(model_path='/m', context_length=8192, mem_fraction_static=0.8, tp_size=1)\n"
TARGET = """\
[2025-09-02 10:00:13] Load weight begin. avail mem=78.00 GB
[2025-09-02 10:01:02] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=18.00 GB, mem usage=60.00 GB.
[2025-09-02 10:01:03] KV Cache is allocated. #tokens: 32768, K size: 1.20 GB, V size: 1.20 GB
[2025-09-02 10:01:03] Memory pool end. avail mem=15.60 GB
"""
GRAPHS = """\
[2025-09-02 10:01:04] Capture cuda graph begin. This can take up to several minutes. avail mem=15.50 GB
[2025-09-02 10:01:15] Capture cuda graph end. Time elapsed: 11.00 s. mem usage=1.50 GB. avail mem=14.00 GB.
"""
DRAFT = """\
[2025-09-02 10:01:16] Load weight begin. avail mem=14.00 GB
[2025-09-02 10:01:17] Load weight end. type=LlamaForCausalLMEagle, dtype=torch.bfloat16, avail mem=13.30 GB, mem usage=0.70 GB.
"""
DRAFT_POOL = """\
[2025-09-02 10:01:17] KV Cache is allocated. #tokens: 32768, K size: 0.05 GB, V size: 0.05 GB
[2025-09-02 10:01:17] Memory pool end. avail mem=13.20 GB
[2025-09-02 10:01:18] Capture draft cuda graph begin. This can take up to several minutes. avail mem=13.10 GB
[2025-09-02 10:01:20] Capture draft cuda graph end. Time elapsed: 2.00 s. mem usage=0.60 GB. avail mem=12.50 GB.
"""
END = (
    "[2025-09-02 10:01:21] max_total_num_tokens=32768, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=48, "
    "context_len=8192, available_gpu_mem={} GB\n"
)
REFUSED = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
    "GPU 0 has a total capacity of 79.11 GiB of which 0.50 GiB is free.\n"
)


def rank_of(text: str) -> Rank:
    """The only rank of a log with these lines after its arguments."""
    (rank,) = run_of(ARGS + text).ranks
    return rank


def gib(amount: float) -> Size:
    return Size.exact(amount * GIB)


STARTS = [
    # what it shows, the log, what was taken, the items
    ("graphs and a draft model", GRAPHS + DRAFT + DRAFT_POOL + END.format("12.50"), "3.10 GiB",
     "CUDA graphs 2.10 GiB, draft model 819.20 MiB, 204.80 MiB other"),
    ("graphs alone", GRAPHS + END.format("14.00"), "1.60 GiB", "CUDA graphs 1.50 GiB, 102.40 MiB other"),
    ("all of it in graphs, to the printed decimals", GRAPHS + END.format("14.10"), "1.50 GiB", "CUDA graphs 1.50 GiB"),
    ("a draft model whose pool is not printed", GRAPHS + DRAFT + END.format("12.50"), "3.10 GiB",
     "CUDA graphs 1.50 GiB, draft model 716.80 MiB, 921.60 MiB other"),
    ("nothing named", END.format("14.00"), "1.60 GiB", ""),
    ("items that exceed the sum", GRAPHS + END.format("15.00"), "614.40 MiB", ""),
]  # fmt: skip


@pytest.mark.parametrize(("after", "taken", "items"), [pytest.param(*row[1:], id=row[0]) for row in STARTS])
def test_the_items_of_a_start(after: str, taken: str, items: str) -> None:
    rank = rank_of(TARGET + after)
    found = taken_beside_pools(rank)
    assert found is not None
    assert (str(found), itemized(rank, found)) == (taken, items)


def test_items_and_rest_add_up_to_what_was_taken() -> None:
    rank = rank_of(TARGET + GRAPHS + DRAFT + DRAFT_POOL + END.format("12.50"))
    taken, items = taken_beside_pools(rank), headroom_items(rank)
    assert taken is not None
    rest = taken - items.total
    assert list(items.known) == ["graphs", "draft_model"]
    assert (items.total + rest).may_equal(taken)
    assert rest.may_equal(gib(0.2))
    # two captures, weights and two halves of a pool of two decimals each, and the two ends
    assert items.total.high - items.total.low == pytest.approx(5 * 0.01 * GIB, abs=10)
    assert rest.high - rest.low == pytest.approx(7 * 0.01 * GIB, abs=10)


def test_a_draft_model_that_was_loaded_before_the_pools_is_no_item() -> None:
    lines = TARGET.splitlines(keepends=True)
    rank = rank_of("".join(lines[:2]) + DRAFT + "".join(lines[2:]) + GRAPHS + END.format("14.00"))
    assert list(headroom_items(rank).known) == ["graphs"]


SIZED_LATER = "[2026-03-02 10:01:16] Post-capture KV sizing: KV cache allocated. dtype: torch.bfloat16, #tokens: 400000, KV size: 2.40 GB\n"


@pytest.mark.parametrize(
    "start",
    [TARGET + GRAPHS + SIZED_LATER, TARGET.replace("KV Cache is allocated.", "KV Cache VA upper bound. dtype: torch.bfloat16,") + GRAPHS],
    ids=["sized after the graphs", "addresses so far"],
)
def test_pools_that_get_their_memory_after_the_graphs_say_nothing_of_what_lies_beside(start: str) -> None:
    rank = rank_of(start + END.format("12.50"))
    assert free_after_pools(rank) is None
    assert taken_beside_pools(rank) is None


def test_the_bound_of_the_fraction_names_the_items() -> None:
    bounds = fractions(run_of(ARGS + TARGET + GRAPHS + DRAFT + DRAFT_POOL + END.format("12.50")))
    assert bounds.high == pytest.approx(1 - 3.1 / 78, abs=1e-9)
    assert bounds.high_because == (
        "this start took 3.10 GiB beside weights and pools: CUDA graphs 2.10 GiB, draft model 819.20 MiB, 204.80 MiB other, before any load"
    )


def test_a_run_that_ran_out_later_names_them_beside_the_refused_allocation() -> None:
    bounds = fractions(run_of(ARGS + TARGET + GRAPHS + REFUSED))
    assert bounds.high == pytest.approx(0.8 - 1.5 / 78, abs=1e-9), "0.8 - (2.00 - 0.50) / 78"
    assert bounds.high_because == (
        "an allocation of 2.00 GiB was refused with 0.50 GiB free, when 15.10 GiB were taken beside weights and pools: "
        "CUDA graphs 1.50 GiB, 13.60 GiB other"
    )
