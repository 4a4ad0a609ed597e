"""The table of settings that bear on memory, from logs."""

from pathlib import Path
from typing import Any

import pytest

from analyzer import analyze
from analyzer.analysis import KnobRecord
from analyzer.outputs import render

SGLANG_ARGS = (
    "[2026-03-02 10:00:00] server_args=ServerArgs(model_path='/m', context_length={context}, mem_fraction_static={fraction}, "
    "chunked_prefill_size=8192, max_running_requests=None, cuda_graph_max_bs=160, tp_size=1)\n"
)
SGLANG_LOADED = """\
[2026-03-02 10:00:13] Load weight begin. avail mem=78.00 GB
[2026-03-02 10:01:02] Load weight end. type=L, dtype=torch.bfloat16, avail mem=18.00 GB, mem usage=60.00 GB.
"""
SGLANG_POOL = """\
[2026-03-02 10:01:03] KV Cache is allocated. #tokens: 32768, K size: 1.00 GB, V size: 1.00 GB
[2026-03-02 10:01:03] Memory pool end. avail mem=15.60 GB
"""
SGLANG_CAPTURE = "[2026-03-02 10:01:04] Capture cuda graph begin. This can take up to several minutes. avail mem=15.50 GB\n"
SGLANG_END = """\
[2026-03-02 10:01:15] Capture cuda graph end. Time elapsed: 11.00 s. mem usage=5.30 GB. avail mem=10.20 GB.
[2026-03-02 10:01:16] max_total_num_tokens=32768, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=2048, \
context_len=131072, available_gpu_mem=10.19 GB
"""
REFUSED = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n"
EXCEEDED = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
    "GPU 0 has a total capacity of 79.11 GiB of which 0.44 GiB is free.\n"
)
VLLM_HEAD = "INFO 01-01 10:00:00 [core.py:61] Initializing a V1 LLM engine (v0.17.1) with config: model='/m', max_seq_len=32768\n"
VLLM_SHORT = """\
INFO 01-01 10:00:00 [api_server.py:1] non-default args: {'gpu_memory_utilization': 0.85, 'max_model_len': 32768}
INFO 01-01 10:00:09 [gpu_worker.py:1] Available KV cache memory: 3.00 GiB
"""
VLLM_REFUSED = (
    "ValueError: To serve at least one request with the models's max seq len (32768), (4.00 GiB KV cache is needed, which is larger than "
    "the available KV cache memory (3.00 GiB). Based on the available memory, the estimated maximum model length is 24576.\n"
)
VLLM_GATE = (
    "ValueError: Free memory on device (17.05/23.60 GiB) on startup is less than desired GPU memory utilization (0.9, 21.24 GiB). Decrease "
    "GPU memory utilization or reduce GPU memory used by other processes.\n"
)


@pytest.fixture
def rows(tmp_path: Path) -> Any:
    def read(text: str) -> dict[str, KnobRecord]:
        log = tmp_path / "crash.log"
        log.write_text(text, encoding="utf-8")
        (run,) = analyze([log]).runs
        return {row.knob: row for row in run.knobs}

    return read


def test_weights_that_leave_no_pool_bound_the_fraction_from_below(rows: Any) -> None:
    row = rows(SGLANG_ARGS.format(fraction=0.7, context=8192) + SGLANG_LOADED + REFUSED)["mem_fraction_static"]
    assert (row.value, row.low, row.high) == (0.7, 0.77, None), "1 - 18/78 = 0.7692"
    assert row.source == "in the server arguments, which show defaults too, line 1"
    assert row.effect.startswith("0.01 more gives the KV pool 798.72 MiB")


def test_a_refused_allocation_bounds_the_fraction_from_above(rows: Any) -> None:
    row = rows(SGLANG_ARGS.format(fraction=0.85, context=8192) + SGLANG_LOADED + SGLANG_POOL + SGLANG_CAPTURE + EXCEEDED)
    fraction = row["mem_fraction_static"]
    assert fraction.high == 0.83, "0.85 - (2.00 - 0.44) / 78"
    assert fraction.low == 0.776, "(60 + 0.5) / 78 for one request of 8192 tokens of 64 KiB"
    assert "an allocation of 2.00 GiB was refused with 0.44 GiB free" in fraction.works
    assert "no value works" not in fraction.works


