"""vLLM's lines, by subject and release, each with the kind and the fields it must become."""

from __future__ import annotations

from typing import Any

from analyzer.units import GIB, MIB
from tests.grammars.samples import Amount, Sample, exact, printed

GB = 10**9
MAX_LEN = "max seq len"


def rounded(number: str) -> Amount:
    """What a figure of GiB leaves open that was rounded to two decimals and lost its zeros: "23.0" is 22.995 to 23.005."""
    whole, _, decimals = number.partition(".")
    return printed(f"{whole}.{decimals:0<2}", GIB)


SETTINGS: list[Sample] = [
    ("vLLM API server version 0.8.5.post1", "engine_version", {"version": "0.8.5.post1"}),
    ("vLLM API server version 0.11.1rc6.dev115+gbc926c122", "engine_version", {"version": "0.11.1rc6.dev115+gbc926c122"}),
    ("vLLM server version 0.16.0, serving model org/m-7b", "engine_version", {"version": "0.16.0", "model": "org/m-7b"}),
    (" ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.15.1", "engine_version", {"version": "0.15.1"}),
    (
        "args: Namespace(host=None, model='m', allowed_origins=['*'], config_format=<ConfigFormat.AUTO: 'auto'>, swap_space=4, "
        "gpu_memory_utilization=0.97, limit_mm_per_prompt={'image': 2}, dispatch_function=<function serve at 0x7f3c>)",
        "args_namespace",
        {
            "args": {
                "host": None,
                "model": "m",
                "allowed_origins": ["*"],
                "config_format": "<ConfigFormat.AUTO: 'auto'>",
                "swap_space": 4,
                "gpu_memory_utilization": 0.97,
                "limit_mm_per_prompt": {"image": 2},
                "dispatch_function": "<function serve at 0x7f3c>",
            }
        },
    ),
    (
        "non-default args: {'model_tag': 'm', 'model': \"it's\", 'max_model_len': 393216, 'gpu_memory_utilization': 0.723, "
        "'kv_cache_memory_bytes': 5200000000, 'compilation_config': {'cudagraph_mode': <CUDAGraphMode.PIECEWISE: 1>, 'level': None}, "
        "'lora_modules': [LoRAModulePath(name='a', path='/b')]}",
        "non_default_args",
        {
            "args": {
                "model_tag": "m",
                "model": "it's",
                "max_model_len": 393216,
                "gpu_memory_utilization": 0.723,
                "kv_cache_memory_bytes": 5200000000,
                "compilation_config": {"cudagraph_mode": "<CUDAGraphMode.PIECEWISE: 1>", "level": None},
                "lora_modules": [{"name": "a", "path": "/b"}],
            }
        },
    ),
    (
        "Initializing an LLM engine with config: model='m', dtype=torch.float16, max_seq_len=4096, quantization=None, seed=0)",
        "engine_config",
        {"args": {"model": "m", "dtype": "torch.float16", "max_seq_len": 4096, "quantization": None, "seed": 0}},
    ),
    (
        "Initializing an LLM engine (v0.6.4) with config: model='m', kv_cache_dtype=auto,  device_config=cuda, "
        'compilation_config={"splitting_ops":[],"max_capture_size":256}, use_cached_outputs=False, ',
        "engine_config",
        {
            "version": "0.6.4",
            "args": {
                "model": "m",
                "kv_cache_dtype": "auto",
                "device_config": "cuda",
                "compilation_config": {"splitting_ops": [], "max_capture_size": 256},
                "use_cached_outputs": False,
            },
        },
    ),
    (
        "Initializing a V0 LLM engine (v0.8.5) with config: model='m', max_seq_len=8192, use_cached_outputs=True, ",
        "engine_config",
        {"generation": "V0", "version": "0.8.5", "args": {"model": "m", "max_seq_len": 8192, "use_cached_outputs": True}},
    ),
    (
        "Initializing a V1 LLM engine (v0.19.2rc1.dev8+g4b7f5ea1a) with config: model='m', "
        "speculative_config=SpeculativeConfig(method='eagle', num_spec_tokens=3), dtype=torch.bfloat16, max_seq_len=98304, "
        "compilation_config={'mode': <CompilationMode.VLLM_COMPILE: 3>, 'custom_ops': ['none', '+rms_norm'], 'compile_sizes': []}",
        "engine_config",
        {
            "generation": "V1",
            "version": "0.19.2rc1.dev8+g4b7f5ea1a",
            "args": {
                "model": "m",
                "speculative_config": {"method": "eagle", "num_spec_tokens": 3},
                "dtype": "torch.bfloat16",
                "max_seq_len": 98304,
                "compilation_config": {
                    "mode": "<CompilationMode.VLLM_COMPILE: 3>",
                    "custom_ops": ["none", "+rms_norm"],
                    "compile_sizes": [],
                },
            },
        },
    ),
    ("Using max model len 393216", "using_max_model_len", {"max_model_len": 393216}),
    ("Chunked prefill is enabled with max_num_batched_tokens=4096.", "chunked_prefill_budget", {"max_num_batched_tokens": 4096}),
    ("The model has a long context length (131072). This may causeOOM during", "long_context_oom_warning", {"max_model_len": 131072}),
    (
        "rank 3 in world size 4 is assigned as DP rank 0, PP rank 1, PCP rank 0, TP rank 1, EP rank N/A, EPLB rank N/A",
        "parallel_rank",
        {"rank": 3, "world_size": 4, "dp_rank": 0, "pp_rank": 1, "pcp_rank": 0, "tp_rank": 1},
    ),
]

