"""Lines from around the engines (tracebacks, commands, the system), each with the kind and the fields it must become."""

from __future__ import annotations

from analyzer.units import MIB
from tests.grammars.samples import Sample, exact, printed

TRACEBACK: list[Sample] = [
    (
        r'  File "D:\My models\venv\Lib\site-packages\vllm\v1\worker\gpu_worker.py", line 201, in load_model',
        "traceback_frame",
        {"file": r"D:\My models\venv\Lib\site-packages\vllm\v1\worker\gpu_worker.py", "source_line": 201, "function": "load_model"},
    ),
    (
        r'{"log":"  File \"/opt/vllm/v1/worker/gpu_worker.py\", line 201, in load_model\n","stream":"stderr"}',
        "traceback_frame",
        {"file": "/opt/vllm/v1/worker/gpu_worker.py", "source_line": 201, "function": "load_model"},
    ),
    (
        "File ~/venv/lib/python3.10/site-packages/vllm/worker/cache_engine.py:81, in CacheEngine._allocate_kv_cache(self, num_blocks)",
        "traceback_frame",
        {
            "file": "~/venv/lib/python3.10/site-packages/vllm/worker/cache_engine.py",
            "source_line": 81,
            "function": "CacheEngine._allocate_kv_cache",
        },
    ),
    ("Traceback (most recent call last):", "traceback_start", {}),
    (
        '  File "/path/vllm/v1/engine/core.py", line 506, in run_engine_core',
        "traceback_frame",
        {"file": "/path/vllm/v1/engine/core.py", "source_line": 506, "function": "run_engine_core"},
    ),
    (
        'File "<frozen runpy>", line 198, in <module>',
        "traceback_frame",
        {"file": "<frozen runpy>", "source_line": 198, "function": "<module>"},
    ),
    (
        "File /path/load.py, line 8, in <module>",
        "traceback_frame",
        {"file": "/path/load.py", "source_line": 8, "function": "<module>"},
    ),
    ('  File "/path/sglang/srt/managers/tp_worker.py", line', "traceback_frame", {"file": "/path/sglang/srt/managers/tp_worker.py"}),
    ('  File "/path/sglang/srt/managers/controller/t', "traceback_frame", {"file": "/path/sglang/srt/managers/controller/t"}),
    (
        '  File "/opt/venv/lib/python3.12/site-packages/vllm/v1/eng\nine/core.py", line 305, in step',
        "traceback_frame",
        {"file": "/opt/venv/lib/python3.12/site-packages/vllm/v1/engine/core.py", "source_line": 305, "function": "step"},
    ),
    ("ValueError: Too large swap space.", "exception", {"type": "ValueError", "message": "Too large swap space."}),
    (
        "ray.exceptions.RayTaskError(ValueError): ray::RayWorkerWrapper.execute_method()",
        "exception",
        {"type": "ray.exceptions.RayTaskError(ValueError)", "message": "ray::RayWorkerWrapper.execute_method()"},
    ),
    ("OutOfMemoryError('CUDA out of memory.')", "exception", {"type": "OutOfMemoryError", "message": "'CUDA out of memory.')"}),
    (
        "triton.runtime.errors.OutOfResources: out of resource",
        "exception",
        {"type": "triton.runtime.errors.OutOfResources", "message": "out of resource"},
    ),
    ("KeyboardInterrupt", "exception", {"type": "KeyboardInterrupt"}),
    ("SystemExit: 1", "exception", {"type": "SystemExit", "message": "1"}),
    ("AssertionError", "exception", {"type": "AssertionError"}),
    ("During handling of the above exception, another exception occurred:", "during_handling", {}),
    ("The above exception was the direct cause of the following exception:", "direct_cause", {}),
    (
        "frame #40: _PyEval_EvalFrameDefault + 0x4b26 (0x4f2c56 in sglang::scheduler_TP10)",
        "native_frame",
        {"frame_number": 40, "symbol": "_PyEval_EvalFrameDefault"},
    ),
]

