"""Lines of the newest releases that the catalogues do not hold: buffers, small pools and what the host holds. Each becomes one fact."""

from __future__ import annotations

from analyzer.units import GIB, MIB
from tests.grammars.samples import Amount, Sample, exact, printed

GB, MB = 10**9, 10**6


def rounded(number: str, unit: int) -> Amount:
    """A figure that round(x, 2) printed: two decimals, zeros dropped."""
    whole, _, decimals = number.partition(".")
    return printed(f"{whole}.{decimals:0<2}", unit)


VLLM: list[Sample] = [
    (
        "Weight cache primary daemon rank 0 released startup resources (3.02 GiB freed)",
        "weight_cache_released",
        {"role": "primary", "rank": 0, "freed": printed("3.02", GIB)},
    ),
    (
        "Released 130.52 GiB of checkpoint page cache in /models/served",
        "page_cache_released",
        {"freed": printed("130.52", GIB), "path": "/models/served"},
    ),
    (
        (
            "Allocating 512.3 MB of device memory to buffers to load ['Linear', 'MoE'] layers. This extra memory usage"
            " can be avoided by ordering weights by their parent layer when reloading."
        ),
        "reload_buffers",
        {"buffers_size": printed("512.3", MB)},
    ),
    (
        "Engram table offloaded to pinned host memory: 4194304 rows x 1024, 8.00 GiB shared across DP replicas",
        "engram_offloaded",
        {"rows": 4194304, "row_width": 1024, "host_weights": printed("8.00", GIB)},
    ),
    (
        (
            "Initialized multimodal GPU IPC memory pool with 1073741824 bytes for this API process (4.00 GiB total "
            "budget across 4 API process(es))."
        ),
        "mm_ipc_pool",
        {"pool": exact(1_073_741_824), "frontend_reserve": printed("4.00", GIB), "api_servers": 4},
    ),
    (
        (
            "Skipping multi-modal processor cache insert for an item of 4.5 GiB because it exceeds "
            "--mm-processor-cache-gb=4.0. The item will be processed uncached; increase --mm-processor-cache-gb to "
            "cache items of this size."
        ),
        "mm_cache_item_too_large",
        {"item_size": rounded("4.5", GIB), "cache_limit": rounded("4.0", GIB)},
    ),
    (
        "Using block size 32 for hidden-state cache layer eagle.layers.0; page alignment wastes 4096 bytes (3.13%) per block",
        "page_alignment_waste",
        {"wasted": exact(4096), "waste": 3.13},
    ),
    ("ValueError: Cannot get 12 free blocks from the pool", "not_enough_free_blocks", {"blocks": 12}),
    ("ValueError: No free blocks available", "not_enough_free_blocks", {}),
    (
        (
            "KV cache is 2.3 GiB per layer, past the 2 GiB where the Gluon MLA kernel drops its KV bounds mask; using "
            "the padded ASM decode instead. Lower --gpu-memory-utilization or --max-model-len to get Gluon back."
        ),
        "kv_cache_layer_large",
        {"kv_cache_per_layer": rounded("2.3", GIB)},
    ),
    (
        "Allocated the KDA RecoverSSM verify records: 1.50 GiB in total for 256 requests (6.00 MiB per request).",
        "kda_verify_records",
        {"verify_records": printed("1.50", GIB), "requests": 256, "per_request": printed("6.00", MIB)},
    ),
    (
        "AssertionError: Workspace is locked but 'dsa_indexer' was not allocated during warmup for the current ubatch and lane.",
        "workspace_locked",
        {"allocation": "dsa_indexer"},
    ),
    (
        (
            "AssertionError: Workspace is locked but MoE permute scratch requires 8192 rows, current capacity is 4096 "
            "rows. Scratch growth is not allowed after locking."
        ),
        "workspace_locked",
        {"required_rows": 8192, "capacity_rows": 4096},
    ),
    (
        "[WORKSPACE DEBUG] Resized workspace from 'flashmla_sparse.py:412': 0.00 MB -> 512.00 MB (ubatch 0, lane 0)",
        "workspace_resized",
        {"resized_by": "flashmla_sparse.py:412", "size_now": printed("0.00", MIB), "required": printed("512.00", MIB)},
    ),
    ("TokenSpeed MLA decode workspace: 0.75 GiB", "attention_workspace", {"workspace": printed("0.75", GIB)}),
    (
        (
            "FlyDSL UltraQuant buffer pool allocated shape=(Hk=8, Hq=64, P=32, QG=8, D=256, dtype=torch.bfloat16) "
            "B_bucket=256. VRAM = 48.5 MiB / shape."
        ),
        "attention_workspace",
        {"workspace": rounded("48.5", MIB)},
    ),
    (
        "Sparse MLA top-k mask workspace (256 MiB) is too small for some prefill batches; those fall back to slower sparse MQA.",
        "attention_workspace_small",
        {"workspace": rounded("256", MIB)},
    ),
    (
        "ValueError: b12x MoE workspace2 is too small: have=33554432 bytes, need=67108864 bytes",
        "moe_workspace_small",
        {"workspace": exact(33_554_432), "required_bytes": exact(67_108_864)},
    ),
    (
        "RuntimeError: b12x lazily created decode plan exceeds reserved scratch: 16777216 > 8388608 bytes.",
        "moe_workspace_small",
        {"required_bytes": exact(16_777_216), "workspace": exact(8_388_608)},
    ),
    (
        "Skipping V2 mixed prefill+decode warmup because only 12 KV blocks are available for 16 required warmup blocks.",
        "mixed_warmup_skipped",
        {"blocks": 12, "needed_blocks": 16},
    ),
    (
        "SimpleCPUOffloadConnector: role=WORKER, per_rank=8.00 GB, world_size=8, mode=lazy, backend=cpu, disk=none",
        "kv_offload_cpu_alloc",
        {"role": "WORKER", "host_kv_cache": printed("8.00", GIB), "world_size": 8, "offload_mode": "lazy"},
    ),
    ("HiSparse: unpinned 64.0 GiB of host pool in 3.2s.", "hisparse_unpinned", {"freed": rounded("64.0", GIB), "seconds": 3.2}),
    (
        "Explicitly set (4.0/251.55) GiB for KV cache on node 0.",
        "cpu_kv_auto",
        {"kv_cache": rounded("4.0", GIB), "total": printed("251.55", GIB), "node": 0},
    ),
]