WEIGHTS: list[Sample] = [
    ("Loading model weights took 14.9888 GB", "weights_memory", {"weights": printed("14.9888", GIB)}),
    (
        "Model loading took 14.9888 GB and 3.123456 seconds",
        "weights_memory",
        {"weights": printed("14.9888", GIB), "seconds": 3.123456},
    ),
    (
        "Model loading took 16.4412 GiB and 20.758864 seconds",
        "weights_memory",
        {"weights": printed("16.4412", GIB), "seconds": 20.758864},
    ),
    (
        "Model loading took 16.4 GiB memory and 28.352517 seconds",
        "weights_memory",
        {"weights": rounded("16.4"), "seconds": 28.352517},
    ),
    (
        "Loading model weights took in total 15.05 GiB of device memory (15.05 GiB/94.62 GiB used) and 1.056 GiB of host memory",
        "weights_memory",
        {"weights": printed("15.05", GIB), "used": printed("15.05", GIB), "total": printed("94.62", GIB)},
    ),
    ("Starting to load model org/m-7b...", "weights_load_start", {"model": "org/m-7b"}),
    ("Loading weights took 26.91 seconds", "weights_load_seconds", {"seconds": 26.91}),
    (
        "Filesystem type for checkpoints: EXT4. Checkpoint size: 15.68 GiB. Available RAM: 118.20 GiB.",
        "weights_checkpoint_size",
        {"filesystem": "EXT4", "checkpoint": printed("15.68", GIB), "host_free": printed("118.20", GIB)},
    ),
    ("Total CPU offloaded parameters: 9.9", "cpu_offload_total", {"offloaded": rounded("9.9")}),
    (
        "[PrefetchOffloader] Initialized 8 modules. Total GPU memory saved: 6.4424 GB, Static buffer pool: 1.6106 GB (group_size=4)",
        "prefetch_offload_saved",
        {"modules": 8, "saved": printed("6.4424", GB), "buffer_pool": printed("1.6106", GB), "args": {"group_size": 4}},
    ),
    (
        "Weights are held outside this process: of the 73.5 GiB utilization budget, 16.44 GiB is externally held and 57.06 GiB remains "
        "for the engine's own allocations.",
        "external_weights",
        {"budget": rounded("73.5"), "external": rounded("16.44"), "engine_budget": rounded("57.06")},
    ),
]

START_UP_CHECK: list[Sample] = [
    (
        "ValueError: Free memory on device (31.44/47.38 GiB) on startup is less than desired GPU memory utilization (0.95, 45.01 GiB). "
        "Decrease GPU memory utilization or reduce GPU memory used by other processes.",
        "free_memory_below_utilization",
        {"free_at_start": rounded("31.44"), "total": rounded("47.38"), "utilization": 0.95, "budget": rounded("45.01")},
    ),
    (
        "ValueError: Free memory on device cuda:1 (23.0/31.36 GiB) on startup is less than desired GPU memory "
        "utilization (0.92, 28.85 GiB).",
        "free_memory_below_utilization",
        {
            "device": "cuda:1",
            "free_at_start": rounded("23.0"),
            "total": rounded("31.36"),
            "utilization": 0.92,
            "budget": rounded("28.85"),
        },
    ),
    (
        "Free memory on device GPU 0 (23.0GiB/31.36GiB) on startup is less than the desired memory utilization (0.92, 28.85GiB)",
        "free_memory_below_utilization",
        {
            "device": "GPU 0",
            "free_at_start": rounded("23.0"),
            "total": rounded("31.36"),
            "utilization": 0.92,
            "budget": rounded("28.85"),
        },
    ),
    (
        "Free memory on device cuda:0 (10.2/31.36 GiB) on startup is less than the engine's budget after excluding external process's "
        "weights (0.92, 12.41 GiB).",
        "free_memory_below_utilization",
        {
            "device": "cuda:0",
            "free_at_start": rounded("10.2"),
            "total": rounded("31.36"),
            "besides_external_weights": True,
            "utilization": 0.92,
            "budget": rounded("12.41"),
        },
    ),
]

