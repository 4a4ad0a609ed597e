"""SGLang's lines, release by release, each with the kind and the fields it must become."""

from __future__ import annotations

from typing import Any

from analyzer.units import GIB, MIB
from tests.grammars.samples import Sample, exact, printed

GB = 10**9

BEFORE_0_1_26: list[Sample] = [
    ("Rank 0: load weight begin.", "load_weight_begin", {}),
    (
        "Rank 0: max_total_num_token=25136, max_prefill_num_token=4189, context_len=4096, ",
        "max_total_num_tokens",
        {"tokens": 25136, "max_prefill_tokens": 4189, "context_len": 4096},
    ),
    (
        "new fill batch. #seq: 7. #cached_token: 1541. #new_token: 4. #remaining_req: 0. #running_req: 2. tree_cache_hit_rate: 12.50%.",
        "prefill_batch",
        {"new_seq": 7, "cached_tokens": 1541, "new_tokens": 4, "queue": 0, "running": 2, "cache_hit_rate": 12.5},
    ),
]

START_0_1_26: list[Sample] = [
    ("[gpu_id=0] Init nccl begin.", "init_torch_distributed_begin", {}),
    ("[gpu_id=0] Load weight begin. avail mem=78.58 GB", "load_weight_begin", {"free": printed("78.58", GIB)}),
    (
        "[gpu_id=0] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=63.52 GB",
        "load_weight_end",
        {"type": "LlamaForCausalLM", "dtype": "torch.bfloat16", "free": printed("63.52", GIB)},
    ),
    ("[gpu_id=0] Memory pool end. avail mem=8.53 GB", "memory_pool_end", {"free": printed("8.53", GIB)}),
    ("[gpu_id=0] Capture cuda graph begin. This can take up to several minutes.", "capture_graph_begin", {"graph": "cuda graph"}),
    (
        "[gpu_id=0] max_total_num_tokens=444500, max_prefill_tokens=16384, max_running_requests=4097, context_len=131072",
        "max_total_num_tokens",
        {"tokens": 444500, "max_prefill_tokens": 16384, "max_running_requests": 4097, "context_len": 131072},
    ),
    ("The server is fired up and ready to roll!", "server_ready", {}),
    (
        "[gpu_id=0] Prefill batch. #new-seq: 3, #new-token: 6417, #cached-token: 0, cache hit rate: 21.42%, #running-req: 1, #queue-req: 0",
        "prefill_batch",
        {"new_seq": 3, "new_tokens": 6417, "cached_tokens": 0, "cache_hit_rate": 21.42, "running": 1, "queue": 0},
    ),
    (
        "[gpu_id=0] Decode batch. #running-req: 12, #token: 40120, token usage: 0.09, gen throughput (token/s): 812.33, #queue-req: 0",
        "decode_batch",
        {"running": 12, "tokens": 40120, "token_usage": 0.09, "gen_throughput": 812.33, "queue": 0},
    ),
]

START_0_4_3: list[Sample] = [
    ("[2025-03-28 04:26:50 TP0] Init torch distributed begin.", "init_torch_distributed_begin", {}),
    (
        "[2025-03-28 04:26:51 TP0] Init torch distributed ends. mem usage=0.49 GB",
        "init_torch_distributed_end",
        {"mem_usage": printed("0.49", GIB)},
    ),
    ("[2025-03-28 04:26:51 TP0] Load weight begin. avail mem=22.76 GB", "load_weight_begin", {"free": printed("22.76", GIB)}),
    (
        "[2025-03-28 04:27:06 TP0] Load weight end. type=Gemma3ForConditionalGeneration, dtype=torch.bfloat16, avail mem=13.80 GB, mem "
        "usage=8.96 GB.",
        "load_weight_end",
        {
            "type": "Gemma3ForConditionalGeneration",
            "dtype": "torch.bfloat16",
            "free": printed("13.80", GIB),
            "weights": printed("8.96", GIB),
        },
    ),
    (
        "[2025-03-28 04:27:06 TP0] Automatically reduce --mem-fraction-static to 0.792 because this is a multimodal model.",
        "args_vlm_mem_reduce",
        {"mem_fraction_static": 0.792},
    ),
    (
        "[2025-03-28 04:27:07 TP0] KV Cache is allocated. #tokens: 46045, K size: 2.99 GB, V size: 2.99 GB",
        "kv_cache_allocated",
        {"tokens": 46045, "k_size": printed("2.99", GIB), "v_size": printed("2.99", GIB)},
    ),
    ("[2025-03-28 04:27:07 TP0] Memory pool end. avail mem=0.07 GB", "memory_pool_end", {"free": printed("0.07", GIB)}),
    (
        "[2025-03-28 04:27:08 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=0.00 GB",
        "capture_graph_begin",
        {"graph": "cuda graph", "free": printed("0.00", GIB)},
    ),
    (
        "Capturing batches (avail_mem=0.00 GB): 100%|████████| 4/4 [00:03<00:00,  1.00it/s]",
        "capture_graph_progress",
        {"free": printed("0.00", GIB), "done": 4, "steps": 4},
    ),
    (
        "[2025-03-28 04:27:12 TP0] Capture cuda graph end. Time elapsed: 4.00 s. avail mem=0.00 GB. mem usage=0.01 GB.",
        "capture_graph_end",
        {"graph": "cuda graph", "seconds": 4.0, "free": printed("0.00", GIB), "cuda_graphs": printed("0.01", GIB)},
    ),
    (
        "[2025-03-28 04:27:12 TP0] max_total_num_tokens=46045, chunked_prefill_size=-1, max_prefill_tokens=16384, "
        "max_running_requests=2049, context_len=8192",
        "max_total_num_tokens",
        {"tokens": 46045, "chunked_prefill_size": -1, "max_prefill_tokens": 16384, "max_running_requests": 2049, "context_len": 8192},
    ),
    (
        "[2025-03-28 04:27:20 TP0] Prefill batch. #new-seq: 1, #new-token: 7, #cached-token: 0, token usage: 0.00, #running-req: 0, "
        "#queue-req: 0, ",
        "prefill_batch",
        {"new_seq": 1, "new_tokens": 7, "cached_tokens": 0, "token_usage": 0.0, "running": 0, "queue": 0},
    ),
]

