"""Lines with every kind of head, the message behind it, and what the head says."""

from analyzer.inputs.lines import Origin

VLLM = [
    # V0 and offline use: no process
    (
        "INFO 07-26 12:00:00 api_server.py:151] vLLM API server version 0.4.1",
        "vLLM API server version 0.4.1",
        Origin(level="INFO", time="07-26 12:00:00", place="api_server.py:151"),
    ),
    # 0.8.0: with an opening bracket; at level DEBUG the path of the file
    (
        "DEBUG 11-19 12:16:36 [v1/worker/gpu_worker.py:298] worker requested memory: 73.5GiB",
        "worker requested memory: 73.5GiB",
        Origin(level="DEBUG", time="11-19 12:16:36", place="v1/worker/gpu_worker.py:298"),
    ),
    (
        "DEBUG 11-19 12:16:36 [model_executor/.../quantization/fp8.py:12] repacked",
        "repacked",
        Origin(level="DEBUG", time="11-19 12:16:36", place="model_executor/.../quantization/fp8.py:12"),
    ),
    # without a clock
    ("ERROR [core.py:515] EngineCore failed to start.", "EngineCore failed to start.", Origin(level="ERROR", place="core.py:515")),
    # the processes, by release
    (
        "(VllmWorkerProcess pid=1234) INFO 08-26 14:33:37 model_runner.py:890] Loading model weights took 1.9634 GB",
        "Loading model weights took 1.9634 GB",
        Origin(process="VllmWorkerProcess", pid=1234, level="INFO", time="08-26 14:33:37", place="model_runner.py:890"),
    ),
    (
        "(VllmWorker rank=4 pid=555) ERROR 05-04 12:38:38 [multiproc_executor.py:380] torch.OutOfMemoryError: CUDA out of memory.",
        "torch.OutOfMemoryError: CUDA out of memory.",
        Origin(process="VllmWorker", pid=555, gpu=4, level="ERROR", time="05-04 12:38:38", place="multiproc_executor.py:380"),
    ),
    ("(VllmWorker TP0 pid=5) line", "line", Origin(process="VllmWorker", pid=5, rank="TP0")),
    ("(VllmWorker PP1_TP0 pid=5) line", "line", Origin(process="VllmWorker", pid=5, rank="PP1 TP0")),
    ("(Worker pid=7) line", "line", Origin(process="Worker", pid=7)),
    ("(Worker_TP3 pid=5123) line", "line", Origin(process="Worker", pid=5123, rank="TP3")),
    ("(Worker_DP1_PP0_PCP1_TP3_DCP0_EP7 pid=5) line", "line", Origin(process="Worker", pid=5, rank="DP1 PP0 PCP1 TP3 DCP0 EP7")),
    ("(Worker pid=9) (Worker_TP0 pid=9) line", "line", Origin(process="Worker", pid=9, rank="TP0")),
    ("(EngineCore_1 pid=9) line", "line", Origin(process="EngineCore", pid=9, rank="DP1")),
    ("(EngineCore_DP0 pid=9) line", "line", Origin(process="EngineCore", pid=9, rank="DP0")),
    ("(EngineCore pid=9) line", "line", Origin(process="EngineCore", pid=9)),
    ("(APIServer pid=1) line", "line", Origin(process="APIServer", pid=1)),
    ("(ApiServer_1 pid=1) line", "line", Origin(process="ApiServer", pid=1)),
    ("(DPSupervisor pid=1) line", "line", Origin(process="DPSupervisor", pid=1)),
    ("(MainProcess pid=1) line", "line", Origin(process="MainProcess", pid=1)),
    ("(SpawnProcess-1 pid=17) line", "line", Origin(process="SpawnProcess-1", pid=17)),
    # vLLM-Omni names the stage of its pipeline behind the process
    (
        "(Worker pid=22) [Stage-1] INFO 03-12 08:22:28 [x.py:1] line",
        "line",
        Origin("Worker", 22, level="INFO", time="03-12 08:22:28", place="x.py:1"),
    ),
]