PROFILE: list[Sample] = [
    (
        "Memory profiling results: total_gpu_memory=23.58GiB initial_memory_usage=15.34GiB peak_torch_memory=17.98GiB "
        "memory_usage_post_profile=15.35Gib non_torch_memory=0.35GiB kv_cache_size=2.89GiB gpu_memory_utilization=0.90",
        "profiling_result_v0",
        {
            "total": printed("23.58", GIB),
            "used_at_start": printed("15.34", GIB),
            "torch_peak": printed("17.98", GIB),
            "used_after_profile": printed("15.35", GIB),
            "non_torch": printed("0.35", GIB),
            "kv_cache": printed("2.89", GIB),
            "utilization": 0.9,
        },
    ),
    (
        "model weights take 5.20GiB; non_torch_memory takes 0.03GiB; PyTorch activation peak memory takes 1.42GiB; the rest of the memory "
        "reserved for KV Cache is -1.05GiB.",
        "profiling_result_v0",
        {
            "weights": printed("5.20", GIB),
            "non_torch": printed("0.03", GIB),
            "activation_peak": printed("1.42", GIB),
            "kv_cache": printed("-1.05", GIB),
        },
    ),
    (
        "Memory profiling takes 17.96 seconds. Total non KV cache memory: 17.12GiB; torch peak memory increase: 1.89GiB; non-torch forward "
        "increase memory: 0.25GiB; weights memory: 14.99GiB.",
        "profile_debug",
        {
            "seconds": 17.96,
            "non_kv": rounded("17.12"),
            "torch_peak_increase": rounded("1.89"),
            "non_torch": rounded("0.25"),
            "weights": rounded("14.99"),
        },
    ),
    (
        "Memory profiling takes 31.20 seconds. Total non KV cache memory: 63.53GiB; torch peak memory increase: 2.04GiB; total consumed "
        "(from mem_get_info): 61.49GiB; weights memory: 55.87GiB.",
        "profile_debug",
        {
            "seconds": 31.2,
            "non_kv": rounded("63.53"),
            "torch_peak_increase": rounded("2.04"),
            "consumed": rounded("61.49"),
            "weights": rounded("55.87"),
        },
    ),
    (
        "Before memory profiling run, total GPU memory: 65536.00 MB, model load takes 15350.00 MB, free gpu memory is 49000.00 MB.",
        "xpu_profile",
        {"total": printed("65536.00", MIB), "weights": printed("15350.00", MIB), "free": printed("49000.00", MIB)},
    ),
    (
        "AssertionError: Error in memory profiling. Initial free memory 82.94 GiB, current free memory 90.17 GiB. This happens when",
        "memory_profiling_error",
        {"free_at_start": rounded("82.94"), "free": rounded("90.17")},
    ),
    (
        "AssertionError: Error in memory profiling. Initial free memory 23.49658203125 GiB, current free memory 24.1875 GiB.",
        "memory_profiling_error",
        {"free_at_start": printed("23.49658203125", GIB), "free": printed("24.1875", GIB)},
    ),
    (
        "AssertionError: Error in memory profiling. Initial free memory 25229197312, current free memory 25757220864. This happens when",
        "memory_profiling_error",
        {"free_at_start": exact(25229197312), "free": exact(25757220864)},
    ),
    (
        "AssertionError: Error in memory profiling. Initial used memory 525336576, currently used memory 525336576. This happens when",
        "memory_profiling_error",
        {"used_at_start": exact(525336576), "used": exact(525336576)},
    ),
    ("AssertionError: Error in memory profiling", "memory_profiling_error", {}),
    (
        "AssertionError: Error in memory profiling. This happens when the GPU memory was not properly cleaned up",
        "memory_profiling_error",
        {},
    ),
    (
        "Free memory grew by 0.7 GiB during profiling (initial 190.1 GiB, current 190.8 GiB). Sizing the KV cache from the 20.44 GiB torch "
        "reserved instead of the profiling difference.",
        "rocm_profiling_fallback",
        {
            "growth": rounded("0.7"),
            "free_at_start": rounded("190.1"),
            "free": rounded("190.8"),
            "torch_reserved": rounded("20.44"),
        },
    ),
    (
        "Encoder cache will be initialized with a budget of 16384 tokens, and profiled with 1 image items of the maximum feature size.",
        "mm_encoder_budget",
        {"encoder_tokens": 16384, "items": 1, "modality": "image"},
    ),
]

