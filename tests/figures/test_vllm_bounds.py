"""The values of the utilization and of a pinned arena that can work, from logs."""

from __future__ import annotations

import pytest

from analyzer.figures.vllm_arena_bounds import arenas
from analyzer.figures.vllm_bounds import has_start_up_check, utilizations
from analyzer.units import GIB, MIB
from tests.runs import run_of

VERSION = (
    "INFO 01-01 10:00:00 [api_server.py:1] vLLM API server version {}\n"
    "INFO 01-01 10:00:00 [utils.py:1] non-default args: {{'model': '/m'{}}}\n"
)
SUMMARY = (
    "{head}INFO 01-01 10:00:20 [gpu_worker.py:1] Free memory on device ({free}/24.00 GiB) on startup. Desired GPU memory utilization is "
    "(0.9, 21.60 GiB). Actual usage is {usage}. Replace gpu_memory_utilization config with `--kv-cache-memory=1073741824` (1.00 GiB) to "
    "fit into requested memory, or `--kv-cache-memory={largest}` ({gib} GiB) to fully utilize gpu memory. Current kv cache memory in "
    "use is {kv} GiB.\n"
)
TOGETHER = "15.25 GiB for consumed memory (weights + non-torch), {peak} GiB for peak activation, and 0.50 GiB for CUDAGraph memory"
APART = "15.00 GiB for weight, {peak} GiB for peak activation, 0.25 GiB for non-torch memory, and 0.50 GiB for CUDAGraph memory"
ESTIMATE = "INFO 01-01 10:00:05 [gpu_model_runner.py:1] Estimated CUDA graph memory: 0.80 GiB total\n"
CORE = "INFO 01-01 10:00:05 [kv_cache_utils.py:1] Maximum concurrency for 32,768 tokens per request: 2.00x\n"
DEBUG = (
    "DEBUG 01-01 10:00:05 [gpu_worker.py:1] Initial free memory: 23.00 GiB; Requested memory: 0.90 (util), 21.60 GiB\n"
    "DEBUG 01-01 10:00:05 [gpu_worker.py:1] Memory profiling takes 1.00 seconds. Total non KV cache memory: 17.25GiB; torch peak memory "
    "increase: 2.00GiB; non-torch forward increase memory: 0.25GiB; weights memory: 15.00GiB.\n"
)
EAGER = ", 'enforce_eager': True"


def version(number: str, more: str = "") -> str:
    return VERSION.format(number, more)


def summary(usage: str, *, kv: str = "4.35", free: str = "23.00", largest: int = 2147483648, head: str = "") -> str:
    return SUMMARY.format(head=head, usage=usage, kv=kv, free=free, largest=largest, gib=f"{largest / GIB:.2f}")


@pytest.mark.parametrize(
    ("log", "checks"),
    [
        (version("0.9.0"), False),
        (version("0.9.1"), True),
        (version("0.33.0"), True),
        (summary(APART.format(peak="2.00")), True),
        ("INFO 01-01 10:00:00 [llm_engine.py:1] Initializing a V0 LLM engine (v0.10.2) with config: model='/m'\n", False),
        (CORE, False),
    ],
    ids=["0.9.0", "0.9.1", "0.33.0", "a message that comes with it", "V0", "an unknown release"],
)
def test_the_start_up_check(log: str, checks: bool) -> None:
    assert has_start_up_check(run_of(log)) is checks


@pytest.mark.parametrize(
    ("log", "highest"),
    [
        pytest.param(version("0.12.0") + summary(APART.format(peak="2.00")), (23.00 - 0.50) / 24, id="graphs beside the budget"),
        pytest.param(version("0.21.0") + summary(APART.format(peak="2.00")), 23.00 / 24, id="graphs in the budget"),
        pytest.param(
            version("0.32.0")
            + "INFO 01-01 10:00:05 [utils.py:1] Weights are held outside this process: of the 21.60 GiB utilization budget, 10.00 GiB is "
            "externally held and 11.60 GiB remains for the engine's own allocations\n"
            + summary(TOGETHER.format(peak="2.00"), free="13.00"),
            (13.00 + 10.00) / 24,
            id="weights in another process need not be free",
        ),
    ],
)
def test_the_largest_utilization(log: str, highest: float) -> None:
    assert utilizations(run_of(log)).high == pytest.approx(highest, abs=1e-6)


def test_the_smallest_utilization_where_the_cache_is_not_printed() -> None:
    """21.60 - 17.25 = 4.35 of KV cache by the formula; one request needs 4.00."""
    refused = "ValueError: To serve at least one request with the models's max seq len (8192), (4.00 GiB KV cache is needed\n"
    run = run_of(version("0.12.0", ", 'gpu_memory_utilization': 0.9") + DEBUG + refused)
    assert utilizations(run).low == pytest.approx(0.9 - 0.35 / 24, abs=1e-3)


@pytest.mark.parametrize(
    ("log", "highest"),
    [
        pytest.param(version("0.12.0") + summary(APART.format(peak="2.00")), 23.00 - 17.25 - 0.50, id="0.10.2 - 0.17.1"),
        pytest.param(version("0.28.0") + ESTIMATE + summary(TOGETHER.format(peak="2.80")), 23.00 - 17.25 - 0.50, id="the estimate once"),
        pytest.param(summary(TOGETHER.format(peak="2.80")), 23.00 - 18.05 - 0.50, id="an estimate that is not known"),
        pytest.param(version("0.12.0", EAGER) + DEBUG, 23.00 - 17.25, id="no graphs"),
        pytest.param(version("0.21.0") + ESTIMATE + DEBUG, 23.00 - 17.25 - 0.80, id="estimated graphs"),
        pytest.param(version("0.12.0") + DEBUG, None, id="graphs that are not in the log"),
        pytest.param(version("0.12.0", EAGER) + DEBUG.replace("23.00", "17.00"), None, id="no room at all"),
        pytest.param(CORE, None, id="nothing measured"),
    ],
)
def test_the_largest_arena_that_is_not_pinned(log: str, highest: float | None) -> None:
    found = arenas(run_of(log)).high
    expected = None if highest is None else pytest.approx(highest * GIB - 150 * MIB, abs=0.03 * GIB)
    assert found == expected


def test_the_largest_arena_to_the_byte_where_the_engine_suggests_it() -> None:
    largest = round((23.00 - 17.25 - 0.50) * GIB - 150 * MIB) + 12345
    assert arenas(run_of(version("0.12.0") + summary(APART.format(peak="2.00"), largest=largest))).high == largest


def test_the_card_with_least_counts() -> None:
    heads = [f"(Worker_TP{rank} pid={rank + 10}) " for rank in (0, 1)]
    usage = APART.format(peak="2.00")
    found = arenas(run_of(version("0.12.0") + summary(usage, head=heads[0]) + summary(usage, free="22.00", head=heads[1])))
    assert found.high == pytest.approx((22.00 - 17.25 - 0.50) * GIB - 150 * MIB, abs=0.03 * GIB)
    assert found.high_because.startswith("22.00 GiB free at start")


def test_at_least_one_request() -> None:
    found = arenas(run_of(version("0.12.0") + CORE + summary(APART.format(peak="2.00"), kv="4.00")))
    assert found.low is not None
    assert found.low / GIB == pytest.approx(2.0, abs=0.01)