SGLANG = [
    ("[gpu_id=3] Load weight begin.", "Load weight begin.", Origin(gpu=3)),
    ("[gpu=3] Load weight begin.", "Load weight begin.", Origin(gpu=3)),
    ("[12:00:00 TP0] Load weight begin.", "Load weight begin.", Origin(time="12:00:00", rank="TP0")),
    ("[2025-05-01 12:00:00] Load weight begin.", "Load weight begin.", Origin(time="2025-05-01 12:00:00")),
    ("[2025-05-01 12:00:00 DP0 TP1] line", "line", Origin(time="2025-05-01 12:00:00", rank="DP0 TP1")),
    ("[2025-05-01 12:00:00 DP0 TP1 PP2] line", "line", Origin(time="2025-05-01 12:00:00", rank="DP0 TP1 PP2")),
    ("[2025-05-01 12:00:00 DP0 TP0 EP0 PP0] line", "line", Origin(time="2025-05-01 12:00:00", rank="DP0 TP0 EP0 PP0")),
    ("[2025-05-01 12:00:00.123 TP7] line", "line", Origin(time="2025-05-01 12:00:00.123", rank="TP7")),
    (
        "[2025-05-01 12:00:00 DP0 PP0 ATTN_CP1 MOE_DP0 TP0 EP0] line",
        "line",
        Origin(time="2025-05-01 12:00:00", rank="DP0 PP0 ATTN_CP1 MOE_DP0 TP0 EP0"),
    ),
    (
        "2026-05-01 12:00:00,123 [INFO] sglang.srt.model_executor.model_runner: Load weight begin.",
        "Load weight begin.",
        Origin(time="2026-05-01 12:00:00,123", level="INFO"),
    ),
    ("INFO:sglang_omni.pipeline.stages:stage=thinker", "stage=thinker", Origin(level="INFO")),
    ("[05-01 12:00:00 TP1] Load weight begin.", "Load weight begin.", Origin(time="05-01 12:00:00", rank="TP1")),
    (
        "2025-08-28 21:19:34 ERROR 1001 [ DP10 TP10 EP10 scheduler.py:2655] frame #40",
        "frame #40",
        Origin(time="2025-08-28 21:19:34", level="ERROR", pid=1001, rank="DP10 TP10 EP10", place="scheduler.py:2655"),
    ),
]

LAUNCHERS = [
    ("(RayWorkerWrapper pid=650, ip=10.225.128.23) line", "line", Origin(process="RayWorkerWrapper", pid=650, host="10.225.128.23")),
    ("(WorkerDict pid=1751030, ip=10.65.194.91) line", "line", Origin(process="WorkerDict", pid=1751030, host="10.65.194.91")),
    ("(WorkerDict pid=1751030) line", "line", Origin(process="WorkerDict", pid=1751030)),
    ("(ServeReplica:default:vllm pid=348952) line", "line", Origin(process="ServeReplica:default:vllm", pid=348952)),
    ("(main_task pid=1748945) line", "line", Origin(process="main_task", pid=1748945)),
    ("(pid=4182) line", "line", Origin(pid=4182)),
    ("(raylet, ip=10.0.0.7) A worker died", "A worker died", Origin(process="raylet", host="10.0.0.7")),
    ("(autoscaler +2m3s) Tip", "Tip", Origin(process="autoscaler")),
    ("[rank7]: torch.OutOfMemoryError: CUDA", "torch.OutOfMemoryError: CUDA", Origin(gpu=7)),
    ("[default3]:Traceback (most recent call last):", "Traceback (most recent call last):", Origin(gpu=3)),
    (
        "[rank7]:[E615 22:00:29.320155898 compiler_depend.ts:444] NPU out of memory.",
        "NPU out of memory.",
        Origin(gpu=7, level="E", place="compiler_depend.ts:444"),
    ),
    ("(venv) root@gpu07:/work# vllm serve m", "vllm serve m", Origin()),
    ("2026-05-08 11:47:02.257 [Error] (Process) (EngineCore pid=2651) line", "line", Origin(process="EngineCore", pid=2651)),
]