KV_CACHE: list[Sample] = [
    ("Available KV cache memory: 11.76 GiB", "available_kv_memory", {"kv_cache": rounded("11.76")}),
    ("Available KV cache memory: -2.3 GiB", "available_kv_memory", {"kv_cache": rounded("-2.3")}),
    (
        "Available memory: 51234567890, total memory: 65464696832",
        "available_kv_memory",
        {"kv_cache": exact(51234567890), "total": exact(65464696832)},
    ),
    (
        "Initial free memory 23.00347900390625 GiB, reserved 4.84GiB memory for KV Cache as specified by kv_cache_memory_bytes config",
        "kv_memory_pinned",
        {"free_at_start": printed("23.00347900390625", GIB), "kv_pinned": rounded("4.84")},
    ),
    (
        "Initial free memory 23.0 GiB, reserved 4.84 GiB memory for KV Cache as specified by kv_cache_memory_bytes "
        "config and skipped memory",
        "kv_memory_pinned",
        {"free_at_start": rounded("23.0"), "kv_pinned": rounded("4.84")},
    ),
    (
        "Applying persisted startup plan (fingerprint 3f9a0c1d2e4b5a67): kv_cache_memory_bytes=5200000000 (4.84 GiB), recorded free-memory "
        "baseline 23.00 GiB, current 23.41 GiB. Memory profiling will be skipped.",
        "startup_plan_applied",
        {
            "fingerprint": "3f9a0c1d2e4b5a67",
            "kv_cache_memory_bytes": exact(5200000000),
            "kv_pinned": rounded("4.84"),
            "recorded_free": rounded("23.00"),
            "free": rounded("23.41"),
        },
    ),
    ("# GPU blocks: 229, # CPU blocks: 512", "num_blocks", {"gpu_blocks": 229, "cpu_blocks": 512}),
    ("# cuda blocks: 0, # CPU blocks: 4681", "num_blocks", {"gpu_blocks": 0, "cpu_blocks": 4681}),
    ("# hpu blocks: 1519, # CPU blocks: 0", "num_blocks", {"gpu_blocks": 1519, "cpu_blocks": 0}),
    ("# GPU blocks: 27895", "num_blocks", {"gpu_blocks": 27895}),
    ("# CPU blocks: 512", "num_blocks", {"cpu_blocks": 512}),
    ("GPU KV cache size: 1,782,000 tokens", "kv_cache_tokens", {"tokens": 1782000}),
    ("GPU + host KV cache size: 406,726 tokens", "kv_cache_tokens", {"tokens": 406726}),
    ("Maximum concurrency for 4096 tokens per request: 0.00x", "max_concurrency", {"tokens_per_request": 4096, "concurrency": 0.0}),
    ("Maximum concurrency for 393,216 tokens per request: 1.03x", "max_concurrency", {"tokens_per_request": 393216, "concurrency": 1.03}),
    (
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
        "no_available_cache_blocks",
        {"knob": "gpu_memory_utilization"},
    ),
    (
        "ValueError: No available memory for the cache blocks. Try increasing `VLLM_CPU_KVCACHE_SPACE` when initializing the engine.",
        "no_available_cache_blocks",
        {"knob": "VLLM_CPU_KVCACHE_SPACE"},
    ),
    ("ValueError: No available memory for the cache blocks.", "no_available_cache_blocks", {}),
    (
        f"The model's {MAX_LEN} (128000) is larger than the maximum number of tokens that can be stored in KV cache "
        f"(78336). Try increasing",
        "max_len_above_kv_tokens",
        {"max_model_len": 128000, "kv_tokens": 78336},
    ),
    (
        f"The model's {MAX_LEN} (128000) is larger than the maximum number of tokens that can be stored in KV cache "
        "(78336). Try increasing `VLLM_CPU_KVCACHE_SPACE` or decreasing `max_model_len`",
        "max_len_above_kv_tokens",
        {"max_model_len": 128000, "kv_tokens": 78336, "knob": "VLLM_CPU_KVCACHE_SPACE"},
    ),
    (
        f"model's {MAX_LEN} (8192) is larger than the maximum number of tokens that can be stored in KV cache (6048).",
        "max_len_above_kv_tokens",
        {"max_model_len": 8192, "kv_tokens": 6048},
    ),
    (
        f"ValueError: The model's {MAX_LEN} (16384) is larger than the maximum number of tokens that can be stored in KV cache. Try",
        "max_len_above_kv_tokens",
        {"max_model_len": 16384},
    ),
    ('    raise ValueError("No available memory for the cache blocks. "', "no_cache_blocks_raised", {}),
    (
        f"To serve at least one request with the models's {MAX_LEN} (131072), (16.00 GB KV cache is needed, which is larger than the "
        "available KV cache memory (11.76 GB). Try increasing `gpu_memory_utilization`",
        "one_request_does_not_fit",
        {"max_model_len": 131072, "kv_needed": printed("16.00", GIB), "kv_cache": printed("11.76", GIB)},
    ),
    (
        f"To serve at least one request with the models's {MAX_LEN} (131072), (16.00 GiB KV cache is needed, which is larger than the "
        "available KV cache memory (11.76 GiB). Based on the available memory,  Try increasing `gpu_memory_utilization`",
        "one_request_does_not_fit",
        {"max_model_len": 131072, "kv_needed": printed("16.00", GIB), "kv_cache": printed("11.76", GIB)},
    ),
    (
        f"To serve at least one request with the model's {MAX_LEN} (1010001), (12.02 GiB KV cache is needed, which is larger than the "
        "available KV cache memory (11.8 GiB). Based on the available memory, the estimated maximum model length is 988160. Try increasing",
        "one_request_does_not_fit",
        {
            "max_model_len": 1010001,
            "kv_needed": rounded("12.02"),
            "kv_cache": rounded("11.8"),
            "estimated_max_model_len": 988160,
        },
    ),
    (
        f"To serve at least one request with the model’s {MAX_LEN} (1010001), 12.02 GiB KV cache is needed, which is larger than the "
        "available (11.76 GiB)",
        "one_request_does_not_fit",
        {"max_model_len": 1010001, "kv_needed": rounded("12.02"), "kv_cache": rounded("11.76")},
    ),
    (
        f"To serve at least one request with the model {MAX_LEN} (65536), 9.48 GiB KV cache\nis needed, which is larger than the available"
        " KV cache memory (4.42 GiB). ... the estimated\nmaximum model length is 11656.",
        "one_request_does_not_fit",
        {"max_model_len": 65536, "kv_needed": rounded("9.48"), "kv_cache": rounded("4.42"), "estimated_max_model_len": 11656},
    ),
    (
        "Auto-fit max_model_len: reduced from 131072 to 96320 to fit in available KV cache memory (11.76 GiB GPU + 64.0 GiB host)",
        "max_len_auto_fit",
        {
            "asked_max_model_len": 131072,
            "max_model_len": 96320,
            "kv_cache": rounded("11.76"),
            "pool_device": "GPU",
            "host_kv_cache": rounded("64.0"),
        },
    ),
    (
        "ValueError: max_num_seqs (1024) exceeds available Mamba cache blocks (969).",
        "mamba_blocks_exceeded",
        {"max_num_seqs": 1024, "blocks": 969},
    ),
    ("... exceeds available Mamba cache blocks (88)... lower it", "mamba_blocks_exceeded", {"blocks": 88}),
    ("Add 3 padding layers, may waste at most 6.25% KV cache memory", "kv_layer_padding", {"layers": 3, "waste": 6.25}),
]

GRAPHS: list[Sample] = [
    (
        "Profiling CUDA graph memory: PIECEWISE=51 (largest=512), FULL=35 (largest=256)",
        "cudagraph_profile_start",
        {"graph_group": [{"mode": "PIECEWISE", "graphs": 51, "largest": 512}, {"mode": "FULL", "graphs": 35, "largest": 256}]},
    ),
    ("Estimated CUDA graph memory: 0.42 GiB total", "cudagraph_estimate", {"cuda_graphs_estimated": printed("0.42", GIB)}),
    (
        "Estimated FULL CUDA graph memory: 102.00 MiB first-capture + (35-1) × 2.31 MiB per-graph",
        "cudagraph_estimate_mode",
        {"mode": "FULL", "first_capture": printed("102.00", MIB), "graphs": 35, "per_graph": printed("2.31", MIB)},
    ),
    (
        "CUDA graph memory profiling is enabled (default since v0.21.0). The current --gpu-memory-utilization=0.9200 is equivalent to "
        "--gpu-memory-utilization=0.9147 without CUDA graph memory profiling. To maintain the same effective KV cache size as before, "
        "increase --gpu-memory-utilization to 0.9253. To disable, set VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0.",
        "cudagraph_profiling_hint",
        {"utilization": 0.92, "graphs_in_budget": True, "equivalent_utilization": 0.9147, "suggested_utilization": 0.9253},
    ),
    (
        "In v0.19, CUDA graph memory profiling will be enabled by default. To try it now, set VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=1 "
        "and increase --gpu-memory-utilization from 0.7000 to 0.7021 to maintain the same effective KV cache size.",
        "cudagraph_profiling_hint",
        {"graphs_not_in_budget": True, "utilization": 0.7, "suggested_utilization": 0.7021},
    ),
    (
        "CUDA graph pool memory: 0.14 GiB (actual), 0.2 GiB (estimated), difference: 0.06 GiB (47.1%).",
        "cudagraph_actual_vs_estimate",
        {
            "cuda_graphs": rounded("0.14"),
            "cuda_graphs_estimated": rounded("0.2"),
            "difference": rounded("0.06"),
            "difference_share": 47.1,
        },
    ),
    ("Graph capturing finished in 12 secs.", "graph_captured", {"seconds": 12}),
    ("Graph capturing finished in 20 secs, took 0.47 GiB", "graph_captured", {"seconds": 20, "cuda_graphs": printed("0.47", GIB)}),
    (
        "Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):  63%|██████▎   | 32/51 [00:03<00:02,  8.33it/s]",
        "capture_progress",
        {"capture_mode": "mixed prefill-decode, PIECEWISE", "progress": 63, "captured": 32, "graphs": 51},
    ),
    ("Registering 12444 cuda graph addresses", "graph_addresses_registered", {"addresses": 12444}),
    (
        "Capping cudagraph capture sizes from max 512 to 352 to fit Mamba cache blocks (361 blocks available). This limits",
        "mamba_cudagraph_cap",
        {"largest_asked": 512, "largest": 352, "blocks": 361},
    ),
]

