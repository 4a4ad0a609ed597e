"""Frames of tracebacks -> the phase and the place they belong to."""

import pytest

from analyzer.engines.sites import Frame, engine_of_file, phase_of, site_of, sites_of

START = (
    "managers/scheduler.py:__init__",
    "managers/tp_worker.py:__init__",
    "model_executor/model_runner.py:__init__",
    "model_executor/model_runner.py:initialize",
)
LOOP = ("managers/scheduler.py:event_loop_overlap", "managers/scheduler.py:run_batch", "model_executor/model_runner.py:forward")


def frames(root: str, *places: str) -> list[Frame]:
    return [Frame(f"{root}/{file}", function) for file, _, function in (place.partition(":") for place in places)]


SGLANG = [
    ("a layer while loading", (*START, "model_executor/model_runner.py:load_model", "layers/linear.py:__init__"), "load_weights", "load"),
    (
        "the draft model",
        (START[0], "speculative/eagle_worker.py:__init__", *START[2:], "model_executor/model_runner.py:load_model"),
        "load_weights",
        "load",
    ),
    (
        "the pool",
        (*START, "model_executor/model_runner.py:init_memory_pool", "mem_cache/memory_pool.py:_create_buffers"),
        "kv_alloc",
        "kv_cache",
    ),
    (
        "the pool, 0.5.17 and later",
        (
            "managers/scheduler.py:init_memory_pools",
            "model_executor/model_runner.py:alloc_memory_pool",
            "mem_cache/swa_memory_pool.py:__init__",
        ),
        "kv_alloc",
        "kv_cache",
    ),
    (
        "an image among the embeddings",
        (*LOOP, "managers/mm_utils.py:general_mm_embed_routine", "managers/mm_utils.py:get_embedding_and_mask"),
        "serve",
        "encoder",
    ),
    (
        "a text in a model that also takes images",
        (*LOOP, "managers/mm_utils.py:general_mm_embed_routine", "models/llama4.py:forward"),
        "serve",
        "forward",
    ),
    (
        "the thread of overlapped batches",
        ("managers/tp_worker_overlap_thread.py:forward_thread_func_", "models/qwen2.py:forward"),
        "serve",
        "forward",
    ),
    ("logits of many rows", (*LOOP, "layers/logits_processor.py:_get_logits"), "serve", "logits"),
    ("setting up the groups", (*START, "model_executor/model_runner.py:init_torch_distributed"), "init", "process_groups"),
    (
        "NCCL in one of them",
        (*START, "model_executor/model_runner.py:init_torch_distributed", "distributed/device_communicators/pynccl.py:__init__"),
        "init",
        "communication",
    ),
    ("tokens sent around", (*LOOP, "layers/moe/token_dispatcher/deepep.py:_dispatch_core"), "serve", "communication"),
    ("the tree of prefixes", (*LOOP, "mem_cache/swa_radix_cache.py:dec_lock_ref"), "serve", "prefix_cache"),
    (
        "attention workspaces",
        (*START, "model_executor/model_runner.py:init_attention_backend", "layers/attention/flashinfer_backend.py:__init__"),
        "warmup",
        "attention",
    ),
    (
        "capturing a graph",
        (
            *START,
            "model_executor/model_runner.py:init_cuda_graphs",
            "model_executor/cuda_graph_runner.py:capture",
            "models/llama.py:forward",
        ),
        "graph_capture",
        "graph",
    ),
    (
        "capturing a graph, 0.5.14 and later",
        ("managers/scheduler.py:init_all_cuda_graphs", "model_executor/runner/decode_cuda_graph_runner.py:capture_one_shape"),
        "graph_capture",
        "graph",
    ),
    (
        "replaying a graph",
        (*LOOP, "model_executor/cuda_graph_runner.py:replay", "model_executor/cuda_graph_runner.py:replay_prepare"),
        "serve",
        "forward",
    ),
    ("executing a graph", (*LOOP, "model_executor/runner/decode_cuda_graph_runner.py:execute"), "serve", "forward"),
    ("a prefill", (*LOOP, "models/llama.py:forward"), "serve", "forward"),
    (
        "log-probabilities",
        (*LOOP, "layers/logits_processor.py:forward", "layers/logits_processor.py:compute_temp_top_p_normalized_logprobs"),
        "serve",
        "logprobs",
    ),
    ("an image", (*LOOP, "managers/mm_utils.py:general_mm_embed_routine", "models/qwen2_5_vl.py:get_image_feature"), "serve", "encoder"),
    (
        "the language model behind an encoder",
        (*LOOP, "models/qwen2_5_vl.py:forward", "managers/mm_utils.py:general_mm_embed_routine", "models/qwen2.py:forward"),
        "serve",
        "forward",
    ),
    ("new weights", ("managers/scheduler.py:event_loop_normal", "managers/scheduler.py:update_weights_from_tensor"), "serve", "update"),
    ("waking up", ("managers/scheduler.py:event_loop_normal", "managers/scheduler.py:resume_memory_occupation"), "serve", "resume"),
]