TRANSPORT = [
    ("2026-11-19T12:16:36.09662Z line", "line", Origin(time="2026-11-19T12:16:36.09662Z")),
    ("2026-11-19T12:16:36+08:00 line", "line", Origin(time="2026-11-19T12:16:36+08:00")),
    ("2025-07-25T07:53:08.21748708+08:00 stdout F line", "line", Origin(time="2025-07-25T07:53:08.21748708+08:00")),
    ("[pod/vllm-5d8c7f9b6-x2k4q/vllm] line", "line", Origin(host="vllm-5d8c7f9b6-x2k4q")),
    ("[2026-09-03T19:49:04.339Z] line", "line", Origin(time="2026-09-03T19:49:04.339Z")),
    ("INFO 2026-11-19T20:16:36.096Z [resource.labels.containerName: vllm] line", "line", Origin(time="2026-11-19T20:16:36.096Z")),
    ("Nov 28 10:00:01 gpu07 vllm[8121]: line", "line", Origin(host="gpu07")),
    ("Nov  8 10:00:02 gpu07 kernel: [26002.109061] Out of memory:", "Out of memory:", Origin(host="gpu07", time="26002.109061")),
    ("2026-11-28T10:00:01+0000 gpu07 sglang[8121]: line", "line", Origin(host="gpu07", time="2026-11-28T10:00:01+0000")),
    ("[    2.109061] Out of memory:", "Out of memory:", Origin(time="2.109061")),
    ("[Tue Sep  3 05:57:48 2026] oom-kill:", "oom-kill:", Origin(time="Tue Sep  3 05:57:48 2026")),
    ("[二 9月  3 05:57:48 2026] oom-kill:", "oom-kill:", Origin(time="二 9月  3 05:57:48 2026")),
]

LOGGERS = [
    (
        "2026-07-26 03:12:44,810 - WARNING - autotuner.py:512 - flashinfer.jit: [Autotuner]: OOM detected",
        "[Autotuner]: OOM detected",
        Origin(time="2026-07-26 03:12:44,810", level="WARNING", place="autotuner.py:512"),
    ),
    ("2026-11-28 10:00:01,123 - vllm.engine - INFO - line", "line", Origin(time="2026-11-28 10:00:01,123", level="INFO")),
    ("2026-11-28 10:00:01,123 - INFO - line", "line", Origin(time="2026-11-28 10:00:01,123", level="INFO")),
    ("2026-01-08 16:21:54,100 xinference.core.worker 146 ERROR    line", "line", Origin(time="2026-01-08 16:21:54,100", level="ERROR")),
    ("[2026-11-28 10:00:01,123][vllm][INFO] - line", "line", Origin(time="2026-11-28 10:00:01,123", level="INFO")),
    ("WARNING:2026-11-28 10:00:01,123:line", "line", Origin(time="2026-11-28 10:00:01,123", level="WARNING")),
    (
        "2026-11-19 12:16:36.096 | INFO     | vllm.v1.worker.gpu_worker:determine_available_memory:298 - line",
        "line",
        Origin(time="2026-11-19 12:16:36.096", level="INFO", place="vllm.v1.worker.gpu_worker:determine_available_memory:298"),
    ),
    ("[WARNING|logging.py:329] 2025-03-10 21:43:12,326 >> It looks", "It looks", Origin(level="WARNING", place="logging.py:329")),
    (
        "I0903 19:44:11.116529       1 instance-data.go:39] line",
        "line",
        Origin(level="I", time="19:44:11.116529", place="instance-data.go:39"),
    ),
    ("[profiles] raw_1010k", "raw_1010k", Origin()),
]

LAYERS = [
    (
        "Nov 28 10:00:01 gpu07 vllm[8121]: (EngineCore_DP0 pid=8190) ERROR 11-28 10:00:02 [core.py:842] EngineCore failed to start.",
        "EngineCore failed to start.",
        Origin(process="EngineCore", pid=8190, rank="DP0", host="gpu07", level="ERROR", time="11-28 10:00:02", place="core.py:842"),
    ),
    (
        "2025-07-25T07:53:08.2+08:00 stdout F [2025-07-25 07:53:07 TP2] Scheduler hit an exception",
        "Scheduler hit an exception",
        Origin(rank="TP2", time="2025-07-25 07:53:07"),
    ),
    ("(EngineCore_DP0 pid=17) [rank0]: ValueError: x", "ValueError: x", Origin(process="EngineCore", pid=17, rank="DP0", gpu=0)),
    (
        "(SGLangEngine pid=12, ip=10.0.0.7)  [2025-05-01 12:00:00 TP0] line",
        "line",
        Origin(process="SGLangEngine", pid=12, host="10.0.0.7", rank="TP0", time="2025-05-01 12:00:00"),
    ),
    ("    [12:00:00 TP0] pasted with an indent", "pasted with an indent", Origin(time="12:00:00", rank="TP0")),
    (
        'ERROR 06-30 13:53:19 [core.py:515]   File "/x/y.py", line 3, in z',
        '  File "/x/y.py", line 3, in z',
        Origin(level="ERROR", time="06-30 13:53:19", place="core.py:515"),
    ),
]
