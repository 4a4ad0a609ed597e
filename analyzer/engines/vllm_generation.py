"""vLLM's two engines, V0 and V1, and what only one of them prints.

V1 came beside V0 in 0.6.4, V0 is gone after 0.10.2 (VLLM_USE_V1 in vllm/envs.py). Sources of the tables: the modules that hold the
message in 0.2.7 - 0.33.0, under vllm/v1 or outside it.
"""

from __future__ import annotations

import re
from typing import Literal

from packaging.version import Version

from analyzer.engines.release import is_within

Generation = Literal["V0", "V1"]
"""Of the engine, as its banner says."""

SECOND_SINCE = "0.6.4"
"""First release with V1."""
FIRST_GONE_IN = "0.11.0"
"""First release without V0."""

OF_KIND: dict[str, Generation] = {
    "crash_scheduler_stats": "V1",
    "cudagraph_capture_start": "V0",
    "cudagraph_memory_hint_v0": "V0",
    "engine_core_died": "V1",
    "engine_core_fatal": "V1",
    "engine_core_init_failed": "V1",
    "engine_core_start_failed": "V1",
    "engine_dead_error": "V1",
    "engine_dead_v0": "V0",
    "executor_failed": "V1",
    "free_memory_below_utilization": "V1",
    "free_memory_debug": "V1",
    "hybrid_kv_disabled": "V1",
    "kv_cache_tokens": "V1",
    "kv_layer_padding": "V1",
    "no_free_blocks": "V0",
    "one_request_does_not_fit": "V1",
    "preemption": "V0",
    "profile_debug": "V1",
    "prompt_exceeds_blocks": "V0",
    "sampler_warmup_oom": "V1",
    "swap_exhausted": "V0",
    "worker_init_failed": "V1",
    "worker_start_failed": "V1",
}
"""Messages of one engine only, by their kind."""

OF_FIELD: dict[tuple[str, str], Generation] = {
    ("num_blocks", "cpu_blocks"): "V0",
    ("profiling_result_v0", "activation_peak"): "V0",
    ("profiling_result_v0", "torch_peak"): "V0",
}
"""Parts of messages of one engine only: both print the rest."""

_OF_PROCESS: tuple[tuple[str, Generation], ...] = (
    (r"^VllmWorkerProcess$", "V0"),  # 0.4.2 - 0.10.2
    (r"^(EngineCore|VllmWorker|Worker|DPCoordinator)$", "V1"),
)
_OF_RECORD: tuple[tuple[str, Generation], ...] = (
    (r" (\S*/)?(core|core_client|gpu_model_runner|gpu_worker|kv_cache_utils|loggers)\.py:", "V1"),
    (r" (\S*/)?(distributed_gpu_executor|multiproc_worker_utils)\.py:", "V0"),
    (r"^(engine_config|engine_init_done) (\S*/)?llm_engine\.py:", "V0"),
)
"""A message's kind and the source file that logged it. A `model_runner.py` tells nothing: V1 has one too, from 0.12.0."""
_OF_FRAME: tuple[tuple[str, Generation], ...] = (
    (r"(^|/)vllm/v1/(core|engine|executor|worker)/", "V1"),
    (r"(^|/)vllm/worker/(enc_dec_model_runner|model_runner|multi_step_model_runner|multi_step_worker|worker)\.py$", "V0"),
    (r"(^|/)vllm/engine/multiprocessing/", "V0"),
)
"""Files of tracebacks. V1 went through vllm/engine/llm_engine.py, vllm/executor and vllm/worker/worker_base.py as well."""


def generation_of_release(version: Version | None) -> Generation | None:
    """The engine of releases that have only one; None between 0.6.4 and 0.10.2, and when the release is unknown."""
    if version is None:
        return None
    if not is_within(version, SECOND_SINCE):
        return "V0"
    return "V1" if is_within(version, FIRST_GONE_IN) else None


def generation_of_process(name: str) -> Generation | None:
    """By the name that a process puts before its lines."""
    return _first(_OF_PROCESS, name)


def generation_of_record(kind: str, place: str) -> Generation | None:
    """By a message's kind and the source file of its record, "gpu_worker.py:412"."""
    return OF_KIND.get(kind) or _first(_OF_RECORD, f"{kind} {place}")


def generation_of_frame(file: str) -> Generation | None:
    """By the file of a traceback's frame."""
    return _first(_OF_FRAME, file)


def _first(table: tuple[tuple[str, Generation], ...], text: str) -> Generation | None:
    return next((generation for pattern, generation in table if re.search(pattern, text)), None)
