"""What a profiling run measured, from logs of every era, and the KV cache that follows from it."""

from __future__ import annotations

import pytest

from analyzer.figures.vllm_profile import applied_graphs, computed_budget, formula_of, printed_budget, profile_of, total_of, unexplained
from tests.runs import run_of

HEAD = (
    "(APIServer pid=1) INFO 01-01 10:00:00 [api_server.py:1] vLLM API server version {version}\n"
    "(APIServer pid=1) INFO 01-01 10:00:00 [utils.py:1] non-default args: {{'model': '/m'{more}}}\n"
)
BUDGET = (
    "(EngineCore pid=2) DEBUG 01-01 10:00:05 [gpu_worker.py:1] Initial free memory: 78.62 GiB; Requested memory: 0.90 (util), 71.20 GiB\n"
)
AFTER = (
    "(EngineCore pid=2) DEBUG 01-01 10:00:05 [gpu_worker.py:1] Free memory after profiling: {free} GiB (total), 53.96 GiB (within "
    "requested)\n"
)
MEASURED = (
    "(EngineCore pid=2) DEBUG 01-01 10:00:05 [gpu_worker.py:1] Memory profiling takes 17.96 seconds. Total non KV cache memory: 17.13GiB; "
    "torch peak memory increase: 1.89GiB; non-torch forward increase memory: 0.25GiB; weights memory: 14.99GiB.\n"
)
CONSUMED = (
    "(EngineCore pid=2) DEBUG 01-01 10:00:05 [gpu_worker.py:1] Memory profiling takes 31.20 seconds. Total non KV cache memory: 17.13GiB; "
    "torch peak memory increase: 2.04GiB; total consumed (from mem_get_info): 15.24GiB; weights memory: 14.99GiB.\n"
)
AVAILABLE = "(EngineCore pid=2) INFO 01-01 10:00:05 [gpu_worker.py:1] Available KV cache memory: {kv} GiB\n"
ESTIMATE = "(EngineCore pid=2) INFO 01-01 10:00:05 [gpu_model_runner.py:1] Estimated CUDA graph memory: 0.80 GiB total\n"
APPLIED = (
    "(EngineCore pid=2) INFO 01-01 10:00:05 [gpu_worker.py:1] CUDA graph memory profiling is enabled (default since v0.21.0). The current "
    "--gpu-memory-utilization=0.9000 is equivalent to --gpu-memory-utilization=0.8899 without CUDA graph memory profiling. To maintain the "
    "same effective KV cache size as before, increase --gpu-memory-utilization to 0.9101.\n"
)
NOT_APPLIED = (
    "(EngineCore pid=2) WARNING 01-01 10:00:05 [gpu_worker.py:1] CUDA graph memory profiling is disabled. Consider re-enabling it and "
    "increasing --gpu-memory-utilization from 0.9000 to 0.9101.\n"
)
SUMMARY = (
    "(EngineCore pid=2) INFO 01-01 10:00:20 [gpu_worker.py:1] Free memory on device (78.62/79.11 GiB) on startup. Desired GPU memory "
    "utilization is (0.9, 71.2 GiB). Actual usage is {usage}. Replace gpu_memory_utilization config with `--kv-cache-memory=1073741824` "
    "(1.0 GiB) to fit into requested memory, or `--kv-cache-memory=2147483648` (2.0 GiB) to fully utilize gpu memory. Current kv cache "
    "memory in use is {kv} GiB.\n"
)
APART = "14.99 GiB for weight, {peak} GiB for peak activation, 0.25 GiB for non-torch memory, and 0.6 GiB for CUDAGraph memory"
TOGETHER = "15.24 GiB for consumed memory (weights + non-torch), {peak} GiB for peak activation, and 0.6 GiB for CUDAGraph memory"

V0 = "INFO 12-20 20:25:46 worker.py:241] "
V0_CLOSED = (
    V0
    + "the current vLLM instance can use total_gpu_memory (15.77GiB) x gpu_memory_utilization (0.90) = 14.20GiB\n"
    + V0
    + "model weights "
    "take 7.51GiB; non_torch_memory takes 0.39GiB; PyTorch activation peak memory takes 2.53GiB; the rest of the memory reserved for KV "
    "Cache is 3.76GiB.\n"
)
V0_OLDER = (
    "Memory profiling results: total_gpu_memory=23.58GiB initial_memory_usage=15.34GiB peak_torch_memory=17.98GiB "
    "memory_usage_post_profile=15.35Gib non_torch_memory=0.35GiB kv_cache_size=2.89GiB gpu_memory_utilization=0.90\n"
)


def head(version: str, more: str = "") -> str:
    return HEAD.format(version=version, more=more)