COMMAND: list[Sample] = [
    (
        "vllm serve meta/m --gpu-memory-utilization 0.95 --max-model-len=8192 --enforce-eager -tp 2 --dtype auto",
        "command_line",
        {
            "engine": "vllm",
            "model": "meta/m",
            "args": {"gpu-memory-utilization": 0.95, "max-model-len": 8192, "enforce-eager": True, "tp": 2, "dtype": "auto"},
        },
    ),
    ("$ vllm serve meta/m", "command_line", {"engine": "vllm", "model": "meta/m"}),
    (
        "--tensor-parallel-size 4 \\\n--block-size 256 \\\n--gpu-memory-utilization 0.97",
        "flags",
        {"args": {"tensor-parallel-size": 4, "block-size": 256, "gpu-memory-utilization": 0.97}},
    ),
    (
        "vllm serve meta/m\\\n  -tp 2\\\n  --enforce-eager\\\n  --dtype half\\\n  --max-model-len 1024",
        "command_line",
        {"engine": "vllm", "model": "meta/m", "args": {"tp": 2, "enforce-eager": True, "dtype": "half", "max-model-len": 1024}},
    ),
    (
        "X=1 vllm serve \\\n    meta/m --trust-remote-code \\\n    --cpu-offload-gb 300\nnext line --with-flag 1",
        "command_line",
        {"engine": "vllm", "model": "meta/m", "args": {"trust-remote-code": True, "cpu-offload-gb": 300}},
    ),
    (
        "python3 -m vllm.entrypoints.openai.api_server --model /m --max-model-len 100K --max-num-seqs 16",
        "command_line",
        {"engine": "vllm", "args": {"model": "/m", "max-model-len": "100K", "max-num-seqs": 16}},
    ),
    (
        "command=sglang serve --model-path a/b --context-length=8192 --trust-remote-code --device cuda",
        "command_line",
        {"engine": "sglang", "args": {"model-path": "a/b", "context-length": 8192, "trust-remote-code": True, "device": "cuda"}},
    ),
    (
        "python -m sglang.launch_server --mem-fraction-static 0.95 --tp-size 2 --attention-backend flashinfer -",
        "command_line",
        {"engine": "sglang", "args": {"mem-fraction-static": 0.95, "tp-size": 2, "attention-backend": "flashinfer"}},
    ),
    (
        "docker run --gpus all vllm/vllm-openai:v0.10.0 --model m --kv-transfer-config '{\"a\": 1}'",
        "command_line",
        {"engine": "vllm", "args": {"model": "m", "kv-transfer-config": '{"a": 1}'}},
    ),
    (
        "**Configuration**: `--cpu-offload-gb 8 --gpu-memory-utilization 0.5`",
        "flags",
        {"args": {"cpu-offload-gb": 8, "gpu-memory-utilization": 0.5}},
    ),
    ("command: --model m --gpu-memory-utilization 0.9", "flags", {"args": {"model": "m", "gpu-memory-utilization": 0.9}}),
    ("change `gpu_memory_utilization` to `0.8`", "setting_noted", {"utilization": 0.8}),
]