WARM_UP: list[Sample] = [
    (
        "Free memory on device (78.6/79.11 GiB) on startup. Desired GPU memory utilization is (0.9, 71.2 GiB). Actual "
        "usage is 14.99 GiB for "
        "weight, 1.23 GiB for peak activation, 0.15 GiB for non-torch memory, and 0.47 GiB for CUDAGraph memory. Replace "
        "gpu_memory_utilization config with `--kv-cache-memory=58200000000` to fit into requested memory, or "
        "`--kv-cache-memory=66100000000` to fully utilize gpu memory. Current kv cache memory in use is 58861715456 bytes.",
        "startup_memory_summary",
        {
            "free_at_start": rounded("78.6"),
            "total": rounded("79.11"),
            "utilization": 0.9,
            "budget": rounded("71.2"),
            "weights": rounded("14.99"),
            "activation_peak": rounded("1.23"),
            "non_torch": rounded("0.15"),
            "cuda_graphs": rounded("0.47"),
            "abbreviated_option": True,
            "suggested_kv_cache_memory_bytes": exact(58200000000),
            "largest_kv_cache_memory_bytes": exact(66100000000),
            "kv_cache": exact(58861715456),
        },
    ),
    (
        "Free memory on device (23.15/23.56 GiB) on startup. Desired GPU memory utilization is (0.92, 21.67 GiB). "
        "Actual usage is 15.25 GiB "
        "for consumed memory (weights + non-torch), 1.66 GiB for peak activation, and 0.14 GiB for CUDAGraph memory. Replace "
        "gpu_memory_utilization config with `--kv-cache-memory=-4805904446` (-4.48 GiB) to fit into requested memory, or "
        "`--kv-cache-memory=6390038016` (5.95 GiB) to fully utilize gpu memory. Current kv cache memory in use is 4.76 GiB.",
        "startup_memory_summary",
        {
            "free_at_start": rounded("23.15"),
            "total": rounded("23.56"),
            "utilization": 0.92,
            "budget": rounded("21.67"),
            "consumed": rounded("15.25"),
            "activation_peak": rounded("1.66"),
            "cuda_graphs": rounded("0.14"),
            "abbreviated_option": True,
            "suggested_kv_cache_memory_bytes": exact(-4805904446),
            "suggested_kv_cache": rounded("-4.48"),
            "largest_kv_cache_memory_bytes": exact(6390038016),
            "largest_kv_cache": rounded("5.95"),
            "kv_cache": rounded("4.76"),
        },
    ),
    (
        "Free memory on device (60.6/60.96 GiB) on startup. Desired GPU memory utilization is (0.6, 36.57 GiB). Actual "
        "usage: 27.54 GiB for "
        "weights, 0.26 GiB for peak activation, 0.18 GiB for non-torch memory, 0.47 GiB for NPU graph memory. Current KV cache memory: "
        "8.04 GiB.",
        "startup_memory_summary",
        {
            "free_at_start": rounded("60.6"),
            "total": rounded("60.96"),
            "utilization": 0.6,
            "budget": rounded("36.57"),
            "weights": rounded("27.54"),
            "activation_peak": rounded("0.26"),
            "non_torch": rounded("0.18"),
            "cuda_graphs": rounded("0.47"),
            "kv_cache": rounded("8.04"),
        },
    ),
    ("init engine (profile, create kv cache, warmup model) took 45.67 seconds", "engine_init_done", {"seconds": 45.67}),
    (
        "init engine (profile, create kv cache, warmup model) took 123.45 s (compilation: 32.10 s)",
        "engine_init_done",
        {"seconds": 123.45, "compilation_seconds": 32.1},
    ),
    (
        "RuntimeError: CUDA out of memory occurred when warming up sampler with 256 dummy requests. Please try lowering `max_num_seqs`",
        "sampler_warmup_oom",
        {"num_seqs": 256},
    ),
    (
        "RuntimeError: CUDA out of memory occurred when warming up pooler (task='embed') with 128 dummy requests.",
        "pooler_warmup_oom",
        {"task": "embed", "num_seqs": 128},
    ),
    ("RuntimeError: CUDA out of memory occurred when warming up pooler with 64 dummy requests.", "pooler_warmup_oom", {"num_seqs": 64}),
    ("[Autotuner]: OOM detected, falling back to default tactic", "kernel_autotune_oom", {}),
    ("[Autotuner]: Autotuning process starts ...", "kernel_autotune", {"started": True}),
    (
        "AssertionError: Workspace is locked but allocation from 'moe.py:run:12' requires 512.00 MB, current size is 384.00 MB. Workspace",
        "workspace_locked",
        {"allocation": "moe.py:run:12", "required": printed("512.00", MIB), "size_now": printed("384.00", MIB)},
    ),
    ("INFO:     Application startup complete.", "application_ready", {}),
    ("Starting vLLM API server 0 on http://0.0.0.0:8000", "application_ready", {"server": 0, "url": "http://0.0.0.0:8000"}),
]

