"""What the KV cache of a run holds, from logs."""

from __future__ import annotations

import pytest

from analyzer.engines.tokens import Tokens
from analyzer.figures.vllm_cache import (
    OneRequest,
    block_size,
    bytes_per_token,
    cache_tokens,
    in_proportion,
    one_request_holds,
    one_request_of,
    requests_at_once,
    tokens_by_blocks,
    tokens_by_requests,
    window,
)
from analyzer.units import GIB
from tests.runs import run_of

CORE = "(EngineCore pid=2) INFO 01-01 10:00:05 "
VERSION = "(APIServer pid=1) INFO 01-01 10:00:00 [api_server.py:1] vLLM API server version {}\n"
AVAILABLE = CORE + "[gpu_worker.py:1] Available KV cache memory: {} GiB\n"
TOKENS = CORE + "[kv_cache_utils.py:1] GPU KV cache size: {:,} tokens\n"
REQUESTS = CORE + "[kv_cache_utils.py:1] Maximum concurrency for {:,} tokens per request: {}x\n"
PADDING = CORE + "[kv_cache_utils.py:1] Add 3 padding layers, may waste at most 6.25% KV cache memory\n"
MULTIPLIED = CORE + "[kv_cache_utils.py:1] Multiplying the GPU KV cache size by the cp_world_size 2 (pcp_world_size 1 * dcp_world_size 2)\n"
REFUSED = (
    "ValueError: To serve at least one request with the models's max seq len ({}), ({} GiB KV cache is needed, which is larger than the "
    "available KV cache memory ({} GiB){}\n"
)
ESTIMATED = ". Based on the available memory, the estimated maximum model length is {}."
V0 = "INFO 12-20 20:25:46 {}\n"
V0_BLOCKS = V0.format("executor_base.py:1] # cuda blocks: {}, # CPU blocks: 4681") + V0.format(
    "executor_base.py:1] Maximum concurrency for {} tokens per request: {}x"
)


@pytest.mark.parametrize(
    ("log", "proved"),
    [
        pytest.param(V0_BLOCKS.format(53965, 10240, 84.32), True, id="V0 counts blocks for any model"),
        pytest.param(VERSION.format("0.9.1") + TOKENS.format(65536) + REQUESTS.format(32768, "2.00"), None, id="0.9.1 divides"),
        pytest.param(VERSION.format("0.9.2") + TOKENS.format(65536) + REQUESTS.format(32768, "2.00"), True, id="0.9.2 counts apart"),
        pytest.param(VERSION.format("0.20.0") + TOKENS.format(65536) + REQUESTS.format(32768, "2.00"), True, id="0.20.0 counts apart"),
        pytest.param(VERSION.format("0.20.1") + TOKENS.format(65536) + REQUESTS.format(32768, "2.00"), None, id="0.20.1 multiplies"),
        pytest.param(TOKENS.format(65536) + REQUESTS.format(32768, "2.00"), None, id="an unknown release"),
        pytest.param(TOKENS.format(188640) + REQUESTS.format(131072, "5.23"), False, id="requests that take less than their tokens"),
        pytest.param(
            VERSION.format("0.12.0") + MULTIPLIED + TOKENS.format(131072) + REQUESTS.format(32768, "2.00"), None, id="tokens multiplied"
        ),
        pytest.param(VERSION.format("0.12.0") + PADDING + TOKENS.format(65536) + REQUESTS.format(32768, "2.00"), False, id="padded layers"),
        pytest.param(REFUSED.format(32768, "4.00", "3.00", ESTIMATED.format(24576)), True, id="an estimate in proportion"),
        pytest.param(REFUSED.format(32768, "4.00", "3.00", ESTIMATED.format(21000)), False, id="an estimate below it"),
        pytest.param(REFUSED.format(32768, "4.00", "3.00", ESTIMATED.format(26000)), False, id="an estimate above it"),
        pytest.param(REFUSED.format(32768, "4.00", "3.00", "."), None, id="no estimate"),
    ],
)
def test_whether_all_tokens_take_the_same(log: str, proved: bool | None) -> None:
    assert in_proportion(run_of(log)) is proved


@pytest.mark.parametrize(
    ("log", "holds"),
    [
        pytest.param(V0_BLOCKS.format(53965, 10240, 84.32), OneRequest(53965 * 16, True), id="by blocks"),
        pytest.param(
            VERSION.format("0.12.0") + TOKENS.format(65536) + REQUESTS.format(32768, "2.00"), OneRequest(65536, True), id="as printed"
        ),
        pytest.param(
            VERSION.format("0.21.0") + TOKENS.format(65536) + REQUESTS.format(32768, "2.00"),
            OneRequest(round(1.995 * 32768 + 0.5), False),
            id="no less than the requests",
        ),
        pytest.param(
            TOKENS.format(188640) + REQUESTS.format(131072, "5.23"), OneRequest(684852, False), id="models whose tokens are not all alike"
        ),
        pytest.param(REFUSED.format(1000, "4.00", "3.00", "."), OneRequest(round(1000 * 3.005 / 3.995 - 0.5), False), id="no more than"),
        pytest.param(REFUSED.format(32768, "4.00", "3.00", ESTIMATED.format(24576)), OneRequest(24504, True), id="for certain"),
        pytest.param(AVAILABLE.format("3.00"), None, id="no tokens"),
    ],
)
def test_the_longest_request(log: str, holds: OneRequest | None) -> None:
    assert one_request_holds(run_of(log)) == holds