@pytest.mark.parametrize(("places", "phase", "site"), [pytest.param(*row[1:], id=row[0]) for row in SGLANG])
def test_sglang(places: tuple[str, ...], phase: str, site: str) -> None:
    found = frames("/opt/venv/lib/python3.12/site-packages/sglang/srt", *places)
    assert (phase_of(found), site_of(found)) == (phase, site)


VLLM = [
    (
        "V0's profiling run, which executes the model",
        ("worker/worker.py:determine_num_available_blocks", "worker/model_runner.py:profile_run", "worker/model_runner.py:execute_model"),
        "profile",
        "profile",
    ),
    ("V0's model runner alone, in whichever phase", ("worker/model_runner.py:execute_model", "models/llama.py:forward"), None, ""),
    ("V1's model runner", ("v1/worker/gpu_model_runner.py:execute_model", "models/llama.py:forward"), "serve", "forward"),
    (
        "the encoder in the profiling run",
        ("v1/worker/gpu_model_runner.py:profile_run", "models/qwen2_5_vl.py:get_multimodal_embeddings", "models/qwen2_5_vl.py:forward"),
        "profile",
        "encoder",
    ),
    (
        "the encoder while serving",
        ("v1/worker/gpu_model_runner.py:execute_model", "v1/worker/gpu_model_runner.py:_execute_mm_encoder"),
        "serve",
        "encoder",
    ),
    ("a step around profiling, allocation and warm-up", ("v1/engine/core.py:_initialize_kv_caches",), None, ""),
    (
        "the check of the cache's size",
        ("v1/engine/core.py:_initialize_kv_caches", "v1/core/kv_cache_utils.py:get_kv_cache_configs"),
        "kv_alloc",
        "kv_check",
    ),
    ("the cache's tensors", ("v1/worker/gpu_model_runner.py:_allocate_kv_cache_tensors",), "kv_alloc", "kv_cache"),
    (
        "repacking",
        ("model_loader/loader.py:load_model", "quantization/gptq_marlin.py:process_weights_after_loading"),
        "load_weights",
        "repack",
    ),
    (
        "a repacked layer at work",
        ("v1/worker/gpu_model_runner.py:execute_model", "quantization/utils/marlin_utils.py:apply_gptq_marlin_linear"),
        "serve",
        "forward",
    ),
    ("an adapter", ("v1/worker/gpu_model_runner.py:execute_model", "lora/worker_manager.py:_load_adapter"), "serve", "lora"),
    ("a model of another modality is built", ("diffusion/models/flux/flux_transformer.py:__init__",), "load_weights", "load"),
    (
        "waiting for a worker",
        ("v1/executor/multiproc_executor.py:get_response", "distributed/device_communicators/shm_broadcast.py:acquire_read"),
        None,
        "queue",
    ),
    (
        "a layer that an adapter wraps",
        ("v1/worker/gpu_model_runner.py:execute_model", "lora/layers/base_linear.py:apply"),
        "serve",
        "forward",
    ),
    (
        "sleep mode's allocator while loading",
        ("model_loader/base_loader.py:load_model", "device_allocator/cumem.py:python_malloc_callback"),
        "load_weights",
        "load",
    ),
    ("waking up", ("v1/worker/gpu_worker.py:wake_up", "device_allocator/cumem.py:create_and_map"), "serve", "resume"),
    (
        "buffers of custom all-reduce",
        ("distributed/device_communicators/custom_all_reduce.py:register_graph_buffers",),
        "graph_capture",
        "graph",
    ),
    ("the encoder, of whose callers nothing is left", ("v1/worker/gpu_model_runner.py:_execute_mm_encoder",), "serve", "encoder"),
    ("making the model", ("model_executor/models/utils.py:make_layers", "model_executor/models/llama.py:__init__"), "load_weights", "load"),
    ("V0's sampler, in whichever phase", ("model_executor/layers/sampler.py:forward",), None, "logits"),
    ("V1's sampler, in whichever phase", ("v1/sample/sampler.py:forward",), None, "sampler"),
    ("a warm-up of kernels", ("model_executor/warmup/deep_gemm_warmup.py:deepgemm_fp8_gemm_nt_warmup",), "warmup", "warmup"),
]


@pytest.mark.parametrize(("places", "phase", "site"), [pytest.param(*row[1:], id=row[0]) for row in VLLM])
def test_vllm(places: tuple[str, ...], phase: str | None, site: str) -> None:
    found = frames("/opt/venv/lib/python3.12/site-packages/vllm", *places)
    assert (phase_of(found), site_of(found)) == (phase, site)


def test_calling_an_autotuned_kernel_is_not_tuning_it() -> None:
    serving = frames("/w/vllm/v1/worker", "gpu_model_runner.py:execute_model")
    triton = "/opt/venv/lib/python3.12/site-packages/triton/runtime"
    assert site_of([*serving, *frames(triton, "autotuner.py:run")]) == "forward"
    assert site_of([*serving, *frames(triton, "autotuner.py:run", "autotuner.py:_bench")]) == "autotune"


