"""Which of vLLM's engines a release has, and what only one of them prints."""

from __future__ import annotations

import pytest
from packaging.version import Version

from analyzer.engines.vllm_budget import era
from analyzer.engines.vllm_generation import (
    Generation,
    generation_of_frame,
    generation_of_process,
    generation_of_record,
    generation_of_release,
)


@pytest.mark.parametrize(
    ("version", "generation"),
    [
        ("0.2.7", "V0"),
        ("0.6.3.post1", "V0"),
        ("0.6.4", None),
        ("0.10.2", None),
        ("0.11.0", "V1"),
        ("0.11.1rc6.dev35", "V1"),
        ("0.33.0", "V1"),
        (None, None),
    ],
)
def test_releases_with_one_engine(version: str | None, generation: Generation | None) -> None:
    assert generation_of_release(Version(version) if version is not None else None) == generation


@pytest.mark.parametrize("version", ["0.6.4", "0.6.5", "0.8.5", "0.9.1", "0.10.2"])
@pytest.mark.parametrize("generation", ["V0", "V1"])
def test_with_its_generation_every_release_between_has_one_formula(version: str, generation: Generation) -> None:
    found = era(Version(version), generation)
    assert found is not None
    assert found.generation == generation
    assert era(Version(version)) is None


@pytest.mark.parametrize(
    ("process", "generation"),
    [
        ("VllmWorkerProcess", "V0"),
        ("VllmWorker", "V1"),
        ("Worker", "V1"),
        ("EngineCore", "V1"),
        ("APIServer", None),
        ("RayWorkerWrapper", None),
        ("WorkerDict", None),
        ("", None),
    ],
)
def test_processes(process: str, generation: Generation | None) -> None:
    assert generation_of_process(process) == generation


@pytest.mark.parametrize(
    ("kind", "place", "generation"),
    [
        ("weights_memory", "gpu_model_runner.py:1034", "V1"),
        ("free_memory_debug", "v1/worker/gpu_worker.py:298", "V1"),
        ("weights_memory", "model_runner.py:1093", None),
        ("engine_config", "llm_engine.py:234", "V0"),
        ("engine_config", "core.py:49", "V1"),
        ("engine_init_done", "llm_engine.py:436", "V0"),
        ("stats", "loggers.py:80", "V1"),
        ("stats", "metrics.py:455", None),
        ("preemption", "", "V0"),
        ("one_request_does_not_fit", "", "V1"),
        ("max_len_above_kv_tokens", "", None),
        ("engine_init_done", "score.py:1", None),
    ],
)
def test_records(kind: str, place: str, generation: Generation | None) -> None:
    assert generation_of_record(kind, place) == generation


@pytest.mark.parametrize(
    ("file", "generation"),
    [
        ("/usr/lib/python3/dist-packages/vllm/v1/engine/core.py", "V1"),
        ("vllm/v1/worker/gpu_worker.py", "V1"),
        ("/opt/venv/vllm/worker/worker.py", "V0"),
        ("/opt/venv/vllm/worker/model_runner.py", "V0"),
        ("/opt/venv/vllm/engine/multiprocessing/engine.py", "V0"),
        ("/opt/venv/vllm/worker/worker_base.py", None),
        ("/opt/venv/vllm/executor/uniproc_executor.py", None),
        ("/opt/venv/vllm/engine/llm_engine.py", None),
        ("/opt/venv/vllm/v1/sample/sampler.py", None),
    ],
)
def test_frames(file: str, generation: Generation | None) -> None:
    assert generation_of_frame(file) == generation
