"""SGLang's arguments that bear on memory, by release.

Sources: sglang/srt/server_args.py of 0.1.26 - 0.5.23, from 0.5.19 arg_groups/fields. A boundary between two releases that were read
lies somewhere between them; it stands at the later one.
"""

from __future__ import annotations

from analyzer.engines.argument import Argument

ARGUMENTS = (
    Argument("chunked_prefill_size", "--chunked-prefill-size", "0.2.7"),
    Argument("context_length", "--context-length", "0.1.26"),
    Argument("cpu_offload_gb", "--cpu-offload-gb", "0.3.6.post1"),
    Argument("cuda_graph_backend_decode", "--cuda-graph-backend-decode", "0.5.14"),
    Argument("cuda_graph_backend_prefill", "--cuda-graph-backend-prefill", "0.5.14"),
    Argument("cuda_graph_config", "--cuda-graph-config", "0.5.14"),
    Argument("cuda_graph_max_bs", "--cuda-graph-max-bs", "0.3.5", "0.5.20", "from 0.5.14 an old name of the decode flag"),
    Argument("cuda_graph_max_bs", "--cuda-graph-max-bs-decode", "0.5.14"),
    Argument("disable_cuda_graph", "--disable-cuda-graph", "0.1.26"),
    Argument("disable_piecewise_cuda_graph", "--disable-piecewise-cuda-graph", "0.5.10", "0.5.20"),
    Argument("disable_prefill_cuda_graph", "--disable-prefill-cuda-graph", "0.5.14"),
    Argument("enable_hierarchical_cache", "--enable-hierarchical-cache", "0.4.2.post1"),
    Argument("enable_piecewise_cuda_graph", "--enable-piecewise-cuda-graph", "0.5.3.post2", "0.5.14", "on by default from 0.5.10"),
    Argument("encoder_only", "--encoder-only", "0.5.7"),
    Argument("hicache_ratio", "--hicache-ratio", "0.4.4.post2"),
    Argument("hicache_size", "--hicache-size", "0.4.5.post3", None, "decimal gigabytes for each rank"),
    Argument("keep_mm_feature_on_device", "--keep-mm-feature-on-device", "0.5.3", "0.5.21"),
    Argument("kv_cache_dtype", "--kv-cache-dtype", "0.2.14"),
    Argument("language_only", "--language-only", "0.5.7"),
    Argument("limit_mm_data_per_request", "--limit-mm-data-per-request", "0.5.7"),
    Argument("mamba_full_memory_ratio", "--mamba-full-memory-ratio", "0.5.3.post2"),
    Argument("max_lora_rank", "--max-lora-rank", "0.4.9.post3"),
    Argument("max_loras_per_batch", "--max-loras-per-batch", "0.3.1"),
    Argument("max_mamba_cache_size", "--max-mamba-cache-size", "0.5.2"),
    Argument("max_running_requests", "--max-running-requests", "0.1.26"),
    Argument("max_total_tokens", "--max-total-tokens", "0.2.8"),
    Argument("mem_fraction_static", "--mem-fraction-static", "0.1.26"),
    Argument("mm_feature_transport", "--mm-feature-transport", "0.5.16"),
    Argument("piecewise_cuda_graph_max_tokens", "--cuda-graph-max-bs-prefill", "0.5.14"),
    Argument("piecewise_cuda_graph_max_tokens", "--piecewise-cuda-graph-max-tokens", "0.5.3.post2", "0.5.20"),
    Argument("quantization", "--quantization", "0.1.26"),
    Argument("schedule_conservativeness", "--schedule-conservativeness", "0.1.26"),
    Argument("swa_full_tokens_ratio", "--swa-full-tokens-ratio", "0.4.9.post3"),
    Argument("swa_prefix_tails", "--swa-prefix-tails", "0.5.21"),
    Argument("tp_size", "--tp-size", "0.1.26"),
)