def test_a_trainer_that_calls_the_engine_does_not_tell_what_the_engine_does() -> None:
    found = [*frames("/root/verl", "verl/workers/fsdp_workers.py:_build_rollout"), *frames("/w/vllm", "model_loader/loader.py:load_model")]
    assert (phase_of(found), site_of(found)) == ("load_weights", "load")


def test_the_folder_of_an_installation_says_nothing() -> None:
    found = frames("/home/user/vision/env/lib/python3.12/site-packages/vllm", "v1/worker/gpu_model_runner.py:execute_model")
    assert (phase_of(found), site_of(found)) == ("serve", "forward")


def test_the_draft_model_is_named_beside_the_innermost_place() -> None:
    found = frames("/w/sglang/srt", "speculative/eagle_worker.py:__init__", "speculative/eagle_draft_cuda_graph_runner.py:capture")
    assert (site_of(found), sites_of(found)) == ("graph", ["draft", "graph"])


def test_an_encoder_of_sglang_omni() -> None:
    found = frames(
        "/opt/sglang_omni", "scheduling/simple_scheduler.py:_run_single", "models/qwen3_omni/components/image_encoder.py:forward"
    )
    assert (phase_of(found), site_of(found)) == ("serve", "encoder")


def test_vllm_captures_graphs_inside_its_warm_up() -> None:
    found = frames(
        "/w/vllm/v1/worker", "gpu_worker.py:compile_or_warm_up_model", "gpu_model_runner.py:capture_model", "gpu_model_runner.py:_dummy_run"
    )
    assert phase_of(found) == "graph_capture"


def test_torch_captures_a_graph_of_vllm() -> None:
    torch = frames("/opt/venv/lib/python3.12/site-packages", "torch/cuda/graphs.py:__exit__", "torch/cuda/graphs.py:capture_end")
    assert (phase_of(torch), site_of(torch)) == ("graph_capture", "graph")
    # an encoder's graph, which is captured when the first image comes
    serving = [*frames("/w/vllm/v1/worker", "gpu_model_runner.py:_execute_mm_encoder", "encoder_cudagraph.py:capture_one"), *torch]
    assert (phase_of(serving), site_of(serving)) == ("serve", "graph")


def test_a_context_is_made_where_a_device_is_first_used() -> None:
    torch = frames("/opt/venv/lib/python3.12/site-packages", "torch/cuda/__init__.py:set_device")
    assert (phase_of(torch), site_of(torch)) == ("init", "context")
    assert site_of([*frames("/w/vllm/v1/worker", "gpu_worker.py:init_device"), *torch]) == "context"


@pytest.mark.parametrize(
    "file",
    [
        r"D:\My models\venv\Lib\site-packages\vllm\v1\worker\gpu_worker.py",
        r"D:\\models\\venv\\Lib\\site-packages\\vllm\\v1\\worker\\gpu_worker.py",
    ],
    ids=["Windows", "Windows, quoted once more"],
)
def test_backslashes_part_folders_too(file: str) -> None:
    assert engine_of_file(file) == "vllm"
    assert site_of([Frame(file.replace("gpu_worker", "cache_engine"), "__init__")]) == "kv_cache"


def test_a_notebook_names_the_class_of_a_method() -> None:
    assert phase_of([Frame("~/site-packages/vllm/worker/worker.py", "Worker.determine_num_available_blocks")]) == "profile"


def test_an_egg_is_no_package_of_its_own() -> None:
    file = "/opt/venv/lib/python3.11/site-packages/vllm-0.6.3-py3.11-linux-x86_64.egg/vllm/worker/worker.py"
    assert engine_of_file(file) == "vllm"


def test_an_environment_named_after_a_trainer_is_no_trainer() -> None:
    engine = frames("/opt/conda/envs/verl/lib/python3.10/site-packages/sglang/srt", *LOOP, "models/llama.py:forward")
    assert site_of(engine) == "forward"
    trainer = frames("/opt/venv/lib/python3.10/site-packages/verl", "workers/actor/dp_actor.py:compute_log_prob")
    assert site_of(trainer) == "trainer"


def test_frames_that_nobody_knows() -> None:
    assert (phase_of(frames("/w", "main.py:run")), site_of(frames("/w", "main.py:run")), sites_of([])) == (None, "", [])


@pytest.mark.parametrize(
    ("file", "engine"),
    [
        ("/opt/envs/sglang/lib/python3.10/site-packages/vllm/utils.py", "vllm"),
        ("/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", "sglang"),
        ("/opt/sglang_omni/models/qwen3_omni/image_encoder.py", "sglang"),
        ("/usr/lib/python3/dist-packages/torch/nn/modules/module.py", None),
        ("", None),
    ],
)
def test_the_engine_of_a_source_file(file: str, engine: str | None) -> None:
    assert engine_of_file(file) == engine
