"""Lines of the allocators under the engines, each with the kind and the fields it must become."""

from __future__ import annotations

from analyzer.units import GIB, KIB, MIB
from tests.grammars.samples import Sample, exact, printed

HINT = " If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
WHOLE_OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 272.00 MiB. GPU 0 has a total capacity of 31.36 GiB of which"
    " 149.06 MiB is free. Process 3988 has 498.00 MiB memory in use. Process 3990 has 8.34 GiB memory in use. Including non-PyTorch memory,"
    " this process has 22.39 GiB memory in use. 30.00 GiB allowed; Of the allocated memory 21.58 GiB is allocated by PyTorch, with"
    " 96.00 MiB allocated in private pools (e.g., CUDA Graphs), and 63.30 MiB is reserved by PyTorch but unallocated."
)
WHOLE_OOM_FIELDS = {
    "backend": "CUDA",
    "tried": printed("272.00", MIB),
    "gpu": 0,
    "total": printed("31.36", GIB),
    "free": printed("149.06", MIB),
    "process": [{"pid": 3988, "in_use": printed("498.00", MIB)}, {"pid": 3990, "in_use": printed("8.34", GIB)}],
    "this_process": printed("22.39", GIB),
    "allowed": printed("30.00", GIB),
    "allocated": printed("21.58", GIB),
    "private_pools": printed("96.00", MIB),
    "reserved_unallocated": printed("63.30", MIB),
}