SERVING: list[Sample] = [
    (
        "Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 41.2 tokens/s, Running: 12 reqs, Swapped: 1 "
        "reqs, Pending: 3 reqs, "
        "GPU KV cache usage: 97.3%, CPU KV cache usage: 0.5%.",
        "stats",
        {
            "prompt_throughput": 0.0,
            "generation_throughput": 41.2,
            "running": 12,
            "swapped": 1,
            "waiting": 3,
            "kv_cache_usage": 97.3,
            "swap_usage": 0.5,
        },
    ),
    (
        "Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 41.2 tokens/s, Running: 12 reqs, Waiting: 3 reqs GPU KV cache "
        "usage: 97.3%.",
        "stats",
        {"prompt_throughput": 0.0, "generation_throughput": 41.2, "running": 12, "waiting": 3, "kv_cache_usage": 97.3},
    ),
    (
        "Engine 001: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 41.2 tokens/s, Running: 12 reqs, Waiting: 3 reqs, "
        "A thing of tomorrow: 5 reqs, Preemptions: 4, CPU KV cache usage: 97.3%, Prefix cache hit rate: 12.1%, MM cache hit rate: 3.0%",
        "stats",
        {
            "engine": 1,
            "prompt_throughput": 0.0,
            "generation_throughput": 41.2,
            "running": 12,
            "waiting": 3,
            "preemptions": 4,
            "kv_cache_usage": 97.3,
            "prefix_hit_rate": 12.1,
            "mm_hit_rate": 3.0,
        },
    ),
    ("Running: 12 reqs, Waiting: 3 reqs ", "stats", {"running": 12, "waiting": 3}),
    (
        "Processed prompts:  40%|████      | 4/10 [00:08<00:12,  2.00s/it, est. speed input: 10.00 toks/s, output: 20.00 toks/s]",
        "offline_progress",
        {"done": 4, "prompts": 10},
    ),
    ("Processed prompts: 100%|██████████| 10/10 [00:20<00:00,  2.00s/it]", "offline_done", {"done": 10, "prompts": 10}),
    ("ValueError: LoRA rank 48 is greater than max_lora_rank 32.", "lora_rank_above_limit", {"lora_rank": 48, "max_lora_rank": 32}),
    (
        "Engine 000: Iteration(512): 1 context requests, 8192 context tokens, 12 generation requests, 12 generation "
        "tokens, iteration elapsed "
        "time: 35.10 ms, GPU KV cache usage: 97.3%",
        "stats_iteration",
        {
            "engine": 0,
            "iteration": 512,
            "context_requests": 1,
            "context_tokens": 8192,
            "generation_requests": 12,
            "generation_tokens": 12,
            "milliseconds": 35.1,
            "kv_cache_usage": 97.3,
        },
    ),
    (
        "Sequence group cmpl-42-0 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache "
        "space. This can affect "
        "the end-to-end performance. Increase gpu_memory_utilization or tensor_parallel_size to provide more KV cache memory. "
        "total_num_cumulative_preemption=101",
        "preemption",
        {"request": "cmpl-42-0", "mode": "RECOMPUTE", "total": 101},
    ),
    (
        "Input prompt (40960 tokens) + lookahead slots (5) is too long and exceeds the capacity of block_manager",
        "prompt_exceeds_blocks",
        {"prompt_tokens": 40960, "lookahead_slots": 5},
    ),
    ("ValueError: Out of memory! No free blocks are available.", "no_free_blocks", {}),
    ("RuntimeError: Aborted due to the lack of CPU swap space. Please increase the swap space", "swap_exhausted", {}),
    (
        "Sleep mode freed 60.1 GiB memory, 1.34 GiB memory is still in use.",
        "sleep_freed",
        {"freed": rounded("60.1"), "in_use": rounded("1.34")},
    ),
    (
        "XpuMemAllocator: sleep freed 60.12 GiB memory in total, of which 14.99 GiB is backed up in CPU and the rest "
        "45.13 GiB is discarded",
        "sleep_cumem",
        {"freed": rounded("60.12"), "backed_up": rounded("14.99"), "discarded": rounded("45.13")},
    ),
    ("It took 1.234567 seconds to wake up tags {'weights'}.", "wake_up", {"seconds": 1.234567, "tags": ["weights"]}),
    ("Sleep mode freed 51.2 GiB, 3.75 GiB memory is still in use", "sleep_freed", {"freed": rounded("51.2"), "in_use": rounded("3.75")}),
    ("It took 1.5 seconds to fall asleep.", "sleep_time", {"seconds": 1.5}),
]