START_0_5_4: list[Sample] = [
    (
        "[2025-12-19 07:42:57 TP2] KV Cache is allocated. #tokens: 1496958, KV size: 41.76 GB",
        "kv_cache_allocated",
        {"tokens": 1496958, "kv_size": printed("41.76", GIB)},
    ),
    (
        "[2025-12-19 07:42:57 TP2] SWAKVPool mem usage: 12.345678 GB, swa size: 240000, full size: 300000",
        "kv_swa_usage",
        {"kv_size": printed("12.345678", GIB), "swa_tokens": 240000, "full_tokens": 300000},
    ),
    (
        "[2025-12-19 07:42:57 TP2] Mamba Cache is allocated. max_mamba_cache_size: 80, conv_state size: 0.22GB, ssm_state size: 11.39GB "
        "intermediate_ssm_state_cache size: 12.38GB intermediate_conv_window_cache size: 0.24GB",
        "mamba_alloc",
        {
            "slots": 80,
            "conv_state": printed("0.22", GIB),
            "ssm_state": printed("11.39", GIB),
            "intermediate_ssm_state": printed("12.38", GIB),
            "intermediate_conv_window": printed("0.24", GIB),
        },
    ),
    ("[2025-12-19 07:42:58 TP0] Capture cuda graph bs [1, 2, 4, 8]", "cuda_graph_bs", {"batch_sizes": [1, 2, 4, 8]}),
    (
        "[2025-12-19 07:43:10 TP0] Capture draft extend cuda graph end. Time elapsed: 3.10 s. mem usage=0.80 GB. avail mem=6.01 GB.",
        "capture_graph_end",
        {"graph": "draft extend cuda graph", "seconds": 3.1, "cuda_graphs": printed("0.80", GIB), "free": printed("6.01", GIB)},
    ),
    (
        "[2025-12-19 07:43:11 TP0] max_total_num_tokens=1496958, chunked_prefill_size=None, max_prefill_tokens=16384, "
        "max_running_requests=2048, context_len=262144, available_gpu_mem=21.09 GB",
        "max_total_num_tokens",
        {
            "tokens": 1496958,
            "max_prefill_tokens": 16384,
            "max_running_requests": 2048,
            "context_len": 262144,
            "free": printed("21.09", GIB),
        },
    ),
    (
        "[2025-12-19 07:43:20 TP0] Prefill batch [12], #new-seq: 1, #new-token: 7, #cached-token: 0, full token usage: 0.14, swa token "
        "usage: 0.20, "
        "#running-req: 0, #queue-req: 97, #pending-token: 109585, npu graph: False, input throughput (token/s): 15734.14",
        "prefill_batch",
        {
            "iteration": 12,
            "new_seq": 1,
            "new_tokens": 7,
            "cached_tokens": 0,
            "full_token_usage": 0.14,
            "swa_token_usage": 0.2,
            "running": 0,
            "queue": 97,
            "pending_tokens": 109585,
            "cuda_graph": False,
            "input_throughput": 15734.14,
        },
    ),
    (
        "[2025-12-19 07:43:21 TP0] Decode batch, #running-req: 1, #full token: 165376, full token usage: 0.02, #swa token: 768, "
        "swa token usage: 0.00, accept len: 5.30, accept rate: 0.86, cuda graph: True, gen throughput (token/s): 167.04, #queue-req: 0",
        "decode_batch",
        {
            "running": 1,
            "full_tokens": 165376,
            "full_token_usage": 0.02,
            "swa_tokens": 768,
            "swa_token_usage": 0.0,
            "accept_length": 5.3,
            "accept_rate": 0.86,
            "cuda_graph": True,
            "gen_throughput": 167.04,
            "queue": 0,
        },
    ),
]

