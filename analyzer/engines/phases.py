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
    # weights
    "load_weight_begin": "load_weights",
    "shards_progress": "load_weights",
    "weights_checkpoint_size": "load_weights",
    "weights_load_seconds": "load_weights",
    "weights_load_start": "load_weights",
    # the profiling run (vLLM); SGLang goes from the weights straight to the pools
    "cudagraph_estimate": "profile",
    "cudagraph_profile_start": "profile",
    "mm_encoder_budget": "profile",
    "profiling_result_v0": "profile",
    "torch_compiled": "profile",
    "weights_memory": "profile",
    "weights_memory_xpu": "profile",
    # pools
    "available_kv_memory": "kv_alloc",
    "kv_cache_allocated": "kv_alloc",
    "kv_cache_tokens": "kv_alloc",
    "kv_memory_pinned": "kv_alloc",
    "kv_not_enough": "kv_alloc",
    "kv_weights_leave_none": "kv_alloc",
    "load_weight_end": "kv_alloc",
    "max_concurrency": "kv_alloc",
    "max_len_above_kv_tokens": "kv_alloc",
    "no_available_cache_blocks": "kv_alloc",
    "num_blocks": "kv_alloc",
    "one_request_does_not_fit": "kv_alloc",
    # kernels and samplers
    "flashinfer_autotune": "warmup",
    "kernel_autotune": "warmup",
    "kernel_autotune_oom": "warmup",
    "memory_pool_end": "warmup",
    "pooler_warmup_oom": "warmup",
    "sampler_warmup_oom": "warmup",
    # graphs
    "capture_progress": "graph_capture",
    "capture_graph_begin": "graph_capture",
    "capture_graph_failed": "graph_capture",
    "cudagraph_capture_start": "graph_capture",
    "cudagraph_memory_hint_v0": "graph_capture",
    "graph_addresses_registered": "graph_capture",
    # serving
    "application_ready": "serve",
    "crash_config_dump": "serve",
    "crash_scheduler_output": "serve",
    "crash_scheduler_stats": "serve",
    "capture_graph_end": "graph_capture",
    "decode_batch": "serve",
    "graph_captured": "graph_capture",
    "http_access": "serve",
    "engine_init_done": "serve",
    "max_total_num_tokens": "serve",
    "model_execution_error": "serve",
    "prefill_batch": "serve",
    "preemption": "serve",
    "request_failed_engine_dead": "serve",
    "server_ready": "serve",
    "startup_memory_summary": "serve",
    "stats": "serve",
}
"""Fact kind -> phase. Kinds that are not listed do not move the engine on."""

NO_SUCCESS = frozenset(
    {
        "crash_config_dump",
        "crash_scheduler_output",
        "crash_scheduler_stats",
        "model_execution_error",
        "preemption",
        "request_failed_engine_dead",
    }
)
"""Messages that only a serving engine prints, but when something goes wrong."""

SERVING: frozenset[str] = frozenset(kind for kind, phase in PHASE_AFTER.items() if phase == "serve") - NO_SUCCESS
"""Messages that only an engine prints whose start succeeded."""


def order(phase: Phase | None) -> int:
    """Position of a phase in the life of an engine; -1 for none."""
    return PHASES.index(phase) if phase in PHASES else -1