@pytest.mark.parametrize(
    ("log", "size", "tokens"),
    [
        pytest.param(V0_BLOCKS.format(3852, 40000, 1.54), 16, 61632, id="the only whole number that the requests allow"),
        pytest.param(V0_BLOCKS.format(100, 40000, 1.54), None, None, id="too few blocks to tell"),
        pytest.param(
            V0.format("api_server.py:1] args: Namespace(model='/m', block_size=32)") + V0_BLOCKS.format(100, 40000, 0.08),
            32,
            3200,
            id="set",
        ),
        pytest.param(
            V0_BLOCKS.format(229, 4096, 0.89)
            + "ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can be stored in KV cache "
            "(3664).\n",
            16,
            3664,
            id="by the tokens",
        ),
    ],
)
def test_blocks(log: str, size: int | None, tokens: int | None) -> None:
    run = run_of(log)
    assert (block_size(run), tokens_by_blocks(run)) == (size, tokens)


def test_requests_of_several_engines() -> None:
    """Two data-parallel engines: the smaller counts."""
    first, second = (REQUESTS.replace("(EngineCore", f"(EngineCore_DP{number}") for number in (0, 1))
    run = run_of(first.format(32768, "2.00") + second.format(32768, "1.90"))
    assert requests_at_once(run) == (1.9, 32768)
    assert tokens_by_requests(run) == cache_tokens(run) == Tokens(62096, 62423)


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (REFUSED.format(4096, "4.00", "3.00", "."), (4096, "printed by the engine, line 1")),
        (CORE + "[model.py:1] Using max model len 4096\n", (4096, "printed by the engine, line 1")),
        (CORE + "[utils.py:1] non-default args: {'max_model_len': 512}\n", (512, "among the arguments that are not the default, line 1")),
        (
            CORE + "[utils.py:1] non-default args: {'max_model_len': -1}\n" + CORE + "[model.py:1] Using max model len 4096\n",
            (4096, "printed by the engine, line 2"),
        ),
        (AVAILABLE.format("3.00"), (None, "")),
    ],
)
def test_the_window(log: str, expected: tuple[int | None, str]) -> None:
    assert window(run_of(log)) == expected


WORKER = "(Worker_TP{} pid={}) INFO 01-01 10:00:05 [gpu_worker.py:1] Available KV cache memory: {} GiB\n"
STAGE = WORKER.replace("_TP", "_PP")


def test_what_one_request_needs_beside_workers_follows_from_the_rank_with_least() -> None:
    run = run_of(WORKER.format(0, 11, "4.00") + WORKER.format(1, 12, "5.00") + REQUESTS.format(32768, "2.00"))
    needed = [one_request_of(run, rank) for rank in run.ranks]
    assert [size.gib if size is not None else None for size in needed] == [pytest.approx(2.0, abs=0.01)] * 2


PINNED = CORE + "[gpu_worker.py:1] Initial free memory 23.0 GiB, reserved 4.84 GiB memory for KV Cache as specified\n"
ARENA = CORE + "[utils.py:1] non-default args: {'kv_cache_memory_bytes': 5200000000}\n"


@pytest.mark.parametrize(
    ("log", "low", "high"),
    [
        pytest.param(ARENA + PINNED + REQUESTS.format(393216, "1.03"), 5.2e9 / 1.035, 5.2e9 / 1.025, id="by two decimals"),
        pytest.param(
            ARENA + PINNED + TOKENS.format(406726) + REQUESTS.format(393216, "1.03"),
            5.2e9 * 393216 / (393216 * 1.035),
            5.2e9 * 393216 / (406726 - 256),
            id="by the tokens, but for a block",
        ),
        pytest.param(
            ARENA + PINNED + TOKENS.format(188640) + REQUESTS.format(393216, "1.03"),
            5.2e9 / 1.035,
            5.2e9 / 1.025,
            id="tokens that are counted apart",
        ),
        pytest.param(
            PINNED + REQUESTS.format(393216, "1.03"), 4.835 * GIB / 1.035, 4.845 * GIB / 1.025, id="an arena that is only printed"
        ),
    ],
)
def test_what_one_request_needs_of_a_pinned_arena(log: str, low: float, high: float) -> None:
    run = run_of(log)
    needed = one_request_of(run, run.ranks[0])
    assert needed is not None
    assert needed.low == pytest.approx(low, abs=2)
    assert needed.high == pytest.approx(high, abs=2)


def test_stages_of_a_pipeline_have_different_layers() -> None:
    run = run_of(STAGE.format(0, 11, "4.00") + STAGE.format(1, 12, "5.00") + REQUESTS.format(32768, "2.00") + TOKENS.format(65536))
    assert [one_request_of(run, rank) for rank in run.ranks] == [None, None]
    assert bytes_per_token(run) is None


@pytest.mark.parametrize(
    ("log", "kib"),
    [
        (VERSION.format("0.12.0") + AVAILABLE.format("4.00") + TOKENS.format(65536) + REQUESTS.format(32768, "2.00"), 64),
        (AVAILABLE.format("3.00") + REFUSED.format(32768, "4.00", "3.00", ESTIMATED.format(24576)), 128),
        (VERSION.format("0.21.0") + AVAILABLE.format("4.00") + TOKENS.format(65536) + REQUESTS.format(32768, "2.00"), None),
        (VERSION.format("0.12.0") + AVAILABLE.format("-4.00") + TOKENS.format(65536) + REQUESTS.format(32768, "2.00"), None),
    ],
    ids=["cache by tokens", "needed by the window", "not proved", "no cache"],
)
def test_bytes_per_token(log: str, kib: int | None) -> None:
    found = bytes_per_token(run_of(log))
    assert found is None if kib is None else found is not None and found.may_equal(kib * 1024)
