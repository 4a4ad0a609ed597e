"""How far an engine has come: the phase it is in after each message, and the order of phases."""

from __future__ import annotations

from analyzer.analysis import Phase

PHASES: tuple[Phase, ...] = ("args", "init", "load_weights", "profile", "kv_alloc", "warmup", "graph_capture", "serve", "shutdown")

PHASE_AFTER: dict[str, Phase] = {
    # arguments
    "args_namespace": "args",
    "command_line": "args",
    "non_default_args": "args",
    "selector_args": "args",
    "selector_choice": "args",
    "selector_clamp": "args",
    "selector_forced": "args",
    "server_args": "args",
    "server_args_fragment": "args",
    "using_max_model_len": "args",
    # start of the engine process, its groups and fixed buffers
    "engine_config": "init",
    "free_memory_below_utilization": "init",
    "init_torch_distributed_begin": "init",
    "init_torch_distributed_end": "init",
    "memory_unbalanced": "init",
    "parallel_rank": "init",
    "symm_mem_prealloc": "init",
    # weights
    "component_failed": "load_weights",
    "component_loaded": "load_weights",
    "component_loading": "load_weights",
    "diffusion_loading": "load_weights",
    "load_out_of_memory": "load_weights",
    "load_weight_begin": "load_weights",
    "omni_ar_startup": "load_weights",
    "shards_progress": "load_weights",
    "weights_checkpoint_size": "load_weights",
    "weights_load_seconds": "load_weights",
    "weights_load_start": "load_weights",
    # the profiling run (vLLM); SGLang goes from the weights straight to the pools
    "cudagraph_estimate": "profile",
    "cudagraph_profile_start": "profile",
    "mm_encoder_budget": "profile",
    "profile_debug": "profile",
    "profiling_result_v0": "profile",
    "torch_compiled": "profile",
    "weights_memory": "profile",
    # pools
    "available_kv_memory": "kv_alloc",
    "hicache_alloc": "kv_alloc",
    "kv_cache_allocated": "kv_alloc",
    "kv_cache_dtype": "kv_alloc",
    "kv_cache_tokens": "kv_alloc",
    "kv_dsv4_calc": "kv_alloc",
    "kv_dsv4_pools": "kv_alloc",
    "kv_memory_pinned": "kv_alloc",
    "kv_not_enough": "kv_alloc",
    "kv_swa_cap_fail": "kv_alloc",
    "kv_swa_request_fail": "kv_alloc",
    "kv_swa_split": "kv_alloc",
    "kv_swa_usage": "kv_alloc",
    "kv_weights_leave_none": "kv_alloc",
    "load_weight_end": "kv_alloc",
    "mamba_alloc": "kv_alloc",
    "mamba_ckpt_pool_fail": "kv_alloc",
    "mamba_not_enough": "kv_alloc",
    "mamba_too_small": "kv_alloc",
    "max_concurrency": "kv_alloc",
    "max_len_above_kv_tokens": "kv_alloc",
    "max_total_tokens_clamped": "kv_alloc",
    "memory_pool_too_small": "kv_alloc",
    "memory_profiling": "kv_alloc",
    "mm_kv_reserve": "kv_alloc",
    "no_available_cache_blocks": "kv_alloc",
    "no_tokens_profiled": "kv_alloc",
    "num_blocks": "kv_alloc",
    "omni_kv_bytes_fail": "kv_alloc",
    "omni_kv_none": "kv_alloc",
    "omni_memory_profile": "kv_alloc",
    "one_request_does_not_fit": "kv_alloc",
    "unified_pool_floor": "kv_alloc",
    # kernels and samplers
    "autotune_skipped": "warmup",
    "deepgemm_warmup": "warmup",
    "flashinfer_autotune": "warmup",
    "kernel_autotune": "warmup",
    "kernel_autotune_oom": "warmup",
    "memory_pool_end": "warmup",
    "pooler_warmup_oom": "warmup",
    "sampler_warmup_oom": "warmup",
    # vLLM prints it when the graphs are captured or skipped, before it warms up the sampler (vllm/v1/worker/gpu_worker.py, 0.10.2 -)
    "startup_memory_summary": "warmup",
    # graphs
    "capture_graph_begin": "graph_capture",
    "capture_graph_end": "graph_capture",
    "capture_graph_failed": "graph_capture",
    "capture_graph_progress": "graph_capture",
    "capture_progress": "graph_capture",
    "cuda_graph_bs": "graph_capture",
    "graph_captured": "graph_capture",
    "omni_ar_started": "graph_capture",
    "omni_kv_bytes_postcapture_fail": "graph_capture",
    "post_capture_kv": "graph_capture",
    "prefill_graph_auto_disabled": "graph_capture",
    "prefill_graph_num_tokens": "graph_capture",
    "cudagraph_capture_start": "graph_capture",
    "cudagraph_memory_hint_v0": "graph_capture",
    "graph_addresses_registered": "graph_capture",
    # serving
    "application_ready": "serve",
    "crash_config_dump": "serve",
    "crash_scheduler_output": "serve",
    "crash_scheduler_stats": "serve",
    "decode_batch": "serve",
    "decode_out_of_memory": "serve",
    "diffusion_peak": "serve",
    "http_access": "serve",
    "engine_init_done": "serve",
    "input_too_long": "serve",
    "kv_transfer_failed": "serve",
    "mamba_slot_exhausted": "serve",
    "max_total_num_tokens": "serve",
    "model_execution_error": "serve",
    "offline_done": "serve",
    "offline_progress": "serve",
    "omni_request_too_big": "serve",
    "pool_leak": "serve",
    "pool_out_of_memory": "serve",
    "prefill_batch": "serve",
    "preemption": "serve",
    "request_failed_engine_dead": "serve",
    "request_slots_exhausted": "serve",
    "retract_abort": "serve",
    "server_ready": "serve",
    "startup_timings": "serve",
    "stats": "serve",
    "update_weights_begin": "serve",
}
"""Fact kind -> phase. Kinds that are not listed do not move the engine on."""