START_0_5_14: list[Sample] = [
    (
        "[2026-06-24 11:50:30 TP0] Init torch distributed ends. elapsed=1.32 s, mem usage=0.49 GB",
        "init_torch_distributed_end",
        {"seconds": 1.32, "mem_usage": printed("0.49", GIB)},
    ),
    (
        "[2026-06-24 11:50:37 TP0] Load weight end. elapsed=4.58 s, type=Qwen3_5ForConditionalGeneration, quant=fp8, fmt=e4m3, "
        "avail mem=62.26 GB, mem usage=28.47 GB.",
        "load_weight_end",
        {
            "seconds": 4.58,
            "type": "Qwen3_5ForConditionalGeneration",
            "quantization": "fp8",
            "args": {"fmt": "e4m3"},
            "free": printed("62.26", GIB),
            "weights": printed("28.47", GIB),
        },
    ),
    (
        "[2026-06-24 11:50:37 TP0] Max concurrent requests (per dp worker) from the finalized token capacity: max_num_reqs=10.",
        "max_concurrent_requests",
        {"max_num_reqs": 10},
    ),
    (
        "[2026-06-24 11:50:38 TP0] KV Cache is allocated. dtype: torch.float8_e4m3fn, #tokens: 879872, K size: 13.43 GB, V size: 13.43 GB",
        "kv_cache_allocated",
        {"dtype": "torch.float8_e4m3fn", "tokens": 879872, "k_size": printed("13.43", GIB), "v_size": printed("13.43", GIB)},
    ),
    (
        "[2026-06-24 11:50:40 TP0] Capture target decode CUDA graph begin. backend=full, num_tokens_per_bs=1, bs=[1, 2, 4, 8], avail "
        "mem=8.53 GB",
        "capture_graph_begin",
        {
            "graph": "target decode CUDA graph",
            "backend": "full",
            "tokens_per_request": 1,
            "batch_sizes": [1, 2, 4, 8],
            "free": printed("8.53", GIB),
        },
    ),
    (
        "[2026-06-24 11:50:50 TP0] Capture target decode CUDA graph end. elapsed=5.10 s, mem usage=1.72 GB, avail mem=6.81 GB.",
        "capture_graph_end",
        {"graph": "target decode CUDA graph", "seconds": 5.1, "cuda_graphs": printed("1.72", GIB), "free": printed("6.81", GIB)},
    ),
    (
        "[2026-06-24 11:50:51 TP0] Capture target prefill CUDA graph begin. backend=tc_piecewise, num_tokens=[4, 8, 12], avail mem=6.81 GB",
        "capture_graph_begin",
        {
            "graph": "target prefill CUDA graph",
            "backend": "tc_piecewise",
            "num_tokens": [4, 8, 12],
            "free": printed("6.81", GIB),
        },
    ),
]

START_0_5_22: list[Sample] = [
    (
        "[2026-09-11 23:34:12 TP0] Memory baseline taken. mem usage=0.49 GB",
        "init_torch_distributed_end",
        {"mem_usage": printed("0.49", GIB)},
    ),
    (
        "[2026-09-11 23:46:11 TP0] DSV4 memory calculation: bytes_per_full_token=1670.75, available_bytes=8.84 GB, "
        "c128_state_fixed=0.00 GB, "
        "swa_fixed=0.30 GB, full_token=5491200",
        "kv_dsv4_calc",
        {
            "bytes_per_token": 1670.75,
            "available": printed("8.84", GIB),
            "c128_state_fixed": printed("0.00", GIB),
            "args": {"swa_fixed": printed("0.30", GIB)},
            "tokens": 5491200,
        },
    ),
    (
        "[2026-09-11 23:46:12 TP0] Full KV Cache VA upper bound. dtype: torch.bfloat16, #tokens: 444500, K size: 27.13 GB, V size: "
        "27.13 GB",
        "kv_cache_allocated",
        {
            "label": "Full",
            "virtual": True,
            "dtype": "torch.bfloat16",
            "tokens": 444500,
            "k_size": printed("27.13", GIB),
            "v_size": printed("27.13", GIB),
        },
    ),
    (
        "[2026-09-11 23:46:20 TP0] Capture target decode CUDA graph end. bs=[1, 2, 4, 8], elapsed=5.10 s, mem usage=1.72 GB, avail "
        "mem=6.81 GB.",
        "capture_graph_end",
        {
            "graph": "target decode CUDA graph",
            "batch_sizes": [1, 2, 4, 8],
            "seconds": 5.1,
            "cuda_graphs": printed("1.72", GIB),
            "free": printed("6.81", GIB),
        },
    ),
    (
        "[2026-09-11 23:46:21 TP0] Post-capture KV sizing: KV cache allocated. dtype: torch.bfloat16, #tokens: 400000, KV size: 48.80 "
        "GB, avail mem=2.10 GB",
        "post_capture_kv",
        {"dtype": "torch.bfloat16", "tokens": 400000, "kv_size": printed("48.80", GIB), "free": printed("2.10", GIB)},
    ),
    (
        "[2026-09-11 23:46:22] Engine startup timings (s): load_weight=12.30, kv_cache_allocation=0.40, scheduler_e2e=40.10, "
        "cuda_graph={target decode=5.10, draft extend=1.00}, tokenizer_e2e=42.00",
        "startup_timings",
        {
            "load_weight_seconds": 12.3,
            "kv_cache_seconds": 0.4,
            "scheduler_seconds": 40.1,
            "cuda_graph_seconds": {"target decode": 5.1, "draft extend": 1.0},
            "tokenizer_seconds": 42.0,
        },
    ),
]

