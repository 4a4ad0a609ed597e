"""The arguments of both engines that this program judges, with the type and the range of each."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, ValidationInfo

from analyzer.settings.amounts import Form, read_whole_number


def snake_case(key: str) -> str:
    """The Python name of an argument: `max-model-len` is `max_model_len`."""
    return key.replace("-", "_")


def expectation(error: ValidationError) -> dict[str, str]:
    """What was expected instead of each refused value, by argument."""
    return {str(found["loc"][0]): found["msg"].removeprefix("Value error, ") for found in error.errors()}


def _expected(what: str, found: Any) -> ValueError:
    return ValueError(f"expected {what}, found {_shown(found)}")


def _shown(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f"the text {value!r}"
        case list():
            return "a list"
        case dict():
            return "a mapping"
    return str(value)


def _whole(value: Any, info: ValidationInfo, what: str, lowest: int) -> int | None:
    number = read_whole_number(value, cast("Form", info.context), str(info.field_name)) if isinstance(value, str) else value
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int) or number < lowest:
        raise _expected(what, value)
    return number


def _number(value: Any, info: ValidationInfo, what: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, str) and info.context != "profiles" and re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)", value):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _expected(what, value)
    return float(value)


def _bytes(value: Any, info: ValidationInfo) -> int | None:
    return _whole(value, info, "a whole number of bytes that is not negative", 0)


def _count(value: Any, info: ValidationInfo) -> int | None:
    return _whole(value, info, "a whole number of at least 1", 1)


def _count_or_off(value: Any, info: ValidationInfo) -> int | None:
    """SGLang turns chunked prefill off with -1."""
    return -1 if value in (-1, "-1") else _count(value, info)


def _window(value: Any, info: ValidationInfo) -> int | str | None:
    """vLLM 0.14.0 and later: `auto` or -1 fits the window to the memory there is."""
    return "auto" if value in ("auto", -1, "-1") else _count(value, info)


def _unit_fraction(value: Any, info: ValidationInfo) -> float | None:
    number = _number(value, info, "a fraction above 0 and at most 1")
    if number is None or 0 < number <= 1:
        return number
    percent = f" ({number:g} percent is written {number / 100:g})" if 10 <= number <= 100 else ""
    raise _expected(f"a fraction above 0 and at most 1{percent}", value)


def _non_negative(value: Any, info: ValidationInfo) -> float | None:
    number = _number(value, info, "a number that is not negative")
    if number is None or 0 <= number < float("inf"):
        return number
    raise _expected("a number that is not negative", value)


def _switch(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise _expected("true or false", value)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise _expected("a text", value)


def _engine(value: Any) -> str | None:
    if value in ("vllm", "sglang", None):
        return cast("str | None", value)
    raise _expected("vllm or sglang", value)


Bytes = Annotated[int | None, BeforeValidator(_bytes)]
Count = Annotated[int | None, BeforeValidator(_count)]
CountOrOff = Annotated[int | None, BeforeValidator(_count_or_off)]
Window = Annotated[int | Literal["auto"] | None, BeforeValidator(_window)]
UnitFraction = Annotated[float | None, BeforeValidator(_unit_fraction)]
NonNegative = Annotated[float | None, BeforeValidator(_non_negative)]
Switch = Annotated[bool | None, BeforeValidator(_switch)]
Text = Annotated[str | None, BeforeValidator(_text)]


class SelectorArguments(BaseModel):
    """What a profile states for the selector, besides the engine's own arguments."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    engine: Annotated[Literal["vllm", "sglang"] | None, BeforeValidator(_engine)] = None
    requires_free_bytes: Bytes = None


class VllmArguments(BaseModel):
    """Arguments of vLLM (EngineArgs, 0.2.7 to 0.33.0). Others are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())

    block_size: Count = None
    cpu_offload_gb: NonNegative = None  # GiB
    device_memory_utilization: UnitFraction = None  # another name of gpu_memory_utilization since 0.31.0
    disable_hybrid_kv_cache_manager: Switch = None
    dtype: Text = None
    enable_chunked_prefill: Switch = None
    enable_expert_parallel: Switch = None
    enable_flashinfer_autotune: Switch = None
    enable_lora: Switch = None
    enable_prefix_caching: Switch = None
    enable_sleep_mode: Switch = None
    enforce_eager: Switch = None
    gpu_memory_utilization: UnitFraction = None
    kv_cache_dtype: Text = None
    kv_cache_memory_bytes: Bytes = None  # since 0.10.2, for each device
    kv_offloading_size: NonNegative = None  # GiB
    max_cudagraph_capture_size: Count = None
    max_lora_rank: Count = None
    max_loras: Count = None
    max_model_len: Window = None
    max_num_batched_tokens: Count = None
    max_num_seqs: Count = None
    max_seq_len_to_capture: Count = None
    mm_ipc_gpu_memory_gb: NonNegative = None  # GiB
    mm_processor_cache_gb: NonNegative = None  # GiB
    model: Text = None
    num_gpu_blocks_override: Count = None
    pipeline_parallel_size: Count = None
    quantization: Text = None
    skip_mm_profiling: Switch = None
    swap_space: NonNegative = None  # GiB
    tensor_parallel_size: Count = None


class SglangArguments(BaseModel):
    """Arguments of SGLang (ServerArgs, 0.4.2 to 0.5.23). Others are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=())

    chunked_prefill_size: CountOrOff = None
    context_length: Count = None
    cpu_offload_gb: NonNegative = None  # GiB
    cuda_graph_max_bs: Count = None
    disable_cuda_graph: Switch = None
    disable_radix_cache: Switch = None
    dtype: Text = None
    enable_lora: Switch = None
    enable_memory_saver: Switch = None
    enable_torch_compile: Switch = None
    kv_cache_dtype: Text = None
    max_lora_rank: Count = None
    max_prefill_tokens: Count = None
    max_running_requests: Count = None
    max_total_tokens: Count = None
    mem_fraction_static: UnitFraction = None
    model: Text = None  # another name of model_path
    model_path: Text = None
    page_size: Count = None
    piecewise_cuda_graph_max_tokens: Count = None
    pipeline_parallel_size: Count = None
    pp_size: Count = None
    quantization: Text = None
    schedule_conservativeness: NonNegative = None
    tensor_parallel_size: Count = None
    tp_size: Count = None


ARGUMENT_MODELS: tuple[type[BaseModel], ...] = (SelectorArguments, VllmArguments, SglangArguments)
VLLM_ONLY = frozenset(VllmArguments.model_fields) - frozenset(SglangArguments.model_fields)
SGLANG_ONLY = frozenset(SglangArguments.model_fields) - frozenset(VllmArguments.model_fields)
UTILIZATION_ARGUMENTS = ("gpu_memory_utilization", "device_memory_utilization", "mem_fraction_static")