ALLOCATOR: list[Sample] = [
    (
        "tvm.error.InternalError: CUDA out of memory. Tried to allocate 61.25 GiB. GPU 1 ... 40.50 GiB is free.",
        "torch_oom",
        {"backend": "CUDA", "tried": printed("61.25", GIB), "gpu": 1, "free": printed("40.50", GIB)},
    ),
    (WHOLE_OOM + HINT, "torch_oom", WHOLE_OOM_FIELDS),
    (
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 1; 79.15 GiB total capacity; 63.20 GiB"
        " already allocated; 15.10 GiB free; 63.32 GiB allowed; 63.31 GiB reserved in total by PyTorch) If reserved memory is",
        "torch_oom",
        {
            "backend": "CUDA",
            "tried": printed("20.00", MIB),
            "gpu": 1,
            "total": printed("79.15", GIB),
            "allocated": printed("63.20", GIB),
            "free": printed("15.10", GIB),
            "allowed": printed("63.32", GIB),
            "reserved_total": printed("63.31", GIB),
        },
    ),
    (
        "RuntimeError: NPU out of memory. Tried to allocate 260.00 MiB (NPU 3; 28.50 GiB total capacity; 10.24 GiB already allocated;"
        " 10.25 GiB current active; 149.57 MiB free; 10.28 GiB reserved in total by PyTorch)",
        "torch_oom",
        {
            "backend": "NPU",
            "tried": printed("260.00", MIB),
            "gpu": 3,
            "total": printed("28.50", GIB),
            "allocated": printed("10.24", GIB),
            "current_active": printed("10.25", GIB),
            "free": printed("149.57", MIB),
            "reserved_total": printed("10.28", GIB),
        },
    ),
    (
        "[rank7]:[E615 22:00:29.320155898 compiler_depend.ts:444] NPU out of memory. NPUWorkspaceAllocator tried to allocate"
        " 1.89 GiB(NPU 7; 60.96 GiB total capacity; 1.82 GiB free).",
        "torch_oom",
        {"backend": "NPU", "tried": printed("1.89", GIB), "gpu": 7, "total": printed("60.96", GIB), "free": printed("1.82", GIB)},
    ),
    (
        "XPU out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 11.93 GiB.",
        "torch_oom",
        {"backend": "XPU", "tried": printed("20.00", MIB), "gpu": 0, "total": printed("11.93", GIB)},
    ),
    (
        "MPS backend out of memory (MPS allocated: 18.00 GB, other allocations: 384.00 KB, max allowed: 18.13 GB). Tried to allocate"
        " 256 bytes on shared pool.",
        "torch_oom",
        {
            "backend": "MPS",
            "allocated": printed("18.00", GIB),
            "other_allocations": printed("384.00", KIB),
            "allowed": printed("18.13", GIB),
            "tried": exact(256),
            "pool": "shared",
        },
    ),
    (
        "torch.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : 29.97 GiB\n"
        "Requested               : 7.17 GiB\nDevice limit            : 15.92 GiB\nFree (according to CUDA): 0 bytes\n"
        "PyTorch limit (set by user-supplied memory fraction)\n                        : 17179869184.00 GiB",
        "torch_oom",
        {
            "gpu": 0,
            "allocated": printed("29.97", GIB),
            "tried": printed("7.17", GIB),
            "total": printed("15.92", GIB),
            "free": exact(0),
            "allowed": "17179869184.00 GiB (implausible)",
        },
    ),
    (
        "CUDA out of memory. Tried to allocate 3.74 GiB. GPU 0 has a total capacity of 4.00 GiB of which 0 bytes is free. Including"
        " non-PyTorch memory, this process has 17179869184.00 GiB memory in use. Process 74390 has 17179869184.00 GiB memory in use.",
        "torch_oom",
        {
            "backend": "CUDA",
            "tried": printed("3.74", GIB),
            "gpu": 0,
            "total": printed("4.00", GIB),
            "free": exact(0),
            "this_process": "17179869184.00 GiB (implausible)",
            "process": {"pid": 74390, "in_use": "17179869184.00 GiB (implausible)"},
        },
    ),
    (
        "CUDA out of memory. Tried to allocate 1.47 GiB. GPU 0 has a total capacty of 79.11 GiB of which 1.25 GiB is free."
        " this process has 0 bytes memory in use.",
        "torch_oom",
        {
            "backend": "CUDA",
            "tried": printed("1.47", GIB),
            "gpu": 0,
            "total": printed("79.11", GIB),
            "free": printed("1.25", GIB),
            "this_process": exact(0),
        },
    ),
    (
        "CUDA out of memory. Tried to allocate 1.47 GiB. GPU  has a total capacity of 79.11 GiB of which 1.25 GiB is free.",
        "torch_oom",
        {"backend": "CUDA", "tried": printed("1.47", GIB), "total": printed("79.11", GIB), "free": printed("1.25", GIB)},
    ),
    (
        "CUDA out of memory. Tried to allocate 448.00 MiB. GPU 7 has a total capacity of 95.00",
        "torch_oom",
        {"backend": "CUDA", "tried": printed("448.00", MIB), "gpu": 7, "total": printed("95.00", GIB)},
    ),
    (
        "CUDA out of memory. Tried to allocate 448.00 MiB. GPU 7 has a total capacity of 95.0",
        "torch_oom",
        {"backend": "CUDA", "tried": printed("448.00", MIB), "gpu": 7},
    ),
    (
        "    Tried to allocate 136.00 MiB. GPU 0 has a total capacity of 22.36 GiB of\n    which 120.88 MiB is free. ... If this persists",
        "torch_oom",
        {"tried": printed("136.00", MIB), "gpu": 0, "total": printed("22.36", GIB), "free": printed("120.88", MIB)},
    ),
    (
        "CUDA out of memory. Tried to allocate 272.00 MiB. ... Of the allocated memory 21.58 GiB is allocated by PyTorch",
        "torch_oom",
        {"backend": "CUDA", "tried": printed("272.00", MIB), "allocated": printed("21.58", GIB)},
    ),
    (
        "CUDA out of memory. Tried to allocate 2.00 GiB. 32.00 GiB total; 28.00 GiB already allocated",
        "torch_oom",
        {"backend": "CUDA", "tried": printed("2.00", GIB), "total": printed("32.00", GIB), "allocated": printed("28.00", GIB)},
    ),
    ("CUDA out of memory. Tried to allocate more than 1EB memory.", "torch_oom", {"backend": "CUDA", "tried": "more than 1EB memory"}),
    (
        "CUDA out of memory. Allocation was preemptively rejected because it would exceed per_process_memory_fraction limit. Requested"
        " size: 512.00 MiB. GPU 0 has a total capacity of 79.11 GiB of which 30.02 GiB is free.",
        "allocation_rejected",
        {"tried": printed("512.00", MIB), "gpu": 0, "total": printed("79.11", GIB), "free": printed("30.02", GIB)},
    ),
    (
        "Preemptively rejecting allocation: requested 536870912 but total_allocated_memory (42412802048) + requested size would exceed"
        " memory limit (42471523123, 50% of 84943046246). Set throw_on_cudamalloc_oom:false to disable.",
        "allocation_rejected",
        {
            "tried": exact(536870912),
            "allocated": exact(42412802048),
            "allowed": exact(42471523123),
            "fraction": 50,
            "total": exact(84943046246),
        },
    ),
    (
        "expandable_segments: memory mapping failed with OOM on device 0 while trying to map 20971520 bytes (free: 4521984,"
        " total: 101971460096)",
        "device_allocation_failed",
        {"gpu": 0, "tried": exact(20971520), "free": exact(4521984), "total": exact(101971460096)},
    ),
    (
        'NVML_SUCCESS == r INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":838, please report a bug to PyTorch.',
        "nvml_assert",
        {"file": "../c10/cuda/CUDACachingAllocator.cpp", "line": 838},
    ),
    ("OutOfMemoryError                          Traceback (most recent call last)", "notebook_oom", {}),
    ("RuntimeError: CUDA error: out of memory", "cuda_error_oom", {}),
    ("RuntimeError: Triton Error [CUDA]: out of memory", "cuda_error_oom", {}),
    (
        "CUDA Error: out of memory (2) /sglang/3rdparty/flashinfer/handler.cuh: line 100 at function cudaMallocAsync(&float_buffer_, size",
        "cuda_error_oom",
        {"code": 2, "file": "/sglang/3rdparty/flashinfer/handler.cuh", "line": 100, "function": "cudaMallocAsync"},
    ),
    ("hipErrorOutOfMemory", "cuda_oom_code", {"name": "hipErrorOutOfMemory"}),
    ("CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "cublas_alloc_failed", {"call": "cublasCreate(handle)"}),
    ("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED", "cublas_error", {"status": "CUBLAS_STATUS_NOT_INITIALIZED"}),
    ('{"error":{"message":"wake_up failed: CUDA Error: out of memory at <path>:163"', "cumem_oom", {"place": "<path>", "line": 163}),
    (
        "CUDA Error: invalid argument at /workspace/csrc/cumem_allocator.cpp:66",
        "cumem_error",
        {"reason": "invalid argument", "place": "/workspace/csrc/cumem_allocator.cpp", "line": 66},
    ),
    (
        "[torch_memory_saver.cpp] CUresult error: 2 (out of memory)  file=csrc/utils.h func=cu_mem_create line=104",
        "memory_saver_error",
        {"code": 2, "reason": "out of memory", "place": "csrc/utils.h", "function": "cu_mem_create", "line": 104},
    ),
    (
        "[torch_memory_saver.cpp] CUresult error  result=1 file=csrc/torch_memory_saver.cpp func=resume line=206",
        "memory_saver_error",
        {"code": 1, "place": "csrc/torch_memory_saver.cpp", "function": "resume", "line": 206},
    ),
    (
        "[torch_memory_saver.cpp] cudaError error: 2 (out of memory)  file=csrc/core.cpp func=resume line=172",
        "memory_saver_error",
        {"code": 2, "reason": "out of memory", "place": "csrc/core.cpp", "function": "resume", "line": 172},
    ),
    (
        "[torch_memory_saver.cpp] cuMemCreate CUDA_ERROR_OUT_OF_MEMORY (may not be an issue e.g. torch frees its cache and retries)",
        "memory_saver_retry",
        {},
    ),
    ("torch.OutOfMemoryError:", "torch_oom", {}),
    ("torch.cuda.OutOfMemoryError", "torch_oom", {}),
    (
        "torch.OutOfMemoryError:\nCUDA out of memory. Tried to allocate 2.00 GiB.",
        "torch_oom",
        {"backend": "CUDA", "tried": printed("2.00", GIB)},
    ),
    (
        "TorchMemorySaver::malloc return OOM since memory_margin_bytes=2147483648 (alloc)allocation_size=1073741824 free_bytes=2952790016",
        "memory_saver_oom",
        {"margin": exact(2147483648), "tried": exact(1073741824), "free": exact(2952790016)},
    ),
    (
        "worker-0:1423:1890 [3] include/alloc.h:228 NCCL WARN Cuda failure 2 'out of memory'",
        "nccl_oom",
        {"gpu": 3, "place": "include/alloc.h", "line": 228, "code": 2},
    ),
    (
        "cudaHostRegister failed (rc=1, invalid argument) for ptr=0x000000000000 size=531470745600; host buffer is not pinned",
        "host_register_failed",
        {"code": 1, "reason": "invalid argument", "tried": exact(531470745600)},
    ),
    (
        "Failed to allocate memory for batch_prefill_tmp_v with size 435814400 and alignment 16 in AlignedAllocator",
        "workspace_too_small",
        {"buffer": "batch_prefill_tmp_v", "tried": exact(435814400), "alignment": 16},
    ),
    ("nvshmem_align(128, 22,900,903,040) PASS", "nvshmem_allocation", {"alignment": 128, "tried": exact(22900903040)}),
    ("cudaMemset(..., 21.33 GiB)         PASS", "device_memset", {"filled": printed("21.33", GIB)}),
    ("RESOURCE_EXHAUSTED: Out of memory allocating 8589934592 bytes.", "xla_oom", {"tried": exact(8589934592)}),
    (
        "Attempting to allocate 2.00G. That was not possible. There are 1.23G free.; (0x0x0_HBM0)",
        "xla_oom",
        {"tried": printed("2.00", GIB), "free": printed("1.23", GIB)},
    ),
    ("Out of memory while trying to allocate 17179869184 bytes.", "xla_oom", {"tried": exact(17179869184)}),
    (
        "RESOURCE_EXHAUSTED: Error loading program 'jit_step': Attempting to reserve 5.25G at the bottom of memory. That was not possible. "
        "There are 4.50G free, 0B reserved, and 4.50G reservable.",
        "xla_oom",
        {"tried": printed("5.25", GIB), "free": printed("4.50", GIB)},
    ),
    (
        "Attempting to reserve 5.25G at the bottom of memory. That was not possible.",
        "xla_oom",
        {"tried": printed("5.25", GIB)},
    ),
    (
        "Ran out of memory in memory space vmem. Used 18.50M of 16.00M vmem. Exceeded vmem capacity by 2.50M.",
        "xla_chip_memory_full",
        {"chip_memory": "vmem", "in_use": printed("18.50", MIB), "total": printed("16.00", MIB)},
    ),
    (
        ":0:rocdevice.cpp :3018: 1145141919810 us:  Callback: Queue 0x7f8d38100000 aborting with error : "
        "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources. "
        "This error may also occur when the core runtime library needs to spawn "
        "threads or create internal OS-specific events. Code: 0x1008 Available Free mem : 30 MB",
        "hsa_out_of_resources",
        {"free": printed("30", MIB)},
    ),
    (
        "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary\nresources. "
        "... Available Free mem : 17592186044276 MB",
        "hsa_out_of_resources",
        {"free": "17592186044276 MB (implausible)"},
    ),
    (
        "The Inner error is reported as above. The process exits for this inner error, and the current working operator name is"
        " aclnnGroupedMatmulV4.",
        "npu_inner_error",
        {"operator": "aclnnGroupedMatmulV4"},
    ),
    (
        "Ran out of memory in memory space hbm. Used 17.24G of 15.75G hbm. Exceeded hbm capacity by 1.49G.",
        "xla_oom",
        {"in_use": printed("17.24", GIB), "total": printed("15.75", GIB)},
    ),
    (
        "Memory cgroup out of memory: Killed process 39079 (VLLM::EngineCor) total-vm:178541004kB, anon-rss:33520112kB, file-rss:182340kB,"
        " shmem-rss:1048576kB, UID:0 pgtables:119448kB oom_score_adj:986",
        "oom_killed",
        {
            "pid": 39079,
            "process_name": "VLLM::EngineCor",
            "total_vm": printed("178541004", KIB),
            "anon_rss": printed("33520112", KIB),
            "file_rss": printed("182340", KIB),
            "shmem_rss": printed("1048576", KIB),
            "uid": 0,
            "page_tables": printed("119448", KIB),
            "score_adjustment": 986,
        },
    ),
    (
        "Out of memory: Kill process 2103 (python3) score 912 or sacrifice child",
        "oom_killed",
        {"pid": 2103, "process_name": "python3", "score": 912},
    ),
    (
        "Out of memory: Killed process (VLLM::Worker)\n  total-vm:4000kB  anon-rss:1000kB",
        "oom_killed",
        {"process_name": "VLLM::Worker", "total_vm": printed("4000", KIB), "anon_rss": printed("1000", KIB)},
    ),
    ('            "OOMKilled": true,', "oom_killed", {}),
    ("srun: error: nid002680: task 0: Out Of Memory", "oom_killed", {"node": "nid002680", "task_number": 0}),
    ("systemd[1]: vllm.service: Failed with result 'oom-kill'.", "oom_killed", {"manager_pid": 1, "unit": "vllm.service"}),
    (
        "[26002.107001] memory: usage 33554432kB, limit 33554432kB, failcnt 4182",
        "cgroup_memory",
        {"usage": printed("33554432", KIB), "limit": printed("33554432", KIB), "failures": 4182},
    ),
    ("ray::IDLE invoked oom-killer: gfp_mask=0x1, order=0", "oom_killer_invoked", {"invoker": "ray::IDLE"}),
    ("The node was low on resource: memory. Threshold quantity: 100Mi", "pod_evicted", {}),
    (
        "Memory on the node (IP: 10.0.0.1, ID: 00) where the task (actor ID: 01, name=RayWorkerVllm.__init__, pid=308, memory used=11.15GB)"
        " was running was 12.49GB / 13.15GB (0.950003), which exceeds the memory usage threshold of 0.95.",
        "ray_memory_kill",
        {
            "host": "10.0.0.1",
            "task": "RayWorkerVllm.__init__",
            "worker_memory": printed("11.15", GIB),
            "host_used": printed("12.49", GIB),
            "host_total": printed("13.15", GIB),
            "share": 0.950003,
            "threshold": 0.95,
        },
    ),
    ("(raylet) node_manager.cc:3069: 2 Workers (tasks / actors) killed due to memory pressure (OOM)", "ray_workers_killed", {"workers": 2}),
    (" actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons", "ray_workers_killed", {}),
    ("ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.", "ray_workers_killed", {}),
    (
        "Refer to the documentation on how to address the out of memory issue: https://docs.ray.io/en/latest/ray-core/scheduling/ray-oom-prevention.html.",
        "ray_workers_killed",
        {},
    ),
    ("LMCache WARNING: Failed to allocate memory for the KV cache.\nThe KV cache will not be stored.", "lmcache_pool_full", {}),
    (
        "Failed to allocate memory for tensor(torch.Size([2, 80, 256, 256]), torch.float16) because no memory is available",
        "lmcache_pool_full",
        {},
    ),
    ("LMCache WARNING: Local cpu memory under pressure so choosing to store only 12 total chunks", "lmcache_pool_full", {}),
    ("Unable to allocate 31.7 GiB for an array with shape (65536, 65000)", "host_allocation_failed", {"tried": printed("31.7", GIB)}),
    ("Unable to allocate 256. KiB for an array with shape (32768,)", "host_allocation_failed", {"tried": printed("256", KIB)}),
    ("OSError: [Errno 12] Cannot allocate memory", "host_allocation_failed", {"code": 12}),
    (
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate 17179869184 bytes. Error code 12 (Cannot allocate memory)",
        "host_allocation_failed",
        {"tried": exact(17179869184), "code": 12},
    ),
    (
        "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc",
        "host_allocation_failed",
        {},
    ),
    (
        "The object store is using /tmp because /dev/shm has only 67108864 bytes available.",
        "ray_object_store_small",
        {"free": exact(67108864)},
    ),
    ("RuntimeError: unable to allocate shared memory: out of shared memory", "shm_too_small", {}),
    (
        "OSError: [Errno 28] No space left on device: '/dev/shm/psm_8f1d2c3a'",
        "no_space_left",
        {"code": 28, "path": "/dev/shm/psm_8f1d2c3a"},
    ),
    ("Bus error (core dumped)", "bus_error", {}),
    (
        "NVRM: Xid (PCI:0000:3b:00): 94, pid=1843, name=python3",
        "xid",
        {"pci": "0000:3b:00", "code": 94, "detail": "pid=1843, name=python3"},
    ),
    ("misc dxg: dxgk: dxgkio_make_resident: Ioctl failed: -12", "residency_refused", {"code": -12}),
]