STARTS: dict[str, list[Sample]] = {
    "before 0.1.26": BEFORE_0_1_26,
    "0.1.26": START_0_1_26,
    "0.4.3.post4": START_0_4_3,
    "0.5.4": START_0_5_4,
    "0.5.14": START_0_5_14,
    "0.5.22": START_0_5_22,
}

ARGUMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "a call": (
        "[2025-05-01 12:00:00] server_args=ServerArgs(model_path='Qwen/Qwen2.5-7B-Instruct', tokenizer_path=\"it's\", "
        "mem_fraction_static=0.88, "
        "max_total_tokens=None, cuda_graph_bs=[1, 2], lora_paths=[LoRARef(lora_name='foo', pinned=False)], enable_metrics=True)",
        {
            "model_path": "Qwen/Qwen2.5-7B-Instruct",
            "tokenizer_path": "it's",
            "mem_fraction_static": 0.88,
            "max_total_tokens": None,
            "cuda_graph_bs": [1, 2],
            "lora_paths": [{"lora_name": "foo", "pinned": False}],
            "enable_metrics": True,
        },
    ),
    "a dict": (
        "[2026-05-01 12:00:00.123] server_args={'model_path': '/models/m', 'mem_fraction_static': 0.865, "
        "'cuda_graph_config': {'decode': {'bs': [1, 2]}, 'prefill': None}, 'tp_size': 1}",
        {
            "model_path": "/models/m",
            "mem_fraction_static": 0.865,
            "cuda_graph_config": {"decode": {"bs": [1, 2]}, "prefill": None},
            "tp_size": 1,
        },
    ),
    "of omni": (
        "2026-05-01 12:00:00,123 [INFO] sglang_omni.models.ming_omni.pipeline.stages: ServerArgs: cpu_offload_gb=0, "
        "mem_fraction_static=0.8",
        {"cpu_offload_gb": 0, "mem_fraction_static": 0.8},
    ),
    "wrapped": (
        "server_args=ServerArgs(model_path='/models/m', mem_fraction_static=0.88, chunked_pre\n"
        "fill_size=8192, watchdog_timeout=300, tp_size=1)",
        {"model_path": "/models/m", "mem_fraction_static": 0.88, "chunked_prefill_size": 8192, "watchdog_timeout": 300, "tp_size": 1},
    ),
}

FRAGMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "begins inside a word": (
        "chedule_policy='fcfs', schedule_conservativeness=1.0, page_size=128, device='npu', mm_process_config={}, watchdog_timeout=300, "
        "bucket_tim\n"
        "e_to_first_token=None, decode_log_interval=40,",
        {
            "chedule_policy": "fcfs",
            "schedule_conservativeness": 1.0,
            "page_size": 128,
            "device": "npu",
            "mm_process_config": {},
            "watchdog_timeout": 300,
            "bucket_time_to_first_token": None,
            "decode_log_interval": 40,
        },
    ),
    "begins inside a value": ("5B-Instruct', mem_fraction_static=0.9, tp_size=8)", {"mem_fraction_static": 0.9, "tp_size": 8}),
    "of a dict": (
        "'schedule_conservativeness': 1.0, 'mem_fraction_static': 0.865, 'tp_size': 1}",
        {"schedule_conservativeness": 1.0, "mem_fraction_static": 0.865, "tp_size": 1},
    ),
}