def test_an_empty_interval_says_so_and_names_what_else_to_change(rows: Any) -> None:
    fraction = rows(SGLANG_ARGS.format(fraction=0.78, context=8192) + SGLANG_LOADED + SGLANG_POOL + SGLANG_CAPTURE + EXCEEDED)
    works = fraction["mem_fraction_static"].works
    assert works.startswith("no value works: at least 0.776")
    assert "at most 0.76 " in works
    assert "chunked_prefill_size" in works


def test_where_only_a_full_request_is_too_large_shorter_ones_are_what_works(rows: Any) -> None:
    row = rows(SGLANG_ARGS.format(fraction=0.85, context=131072) + SGLANG_LOADED + SGLANG_POOL + SGLANG_CAPTURE + EXCEEDED)
    fraction = row["mem_fraction_static"]
    assert (fraction.low, fraction.high) == (0.77, 0.83)
    assert fraction.works.endswith("; one request of 131072 tokens needs at least 0.872, so shorten context_length with it")


def test_a_fraction_that_the_pools_were_not_sized_with(rows: Any) -> None:
    pool = SGLANG_POOL.replace("K size: 1.00 GB, V size: 1.00 GB", "K size: 0.50 GB, V size: 0.50 GB")
    row = rows(SGLANG_ARGS.format(fraction=0.88, context=8192) + SGLANG_LOADED + pool)["mem_fraction_static"]
    assert row.value == 0.88
    assert "by the size of the pools 0.782 was in effect" in row.source, "(60 + 1) / 78"


def test_an_arena_that_a_kept_plan_pins(rows: Any) -> None:
    row = rows(
        "INFO 01-01 10:00:09 [gpu_worker.py:1] Applying persisted startup plan (fingerprint 3f2a): kv_cache_memory_bytes=5368709120 "
        "(5.00 GiB), recorded free-memory baseline 23.00 GiB, current 23.10 GiB\n"
    )["kv_cache_memory_bytes"]
    assert (row.value, row.source) == (5 * 2**30, "a plan kept from an earlier start, line 1")


def test_a_start_that_came_to_its_end_shows_what_it_took(rows: Any) -> None:
    found = rows(SGLANG_ARGS.format(fraction=0.8, context=None) + SGLANG_LOADED + SGLANG_POOL + SGLANG_END)
    assert found["mem_fraction_static"].high == 0.93, "1 - (15.60 - 10.19) / 78, rounded down"
    assert found["max_running_requests"].effect == "the pool holds 0.25 requests of 131072 tokens at once"
    assert found["cuda_graph_max_bs"].effect == "the graphs of this start took 5.30 GB"
    assert (found["context_length"].value, found["context_length"].high) == (131072, 32768)
    assert found["context_length"].source == "printed by the engine, line 7"


def test_a_request_too_large_bounds_utilization_and_window(rows: Any) -> None:
    found = rows(VLLM_HEAD + VLLM_SHORT + VLLM_REFUSED)
    assert found["max_model_len"].high == 24576
    assert found["max_model_len"].effect == "one request of 32768 tokens takes 4.00 GiB of KV cache"
    utilization = found["gpu_memory_utilization"]
    assert utilization.source == "among the arguments that are not the default, line 2"
    assert utilization.low is None, "the card's total memory is not in the log"


def test_the_start_up_check_bounds_the_utilization_from_above(rows: Any) -> None:
    row = rows(VLLM_GATE)["gpu_memory_utilization"]
    assert (row.high, row.low) == (0.722, None)
    assert row.works.startswith("at most 0.722 (the start-up check")


def test_a_pinned_arena_that_ran_out_is_bounded_by_what_was_lacking(rows: Any) -> None:
    found = rows(
        "INFO 01-01 10:00:00 [api_server.py:1] non-default args: {'gpu_memory_utilization': 0.85, 'kv_cache_memory_bytes': 5200000000}\n"
        "INFO 01-01 10:00:09 [gpu_worker.py:1] Initial free memory 23.0 GiB, reserved 4.84 GiB memory for KV Cache as specified by "
        "kv_cache_memory_bytes config and skipped memory profiling. This does not respect the gpu_memory_utilization config.\n"
        "INFO 01-01 10:00:10 [gpu_model_runner.py:1] Capturing CUDA graphs (mixed prefill-decode): 50%|##   | 1/2 [00:01<00:01]\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 272.00 MiB. "
        "GPU 0 has a total capacity of 31.36 GiB of which 149.06 MiB is free.\n"
    )
    arena = found["kv_cache_memory_bytes"]
    assert arena.value == 5200000000
    assert 5_070_000_000 < arena.high < 5_071_100_000, "5 200 000 000 - (272.00 MiB - 149.06 MiB)"
    assert found["gpu_memory_utilization"].effect.startswith("none on the KV cache")


