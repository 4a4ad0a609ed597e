"""What becomes of the rulings on one message, and what advice a run can follow."""

from pathlib import Path
from typing import Any

import pytest

from analyzer import Analysis, analyze

REFUSED = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 698.00 MiB. GPU 0 has a total capacity of 23.69 GiB of which 351.00 MiB "
    "is free. Including non-PyTorch memory, this process has 22.56 GiB memory in use. Of the allocated memory 22.10 GiB is allocated by "
    "PyTorch, and 16.02 MiB is reserved by PyTorch but unallocated.\n"
)
FRAME = '  File "/opt/venv/lib/python3.12/site-packages/vllm/{file}", line 75, in {function}\n'
BANNER = (
    "INFO 05-01 08:00:01 llm_engine.py:98] Initializing an LLM engine (v{version}) with config: model='/models/served', max_seq_len=4096\n"
)


@pytest.fixture
def analysis_of(tmp_path: Path) -> Any:
    def read(text: str) -> Analysis:
        log = tmp_path / "crash.log"
        log.write_text(text, encoding="utf-8")
        return analyze([log])

    return read


def test_a_coarser_word_for_the_same_message_is_left_out(analysis_of: Any) -> None:
    assert [finding.rule for finding in analysis_of(REFUSED).findings] == ["device/out-of-memory"]
    loading = FRAME.format(file="model_executor/model_loader/loader.py", function="load_model")
    assert [finding.rule for finding in analysis_of(loading + REFUSED).findings] == ["device/weights-do-not-fit"]


def test_from_a_traceback_without_its_last_line_no_change_follows(analysis_of: Any) -> None:
    (finding,) = [
        one
        for one in analysis_of(FRAME.format(file="v1/worker/gpu_model_runner.py", function="capture_model")).findings
        if one.role == "root"
    ]
    assert (finding.rule, finding.confidence, finding.advice) == ("device/graph-capture-oom", "possible", [])
    whole = analysis_of(FRAME.format(file="v1/worker/gpu_model_runner.py", function="capture_model") + REFUSED)
    assert ("gpu_memory_utilization", "lower") in [(entry.knob, entry.direction) for entry in whole.verdict.advice]


@pytest.mark.parametrize(("version", "advised"), [("0.4.2", False), ("0.10.1", False), ("0.10.2", True)])
def test_nothing_is_advised_that_the_release_does_not_take(analysis_of: Any, version: str, advised: bool) -> None:
    allocating = FRAME.format(file="worker/cache_engine.py", function="_allocate_kv_cache")
    advice = analysis_of(BANNER.format(version=version) + allocating + REFUSED).verdict.advice
    assert any(entry.knob == "kv_cache_memory_bytes" for entry in advice) is advised


@pytest.mark.parametrize("command_first", [True, False], ids=["above the failure", "below it"])
def test_a_command_does_not_tell_the_phase_in_which_memory_ran_out(analysis_of: Any, command_first: bool) -> None:
    parts = ["vllm serve meta/m --max-model-len 1024 -tp 2\n", REFUSED]
    verdict = analysis_of("".join(parts if command_first else reversed(parts))).verdict
    assert (verdict.cause, verdict.phase) == ("device-oom", None)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Available KV cache memory: 8.25 GiB\n", "in phase kv_alloc of the start, before any outcome"),
        ("Processed prompts:  40%|████      | 4/10 [00:08<00:12,  2.00s/it]\n", "while it serves"),
    ],
)
def test_a_log_without_a_failure_says_where_it_ends(analysis_of: Any, text: str, place: str) -> None:
    assert f"it ends {place}." in analysis_of(text).verdict.summary