START_FAILURES: list[Sample] = [
    ("RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.", "kv_not_enough", {}),
    (
        "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: "
        "self.server_args.mem_fraction_static=0.2",
        "kv_not_enough",
        {"mem_fraction_static": 0.2},
    ),
    (
        "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: mem_fraction_static=0.7",
        "kv_not_enough",
        {"mem_fraction_static": 0.7},
    ),
    ("RuntimeError: Not enough memory", "kv_not_enough", {}),
    (
        "ValueError: Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.7. Raise --mem-fraction-static "
        "above 0.770 "
        "(minimum viable = 1 - available/pre = 0.7692). If using speculative decoding, draft weights are now counted.",
        "kv_weights_leave_none",
        {"mem_fraction_static": 0.7, "suggested": 0.77, "minimum": 0.7692},
    ),
    ("ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes.", "memory_unbalanced", {}),
    (
        "ValueError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. min_per_gpu_memory=8.8841552734375, "
        "local_gpu_memory=11.901611328125, local_gpu_memory * 0.9=10.7114501953125",
        "memory_unbalanced",
        {
            "minimum_free": exact(9_539_289_088),
            "local_free": exact(12_779_257_856),
            "threshold": exact(11_501_332_070),
        },
    ),
    (
        "RuntimeError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. pre_model_load_memory=40.12, "
        "local_gpu_memory=78.69, local_gpu_memory * 0.9=70.82",
        "memory_unbalanced",
        {
            "minimum_free": printed("40.12", GIB),
            "local_free": printed("78.69", GIB),
            "threshold": printed("70.82", GIB),
        },
    ),
    (
        "[2025-07-02 07:41:59 DP7 TP7] max_total_tokens=131072 is larger than the profiled value -561981. Use the profiled value instead.",
        "no_tokens_profiled",
        {"asked_tokens": 131072, "profiled_tokens": -561981},
    ),
    (
        "[2025-07-02 07:41:59 DP7 TP7] max_total_tokens=131072 is larger than the profiled value 59868. Use the profiled value instead.",
        "max_total_tokens_clamped",
        {"asked_tokens": 131072, "profiled_tokens": 59868},
    ),
    (
        "RuntimeError: Not enough GPU memory for hybrid (mamba/linear-attention) state cache. Computed max_mamba_cache_size=0 "
        "(total_rest_memory=-1.20 GB, mamba_cache_per_req=26.44 MB). Try: (1) reduce --max-running-requests, (2) ...",
        "mamba_not_enough",
        {"slots": 0, "rest": printed("-1.20", GIB), "per_request": printed("26.44", MIB)},
    ),
    (
        "RuntimeError: SWA pool cap (131072 tokens, 12.00 GiB) leaves no room for the full KV pool within the available 10.50 GiB. "
        "Reduce ...",
        "kv_swa_cap_fail",
        {"swa_tokens": 131072, "swa_size": printed("12.00", GIB), "available": printed("10.50", GIB)},
    ),
    (
        "Exception: Capture cuda graph failed: no kernel image is available for execution on the device. Possible solutions:",
        "capture_graph_failed",
        {"graph": "cuda graph", "reason": "no kernel image is available for execution on the device"},
    ),
    (
        "RuntimeError: Capture prefill CUDA graph failed: CUDA out of memory. Tried to allocate 20.00 MiB.",
        "capture_graph_failed",
        {"graph": "prefill CUDA graph", "reason": "CUDA out of memory. Tried to allocate 20.00 MiB."},
    ),
    (
        "[2026-06-10 13:08:34 TP3] Piecewise CUDA Graph failed with error: CUDA error: invalid argument",
        "capture_graph_failed",
        {"reason": "CUDA error: invalid argument"},
    ),
    (
        "Decode transfer failed for request rank=1 decode_req.req.rid='7d1f' decode_req.req.bootstrap_room=4711 with exception "
        "KVTransferError(bootstrap_room=4711): Failed to get kvcache from prefill instance, it might be dead",
        "kv_transfer_failed",
        {"reason": "Failed to get kvcache from prefill instance, it might be dead"},
    ),
    ("Prefill bootstrap failed for request rank=0 req.rid='7d1f' req.bootstrap_room=4711", "kv_transfer_failed", {}),
    (
        "This is not an out-of-memory error, so lowering --mem-fraction-static or --cuda-graph-max-bs-decode will not help.",
        "capture_not_memory",
        {},
    ),
    (
        "Some requests fail to receive KV Cache transfer done signal after bootstrapping. If a greater mean TTFT is acceptable, you can",
        "kv_transfer_failed",
        {},
    ),
    (
        "Loading text_encoder from /models/wan/text_encoder. avail mem: 18.58 GB",
        "component_loading",
        {"component": "text_encoder", "free": printed("18.58", GIB)},
    ),
    (
        "Error while loading customized transformer, falling back to native version",
        "component_failed",
        {"component": "transformer"},
    ),
    (
        "Error while loading component: transformer, component_model_path='/models/wan/transformer'",
        "component_failed",
        {"component": "transformer"},
    ),
    (
        "Health check failed. Server couldn't get a response from detokenizer for last 20 seconds. tic start time: 13:50:20. "
        "last_heartbeat time: 13:49:58",
        "health_check_failed",
        {"seconds": 20},
    ),
    ("[PP Dynamic Chunk] Failed to profile prefill latency: alloc_req_slots runs out of memory.", "dynamic_chunking_off", {}),
    (
        "Exception: Capture cuda graph failed: \n  the shim was really called\nPossible solutions:",
        "capture_graph_failed",
        {"graph": "cuda graph", "reason": "the shim was really called"},
    ),
    (
        "ValueError: Not enough host memory available. Requesting 40.00 GB but only have 44.87 GB free. Please reduce the size of the "
        "cache.",
        "hicache_host_not_enough",
        {"host_requested": printed("40.00", GB), "host_free": printed("44.87", GB)},
    ),
    (
        "ValueError: Not enough host memory for DSA indexer hierarchical cache. Requesting 12.00 GB but only have 8.00 GB free.",
        "hicache_host_not_enough",
        {
            "host_pool": "DSA indexer hierarchical cache",
            "host_requested": printed("12.00", GB),
            "host_free": printed("8.00", GB),
        },
    ),
    (
        "RuntimeError: Rank 0 scheduler died during initialization (exit code: -9). If exit code is -9 (SIGKILL), a common cause is ...",
        "child_exit",
        {"rank": 0, "exit_code": -9},
    ),
    (
        "[12-11 17:52:52] Rank 0 scheduler is dead. Please check if there are relevant logs.\n[12-11 17:52:54] Exit code: -9",
        "child_exit",
        {"rank": 0, "exit_code": -9},
    ),
    ("[2025-05-01 12:00:00] Scheduler or DataParallelController 1234 terminated with -9", "child_exit", {"pid": 1234, "exit_code": -9}),
]