VLLM_SERVED = """\
INFO 01-01 10:00:00 [api_server.py:1] vLLM API server version 0.12.0
INFO 01-01 10:00:00 [api_server.py:1] non-default args: {'gpu_memory_utilization': 0.9, 'max_model_len': 32768}
INFO 01-01 10:00:00 [scheduler.py:1] Chunked prefill is enabled with max_num_batched_tokens=8192.
INFO 01-01 10:00:09 [gpu_worker.py:1] Available KV cache memory: 4.00 GiB
INFO 01-01 10:00:10 [kv_cache_utils.py:1] GPU KV cache size: 65,536 tokens
INFO 01-01 10:00:10 [kv_cache_utils.py:1] Maximum concurrency for 32,768 tokens per request: 2.00x
DEBUG 01-01 10:00:20 [gpu_worker.py:1] Free memory on device (23.00/24.00 GiB) on startup. Desired GPU memory utilization is (0.9, 21.60 \
GiB). Actual usage is 15.00 GiB for weight, 2.00 GiB for peak activation, 0.60 GiB for non-torch memory, and 0.50 GiB for CUDAGraph memory.
INFO 01-01 10:00:21 [launcher.py:1] Application startup complete.
"""


def test_a_healthy_run_shows_what_it_could_do(rows: Any) -> None:
    found = rows(VLLM_SERVED)
    utilization, arena, window = (found[name] for name in ("gpu_memory_utilization", "kv_cache_memory_bytes", "max_model_len"))
    assert utilization.low == 0.817, "0.9 - (4.00 - 2.00) / 24.00"
    assert utilization.high == 0.937, "(23.00 - 0.50) / 24.00: graphs of 0.12.0 are outside the budget"
    assert utilization.effect == "0.01 more gives the KV cache 245.76 MiB, about 3932 tokens or 0.12 requests of 32768"
    assert (arena.value, arena.source) == ("not pinned", "the engine measured how much is left")
    assert 4.7 < arena.high / 2**30 < 4.754, "23.00 - 15.00 - 2.00 - 0.60 - 0.50 - 150 MiB"
    assert 2.0 < arena.low / 2**30 < 2.01
    assert "1 GiB of it holds about 16384 tokens or 0.50 requests of 32768" in arena.effect
    assert (window.high, window.works) == (65536, "at most 65536 (the KV cache of this run holds no more, at 64.00 KiB a token)")
    assert window.effect == "one request of 32768 tokens takes 2.00 GiB of KV cache, the KV cache holds 2 requests of 32768 tokens"
    assert (found["max_num_batched_tokens"].value, found["max_num_batched_tokens"].effect) == (
        8192,
        "the activations of such a batch took 2.00 GiB off the KV cache",
    )


def test_models_with_states_have_no_longest_window(rows: Any) -> None:
    window = rows(VLLM_SERVED.replace("65,536", "30,000"))["max_model_len"]
    assert window.high is None
    assert window.effect.endswith("one of about 65373 would fit")


def test_a_release_without_pinned_arenas_is_not_offered_one(rows: Any) -> None:
    assert "kv_cache_memory_bytes" not in rows(VLLM_SERVED.replace("0.12.0", "0.10.1"))


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("Saved startup plan to /cache/startup_plan_3f2a.json", "this start kept a plan that may pin it in the next, line 9"),
        (
            "Startup plan not applied: current free memory (22.00 GiB) is below the recorded baseline (23.00 GiB)",
            "the plan kept from an earlier start wants more free memory, line 9",
        ),
    ],
)
def test_plans_kept_on_disk(rows: Any, line: str, source: str) -> None:
    found = rows(VLLM_SERVED.replace("0.12.0", "0.26.0") + f"INFO 01-01 10:00:22 [startup_plan.py:1] {line}\n")
    assert found["kv_cache_memory_bytes"].source == source


def test_a_plan_that_pins_the_arena_is_named_where_the_utilization_does_nothing(rows: Any) -> None:
    found = rows(
        "INFO 01-01 10:00:00 [api_server.py:1] non-default args: {'gpu_memory_utilization': 0.9}\n"
        "INFO 01-01 10:00:09 [startup_plan.py:1] Applying persisted startup plan (fingerprint 3f2a): kv_cache_memory_bytes=5200000000 "
        "(4.84 GiB), recorded free-memory baseline 23.00 GiB, current 23.10 GiB\n"
    )
    assert found["kv_cache_memory_bytes"].value == 5200000000
    assert "pinned by a plan kept from an earlier start" in found["gpu_memory_utilization"].effect


