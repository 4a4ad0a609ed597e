"""From one log and changed settings: every later check of the next start."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.analysis import WhatIf
from analyzer.cases.model import Run
from analyzer.content import content_folder
from analyzer.pipeline import analyze
from analyzer.units import GIB
from analyzer.what_if.planned import planned_after
from analyzer.what_if.prediction import predict
from analyzer.what_if.question import Question, QuestionError
from tests.runs import run_of

VLLM = """\
INFO 01-01 10:00:00 [core.py:61] Initializing a V1 LLM engine (v0.11.0) with config: model='/m', max_seq_len=32768
INFO 01-01 10:00:00 [api_server.py:1] non-default args: {'gpu_memory_utilization': 0.85, 'max_model_len': 32768}
DEBUG 01-01 10:00:02 [gpu_worker.py:298] worker init memory snapshot: MemorySnapshot(free_memory=22.00GiB, total_memory=24.00GiB)
INFO 01-01 10:00:09 [gpu_worker.py:1] Available KV cache memory: 3.00 GiB
"""
TOO_LONG = (
    "ValueError: To serve at least one request with the model's max seq len (32768), (4.00 GiB KV cache is needed, which is larger than "
    "the available KV cache memory (3.00 GiB). Based on the available memory, the estimated maximum model length is 24576.\n"
)
SGLANG = """\
[2026-03-02 10:00:00] server_args=ServerArgs(model_path='/m', context_length=8192, mem_fraction_static=0.85, tp_size=1)
[2026-03-02 10:00:13] Load weight begin. avail mem=78.00 GB
[2026-03-02 10:01:02] Load weight end. type=L, dtype=torch.bfloat16, avail mem=18.00 GB, mem usage=60.00 GB.
"""
SGLANG_POOL = """\
[2026-03-02 10:01:03] KV Cache is allocated. #tokens: 103219, K size: 3.15 GB, V size: 3.15 GB
[2026-03-02 10:01:03] Memory pool end. avail mem=11.70 GB
[2026-03-02 10:01:04] Capture cuda graph begin. This can take up to several minutes. avail mem=11.65 GB
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 0.44 GiB is free.
"""
SEEDS = content_folder("fixtures") / "seeds"


def outcomes(run: Run, changed: Mapping[str, Any], more_free: int = 0) -> str:
    """The first letter of each outcome, in the order of the checks: Passes, Fails, or a dash."""
    letters = {"passes": "P", "fails": "F", "cannot tell": "-"}
    return "".join(letters[check.outcome] for check in predict(run, planned_after(run, changed, more_free)))


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param({}, "PPF---", id="as it was"),
        pytest.param({"gpu_memory_utilization": 0.90}, "PPP---", id="0.90 gives 3.00 + 24 x 0.05 = 4.20 GiB"),
        pytest.param({"gpu_memory_utilization": 0.93}, "FPP---", id="0.93 x 24 = 22.32 of 22.00 GiB free"),
        pytest.param({"gpu_memory_utilization": 0.72}, "PFF---", id="0.72 gives 3.00 - 24 x 0.13 = -0.12 GiB"),
        pytest.param({"gpu_memory_utilization": None}, "PPP---", id="without it the default of 0.11.0 is 0.9"),
        pytest.param({"max_model_len": 24576}, "PPP---", id="the window that the engine estimates"),
        pytest.param({"max_model_len": 65536}, "PPF---", id="a longer window needs no less"),
        pytest.param({"max_model_len": 28000}, "PPF---", id="in between: at least its proportion, 3.42 GiB"),
        pytest.param({"max_model_len": "auto"}, "PPP---", id="auto is as long as fits"),
        pytest.param({"max_model_len": None}, "PP---", id="the model's own window is not in the log"),
        pytest.param({"gpu_memory_utilization": 0.82, "max_model_len": 16384}, "PPP---", id="2.00 GiB in proportion, of 2.28 GiB"),
        pytest.param({"kv_cache_memory_bytes": 5 * GIB}, "PPP---", id="an arena is taken as it is"),
        pytest.param({"enforce_eager": True}, "PPFP--", id="no graphs, and nothing was deducted for them in 0.11.0"),
    ],
)
def test_every_check_of_vllm_is_told(changed: dict[str, Any], expected: str) -> None:
    assert outcomes(run_of(VLLM + TOO_LONG), changed) == expected


def test_a_window_of_layers_that_differ_is_not_taken_in_proportion() -> None:
    """The estimate of 28 000 tokens is more than three quarters of the window, so something does not grow with it."""
    run = run_of(VLLM + TOO_LONG.replace("24576", "28000"))
    assert outcomes(run, {"max_model_len": 28000}) == "PPP---", "what the engine estimates fits"
    assert outcomes(run, {"gpu_memory_utilization": 0.82, "max_model_len": 16384}) == "PP----", "2.00 to 3.00 GiB against 2.28 GiB"


def test_more_free_memory_helps_the_start_up_check_only() -> None:
    run = run_of(VLLM + TOO_LONG)
    assert outcomes(run, {"gpu_memory_utilization": 0.93}, GIB) == "PPP---"
    assert outcomes(run, {}, GIB) == "PPF---", "vLLM's KV cache does not grow with free memory"


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param({}, "PPF--", id="as it was"),
        pytest.param({"mem_fraction_static": 0.82}, "PPP--", id="0.44 + 78 x 0.03 = 2.78 GiB for 2.00"),
        pytest.param({"mem_fraction_static": 0.76}, "FP--", id="6.30 - 78 x 0.09 = -0.72 GiB of pool: no request is asked about"),
        pytest.param({"mem_fraction_static": 0.773}, "PFP--", id="0.29 GiB of pool for 0.50"),
        pytest.param({"max_total_tokens": 50000}, "PPP--", id="a cap of 50000 tokens takes 3.05 GiB and leaves 3.25 GiB more"),
        pytest.param({"max_total_tokens": 200000}, "PPF--", id="a cap above the pool changes nothing"),
        pytest.param({"disable_cuda_graph": True}, "PPP--", id="no graphs are captured"),
        pytest.param({"context_length": 131072}, "PFF--", id="131072 tokens need 8.00 GiB"),
        pytest.param({"mem_fraction_static": None}, "", id="nothing tells the automatic fraction"),
    ],
)
def test_every_check_of_sglang_is_told(changed: dict[str, Any], expected: str) -> None:
    assert outcomes(run_of(SGLANG + SGLANG_POOL), changed) == expected


def test_a_refused_start_tells_the_pool_at_another_fraction() -> None:
    refused = run_of(SGLANG.replace("0.85", "0.7") + "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n")
    room, *_ = predict(refused, planned_after(refused, {"mem_fraction_static": 0.85}, 0))
    assert str(room) == "room for the KV cache: passes, 6.30 GiB left for it"
    assert outcomes(refused, {"mem_fraction_static": 0.75}) == "F---"


ESTIMATED = """\
INFO 01-01 10:00:00 [core.py:61] Initializing a V1 LLM engine (v0.21.0) with config: model='/m', max_seq_len=32768
INFO 01-01 10:00:00 [api_server.py:1] non-default args: {'gpu_memory_utilization': 0.85, 'max_model_len': 32768}
DEBUG 01-01 10:00:02 [gpu_worker.py:298] worker init memory snapshot: MemorySnapshot(free_memory=22.00GiB, total_memory=24.00GiB)
INFO 01-01 10:00:05 [gpu_model_runner.py:1] Model loading took 16.00 GiB memory and 5.0 seconds
INFO 01-01 10:00:08 [gpu_worker.py:1] Estimated CUDA graph memory: 1.50 GiB total
INFO 01-01 10:00:09 [gpu_worker.py:1] Available KV cache memory: 0.40 GiB
"""


def test_without_graphs_their_estimate_goes_to_the_cache() -> None:
    """0.20.0 and later take the estimate off the KV cache: 0.40 + 1.50 = 1.90 GiB."""
    run = run_of(ESTIMATED)
    room = {check.name: check for check in predict(run, planned_after(run, {"enforce_eager": True}, 0))}["room for the KV cache"]
    assert room.why == "1.90 GiB left for it"
    older = run_of(ESTIMATED.replace("v0.21.0", "v0.19.1"))
    room = {check.name: check for check in predict(older, planned_after(older, {"enforce_eager": True}, 0))}["room for the KV cache"]
    assert room.why == "409.60 MiB left for it", "0.40 GiB: 0.19 estimates and does not deduct"


SERVED = (
    SGLANG
    + SGLANG_POOL.partition("torch.Out")[0]
    + (
        "[2026-03-02 10:01:30] Capture cuda graph end. Time elapsed: 9.00 s. mem usage=1.50 GB. avail mem=4.10 GB.\n"
        "[2026-03-02 10:01:31] max_total_num_tokens=103219, chunked_prefill_size=8192, max_prefill_tokens=16384, "
        "max_running_requests=2048, context_len=8192, available_gpu_mem=4.00 GB\n"
        "[2026-03-02 10:01:40] The server is fired up and ready to roll!\n"
    )
)


def test_a_start_that_came_through_lends_what_it_had_left() -> None:
    """The start left 4.00 GiB, and 0.03 more of 78 GiB are 2.34."""
    assert outcomes(run_of(SERVED), {}) == "PPPPP"
    assert outcomes(run_of(SERVED), {"mem_fraction_static": 0.88}) == "PPPP-", "serving may have needed what is taken now"
    assert outcomes(run_of(SERVED), {"mem_fraction_static": 0.91}) == "PP---", "4.68 GiB more than the pools had"


def test_nothing_is_predicted_without_figures() -> None:
    run = run_of("INFO 01-01 10:00:09 [gpu_worker.py:1] Starting to load model /m...\n")
    assert predict(run, planned_after(run, {"gpu_memory_utilization": 0.9}, 0)) == []


def test_a_what_if_tells_every_check() -> None:
    question = Question(("long_393k.kv_cache_memory_bytes=4600000000",))
    found = analyze([SEEDS / "crash.log"], [SEEDS / "profiles.as-found.yaml"], question=question).what_if
    assert found is not None
    assert found.profile == "long_393k"
    assert found.expected == "fails"
    assert [(check.name, check.outcome) for check in found.checks] == [
        ("start-up check", "passes"),
        ("room for the KV cache", "passes"),
        ("one request of the full window", "fails"),
        ("CUDA graphs", "cannot tell"),
        ("warm-up", "passes"),
        ("serving", "cannot tell"),
    ]
    assert "the allocation of 272.00 MiB that was refused would find 718.32 MiB free" in found.checks[4].why, "149.06 + 572.20 - 2.94 MiB"


def ask(*changes: str, free: int | None = None) -> WhatIf:
    found = analyze([SEEDS / "crash.log"], question=Question(changes, free)).what_if
    assert found is not None
    return found


def test_a_log_is_asked_without_settings() -> None:
    asked = ask("kv-cache-memory-bytes=4.6g", "gpu_memory_utilization=0.7")
    assert asked.expected == "fails", "one request needs 4.68 GiB"
    assert asked.utilization == 0.7
    assert asked.checks[2].why == "393216 tokens need 4.68 GiB and 4.28 GiB are there"
    assert ask("kv_cache_memory_bytes=5060000000").expected == "cannot tell", "what comes after the refused allocation, nothing shows"
    assert ask("max_num_seqs=2").expected == "cannot tell"


def test_the_free_memory_of_another_day_is_put_to_the_log() -> None:
    for free, outcome in ((20 * GIB, "fails"), (24 * GIB, "passes")):
        check = ask("gpu_memory_utilization=0.72", free=free).checks[0]
        assert (check.name, check.outcome) == ("start-up check", outcome)


def test_a_run_with_a_pin_shows_nothing_of_one_without() -> None:
    last = ask("kv_cache_memory_bytes=null").checks[-1]
    assert (last.name, last.outcome) == ("room for the KV cache", "cannot tell")
    assert last.why.startswith("the run of the log pinned its KV cache")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("gpu_memory_utilization=95", "95 percent is written 0.95"),
        ("max_model_lenn=1", "no argument that is known here; computed are gpu_memory_utilization"),
        ("mem_fraction_static=0.8", "no argument that is known here"),
        ("long_393k.max_model_len=1", "without --config there are no profiles; expected argument=value"),
        ("max_model_len", "expected argument=value, e.g. gpu_memory_utilization=0.85"),
        ("swap_space=4", "vLLM 0.24.0 does not take swap_space"),
        ("max_model_len=[1, 2]", "expected a single value"),
    ],
)
def test_a_question_that_cannot_be_put_is_refused(change: str, message: str) -> None:
    with pytest.raises(QuestionError, match=re.escape(message)):
        ask(change)


def test_a_log_of_no_engine_cannot_be_asked(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("nothing of an engine\n", encoding="utf-8")
    with pytest.raises(QuestionError, match="needs the log of an engine"):
        analyze([tmp_path / "a.log"], question=Question(("max_model_len=1",)))


def test_an_argument_without_a_formula_leaves_the_end_open() -> None:
    question = Question(("long_393k.max_num_seqs=2", "long_393k.kv_cache_memory_bytes=4600000000"))
    found = analyze([SEEDS / "crash.log"], [SEEDS / "profiles.as-found.yaml"], question=question).what_if
    assert found is not None
    assert found.expected == "cannot tell"
    assert any(reason.startswith("What max_num_seqs changes") for reason in found.reasons)


def test_sglang_starts_with_a_pool_below_one_request(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(SERVED, encoding="utf-8")
    found = analyze([tmp_path / "a.log"], question=Question(("context_length=131072",))).what_if
    assert found is not None
    assert found.expected == "starts"
    assert "refuses requests that do not fit" in {check.name: check.why for check in found.checks}["one request of the full window"]


def test_pools_that_are_sized_again_after_graph_capture_are_not_foreseen() -> None:
    run = run_of(SGLANG + "[2026-03-02 10:01:03] KV Cache VA upper bound. #tokens: 103219, K size: 3.15 GB, V size: 3.15 GB\n")
    (check,) = predict(run, planned_after(run, {"mem_fraction_static": 0.9}, 0))
    assert (check.name, check.outcome) == ("room for the KV cache", "cannot tell")