SERVING: list[Sample] = [
    (
        "[2025-03-07 21:49:33] decode out of memory happened, #retracted_reqs: 1, #new_token_ratio: 0.6970 -> 0.9512",
        "decode_out_of_memory",
        {"retracted": 1, "new_token_ratio_before": 0.697, "new_token_ratio_after": 0.9512},
    ),
    (
        "[2025-03-07 21:49:33 TP13] Decode out of memory happened. #retracted_reqs: 1, #new_token_ratio: 0.1474 -> 0.1845",
        "decode_out_of_memory",
        {"retracted": 1, "new_token_ratio_before": 0.1474, "new_token_ratio_after": 0.1845},
    ),
    (
        "[2025-09-07 21:49:33] KV cache pool is full. Retract requests. #retracted_reqs: 3, #aborted_retracted_reqs: 1, "
        "#new_token_ratio: 0.1 -> 0.2",
        "decode_out_of_memory",
        {"retracted": 3, "aborted": 1, "new_token_ratio_before": 0.1, "new_token_ratio_after": 0.2},
    ),
    (
        "[2026-03-07 21:49:33] KV cache pool is full. Retract requests. #retracted_reqs: 1, #new_tokens_gained: 2048",
        "decode_out_of_memory",
        {"retracted": 1, "tokens_gained": 2048},
    ),
    ("Prefill out of memory. This should never happen.", "pool_out_of_memory", {"prefill": True}),
    (
        "RuntimeError: Decode out of memory. Try to lower your batch size.\nTry to allocate 148 tokens.\nAvaliable tokens: 2048\n"
        "self.token_to_kv_pool_allocator.available_size()=2048\nself.tree_cache.evictable_size()=0",
        "pool_out_of_memory",
        {"decode": True, "asked_tokens": 148, "available_tokens": 2048, "available": 2048, "evictable": 0},
    ),
    (
        "RuntimeError: Out of memory. Try to lower your batch size.\nTry to allocate 64 tokens.\nAvailable tokens: 10 "
        "(available_size=10 + evictable_size=0)",
        "pool_out_of_memory",
        {"asked_tokens": 64, "available_tokens": 10, "available": 10, "evictable": 0},
    ),
    (
        "RuntimeError: Prefill out of memory. Try to lower your batch size.\nTry to allocate 8192 tokens.\n"
        "Available full tokens: 8070656 (full_available_size=7936 + full_evictable_size_=8062720)\n"
        "Available mamba: 760 (available_size=57 + component_evictable_size_=703)",
        "pool_out_of_memory",
        {
            "prefill": True,
            "asked_tokens": 8192,
            "full": {"available_tokens": 8070656, "available": 7936, "evictable": 8062720},
            "mamba": {"available_tokens": 760, "available": 57, "evictable": 703},
        },
    ),
    ("RuntimeError: Out of memory. Please set a smaller number for `--max-running-requests`.", "request_slots_exhausted", {}),
    (
        "RuntimeError: alloc_req_slots runs out of memory. Please set a smaller number for `--max-running-requests`. "
        "self.req_to_token_pool.available_size()=1, num_reqs=2, ",
        "request_slots_exhausted",
        {"available": 1, "asked": 2},
    ),
    (
        "[2025-03-03 06:49:28 TP5] Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a shorter input "
        "or ...",
        "input_too_long",
        {"input_tokens": 160062, "allowed_tokens": 59862},
    ),
    (
        "ValueError: Requested token count exceeds the model's maximum context length of 64000 tokens. You requested a total of 71897 "
        "tokens: "
        "7897 tokens from the input messages and 64000 tokens for the completion.",
        "input_too_long",
        {"of_model": True, "allowed_tokens": 64000, "requested_tokens": 71897, "input_tokens": 7897, "completion_tokens": 64000},
    ),
    (
        "UserWarning: Warning: available_size=100, max_total_num_tokens=200\nKV cache pool leak detected!",
        "pool_leak",
        {"available": 100, "total": 200},
    ),
    (
        "ValueError: KV cache pool leak detected!available_size=100, self.max_total_num_tokens=200",
        "pool_leak",
        {"available": 100, "total": 200},
    ),
    (
        "ValueError: token_to_kv_pool_allocator memory leak detected! available_size=3189424, protected_size=0, "
        "self.max_total_num_tokens=3185200\n"
        "self.token_to_kv_pool_allocator.available_size()=2864304\nself.tree_cache.evictable_size()=325120",
        "pool_leak",
        {
            "pool": "token_to_kv_pool_allocator",
            "available": 3189424,
            "protected": 0,
            "total": 3185200,
            "allocator_available": 2864304,
            "evictable": 325120,
        },
    ),
    (
        "ValueError: swa_pool memory leak detected! [swa] total=200, available=100, evictable=50, protected=0, session_held=0, uncached=0",
        "pool_leak",
        {"part": "swa", "total": 200, "available": 100, "evictable": 50, "protected": 0, "session_held": 0, "uncached": 0},
    ),
    ("[2025-08-02 19:24:30 TP3] Watchdog timeout (self.watchdog_timeout=300)", "watchdog_timeout", {"seconds": 300}),
    (
        "[2026-08-02 19:24:30] Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)",
        "watchdog_timeout",
        {"watchdog": "Scheduler", "seconds": 300, "soft": False},
    ),
    ("[2025-06-06 01:56:27] Received sigquit from a child process. It usually means the child failed.", "sigquit", {}),
    ("[2025-02-06] Received sigquit from a child proces. It usually means ...", "sigquit", {}),  # codespell:ignore proces
    ("[2025-07-25 07:53:08 TP2] Scheduler hit an exception: Traceback (most recent call last):", "scheduler_exception", {}),
    ("[2025-07-25 07:53:08 TP2] TpModelWorkerClient hit an exception: Traceback (most recent call last):", "scheduler_exception", {}),
    (
        "[2025-12-29 07:57:46 TP0 EP0] Required memory for warmup: 2.0390625GB, Available memory: 44.05438232421875GB",
        "deepgemm_warmup",
        {"needed": printed("2.0390625", GIB), "free": printed("44.05438232421875", GIB)},
    ),
    (
        "[2026-03-25 09:32:19] Allocating 15.58 GB host memory for hierarchical KV cache.",
        "hicache_alloc",
        {"host_size": printed("15.58", GB), "host_pool": "hierarchical KV cache"},
    ),
]