SYSTEM: list[Sample] = [
    ("RuntimeError: CUDA error: no kernel image is available for execution on the device", "no_kernel_image", {}),
    (
        "NVIDIA GeForce RTX 5080 with CUDA capability sm_120 is not compatible with the current PyTorch installation.",
        "gpu_not_supported",
        {"capability": "sm_120"},
    ),
    ("torch.AcceleratorError: CUDA error: an illegal memory access was encountered", "illegal_memory_access", {}),
    ("Piecewise CUDA Graph failed with error: CUDA Error: cudaErrorMisalignedAddress", "illegal_memory_access", {}),
    (
        "RuntimeError: Detected mismatch between collectives on ranks. Rank 3 is running collective: SequenceNumber=18",
        "collectives_mismatch",
        {},
    ),
    ("CUDA error: device-side assert triggered", "device_side_assert", {}),
    (
        "../aten/src/ATen/native/cuda/Indexing.cu:1284: indexSelect: block: [983,0,0], thread: [1,0,0] Assertion `index < size` failed.",
        "device_side_assert",
        {},
    ),
    ("CUDA error: invalid argument", "cuda_invalid_argument", {}),
    ("CUDA_ERROR_INVALID_VALUE", "cuda_invalid_argument", {}),
    ("CUDA error: invalid configuration argument", "invalid_configuration", {}),
    ("RuntimeError: CUDA driver error: device not ready", "cuda_error", {"reason": "device not ready"}),
    ("RuntimeError: CUDA error: unspecified launch failure", "cuda_error", {"reason": "unspecified launch failure"}),
    (
        "torch.distributed.DistBackendError: NCCL error in: /pytorch/NCCLUtils.hpp:268, unhandled system error (run with NCCL_DEBUG=INFO"
        " for details), NCCL version 2.21.5",
        "nccl_error",
        {"place": "/pytorch/NCCLUtils.hpp", "source_line": 268, "reason": "unhandled system error", "nccl_version": "2.21.5"},
    ),
    ("RuntimeError: NCCL error: invalid usage (run with NCCL_DEBUG=WARN for details)", "nccl_error", {"reason": "invalid usage"}),
    (
        "node:845:845 [7] transport/nvls.cc:157 NCCL WARN Cuda failure 1 'invalid argument'",
        "nccl_cuda_failure",
        {"code": 1, "reason": "invalid argument"},
    ),
    ("NCCL WARN Cuda failure 'peer access is not supported'", "nccl_cuda_failure", {"reason": "peer access is not supported"}),
    ("ncclSystemError: System call failed.", "nccl_error", {"status": "ncclSystemError", "reason": "System call failed."}),
    (
        "host:1001:1001 [0] misc/strongstream.cc:53 NCCL WARN NCCL cannot be captured in a graph",
        "nccl_warning",
        {"warning": "NCCL cannot be captured in a graph"},
    ),
    (
        "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=1, NumelOut=1,"
        " Timeout(ms)=600000) ran for 600041 milliseconds before timing out.",
        "nccl_timeout",
        {"operation": "ALLREDUCE", "timeout_ms": 600000, "elapsed_ms": 600041},
    ),
    (
        "Capture failed: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.2]:123",
        "gloo_connection_closed",
        {"source_line": 534, "reason": "Connection closed by peer"},
    ),
    ("gloo/transport/tcp/pair.cc:534] Connection cl", "gloo_connection_closed", {"source_line": 534, "reason": "Connection cl"}),
    ("Connection reset by peer", "connection_lost", {}),
    (
        "out of resource: shared memory, Required: 81920, Hardware limit: 65536. Reducing block sizes",
        "triton_out_of_resources",
        {"resource": "shared memory", "required": exact(81920), "limit": exact(65536)},
    ),
    (
        "Failed: Assertion error /sgl-workspace/DeepEP/csrc/deep_ep.cpp:1030 'x.size(0) == topk_idx.size(0)'",
        "deepep_assertion",
        {"place": "/sgl-workspace/DeepEP/csrc/deep_ep.cpp", "source_line": 1030, "condition": "'x.size(0) == topk_idx.size(0)'"},
    ),
    ("Segmentation fault (core dumped)", "segmentation_fault", {}),
    ("Fatal Python error: Aborted", "fatal_python_error", {"reason": "Aborted"}),
    ("ninja: build stopped: subcommand failed.", "compile_failed", {}),
    ("RuntimeError: Ninja build failed. Ninja output:", "compile_failed", {}),
    ("CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 1.", "compile_failed", {}),
    ("RuntimeError: PassManager::run failed", "compile_failed", {}),
    ("LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.shfl.sync.bfly.i32", "compile_failed", {}),
    ("RuntimeError: Failed to find C compiler. Please specify via CC environment variable.", "compile_failed", {}),
    ("/tmp/main.c:5:10: fatal error: Python.h: No such file or directory", "compile_failed", {}),
    ("RuntimeError: operator torchvision::nms does not exist", "import_failed", {}),
    ("[sgl_kernel] CRITICAL: Could not load any common_ops library!", "import_failed", {"module": "common_ops"}),
    (
        "subprocess.CalledProcessError: Command '/opt/venv/lib/python3.11/site-packages/triton/backends/nvidia/bin/ptxas -lineinfo -v"
        " --gpu-name=sm_120 /tmp/a.ptx -o /tmp/a.ptx.o 2> /tmp/a.log' returned non-zero exit status 255.",
        "compile_failed",
        {},
    ),
    ("ImportError: /x/_C.abi3.so: undefined symbol: _ZN3c105ErrorC2E", "undefined_symbol", {"symbol": "_ZN3c105ErrorC2E"}),
    ("ModuleNotFoundError: No module named 'vllm._C'", "import_failed", {"module": "vllm._C"}),
    (
        "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
        "import_failed",
        {"library": "libcudart.so.12"},
    ),
    ("The NVIDIA driver on your system is too old (found version 11040).", "driver_too_old", {"driver_version": 11040}),
    ("RuntimeError: No CUDA GPUs are available", "no_gpu_found", {}),
    ("RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before", "no_gpu_found", {}),
    ("ValueError: The number of required GPUs exceeds the total number of available GPUs in the cluster.", "gpu_count_too_small", {}),
    (
        "ValueError: The quantization method fp8 is not supported for the current GPU. Minimum capability: 89. Current capability: 75.",
        "gpu_unsupported",
        {"quantization": "fp8", "minimum_capability": 89, "current_capability": 75},
    ),
    ("RuntimeError: FlashAttention only supports Ampere GPUs or newer.", "gpu_unsupported", {}),
    ("RuntimeError: BatchDecodeWithPagedKVCache failed with error invalid argument", "cuda_invalid_argument", {}),
    ("RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with", "cuda_in_fork", {}),
    (
        "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 1/2 clients joined.",
        "rendezvous_timeout",
        {"seconds": 601, "joined": 1, "ranks": 2},
    ),
    (
        "The client socket has timed out after 600000ms while trying to connect to (10.0.0.1, 29500).",
        "rendezvous_timeout",
        {"timeout_ms": 600000},
    ),
    (
        "torch.distributed.DistNetworkError: The client socket has timed out after 60s while trying to connect to (10.0.0.1, 29400).",
        "rendezvous_timeout",
        {"seconds": 60},
    ),
    (
        "FileNotFoundError: [Errno 2] No such file or directory: '/models/m/config.json'",
        "file_refused",
        {"errno": 2, "file_path": "/models/m/config.json"},
    ),
    ("PermissionError: [Errno 13] Permission denied: '/cache'", "file_refused", {"errno": 13, "file_path": "/cache"}),
    (
        "Triton is installed but 0 active driver(s) found (expected 1). Disabling Triton",
        "no_triton_driver",
        {"active_drivers": 0, "expected_drivers": 1},
    ),
    (
        "World size (8) is larger than the number of available GPUs (4) in this node.",
        "gpu_count_too_small",
        {"world_size": 8, "gpus": 4},
    ),
    (
        "Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has compute capability 7.5.",
        "bfloat16_unsupported",
        {"required_capability": 8.0, "device_name": "Tesla T4", "capability": 7.5},
    ),
    (
        "[Errno 98] error while attempting to bind on address ('0.0.0.0', 44319): [errno 98] address already in use",
        "address_in_use",
        {"port": 44319},
    ),
    ("port 44319 is used by process psutil.Process(pid=1002, name='main')", "address_in_use", {"port": 44319, "pid": 1002}),
    (
        "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://hub.example/m/config.json",
        "hf_unauthorized",
        {"status": 401, "url": "https://hub.example/m/config.json"},
    ),
    ("You are trying to access a gated repo.", "hf_unauthorized", {}),
    ("OSError: a/b is not a local folder and is not a valid model identifier listed on", "model_not_found", {}),
    ("a/b does not appear to have a file named config.json.", "model_not_found", {"file_name": "config.json"}),
    (
        "LocalEntryNotFoundError: An error happened while trying to locate the file on the Hub and we cannot find the requested files "
        "in the local cache.",
        "model_not_found",
        {},
    ),
    ("Received request cmpl-17-0: prompt: 'a prompt', params: SamplingParams(n=1)", "request_logged", {"request": "cmpl-17-0"}),
    ("Generated response cmpl-17-0: output: 'an answer', output_token_ids: [1]", "request_logged", {"request": "cmpl-17-0"}),
    ("Receive: obj=GenerateReqInput(rid='a', text='a prompt')", "request_logged", {"request": "GenerateReqInput"}),
    ("OSError: We couldn't connect to 'https://huggingface.co' to load this file", "model_not_found", {"hub": "https://huggingface.co"}),
    (
        "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
        "weights_file_broken",
        {"reason": "MetadataIncompleteBuffer"},
    ),
    (
        "ValueError: Model architectures ['FooForCausalLM'] are not supported for now.",
        "model_unsupported",
        {"architectures": "['FooForCausalLM']"},
    ),
    (
        "ValueError: Cannot find model module. 'FooForCausalLM' is not a registered model in the Transformers library",
        "model_unsupported",
        {"architectures": "'FooForCausalLM'"},
    ),
    ("api_server.py: error: unrecognized arguments: --foo 1", "arguments_refused", {"refusal": "--foo 1"}),
    (
        "ValueError: Loading someone/model-7b requires you to execute the configuration file in that repo on your local machine.",
        "remote_code_refused",
        {},
    ),
    (
        "The repository for someone/model-7b contains custom code which must be executed to correctly load the model.",
        "remote_code_refused",
        {},
    ),
    (
        "Total number of attention heads (40) must be divisible by tensor parallel size (3).",
        "heads_not_divisible",
        {"heads": 40, "tensor_parallel_size": 3},
    ),
    (
        "ValueError: User-specified max_model_len (131072) is greater than the derived max_model_len (max_position_embeddings=32768 or",
        "context_exceeds_model",
        {"max_model_len": 131072, "derived_max_model_len": 32768},
    ),
    ("[12-11 17:52:54] Exit code: -9", "exit_code", {"code": -9}),
    ("service-1 exited with code 137", "exit_code", {"code": 137}),
    ("  exitcode  : -9 (pid: 21833)", "exit_code", {"code": -9, "pid": 21833}),
    ("Command 'vllm' died with <Signals.SIGKILL: 9>.", "exit_code", {"signal": 9}),
    ("vllm.service: Main process exited, code=killed, status=9/KILL", "exit_code", {"signal": 9}),
    ('vllm/vllm-openai   "vllm serve"   Exited (137) 2 minutes ago', "exit_code", {"code": 137}),
    (
        "./run.sh: line 22: 1001 Killed                  python -m sglang.launch_server",
        "shell_killed",
        {"pid": 1001, "killed_command": "python -m sglang.launch_server"},
    ),
    ("Killed", "shell_killed", {}),
    (
        "A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the problem, check the logs for"
        " the dead worker. RayTask ID: ff02 Worker ID: 00 Node ID: 00 Worker IP address: 10.0.0.1 Worker port: 10074 Worker PID: 1001"
        " Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file. There"
        " are some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage.",
        "ray_worker_died",
        {
            "address": "10.0.0.1",
            "port": 10074,
            "pid": 1001,
            "exit_type": "SYSTEM_ERROR",
            "exit_detail": "Worker unexpectedly exits with a connection error code 2",
        },
    ),
    (
        "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR",
        "ray_worker_died",
        {"exit_type": "SYSTEM_ERROR"},
    ),
    ("The actor never ran - it was cancelled before it started running.", "ray_actor_cancelled", {}),
    ("something [repeated 7x across cluster]", "ray_repeated", {"times": 7}),
    (
        "WARNING shm_broadcast.py:396] No available block found in 60 second.",
        "shm_broadcast_wait",
        {"seconds": 60},
    ),
    (
        "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-xxxxx (size 7340384)",
        "shm_segment_failed",
        {"segment": "/dev/shm/nccl-xxxxx", "segment_size": exact(7340384)},
    ),
    ("No available shared memory broadcast block found in 60 seconds.", "shm_broadcast_wait", {"seconds": 60}),
    (
        'INFO:     127.0.0.1:53826 - "POST /v1/chat/completions HTTP/1.1" 500 Internal Server Error',
        "http_access",
        {"method": "POST", "path": "/v1/chat/completions", "status": 500},
    ),
    ("HTTP POST returned unexpected status 500; bodyReadErr=<nil>", "http_failure", {"status": 500}),
    (
        "Async request to resume_memory_occupation timed out (attempt 3)",
        "resume_timed_out",
        {"operation": "resume_memory_occupation", "attempt": 3},
    ),
    (
        "| N/A   26C    P8              13W /  70W |      2MiB / 16384MiB |      0%      Default |",
        "gpu_memory",
        {"used": printed("2", MIB), "total": printed("16384", MIB)},
    ),
    (
        "|    0   N/A  N/A            3988      C   VLLM::EngineCore                        23040MiB |",
        "gpu_process",
        {"gpu": 0, "pid": 3988, "process_name": "VLLM::EngineCore", "used": printed("23040", MIB)},
    ),
    ("|   0  Tesla T4                       Off | 00000001:00:00.0 Off |", "gpu_name", {"gpu": 0, "name": "Tesla T4"}),
    ("GPU models and configuration : GPU 0: NVIDIA GH200 480GB", "gpu_name", {"gpu": 0, "name": "NVIDIA GH200 480GB"}),
    (
        "Loading safetensors checkpoint shards:   3% Completed | 1/37 [00:02<01:39,  2.77s/it]",
        "shards_progress",
        {"progress": 3, "done": 1, "total": 37, "elapsed": "00:02", "remaining": "01:39", "seconds_each": 2.77},
    ),
    (
        "Multi-thread loading shards: 100%|██████████| 66/66 [00:03<00:00, 17.24it/s]",
        "shards_progress",
        {"progress": 100, "done": 66, "total": 66, "elapsed": "00:03", "remaining": "00:00", "each_second": 17.24},
    ),
    (
        "Loading pt checkpoint shards:   0% Completed | 0/2 [00:00<?, ?it/s]",
        "shards_progress",
        {"progress": 0, "done": 0, "total": 2, "elapsed": "00:00", "remaining": "?"},
    ),
]
