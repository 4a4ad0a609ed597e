"""The quantities of vLLM runs that rules name, from logs."""

import pytest

from analyzer.figures.vllm_figures import arena_pinned, smallest_utilization, startup_check_figures, utilization_in_effect
from tests.runs import run_of

VERSION = "INFO 02-26 09:54:02 [api_server.py:1]  vLLM API server version {version}\n"
ARGS = "INFO 02-26 09:54:02 [utils.py:233] non-default args: {{'model': '/models/served', {more}}}\n"
REFUSED = "ValueError: Free memory on device ({free}/23.57 GiB) on startup is less than desired GPU memory utilization (0.9, 21.21 GiB).\n"
LEDGER = (
    "INFO 02-26 09:54:05 worker.py:267] the current vLLM instance can use total_gpu_memory (8.00GiB) x gpu_memory_utilization (0.70) = "
    "5.60GiB\n"
    "INFO 02-26 09:54:05 worker.py:267] model weights take 5.20GiB; non_torch_memory takes 0.03GiB; PyTorch activation peak memory takes "
    "1.42GiB; the rest of the memory reserved for KV Cache is {kv_cache}GiB.\n"
)
PINNED = "INFO 12-02 10:01:24 [gpu_worker.py:281] Initial free memory 23.05 GiB, reserved 6.00 GiB memory for KV Cache as specified\n"


@pytest.mark.parametrize(
    ("log", "value", "words"),
    [
        (ARGS.format(more="'gpu_memory_utilization': 0.85"), 0.85, "as passed to the engine"),
        (REFUSED.format(free="16.98"), 0.9, "as the engine printed it"),
        (VERSION.format(version="0.21.0") + ARGS.format(more="'max_model_len': 4096"), 0.92, "the engine's default (vLLM 0.21.0)"),
        (VERSION.format(version="0.21.0"), None, None),
    ],
    ids=["arguments", "a message", "the release's default", "nothing but a version: the arguments are not in this log"],
)
def test_the_utilization_in_effect(log: str, value: float | None, words: str | None) -> None:
    assert utilization_in_effect(run_of(log)) == (value, words)


@pytest.mark.parametrize(
    ("log", "pinned"),
    [
        (PINNED, True),
        (ARGS.format(more="'kv_cache_memory_bytes': 4294967296"), True),
        (ARGS.format(more="'kv_cache_memory_bytes': None"), False),
        (ARGS.format(more="'max_model_len': 4096"), False),
    ],
)
def test_whether_the_arena_is_pinned(log: str, pinned: bool) -> None:
    assert arena_pinned(run_of(log)) is pinned


@pytest.mark.parametrize(("kv_cache", "utilization"), [("-1.05", 0.7 + 1.05 / 8), ("1.05", None)])
def test_the_utilization_at_which_a_negative_cache_is_empty(kv_cache: str, utilization: float | None) -> None:
    run = run_of(LEDGER.format(kv_cache=kv_cache))
    assert smallest_utilization(run, run.ranks[0]) == (pytest.approx(utilization) if utilization else None)


def test_the_largest_utilization_is_that_of_the_fullest_card() -> None:
    run = run_of(REFUSED.format(free="17.98") + REFUSED.format(free="16.98"))
    (first, second) = (startup_check_figures(run, event) for event in run.events if event.kind == "free_memory_below_utilization")
    assert first["largest_passing_utilization"] == second["largest_passing_utilization"] == 0.72
    assert (str(first["taken_elsewhere"]), str(second["taken_elsewhere"])) == ("5.59 GiB", "6.59 GiB")