OMNI: list[Sample] = [
    (
        "2026-05-01 12:00:00,123 [INFO] sglang_omni.models.qwen3_omni.stages: sglang_ar_startup stage=thinker gpu_id=0 tp_rank=0/1 "
        "context_length=32768 total_gpu_memory_fraction=None effective_total_gpu_memory_fraction=None mem_fraction_static=0.818 "
        "encoder_mem_reserve=0.05 pre_load_avail_mem=78.11 pid=4321 pre_load_process_mem=0.52GiB",
        "omni_ar_startup",
        {
            "stage": "thinker",
            "device": 0,
            "tp_rank": 0,
            "tp_size": 1,
            "context_len": 32768,
            "mem_fraction_static": 0.818,
            "encoder_mem_reserve": 0.05,
            "free_before_load": printed("78.11", GIB),
            "pid": 4321,
            "process_before_load": printed("0.52", GIB),
        },
    ),
    (
        "SGLang AR memory profile: gpu_mem_accounting=kv_cache_bytes gpu_id=0 kv_cache_bytes=8.00GiB free=17.20GiB",
        "omni_memory_profile",
        {"accounting": "kv_cache_bytes", "device": 0, "kv_pinned": printed("8.00", GIB), "free": printed("17.20", GIB)},
    ),
    (
        "ValueError: Insufficient free GPU memory for the declared KV byte budget after model load: requested kv_cache_bytes=20.00GiB "
        "(21474836480 bytes), free=17.20GiB (18468359372 bytes) on gpu_id=0. Lower engine.kv_cache_bytes or free memory on this GPU.",
        "omni_kv_bytes_fail",
        {
            "kv_pinned_printed": printed("20.00", GIB),
            "kv_pinned": exact(21474836480),
            "free_printed": printed("17.20", GIB),
            "free": exact(18468359372),
            "device": 0,
        },
    ),
    (
        "ValueError: GPU 0 total_gpu_memory_fraction=1.050 exceeds placement limit 1.000",
        "omni_gpu_overcommit",
        {"device": 0, "total_gpu_memory_fraction": 1.05, "limit": 1.0},
    ),
    ("RuntimeError: Dead stage process(es) detected: asr (pid=..., exit=1)", "omni_stage_died", {"stage": "asr", "exit_code": 1}),
    (
        "RuntimeError: Dead stage process(es) detected: thinker:tp0 (pid=123, exit=-9), talker:tp0 (pid=124, exit=1)",
        "omni_stage_died",
        {"stage": ["thinker:tp0", "talker:tp0"], "pid": [123, 124], "exit_code": [-9, 1]},
    ),
]