HOST: list[Sample] = [
    (
        "ValueError: Too large swap space. 4.00 GiB out of the 4.30 GiB total CPU memory is allocated for the swap space.",
        "swap_space_too_large",
        {"swap_space": rounded("4.00"), "host_total": rounded("4.30")},
    ),
    (
        "Possibly too large swap space. 32.00 GiB out of the 62.80 GiB total CPU memory is allocated for the swap space.",
        "swap_space_large_warning",
        {"swap_space": rounded("32.00"), "host_total": rounded("62.80")},
    ),
    (
        "SimpleCPUOffloadWorker [CPU]: 32 tensors, 8192 CPU blocks (16.00 GB)",
        "kv_offload_cpu_alloc",
        {"tensors": 32, "blocks": 8192, "host_kv_cache": printed("16.00", GIB)},
    ),
    (
        "Created mmap file /dev/shm/vllm_offload_0 (17.18 GB)",
        "kv_offload_mmap",
        {"path": "/dev/shm/vllm_offload_0", "region": printed("17.18", GB)},
    ),
    (
        "Cgroup memory preflight for KV offload: 65536 MiB required, 20480 MiB current usage, 45056 MiB available under 65536 MiB limit, "
        "-20480 MiB remaining after allocation based on current usage; may exceed the limit.",
        "cgroup_preflight",
        {
            "purpose": "KV offload",
            "required": printed("65536", MIB),
            "in_use": printed("20480", MIB),
            "host_free": printed("45056", MIB),
            "limit": printed("65536", MIB),
            "remaining": printed("-20480", MIB),
            "judgement": "may exceed the limit.",
        },
    ),
    (
        "RuntimeError: Insufficient space in /dev/shm for the message queue: 160 MiB required, 64 MiB free. Increase /dev/shm",
        "shared_memory_too_small",
        {"path": "/dev/shm", "purpose": "the message queue", "required": printed("160", MIB), "free": printed("64", MIB)},
    ),
    (
        "Auto set (40.1/251.5) GiB for KV cache on node 0, with 60.2 GiB requested memory for the worker. 20.1 GiB memory was consumed by",
        "cpu_kv_auto",
        {
            "kv_cache": rounded("40.1"),
            "total": rounded("251.5"),
            "node": 0,
            "budget": rounded("60.2"),
            "consumed": rounded("20.1"),
        },
    ),
    (
        "Available memory on node 0 (12.0/251.5 GiB) on kv cache allocation is less than requested memory for kv (16.0 GiB). Decrease",
        "cpu_memory_too_small",
        {"node": 0, "free": rounded("12.0"), "total": rounded("251.5"), "kv_needed": rounded("16.0")},
    ),
    (
        "VLLM_CPU_KVCACHE_SPACE not set. Using 4.0 GiB for KV cache.",
        "cpu_kv_default",
        {"kv_cache": rounded("4.0")},
    ),
]

FAILURES: list[Sample] = [
    ("WorkerProc failed to start.", "worker_start_failed", {}),
    ("WorkerProc hit an exception.", "worker_exception", {}),
    (
        "Exception in worker VllmWorkerProcess while processing method initialize_cache: NCCL error: invalid usage",
        "worker_exception",
        {"worker": "VllmWorkerProcess", "method": "initialize_cache"},
    ),
    (
        "Error executing method load_model. This might cause deadlock in distributed execution.",
        "worker_exception",
        {"method": "load_model"},
    ),
    ("Error executing method 'init_device'. This might cause deadlock", "worker_exception", {"method": "init_device"}),
    (
        "Failed to load model - not enough GPU memory. Try lowering --gpu-memory-utilization to free memory for weights",
        "load_out_of_memory",
        {},
    ),
    ("Call to wake_up method failed: CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62", "wake_up_failed", {}),
    ("Worker VllmWorkerProcess pid 4321 died, exit code: -9", "worker_died", {"worker": "VllmWorkerProcess", "pid": 4321, "exit_code": -9}),
    ("Worker proc VllmWorker-0 died unexpectedly, shutting down executor.", "worker_died", {"worker": "VllmWorker-0"}),
    (
        "Worker proc VllmWorker-0 died unexpectedly (exit code: -9), shutting down executor.",
        "worker_died",
        {"worker": "VllmWorker-0", "exit_code": -9},
    ),
    ("RayWorkerProc rank=[1, 3] died unexpectedly, shutting down executor.", "worker_died", {"ranks": "[1, 3]"}),
    (
        "RuntimeError: Worker failed with error 'NCCL error: unhandled cuda error', please check the stack trace above for the root cause",
        "worker_call_failed",
        {"error": "NCCL error: unhandled cuda error"},
    ),
    ("RuntimeError: Executor failed.", "executor_failed", {}),
    ("AsyncLLM output_handler failed.", "serving_task_failed", {}),
    ("Engine background task failed", "serving_task_failed", {}),
    ("Exception in callback functools.partial(<function _log_task_completion at 0x7f00>, error_callback=", "serving_task_failed", {}),
    ("TimeoutError: RPC call to sample_tokens timed out.", "worker_call_timed_out", {"method": "sample_tokens"}),
    ("EngineCore failed to start.", "engine_core_start_failed", {}),
    ("EngineCore hit an exception: Traceback (most recent call last):", "engine_core_start_failed", {}),
    ("EngineCore encountered a fatal error.", "engine_core_fatal", {}),
    ("RuntimeError: EngineCore_0 initialization failed. See root cause above.", "engine_core_init_failed", {}),
    ("RuntimeError: Engine core initialization failed. See root cause above.", "engine_core_init_failed", {}),
    (
        "RuntimeError: Engine core initialization failed. Failed core proc(s): {'EngineCore': 1}",
        "engine_core_init_failed",
        {"failed": {"EngineCore": 1}},
    ),
    (
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
        "engine_core_init_failed",
        {"failed": {}},
    ),
    (
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): "
        "{'EngineCore_DP1': -9}, failed frontend "
        "proc(s): {'ApiServer_0': 1}",
        "engine_core_init_failed",
        {"failed": {"EngineCore_DP1": -9}, "failed_frontend": {"ApiServer_0": 1}},
    ),
    ("Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.", "engine_core_died", {"worker": "EngineCore_DP0"}),
    ("EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.", "engine_dead_error", {}),
    (
        "vllm.engine.multiprocessing.MQEngineDeadError: Engine loop is not running. Inspect the stacktrace to find the original error: "
        "ValueError('Token id 151701 is out of vocabulary').",
        "engine_dead_v0",
        {},
    ),
    ("RuntimeError: Process ApiServer_0 (PID: 4321) died with exit code -9", "server_process_died", {"pid": 4321, "exit_code": -9}),
    (
        "Dumping scheduler stats: SchedulerStats(num_running_reqs=12, kv_cache_usage=0.93, prefix_cache_stats=PrefixCacheStats(hits=0))",
        "crash_scheduler_stats",
        {"args": {"num_running_reqs": 12, "kv_cache_usage": 0.93, "prefix_cache_stats": {"hits": 0}}},
    ),
]

