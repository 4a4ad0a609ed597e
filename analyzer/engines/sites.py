"""Where in an engine's code something failed: traceback frames -> a named site, and the phase that code belongs to.

The innermost frame that the table knows names the site. Phases nest (a profiling run executes the model), so of all frames the
earliest row of the table names the phase. File names and functions are those of vLLM 0.2.7 - 0.33.0, SGLang 0.1.26 - 0.5.23
and the trainers that embed them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.analysis import Phase


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a traceback; `function` is empty where the paste cut it."""

    file: str
    function: str


TRAINER = "trainer"

SITES: tuple[tuple[str, str, Phase | None], ...] = (
    # pattern over "path/file.py:function", site, phase; of several phases on the way the first row wins
    (r"(^|/)(slime|verl|megatron|openrlhf|trl|areal)/|ppo_utils|megatron_actor|fsdp_workers|dp_actor", TRAINER, "serve"),
    # sleep mode's allocator also serves the load and the KV cache: only its mapping back is a resume
    (r":wake_up|cumem\.py:(python_)?create_and_map|:resume_memory_occupation|torch_memory_saver", "resume", "serve"),
    (r":update_weights\w*|weight_updater", "update", "serve"),
    (r":process_weights_after_loading|repack|marlin_utils\w*\.py:(prepare_|\w*permute)", "repack", "load_weights"),
    (
        r":load_weights?\b|model_loader|weight_utils|:load_model|default_loader|component_loader|:get_model\b|:initialize_model"
        r"|:create_weights|:make_layers\b|(model_executor|srt|diffusion)/models/[\w/]+\.py:__init__",
        "load",
        "load_weights",
    ),
    (
        r":profile_run|:determine_(available_memory|num_available_blocks)|:profile_cudagraph_memory|:profile_num_available_blocks",
        "profile",
        "profile",
    ),
    # every call of an autotuned Triton kernel goes through autotuner.py:run; it is tuning only where its benchmark runs
    (r"autotune(?!r\.py:(run|warmup|<lambda>)?$)|:kernel_warmup|kernel_warmup\.py|deep_gemm_wrapper/compile_utils", "autotune", "warmup"),
    (
        # replaying a graph is serving, and the vision towers capture theirs while they serve
        r"(?<!vit_)(cuda_?|npu_|cpu_)graph_runner\.py:(?!replay|execute|load_batch|can_run|populate)|piecewise_cuda_graph\w*\.py:(?!replay)"
        r"|:register_graph_buffers|:capture_(model|graph|cuda_graphs|decode_graph|prefill_graph|one_batch_size)\b|:_capture_cudagraphs|:capture\b"
        r"|:init_(all_)?(cuda|device|decode_cuda|prefill_cuda|piecewise_cuda)_graphs?",
        "graph",
        "graph_capture",
    ),
    (
        r":_?get_prompt_logprobs_dict|:compute_logprobs|:gather_logprobs|logprobs?\.py:|:compute_temp_top_p_normalized_logprobs"
        r"|:(process|_?compute)_input_logprobs\w*|:get_(top|token_ids|normalized)_logprobs\w*",
        "logprobs",
        "serve",
    ),
    # V0's sampler also answers for the log-probabilities of prompts
    (r"logits_processor\.py:|model_executor/layers/sampler\.py:", "logits", None),
    (r":_dummy_(sampler|pooler)_run|sampler\.py:|pooler\.py:|topk_topp_sampler", "sampler", None),
    (r":_dummy_run|:compile_or_warm_up_model|:_?warm_?up\w*|model_executor/warmup/", "warmup", "warmup"),
    (
        # V0's profiling run calls the model runner's execute_model as well
        r"(?<!worker/model_runner\.py)(?<!enc_dec_model_runner\.py):execute_model|:execute_forward|:forward_(batch|decode|extend|step|fill|thread)\w*|:_?event_loop\w*|:_?run_batch\w*|:exposed_step"
        r"|:run_engine_loop|multiprocessing/engine\.py:start|:run_busy_loop|:_process_engine_step|:step_with_batch_queue"
        r"|:process_batch_result|:prepare_for_(extend|decode)|:check_memory|:self_check\w*|simple_scheduler\.py:_(run|start)"
        # of expert parallelism only the buffers are set up at the start; tokens are sent around in each step
        r"|(deepep|token_dispatcher/\w+|deep_ep/buffer)\.py:\w*(dispatch|combine)",
        "forward",
        "serve",
    ),
    # the profiling run calls the encoder directly
    (r":_?execute_mm_encoder", "encoder", "serve"),
    # vLLM captures by torch itself; the encoders' graphs are captured while they serve
    (r"torch/cuda/graphs\.py:(__enter__|__exit__|capture_begin|capture_end)", "graph", "graph_capture"),
    # here nothing is allocated: vLLM compares the size of the cache with what a request needs
    (r":_?check_enough_kv_cache_memory|:get_kv_cache_configs?\b|:raise_if_cache_size_invalid", "kv_check", "kv_alloc"),
    # where adapters are stored; their layers only wrap the model's own, so what fails inside is the batch
    (
        r":create_lora_weights|:create_dummy_lora|:\w*(add|load|set|activate|maybe)_\w*(lora|adapter)\w*|:load_lora_\w*|:\w*_lora_modules"
        r"|lora/(mem_pool|lora_manager|lora_model|lora_weights|model_manager|models|peft_helper|worker_manager)\.py",
        "lora",
        None,
    ),
    (r"multimodal_gen/", "diffusion", None),
    (
        r"moonvit|siglip|/clip\w*\.py|whisper|vision|visual|_vit\b|/\w*vit\w*\.py|mm_encoder|multimodal(?!_gen)|image_processing|audio"
        r"|vocoder|code2wav|speech_tokenizer|(image|reference)_encode|encoder_service|encode_server"
        r"|:_?(get|process|parse)_(image|video|audio|multimodal)_(feature|embed|input)\w*|:embed_multimodal|:_?execute_mm_encoder"
        r"|:embed_mm_inputs|:get_embedding_and_mask|:_get_\w*prefill_embedding\w*",
        "encoder",
        None,
    ),
    # here SGLang computes how large its pools may be; nothing is allocated
    (
        r":_?resolve_memory_pool_config|:_config_from_budget|:create_memory_pool_configurator|:_?profile_(max_num_token|available_bytes)"
        r"|:_?handle_max_mamba_cache|:_calculate_mamba_ratio|pool_configurator\.py:",
        "kv_sizing",
        "kv_alloc",
    ),
    (
        # vLLM's _initialize_kv_caches is no such place: the profiling run is inside it
        r":initialize_kv_cache\w*|:_?allocate_kv_cache\w*|:initialize_from_config|:init_memory_pool|memory_pool\.py:|:_create_buffers"
        r"|cache_engine\.py:|:initialize_cache"
        r"|:alloc_memory_pool|:init_(target_)?memory_pools?\b|kv_cache_mixin|kv_cache_configurator"
        r"|mamba_checkpoint_pool|:post_capture_resize_kv_pool",
        "kv_cache",
        "kv_alloc",
    ),
    (r"mem_cache/\w*(radix|chunk)_cache\w*\.py", "prefix_cache", None),
    (r":init_(all_)?attention_backends?\b|attention_backend_setup|:init_cublas", "attention", "warmup"),
    # the queue between vLLM's processes: who waits here waits for a worker
    (r"shm_broadcast\.py:(acquire_read|dequeue)", "queue", None),
    # the first use of a device sets up its context; no other memory of this process is on it yet
    (r"torch/cuda/__init__\.py:(set_device|_lazy_init)", "context", "init"),
    (r"deep_?ep|nvshmem|custom_all_reduce|symm_mem|pynccl|flashinfer_comm", "communication", "init"),
    # before the weights, where the share of memory is not used yet
    (r":init_(torch_)?distributed|:init_device\b|:initialize_model_parallel", "process_groups", "init"),
    (
        r"eagle_worker|:(maybe_init_)?draft_worker|multi_layer_eagle|standalone_worker|ngram_worker|spec_decode|eagle_draft|dflash|dspark"
        r"|frozen_kv_mtp|draft_worker_common",
        "draft",
        None,
    ),
)

