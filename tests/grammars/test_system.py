"""What stands around the engines: tracebacks, commands, failures that only look like memory, ends of processes, progress."""

from __future__ import annotations

from typing import Any

import pytest

from tests.grammars.conftest import Reader
from tests.grammars.samples import plain
from tests.grammars.system_samples import COMMAND, SYSTEM, TRACEBACK

SAMPLES = [*TRACEBACK, *COMMAND, *SYSTEM]

NOTHING_OF_THE_KIND = {
    "File not found: /x": "traceback_frame",
    "    raise ValueError(": "exception",
    "Error: something else": "exception",
    "UserWarning: deprecated": "exception",
    "INFO there was an Error in the text": "exception",
    "(3) The worker is crashed unexpectedly due to SIGSEGV or other unexpected errors.": "segmentation_fault",
    "CUDA error: out of memory": "cuda_error",
    "CUDA error: an illegal memory access was encountered": "cuda_error",
    "NCCL WARN Cuda failure 2 'out of memory'": "nccl_warning",
    "Replace gpu_memory_utilization config with `--kv-cache-memory=4805904446` (4.48 GiB) or `--kv-cache-memory=6390038016`": "flags",
    "Try increasing --gpu-memory-utilization or decreasing --max-model-len": "flags",
    "vllm serve m --gpu-memory-utilization 0.9 --max-model-len 8192": "flags",
    "404 Client Error: Not Found for url: https://hub.example/m": "hf_unauthorized",
    "the process was Killed by somebody": "shell_killed",
    "port 8000 is used by the server": "address_in_use",
    "you can use vllm serve to start a server": "command_line",
    "[vllm.entrypoints.openai.api_server] started": "command_line",
    "docker pull vllm/vllm-openai:v0.10.0": "command_line",
}


@pytest.mark.parametrize(("text", "kind", "fields"), SAMPLES, ids=[f"{kind}-{n}" for n, (_, kind, _) in enumerate(SAMPLES)])
def test_message_becomes_this_fact(text: str, kind: str, fields: dict[str, Any], read: Reader) -> None:
    assert [plain(fact.fields) for fact in read(text) if fact.kind == kind] == [fields]


@pytest.mark.parametrize(("text", "kind"), NOTHING_OF_THE_KIND.items())
def test_look_alikes_are_told_apart(text: str, kind: str, read: Reader) -> None:
    assert kind not in {fact.kind for fact in read(text)}


def test_frames_glued_into_one_line(read: Reader) -> None:
    text = 'x File "/a/b.py", line 4308, in first y = f() ^^^^ File "/a/c.py", line 207, in second return z'
    assert [fact.text("function") for fact in read(text)] == ["first", "second"]


def test_a_killed_command_also_tells_its_flags(read: Reader) -> None:
    kinds = {fact.kind: fact for fact in read("run.sh: line 2: 11 Killed   python -m sglang.launch_server --tp-size 2 --dtype auto")}
    assert kinds["shell_killed"].integer("pid") == 11
    assert kinds["command_line"].mapping("args") == {"tp-size": 2, "dtype": "auto"}


def test_ray_lists_causes_that_are_not_facts(read: Reader) -> None:
    text = "The actor is dead because its worker process has died. (1) The process is killed by SIGKILL by OOM killer due to high memory."
    assert {fact.kind for fact in read(text)} == {"ray_worker_died"}


@pytest.mark.parametrize(
    "head",
    [
        "INFO 10-11 17:23:27 [logger.py:36] Received request cmpl-1: prompt: ",
        "INFO 10-11 17:23:28 [logger.py:80] Generated response cmpl-1: output: ",
        "[2025-05-01 12:00:00 TP0] Receive: obj=GenerateReqInput(text=",
    ],
)
@pytest.mark.parametrize(
    "quoted",
    [
        "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 351.00 MiB is free.",
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
        "torch.OutOfMemoryError: why?",
    ],
)
def test_no_message_begins_in_the_text_of_a_request(head: str, quoted: str, read: Reader) -> None:
    assert [fact.kind for fact in read(f"{head}'{quoted}', params: SamplingParams(n=1)")] == ["request_logged"]


def test_a_record_glued_to_a_request_is_read(read: Reader) -> None:
    glued = "INFO 10-11 17:23:27 [logger.py:36] Received request cmpl-1: prompt: 'x'ERROR 10-11 17:23:27 [core.py:9] CUDA out of memory."
    assert [fact.kind for fact in read(glued)] == ["request_logged", "torch_oom"]