CLOSING = {
    # log, the formula it proves, the KV cache in GiB
    "0.6.4 V0": (V0_OLDER, "peak_and_rest_of_card", 2.89),
    "0.6.5 - 0.10.2 V0": (V0_CLOSED, "ledger", 3.76),
    "0.9.1 - 0.17.1": (head("0.12.0") + BUDGET + MEASURED + AVAILABLE.format(kv="54.07"), "ledger_and_graphs", 54.07),
    "0.18 and 0.19, graphs estimated only": (
        head("0.19.1") + ESTIMATE + BUDGET + MEASURED + AVAILABLE.format(kv="54.07"),
        "ledger_and_graphs",
        54.07,
    ),
    "0.18.0, asked to take them off": (
        head("0.18.0") + ESTIMATE + BUDGET + MEASURED + AVAILABLE.format(kv="53.27") + APPLIED,
        "ledger_and_graphs",
        53.27,
    ),
    "0.20.0, taken off by default": (
        head("0.20.0") + ESTIMATE + BUDGET + MEASURED + AVAILABLE.format(kv="53.27"),
        "ledger_and_graphs",
        53.27,
    ),
    "0.20.0, asked not to": (
        head("0.20.0") + ESTIMATE + BUDGET + MEASURED + AVAILABLE.format(kv="54.07") + NOT_APPLIED,
        "ledger_and_graphs",
        54.07,
    ),
    "0.26.0, without graphs": (
        head("0.26.0", ", 'enforce_eager': True") + BUDGET + MEASURED + AVAILABLE.format(kv="54.07"),
        "ledger_and_graphs",
        54.07,
    ),
    "0.26.0, the summary": (
        head("0.26.0") + ESTIMATE + SUMMARY.format(usage=APART.format(peak="1.89"), kv="53.27"),
        "ledger_and_graphs",
        53.27,
    ),
    "0.18.1, the peak in the summary holds the estimate": (
        head("0.18.1") + SUMMARY.format(usage=APART.format(peak="2.69"), kv="53.27") + APPLIED,
        "ledger_and_graphs",
        53.27,
    ),
    "0.27.0 -, debug": (
        head("0.28.0") + ESTIMATE + BUDGET + CONSUMED + AVAILABLE.format(kv="53.27"),
        "consumed_and_headroom",
        53.27,
    ),
    "0.27.0 -, the summary of an unknown release": (
        SUMMARY.format(usage=TOGETHER.format(peak="2.69"), kv="53.27"),
        "consumed_and_headroom",
        53.27,
    ),
    "0.29.0, the second runner prints no estimate, the hint tells it": (
        head("0.29.0") + BUDGET + CONSUMED + AVAILABLE.format(kv="53.27") + APPLIED,
        "consumed_and_headroom",
        53.27,
    ),
    "0.28.0, the second runner estimates nothing": (
        head("0.28.0")
        + "(EngineCore pid=2) INFO 01-01 10:00:01 [gpu_worker.py:1] Using V2 Model Runner\n"
        + BUDGET
        + CONSUMED
        + AVAILABLE.format(kv="54.07"),
        "consumed_and_headroom",
        54.07,
    ),
    "0.29.0 on ROCm, more free than before": (
        head("0.29.0", ", 'enforce_eager': True")
        + BUDGET
        + "(EngineCore pid=2) WARNING 01-01 10:00:05 [gpu_worker.py:1] Free memory grew by 0.7 GiB during profiling (initial 78.62 GiB, "
        "current 79.32 GiB). Sizing the KV cache from the 15.24 GiB torch reserved instead.\n"
        + CONSUMED.replace("15.24", "-0.70").replace("17.13", "1.19")
        + AVAILABLE.format(kv="54.07"),
        "consumed_and_headroom",
        54.07,
    ),
    "0.25.0, less what decoding media takes": (
        head("0.25.0", ", 'enforce_eager': True")
        + BUDGET
        + MEASURED
        + AVAILABLE.format(kv="54.07")
        + "(EngineCore pid=2) INFO 01-01 10:00:06 [gpu_worker.py:1] Reserving 2.50 GiB of GPU memory for frontend multimodal decoding "
        "(1.50 GiB raw-frame semaphore budget, 1.00 GiB decoder+CUDA-context across 1 API server(s) @ 1.00 GiB/server); KV cache memory "
        "reduced to 51.57 GiB\n",
        "ledger_and_graphs",
        54.07,
    ),
    "0.32.0, weights in another process": (
        head("0.32.0", ", 'enforce_eager': True")
        + "(EngineCore pid=2) INFO 01-01 10:00:05 [utils.py:1] Weights are held outside this process: of the 71.2 GiB utilization budget, "
        "10.0 GiB is externally held and 61.2 GiB remains for the engine's own allocations\n" + CONSUMED + AVAILABLE.format(kv="44.07"),
        "consumed_and_headroom",
        44.07,
    ),
}


