"""vLLM's arguments that bear on memory, by release.

Sources: vllm/engine/arg_utils.py and vllm/envs.py of 0.2.7 - 0.33.0. Flags are written with hyphens, in files with either; a name in
capitals is an environment variable and has no flag.
"""

from __future__ import annotations

from analyzer.engines.argument import Argument

ARGUMENTS = (
    Argument("cpu_offload_gb", "--cpu-offload-gb", "0.5.3", None, "GiB of weights kept on the host"),
    Argument("cuda_graph_sizes", "--cuda-graph-sizes", "0.9.0", "0.13.0", "superseded in 0.11.1"),
    Argument("cudagraph_capture_sizes", "--cudagraph-capture-sizes", "0.11.1"),
    Argument("disable_hybrid_kv_cache_manager", "--disable-hybrid-kv-cache-manager", "0.9.1", None, "on, it wastes KV cache"),
    Argument("enable_chunked_prefill", "--enable-chunked-prefill", "0.4.0"),
    Argument("enable_flashinfer_autotune", "--enable-flashinfer-autotune", "0.16.0"),
    Argument("enable_prefix_caching", "--enable-prefix-caching", "0.4.0"),
    Argument("enable_sleep_mode", "--enable-sleep-mode", "0.7.0"),
    Argument("enforce_eager", "--enforce-eager", "0.2.7"),
    Argument("gpu_memory_utilization", "--gpu-memory-utilization", "0.2.7", None, "--device-memory-utilization from 0.31.0 too"),
    Argument("kv_cache_dtype", "--kv-cache-dtype", "0.3.0"),
    Argument("kv_cache_memory_bytes", "--kv-cache-memory-bytes", "0.10.2"),
    Argument("kv_offloading_size", "--kv-offloading-size", "0.11.1", None, "GiB, over all tensor-parallel ranks"),
    Argument("limit_mm_per_prompt", "--limit-mm-per-prompt", "0.5.5"),
    Argument("max_context_len_to_capture", "--max-context-len-to-capture", "0.2.7", "0.6.4"),
    Argument("max_cudagraph_capture_size", "--max-cudagraph-capture-size", "0.11.1"),
    Argument("max_model_len", "--max-model-len", "0.2.7", None, "from 0.14.0 also auto or -1: as long as fits"),
    Argument("max_num_batched_tokens", "--max-num-batched-tokens", "0.2.7"),
    Argument("max_num_seqs", "--max-num-seqs", "0.2.7"),
    Argument("max_seq_len_to_capture", "--max-seq-len-to-capture", "0.4.3", "0.11.0"),
    Argument("mm_ipc_gpu_memory_gb", "--mm-ipc-gpu-memory-gb", "0.25.0", None, "GiB"),
    Argument("num_gpu_blocks_override", "--num-gpu-blocks-override", "0.4.1"),
    Argument("offload_backend", "--offload-backend", "0.17.0"),
    Argument("pipeline_parallel_size", "--pipeline-parallel-size", "0.2.7"),
    Argument("quantization", "--quantization", "0.2.7"),
    Argument("skip_mm_profiling", "--skip-mm-profiling", "0.10.1", None, "removes the encoders' reserve: lower the utilization by hand"),
    Argument("swap_space", "--swap-space", "0.2.7", "0.18.0", "GiB on the host"),
    Argument("tensor_parallel_size", "--tensor-parallel-size", "0.2.7"),
    Argument("VLLM_CPU_KVCACHE_SPACE", "", "0.4.0.post1", None, "GiB, CPU only"),
    Argument("VLLM_ENABLE_STARTUP_PLAN", "", "0.26.0"),
    Argument("VLLM_FLASHINFER_AUTOTUNE_SKIP_OPS", "", "0.26.0"),
    Argument("VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS", "", "0.18.0"),
    Argument("watermark", "--watermark", "0.24.0", None, "share of KV blocks kept free when requests are admitted"),
)