NO_SUCCESS = frozenset(
    {
        "crash_config_dump",
        "crash_scheduler_output",
        "crash_scheduler_stats",
        "input_too_long",
        "kv_transfer_failed",
        "mamba_slot_exhausted",
        "model_execution_error",
        "offline_progress",
        "omni_request_too_big",
        "pool_leak",
        "pool_out_of_memory",
        "preemption",
        "request_failed_engine_dead",
        "request_slots_exhausted",
        "retract_abort",
        "update_weights_begin",
    }
)
"""Messages that only a serving engine prints, but when something goes wrong, or also then."""

FAILED_SERVING = frozenset({"engine_dead_v0", "engine_terminate_v0", "request_failed_engine_dead", "serving_task_failed"})
"""vLLM's messages to the clients of an engine that died: during a start there are none, and a failed start is worded otherwise."""

PHASE_OF_METHOD: dict[str, Phase] = {
    "compile_or_warm_up_model": "warmup",
    "determine_available_memory": "profile",
    "determine_num_available_blocks": "profile",
    "execute_model": "serve",
    "init_device": "init",
    "init_model": "init",
    "initialize_cache": "kv_alloc",
    "initialize_from_config": "kv_alloc",
    "load_model": "load_weights",
    "sample_tokens": "serve",
    "start_worker_execution_loop": "serve",
}
"""What vLLM's executor had asked of a worker that failed -> phase (vllm/executor/multiproc_worker_utils.py, vllm/worker/worker_base.py)."""

BEYOND_ARGUMENTS = frozenset(
    {
        "allocation_rejected",
        "bus_error",
        "cublas_alloc_failed",
        "cublas_error",
        "cuda_error",
        "cuda_error_oom",
        "cuda_oom_code",
        "cpu_memory_too_small",
        "cumem_error",
        "cumem_oom",
        "device_allocation_failed",
        "device_side_assert",
        "hsa_out_of_resources",
        "illegal_memory_access",
        "mamba_blocks_exceeded",
        "nccl_cuda_failure",
        "nccl_error",
        "nccl_oom",
        "nccl_timeout",
        "no_kernel_image",
        "nvml_assert",
        "ray_actor_cancelled",
        "ray_worker_died",
        "shm_broadcast_wait",
        "torch_oom",
        "triton_out_of_resources",
        "workspace_too_small",
        "xid",
        "xla_oom",
    }
)
"""Messages of memory that was refused, of kernels that failed, and of workers. A run of which
only the arguments are shown had come further than that."""

ORDINARY = frozenset({"available_kv_memory", "num_blocks", "profiling_result_v0"})
"""Messages that every start prints; only their figure can tell of a failure."""

PREPARED = frozenset({"capture_graph_end", "graph_captured"})
"""Messages of the last long step of a start; only a short warm-up and the server's own line come after them."""

_SUMMARY = "startup_memory_summary"
SERVING: frozenset[str] = frozenset(kind for kind, phase in PHASE_AFTER.items() if phase == "serve" or kind == _SUMMARY) - NO_SUCCESS
"""Messages that only an engine prints whose start succeeded; after the summary of its memory only the sampler's warm-up is left."""

STARTED: frozenset[str] = SERVING | {"capture_graph_end"}
"""Messages after which nothing of the start is left that takes device memory; another rank may still be at it."""


def phase_after(kind: str, method: object = None) -> Phase | None:
    """The phase that an engine is in after a message; `method` is what a worker that failed was executing. None does not move it on."""
    return PHASE_AFTER.get(kind) or (PHASE_OF_METHOD.get(method) if isinstance(method, str) else None)


def phase_of_event(kind: str, reached: Phase | None) -> Phase | None:
    """The phase that a message belongs to when the run had reached one; None where that cannot be: arguments take no memory."""
    return None if reached == "args" and kind in BEYOND_ARGUMENTS else reached


def order(phase: Phase | None) -> int:
    """Position of a phase in the life of an engine; -1 for none."""
    return PHASES.index(phase) if phase in PHASES else -1