_COMPILED = tuple((re.compile(pattern, re.IGNORECASE), site, phase) for pattern, site, phase in SITES)
_BEFORE_PACKAGE = re.compile(r".*-packages/(?:[^/]+\.egg/)?|.*/(?=(?:vllm|sglang)(?:_omni)?/)")
"""Where an environment or a checkout lies says nothing, even when it is named after a trainer or a modality."""
_BACKSLASHES = re.compile(r"\\+")


ENGINE_PACKAGES = {"sglang": "sglang", "sglang_omni": "sglang", "vllm": "vllm", "vllm_omni": "vllm"}


def engine_of_file(file: str) -> str | None:
    """The engine whose package a source file lies in. None for the files of all other packages."""
    return ENGINE_PACKAGES.get(_in_package(file).partition("/")[0])


def _in_package(file: str) -> str:
    """The path from the package on, with slashes; Windows has backslashes, which are doubled where the text was quoted once more."""
    return _BEFORE_PACKAGE.sub("", _BACKSLASHES.sub("/", file), count=1)


def _rows_of(frame: Frame) -> list[int]:
    text = f"{_in_package(frame.file)}:{frame.function.rpartition('.')[2]}"
    return [row for row, (pattern, _, _) in enumerate(_COMPILED) if pattern.search(text)]


def site_of(frames: Sequence[Frame]) -> str:
    """The site of the innermost known frame ("" when none is known). Frames are outermost first, as Python prints them."""
    for frame in reversed(frames):
        rows = [row for row in _rows_of(frame) if _COMPILED[row][1] != "forward"]
        if rows:
            return _COMPILED[rows[0]][1]
    return "forward" if any(_rows_of(frame) for frame in frames) else ""


def phase_of(frames: Sequence[Frame]) -> Phase | None:
    """The phase these frames belong to, by the first row of the table that any frame fits; None when none tells.

    A trainer that called the engine does not tell what the engine was doing.
    """
    rows = sorted({row for frame in frames for row in _rows_of(frame)})
    innermost = site_of(frames)
    told = (phase for _, site, phase in (_COMPILED[row] for row in rows) if phase is not None and (site != TRAINER or innermost == TRAINER))
    return next(told, None)


def sites_of(frames: Sequence[Frame]) -> list[str]:
    """All sites on the way, outermost first."""
    return list(dict.fromkeys(_COMPILED[row][1] for frame in frames for row in _rows_of(frame)))