@pytest.mark.parametrize(("log", "formula", "cache"), CLOSING.values(), ids=CLOSING)
def test_the_computed_cache_is_the_printed_one(log: str, formula: str, cache: float) -> None:
    run = run_of(log)
    (rank,) = run.ranks
    found, computed, printed, more = formula_of(run), computed_budget(run, rank), printed_budget(run, rank), unexplained(run, rank)
    assert found is not None
    assert computed is not None
    assert printed is not None
    assert more is not None
    assert found.__name__ == formula
    assert printed.gib == pytest.approx(cache)
    assert computed.gib == pytest.approx(cache, abs=0.02)
    assert more.may_equal(0)


SILENT = {
    "a pinned arena measures nothing": (
        head("0.12.0") + BUDGET + MEASURED + "(EngineCore pid=2) INFO 01-01 10:00:05 [gpu_worker.py:1] Initial free memory 23.0 GiB, "
        "reserved 4.84 GiB memory for KV Cache as specified\n"
    ),
    "0.21.0, and no word on graphs": head("0.21.0") + BUDGET + MEASURED + AVAILABLE.format(kv="53.27"),
    "an unknown release, and no word on graphs": BUDGET + MEASURED + AVAILABLE.format(kv="53.27"),
    "0.9.0 measures otherwise and prints nothing of it": head("0.9.0") + AVAILABLE.format(kv="53.27"),
    "nothing but weights": head("0.12.0")
    + "(EngineCore pid=2) INFO 01-01 10:00:03 [m.py:1] Model loading took 14.99 GiB memory and 9.0 seconds\n",
    "an XPU worker before 0.16.0": (
        head("0.12.0")
        + "(EngineCore pid=2) INFO 01-01 10:00:03 [xpu_worker.py:1] Before memory profiling run, total GPU memory: 65536.00 MB, model load "
        "takes 15350.00 MB, free gpu memory is 49000.00 MB.\n" + BUDGET + MEASURED
    ),
}


@pytest.mark.parametrize("log", SILENT.values(), ids=SILENT)
def test_where_a_figure_is_missing_nothing_is_computed(log: str) -> None:
    run = run_of(log)
    assert [computed_budget(run, rank) for rank in run.ranks] == [None]


@pytest.mark.parametrize(
    ("version", "graphs"),
    [("0.17.1", 0.0), ("0.19.1", 0.0), ("0.20.0", 0.8), ("0.33.0", 0.8)],
)
def test_graphs_come_off_from_0_20_0(version: str, graphs: float) -> None:
    run = run_of(head(version) + ESTIMATE + AVAILABLE.format(kv="1.00"))
    applied = applied_graphs(run, run.ranks[0])
    assert applied is not None
    assert applied.gib == pytest.approx(graphs)


def test_a_cache_that_the_formula_does_not_give() -> None:
    run = run_of(head("0.12.0") + BUDGET + MEASURED + AVAILABLE.format(kv="40.00"))
    more = unexplained(run, run.ranks[0])
    assert more is not None
    assert more.gib == pytest.approx(-14.07)
    assert not more.may_equal(0)


def test_every_figure_of_debug_output() -> None:
    run = run_of(head("0.12.0") + BUDGET + AFTER.format(free="61.38") + MEASURED)
    profile = profile_of(run, run.ranks[0])
    printed = (profile.free_at_start, profile.free_after_profile, profile.weights, profile.non_torch, profile.activation_peak)
    assert [size.text if size is not None else None for size in printed] == ["78.62 GiB", "61.38 GiB", "14.99 GiB", "0.25 GiB", "1.89 GiB"]


@pytest.mark.parametrize(
    ("more", "low", "high"),
    [
        pytest.param("", 71.195 / 0.9, 71.205 / 0.9, id="the release's default"),
        pytest.param(", 'gpu_memory_utilization': 0.9", 71.195 / 0.9, 71.205 / 0.9, id="asked for"),
        pytest.param(None, 71.195 / 0.905, 71.205 / 0.895, id="printed to two decimals"),
    ],
)
def test_the_total_follows_from_what_is_requested(more: str | None, low: float, high: float) -> None:
    run = run_of(BUDGET if more is None else head("0.12.0", more) + BUDGET)
    total = total_of(run, run.ranks[0])
    assert total is not None
    assert total.low / 2**30 == pytest.approx(low)
    assert total.high / 2**30 == pytest.approx(high)


def test_from_0_27_0_the_cache_follows_from_free_memory_before_and_after() -> None:
    """The engine prints what was consumed only to two decimals; its two amounts of free memory say the same."""
    run = run_of(head("0.27.0", ", 'enforce_eager': True") + BUDGET + AFTER.format(free="63.38") + CONSUMED)
    profile, budget = profile_of(run, run.ranks[0]), computed_budget(run, run.ranks[0])
    assert profile.free_at_start is not None
    assert profile.free_after_profile is not None
    assert profile.consumed is not None
    assert (profile.free_at_start - profile.free_after_profile).may_equal(profile.consumed)
    assert budget is not None
    assert budget.gib == pytest.approx(54.07, abs=0.02)