PLUGINS: list[Sample] = [
    (
        "ValueError: Paged attention: not enough Metal memory for KV cache.\n  metal_limit=26.80GB, fraction=0.98, usable_metal=26.26GB,\n"
        "  model_memory=19.74GB, overhead=2.09GB, kv_budget=-12.05GB.\n  Mitigations: increase VLLM_METAL_MEMORY_FRACTION",
        "metal_no_room_for_kv",
        {
            "total": printed("26.80", GB),
            "utilization": 0.98,
            "budget": printed("26.26", GB),
            "weights": printed("19.74", GB),
            "overhead": printed("2.09", GB),
            "kv_cache": printed("-12.05", GB),
        },
    ),
    (
        "Free device memory: 79.22 GiB, 71.3 GiB usable (gpu_memory_utilization=0.9), 7.13 GiB reserved for HPUGraphs "
        "(VLLM_GRAPH_RESERVED_MEM=0.1), 64.17 GiB reserved for KV cache",
        "gaudi_memory_plan",
        {
            "free": printed("79.22", GIB),
            "usable": printed("71.3", GIB),
            "utilization": 0.9,
            "cuda_graphs": printed("7.13", GIB),
            "graph_share": 0.1,
            "kv_cache": printed("64.17", GIB),
        },
    ),
]

ALL: list[Sample] = [
    *SETTINGS,
    *WEIGHTS,
    *START_UP_CHECK,
    *PROFILE,
    *KV_CACHE,
    *GRAPHS,
    *WARM_UP,
    *SERVING,
    *HOST,
    *FAILURES,
    *PLUGINS,
]

CUT: dict[str, tuple[str, dict[str, Any]]] = {
    "ValueError: Free memory on device (6.44/11.63 GiB) on startup is less than desired GPU memory utilization (0.9, 10.4": (
        "free_memory_below_utilization",
        {"free_at_start": rounded("6.44"), "total": rounded("11.63"), "utilization": 0.9},
    ),
    "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utiliz": ("no_available_cache_blocks", {}),
    f"To serve at least one request with the model's {MAX_LEN} (100000), (4.26 GiB KV cache is needed, which is lar": (
        "one_request_does_not_fit",
        {"max_model_len": 100000, "kv_needed": rounded("4.26")},
    ),
    "GPU KV cache size: 150,745 tokens, Maximum concurrency for 124,000 tokens": ("max_concurrency", {"tokens_per_request": 124000}),
    "Free memory on device (60.86/61.27 GiB) on startup. Desired GPU memory utilization is (0.9, 55.14 GiB). "
    "Actual usage: 1.14 GiB for wei": (
        "startup_memory_summary",
        {
            "free_at_start": rounded("60.86"),
            "total": rounded("61.27"),
            "utilization": 0.9,
            "budget": rounded("55.14"),
            "weights": rounded("1.14"),
        },
    ),
    "non-default args: {'model': 'm', 'max_model_len': 8192, 'gpu_memory_utiliza": (
        "non_default_args",
        {"args": {"model": "m", "max_model_len": 8192}},
    ),
    "args: Namespace(model='m', gpu_memory_utilization=0.9": ("args_namespace", {"args": {"model": "m"}}),
    "Avg prompt throughput: 0.0 tokens/s, Avg generation thr": ("stats", {"prompt_throughput": 0.0}),
}
"""Texts that end too early -> what they still tell; a figure at the very end may lack digits and is left out."""

LOOK_ALIKES: dict[str, str] = {
    '    raise ValueError("No available memory for the cache blocks. "': "no_available_cache_blocks",
    '    raise RuntimeError("Engine core initialization failed. "': "engine_core_init_failed",
    '    raise RuntimeError("Engine core initialization failed. See root cause above.")': "engine_core_init_failed",
    '    raise RuntimeError("Executor failed.")': "executor_failed",
    '    raise TimeoutError(f"RPC call to {method} timed out.") from e': "worker_call_timed_out",
    '    raise ValueError("Out of memory! No free blocks are available.")': "no_free_blocks",
    '    raise AsyncEngineDeadError("Background loop has errored already.")': "engine_dead_v0",
    '            "Error in memory profiling. "': "memory_profiling_error",
    "    raise RuntimeError(f\"Worker failed with error '{result}', please check the stack trace above for the "
    'root cause")': "worker_call_failed",
    '        f"CUDA out of memory occurred when warming up sampler with {num_reqs} dummy requests. "': "sampler_warmup_oom",
    "Initial free memory: 78.6 GiB; Requested memory: 0.920000 (util), 72.78 GiB": "kv_memory_pinned",
    "Initializing a V1 LLM engine (v0.9.0) with config: model='m'": "crash_config_dump",
    "Encoder graph capturing finished in 4 secs, took 0.21 GiB (8 graphs)": "graph_captured",
    "Possibly too large swap space. 32.00 GiB out of the 62.80 GiB total CPU memory is allocated": "swap_space_too_large",
    "Multiplying the GPU KV cache size by the dcp_world_size 4.": "kv_cache_tokens",
}
"""Texts that contain words of a message but are not it."""