def test_an_arena_that_is_only_printed_has_no_bytes(rows: Any) -> None:
    row = rows("INFO 01-01 10:00:09 [gpu_worker.py:1] Initial free memory 24.00 GiB, reserved 4.84 GiB memory for KV Cache as specified\n")
    assert (row["kv_cache_memory_bytes"].value, row["kv_cache_memory_bytes"].source) == ("4.84 GiB", "printed by the engine")


def test_the_total_that_follows_from_what_is_requested(rows: Any) -> None:
    debug = "DEBUG 01-01 10:00:05 [gpu_worker.py:1] Initial free memory: 23.00 GiB; Requested memory: 0.90 (util), 21.60 GiB\n"
    args = "INFO 01-01 10:00:00 [utils.py:1] non-default args: {'gpu_memory_utilization': 0.9}\n"
    assert rows(args + debug)["gpu_memory_utilization"].effect == "0.01 more gives the KV cache 245.76 MiB", "21.60 / 0.9 is 24.00 GiB"


def test_a_pinned_arena_that_served_is_bounded_by_the_weights(rows: Any) -> None:
    row = rows(
        "INFO 01-01 10:00:00 [api_server.py:1] non-default args: {'kv_cache_memory_bytes': 5200000000}\n"
        "INFO 01-01 10:00:05 [gpu_model_runner.py:1] Model loading took 16.44 GiB memory and 9.0 seconds\n"
        "INFO 01-01 10:00:09 [gpu_worker.py:1] Initial free memory 24.00 GiB, reserved 4.84 GiB memory for KV Cache as specified\n"
        "INFO 01-01 10:00:20 [launcher.py:1] Application startup complete.\n"
    )["kv_cache_memory_bytes"]
    assert row.high == pytest.approx((24.00 - 16.44) * 2**30, abs=2**24)
    assert "and activations on top" in row.works


def test_another_cache_than_the_formula_gives_is_told(rows: Any) -> None:
    effect = rows(VLLM_SERVED.replace("memory: 4.00", "memory: 3.00"))["gpu_memory_utilization"].effect
    assert effect.endswith("the engine prints 3.00 GiB, and by the formula of its release its figures leave 4.00 GiB")


@pytest.mark.parametrize("kind", ["sampler", "pooler"])
def test_a_warm_up_that_ran_out_bounds_the_requests(rows: Any, kind: str) -> None:
    row = rows(
        "INFO 01-01 10:00:00 [api_server.py:1] non-default args: {'max_num_seqs': 256}\n"
        f"RuntimeError: CUDA out of memory occurred when warming up {kind} with 256 dummy requests. Please try lowering `max_num_seqs`\n"
    )["max_num_seqs"]
    assert (row.value, row.high) == (256, 255)


def test_requests_at_once_where_the_engine_does_not_print_them(rows: Any) -> None:
    found = rows(VLLM_HEAD + VLLM_SHORT.replace("32768}", "32768, 'max_num_seqs': 8}") + VLLM_REFUSED)
    assert found["max_num_seqs"].effect == "the KV cache holds 0.75 requests of 32768 tokens at once"


def test_an_engine_that_is_not_known_has_no_table(rows: Any) -> None:
    assert rows("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n") == {}


def test_the_table_is_in_the_pages_and_not_in_the_json(tmp_path: Path) -> None:
    log = tmp_path / "crash.log"
    log.write_text(SGLANG_ARGS.format(fraction=0.7, context=8192) + SGLANG_LOADED + REFUSED, encoding="utf-8")
    analysis = analyze([log])
    for form in ("html", "markdown"):
        assert "Settings that bear on memory" in render(analysis, form)
    assert "mem_fraction_static = 0.7: at least 0.77" in render(analysis, "text")
    assert "knobs" not in render(analysis, "json")


def test_a_card_of_no_size_bounds_nothing(rows: Any) -> None:
    found = rows(
        "DEBUG 01-01 10:00:02 [gpu_worker.py:298] worker init memory snapshot: MemorySnapshot(free_memory=1.00GiB, total_memory=0.00GiB)\n"
        + VLLM_SHORT.replace("3.00", "-3.00")
    )
    assert (found["gpu_memory_utilization"].low, found["gpu_memory_utilization"].high) == (None, None)