CUT: list[Sample] = [
    (
        "[2025-02-05 15:49:20 TP3] Load weight end. type=DeepseekV3ForCausalLM, dtype=torch.bfloat16, avail m",
        "load_weight_end",
        {"type": "DeepseekV3ForCausalLM", "dtype": "torch.bfloat16"},
    ),
    ("[2025-02-05 15:49:20 TP3] Memory pool end. avail mem=8.", "memory_pool_end", {}),
    ("RuntimeError: Not enough memory. Please tr", "kv_not_enough", {}),
    (
        "RuntimeError: The memory capacity is unbalanced. Some GPUs may be occupied by other processes. pre_model",
        "memory_unbalanced",
        {},
    ),
    (
        "ValueError: Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.88. Rai",
        "kv_weights_leave_none",
        {"mem_fraction_static": 0.88},
    ),
    (
        "[2025-03-07 21:49:51 TP9] Decode out of memory happened. #retracted_reqs: 1, #new_token_ratio: 0.1207 ->",
        "decode_out_of_memory",
        {"retracted": 1, "new_token_ratio_before": 0.1207},
    ),
    (
        "2025-09-13 09:09:15 TP0] Decode batch. #running-req: 4, #token: 9071, token usage: 0.01, cuda graph: True, gen throughput (to",
        "decode_batch",
        {"running": 4, "tokens": 9071, "token_usage": 0.01, "cuda_graph": True},
    ),
]

WRAPPED = {
    "in a name": "[2025-05-01 12:00:00 TP0] KV Cache is allocated. #tokens: 444500, K size: 27.13 GB, V si\nze: 27.14 GB",
    "in a figure": "[2025-05-01 12:00:00 TP0] KV Cache is allocated. #tokens: 444500, K size: 27.1\n3 GB, V size: 27.14 GB",
    "at blanks": "[2025-05-01 12:00:00 TP0] KV Cache is allocated.\n#tokens: 444500,\nK size: 27.13 GB, V size: 27.14\nGB",
}

OTHERS: list[str] = [
    "OSError: Not enough memory resources are available to process this command",
    "RuntimeError: [enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate 5 bytes",
    "INFO 05-01 12:00:00 [parallel_state.py:1065] rank 0 in world size 1 is assigned as DP rank 0, PP rank 0, TP rank 0",
    "Process Process-1:3:",
    "Process 1001 has 75.33 GiB memory in use.",
    "Peak GPU memory: 12.34 GB",
    "Loaded weights: 12.34 GB",
    "LoRA adapter foo",
    "python -m sglang.launch_server --mem-fraction-static=0.9 --schedule-conservativeness=0.3 --watchdog-timeout 300",
    "engine = sgl.Engine(model_path='x', mem_fraction_static=0.7, tp_size=1)",
    "        mem_fraction_static=0.7,",
    "    server_args = ServerArgs(**kwargs)",
    "args: Namespace(sglang_mem_fraction_static=0.5, schedule_policy='fcfs')",
    "INFO 05-01 12:00:00 [utils.py:233] non-default args: {'model': 'x', 'gpu_memory_utilization': 0.9, 'disable_log_stats': True}",
    "self.max_total_num_tokens=3185200",
    "INFO 05-01 12:00:00 [worker.py:100] Memory profiling takes 3.21 seconds",
    "Prefill batching is a contract of its own",
]