SGLANG: list[Sample] = [
    ("Post-capture KV sizing: KV-canary per-forward workspace 0.12 GB", "post_capture_canary", {"workspace": printed("0.12", GIB)}),
    ("HiCache staging prepared before KV sizing: 96.0 MiB, 61 layers", "hicache_staging", {"staging": printed("96.0", MIB), "layers": 61}),
    (
        (
            "Page-interleave KV sharding enabled: shard_rank=0 shard_size=4 page_size=64 prefix_tokens=131072 "
            "chunk_tokens=8192 scratch_rows=139264 x2 (153.00 MiB per rank, charged against the KV budget), NCCL "
            "symmetric scratch=True. Batch admission is limited by this scratch capacity."
        ),
        "kv_shard_scratch",
        {
            "args": {
                "shard_rank": 0,
                "shard_size": 4,
                "page_size": 64,
                "prefix_tokens": 131072,
                "chunk_tokens": 8192,
                "scratch_rows": 139264,
            },
            "scratch": printed("153.00", MIB),
        },
    ),
    (
        (
            "Auto-sized attention KV pool: sys_available=96.12 GB, mlx_limit=107.5 GB, mlx_used=18.20 GB, "
            "kv_budget=60.31 GB, bytes_per_slot=98304, pool_size=658000"
        ),
        "kv_mlx_pool",
        {
            "free": printed("96.12", GIB),
            "mlx_limit": printed("107.5", GIB),
            "mlx_used": printed("18.20", GIB),
            "kv_budget": printed("60.31", GIB),
            "bytes_per_token": 98304,
            "tokens": 658000,
        },
    ),
    (
        (
            "[unified-memory-pool]   total_bytes=42949672960 (=40.00 GB), full_capacity=400000, swa_capacity=120000, "
            "joint_available=390000 slots"
        ),
        "unified_pool",
        {
            "pool_bytes": exact(42_949_672_960),
            "pool_size": printed("40.00", GIB),
            "full_tokens": 400000,
            "swa_tokens": 120000,
            "joint_tokens": 390000,
        },
    ),
    (
        (
            "[unified-memory-pool]   total_bytes=42949672960 (=40.00 GB), full_max=400000, swa_max=120000, "
            "max_mamba_cache_size=512, max_num_reqs=256, joint_available=390000"
        ),
        "unified_pool",
        {
            "pool_bytes": exact(42_949_672_960),
            "pool_size": printed("40.00", GIB),
            "full_tokens": 400000,
            "swa_tokens": 120000,
            "slots": 512,
            "max_num_reqs": 256,
            "joint_tokens": 390000,
        },
    ),
    (
        "[unified-memory-pool] UnifiedKVPool reserved VA upper bound: total_bytes=80.00 GB (=85899345920 B), 2 sub-pool(s)",
        "unified_pool",
        {"virtual": True, "pool_size": printed("80.00", GIB), "pool_bytes": exact(85_899_345_920)},
    ),
    (
        (
            "RuntimeError: UnifiedKVPool: sub-pool 'mamba' fits only 3 slots in 16777216 bytes, but min_slot_index=4 "
            "leaves no room for real data. Increase total_bytes."
        ),
        "unified_pool_too_small",
        {"slots": 3, "pool_bytes": exact(16_777_216)},
    ),
    (
        "GDN ReplaySSM ring buffers allocated (record_len=8, fold=False): d=0.125GB, k=0.063GB, g=0.002GB",
        "mamba_buffers",
        {"args": {"record_len": 8, "fold": False, "d": printed("0.125", GIB), "k": printed("0.063", GIB), "g": printed("0.002", GIB)}},
    ),
    (
        (
            "int8 mamba checkpoint pool (1.88GB) is allocated from --mem-fraction-static headroom and is not reflected"
            " in max_total_num_tokens; ensure headroom covers it."
        ),
        "mamba_ckpt_headroom",
        {"pool_size": printed("1.88", GIB)},
    ),
    ("AssertionError: Not enough space for mamba ping pong idx, try to increase --mamba-full-memory-ratio.", "mamba_slot_exhausted", {}),
    (
        "HostCache[routed_experts] allocated: shape=(400000, 61, 8), size=0.73 GB",
        "routed_experts_buffer",
        {"buffer_name": "routed_experts", "host_buffer": printed("0.73", GIB)},
    ),
    (
        "Disable DFLASH draft cuda graph because only 0.85 GB GPU memory is available after target backend initialization.",
        "draft_graph_disabled",
        {"free": printed("0.85", GIB)},
    ),
    (
        "prefill: captured 512 rows (4 segments) in 2.31 s, 0.125 GiB; 4 graphs, 1.02 s, 0.031 GiB",
        "row_graphs_captured",
        {
            "rows": 512,
            "segments": 4,
            "seconds": 2.31,
            "row_buffers": printed("0.125", GIB),
            "graphs": 4,
            "capture_seconds": 1.02,
            "cuda_graphs": printed("0.031", GIB),
        },
    ),
    (
        "Built adaptive runtime state steps=3: elapsed=4.12s, mem=0.52GB",
        "adaptive_state_built",
        {"steps": 3, "seconds": 4.12, "state_size": printed("0.52", GIB)},
    ),
    (
        "Graph pool borrow high-water mark: 96.0 MiB used of 512.0 MiB available",
        "graph_pool_used",
        {"pool_used": printed("96.0", MIB), "pool_available": printed("512.0", MIB)},
    ),
    ("Graph pool borrow pre-carved: 128.0 MiB", "graph_pool_used", {"pool_carved": printed("128.0", MIB)}),
    ("Graph pool pre-carved: 1.25 GB", "graph_pool_used", {"pool_carved": printed("1.25", GIB)}),
    (
        "Capture single-CG draft extend begin. This can take several minutes. avail mem=7.31 GB",
        "capture_graph_begin",
        {"graph": "single-CG draft extend", "free": printed("7.31", GIB)},
    ),
    (
        "Capture single-CG draft extend end. elapsed=3.10 s, mem usage=0.21 GB, avail mem=7.10 GB.",
        "capture_graph_end",
        {"graph": "single-CG draft extend", "seconds": 3.1, "cuda_graphs": printed("0.21", GIB), "free": printed("7.10", GIB)},
    ),
    (
        (
            "Triton kernel 'fused_moe_kernel' device-loaded after serving started (free device mem: unknown). Pre-load"
            " it during engine init to avoid CUDA OOM."
        ),
        "triton_late_load",
        {"kernel": "fused_moe_kernel"},
    ),
    (
        "retract_decode: aborted request 8d1f0c: Retraction host KV pool exhausted. Aborting the request.",
        "retract_abort",
        {"request": "8d1f0c"},
    ),
    (
        ("AssertionError: KV cache is full! Bug in memory estimation. available=128, evictable=0, protected=4096, required_alloc=512"),
        "pd_pool_full",
        {"args": {"available": 128, "evictable": 0, "protected": 4096, "required_alloc": 512}},
    ),
    (
        ("Eviction insufficient: needed 512 tokens, available 128 after evicting 0/384 tokens. evictable_size=0, protected_size=4096"),
        "pd_pool_full",
        {"asked_tokens": 512, "available_tokens": 128},
    ),
    (
        (
            "RuntimeError: DSV4 c4 indexer pool exhausted: need 32 new slots, available=7. Raise "
            "--mem-fraction-static, lower --max-running-requests, or check that "
            "DSV4NPUTokenToKVPoolAllocator.free(req=...) releases indexer slots on req finish."
        ),
        "npu_pool_exhausted",
        {"asked": 32, "available": 7},
    ),
    ("RuntimeError: HiSparse spec failed to allocate 4096 scratch slots.", "hisparse_slots_exhausted", {"asked": 4096}),
    ("AssertionError: Hisparse allocation failed in alloc_extend", "hisparse_slots_exhausted", {}),
    (
        (
            "RuntimeError: Failed to allocate sparse KV buffer k_cache: req_capacity=256, max_context_len=131072, "
            "sparse_context_len=8192. The sparse KV request capacity may be too large; set a smaller "
            "--max-running-requests for sparse KV offload."
        ),
        "sparse_kv_allocation_failed",
        {"name": "k_cache", "args": {"req_capacity": 256, "max_context_len": 131072, "sparse_context_len": "8192."}},
    ),
    (
        "MemoryError: insufficient free VRAM for one top-k expert working set: free=104857600, object=209715200",
        "expert_working_set_too_big",
        {"free": exact(104_857_600), "needed": exact(209_715_200)},
    ),
    (
        (
            "Masked grouped-GEMM workspace allocation failed (num_groups=32 m=4096 n=7168). If this happens under "
            "saturated dp-attention prefill, try SGLANG_OPT_DG_MASKED_M_CAP=1."
        ),
        "moe_workspace_failed",
        {"args": {"num_groups": 32, "m": 4096, "n": 7168}},
    ),
    (
        "Allocating KV hierarchical KV host pool: 812000 tokens, 64.25 GB host memory.",
        "hicache_alloc",
        {"host_pool": "KV", "tokens": 812000, "host_size": printed("64.25", GB)},
    ),
    (
        "RuntimeError: Pinned host memory allocation of 64.0 GiB (68719476736 bytes) returned a null pointer",
        "host_pool_failed",
        {"needed": printed("64.0", GIB), "pinned_bytes": exact(68_719_476_736)},
    ),
    (
        (
            "RuntimeError: hipHostMalloc of 64.00 GB for a HiCache host pool failed (rc=2, out of memory). With "
            "HSA_USERPTR_FOR_PAGED_MEM=0 host pools are GTT memory."
        ),
        "host_pool_failed",
        {"needed": printed("64.00", GB)},
    ),
    (
        (
            "RuntimeError: memfabric host memory exhausted: need 16.00GB, only 2.50GB left of the 64.00GB reserve "
            "(sized automatically from the first L2 host pool)."
        ),
        "host_pool_failed",
        {"needed": printed("16.00", GIB), "remaining": printed("2.50", GIB), "reserved": printed("64.00", GIB)},
    ),
    (
        (
            "RuntimeError: MooncakeHostMemAllocator.alloc returned a null pointer for 32.000 GB (34359738368 bytes); "
            "the mooncake host memory allocator could not map the segment."
        ),
        "host_pool_failed",
        {"needed": printed("32.000", GIB), "pinned_bytes": exact(34_359_738_368)},
    ),
    (
        ("ValueError: No host memory is left for HiCache after the 10 GiB reserve; set --hicache-ratio or --hicache-size explicitly."),
        "host_pool_failed",
        {},
    ),
    (
        (
            "[HiCache] memfabric host memory initialized: reserve=64.00GB device=0 (physically reserved up to 65GB "
            "after C++-side GB alignment)"
        ),
        "memfabric_reserve",
        {"reserved": printed("64.00", GIB), "device": 0},
    ),
    (
        (
            "Using CUDA VMM for multimodal features with CUDA FABRIC sharing: reserving up to 2048 MiB on base GPU 0 "
            "across 2 tokenizer worker(s). This reduces KV cache headroom; a full pool falls back to inline CPU "
            "transport."
        ),
        "mm_feature_reserve",
        {"handle": "CUDA FABRIC", "reserved": printed("2048", MIB), "device": 0, "workers": 2},
    ),
    (
        (
            "CUDA VMM multimodal pool has no free chunk for a 96.50 MiB tensor (pool size: 1024.00 MiB); falling back "
            "to CPU transport. Increase SGLANG_MM_FEATURE_CACHE_MB to avoid inline request broadcasts."
        ),
        "mm_ipc_pool_full",
        {"needed": printed("96.50", MIB), "pool_size": printed("1024.00", MIB)},
    ),
    (
        (
            "Failed to allocate shared memory for multimodal feature transport ([Errno 28] No space left on device: "
            "'/psm_1f2e'); falling back to inline transport. Consider increasing /dev/shm size."
        ),
        "mm_shared_memory_failed",
        {"shm_error": "[Errno 28] No space left on device: '/psm_1f2e'"},
    ),
    (
        (
            "EmbeddingPool full: 900/1024MB in-flight across 12 requests; queueing a 200MB request. Raise "
            "SGLANG_EMBEDDING_POOL_SIZE_MB if this is frequent."
        ),
        "embedding_pool_full",
        {"in_use": printed("900", MIB), "pool_size": printed("1024", MIB), "requests": 12, "needed": printed("200", MIB)},
    ),
    (
        "EmbeddingPool cannot fit 2048MB (pool is 1024MB). Raise SGLANG_EMBEDDING_POOL_SIZE_MB. rid=8d1f0c",
        "embedding_pool_full",
        {"needed": printed("2048", MIB), "pool_size": printed("1024", MIB)},
    ),
    (
        "EmbeddingPool: requested 2048MB exceeds pool capacity 1024MB. Raise SGLANG_EMBEDDING_POOL_SIZE_MB.",
        "embedding_pool_full",
        {"needed": printed("2048", MIB), "pool_size": printed("1024", MIB)},
    ),
    ("EmbeddingPool alloc timed out after 30s waiting for 200MB.", "embedding_pool_full", {"seconds": 30, "needed": printed("200", MIB)}),
    (
        "EmbeddingPool full; rid=8d1f0c pending for 200MB. Raise SGLANG_EMBEDDING_POOL_SIZE_MB if this is frequent.",
        "embedding_pool_full",
        {"request": "8d1f0c", "needed": printed("200", MIB)},
    ),
    (
        "StagingBuffer allocated: 64.0 MB on cuda:0, method=cudaMalloc, ptr=0x7f1200000000",
        "device_buffer",
        {"buffer_size": printed("64.0", MIB), "device_name": "cuda:0"},
    ),
    (
        "StagingAllocator (ring+overcommit): 512.0 MB on cuda:0, ptr=0x7f1200000000",
        "device_buffer",
        {"buffer_size": printed("512.0", MIB), "device_name": "cuda:0"},
    ),
    ("PD DCP pack buffers allocated: 4 x 32.0 MB (max_tokens=8192)", "device_buffer", {"count": 4, "buffer_size": printed("32.0", MIB)}),
    (
        "EmbeddingPool allocated: gpu=0, size=1024MB, base=0x7f1200000000, rdma_registered=True",
        "device_buffer",
        {"device": 0, "buffer_size": printed("1024", MIB)},
    ),
    ("Full-CG prefill workspace: 384 MB (max bucket 8192 tokens, 64 request slots)", "device_buffer", {"buffer_size": printed("384", MIB)}),
    (
        "gfx950 fused DSA indexer: workspace preallocated (max_cols=131072, 512 MiB) before pool sizing",
        "device_buffer",
        {"buffer_size": printed("512", MIB)},
    ),
    (
        ("K3 symm buffer 'ar_fusion': 8192 rows x 7168, 112.0 MB (rendezvoused once on first use; no per-forward symmetric allocation)"),
        "device_buffer",
        {"buffer_name": "ar_fusion", "rows": 8192, "buffer_size": printed("112.0", MIB)},
    ),
    (
        "engram peer shards target: 4 ranks over FABRIC, 8.00 GiB local, mapped in 1.2 s",
        "device_buffer",
        {"buffer_size": printed("8.00", GIB)},
    ),
    ("NVLink vocab gather: pull output (512, 129280) (252 MB)", "device_buffer", {"buffer_size": printed("252", MIB)}),
    (
        "All Reduce config: symmetric_memory = 64.00 MB, local_buffer = 8.25 MB, multicast = True, pull = False",
        "device_buffer",
        {"buffer_size": printed("64.00", MIB), "local_buffer": printed("8.25", MIB)},
    ),
    ("Preallocated 256MB GPU buffer", "device_buffer", {"buffer_size": printed("256", MIB)}),
    (
        "Creating a 512 MiB CUDA IPC pool on GPU 0 for GPU-resident embedding overrides (SGLANG_MM_FEATURE_CACHE_MB).",
        "device_buffer",
        {"buffer_size": printed("512", MIB), "device": 0},
    ),
    (
        "DeviceCache[indexer_topk] allocated: shape=(8192, 2048), size=64.00 MB",
        "device_buffer",
        {"buffer_name": "indexer_topk", "buffer_size": printed("64.00", MIB)},
    ),
    (
        "[continue_generation] torch.cuda.empty_cache() called: reserved 70123.0 MB -> 65002.5 MB (freed 5120.5 MB)",
        "empty_cache",
        {"reserved_before": printed("70123.0", MIB), "reserved_after": printed("65002.5", MIB), "freed": printed("5120.5", MIB)},
    ),
]
