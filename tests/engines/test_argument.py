"""Which arguments exist in which release: nothing is suggested that a release does not take."""

import re

import pytest
from packaging.version import Version

from analyzer.engines import omni, sglang_arguments, vllm_arguments
from analyzer.engines.argument import Argument, argument_of, flag_of, is_known
from analyzer.engines.vllm import PINNED_ARENA_SINCE

TABLES = {"sglang": sglang_arguments.ARGUMENTS, "vllm": vllm_arguments.ARGUMENTS, "omni": omni.ARGUMENTS}


@pytest.mark.parametrize(
    ("engine", "name", "version", "flag"),
    [
        ("sglang", "mem_fraction_static", "0.1.26", "--mem-fraction-static"),
        ("sglang", "cuda_graph_max_bs", "0.3.4", None),
        ("sglang", "cuda_graph_max_bs", "0.3.5", "--cuda-graph-max-bs"),
        ("sglang", "cuda_graph_max_bs", "0.5.13", "--cuda-graph-max-bs"),
        ("sglang", "cuda_graph_max_bs", "0.5.14", "--cuda-graph-max-bs-decode"),
        ("sglang", "enable_piecewise_cuda_graph", "0.5.13", "--enable-piecewise-cuda-graph"),
        ("sglang", "enable_piecewise_cuda_graph", "0.5.14", None),
        ("sglang", "disable_piecewise_cuda_graph", "0.5.19", "--disable-piecewise-cuda-graph"),
        ("sglang", "disable_piecewise_cuda_graph", "0.5.20", None),
        ("sglang", "max_running_requests", "0.3.0", "--max-running-requests"),
        ("sglang", "max_mamba_cache_size", "0.5.1", None),
        ("sglang", "hicache_size", "0.4.6", "--hicache-size"),
        ("vllm", "gpu_memory_utilization", "0.2.7", "--gpu-memory-utilization"),
        ("vllm", "kv_cache_memory_bytes", "0.10.1", None),
        ("vllm", "kv_cache_memory_bytes", "0.10.2", "--kv-cache-memory-bytes"),
        ("vllm", "swap_space", "0.17.1", "--swap-space"),
        ("vllm", "swap_space", "0.18.0", None),
        ("vllm", "max_seq_len_to_capture", "0.10.2", "--max-seq-len-to-capture"),
        ("vllm", "max_seq_len_to_capture", "0.11.0", None),
        ("vllm", "VLLM_ENABLE_STARTUP_PLAN", "0.26.0", ""),
        ("vllm", "no_such_argument", "0.33.0", None),
    ],
)
def test_flag_of_a_release(engine: str, name: str, version: str, flag: str | None) -> None:
    assert flag_of(TABLES[engine], name, Version(version)) == flag


def test_with_the_release_unknown_only_what_all_releases_take_is_named() -> None:
    assert flag_of(TABLES["sglang"], "mem_fraction_static", None) == "--mem-fraction-static"
    assert flag_of(TABLES["vllm"], "gpu_memory_utilization", None) == "--gpu-memory-utilization"
    assert flag_of(TABLES["sglang"], "cuda_graph_max_bs", None) is None
    assert flag_of(TABLES["vllm"], "kv_cache_memory_bytes", None) is None
    assert is_known(TABLES["vllm"][0], None) is None


CHANGES = [
    # engine, what a release does, the release, the arguments without their hyphens
    ("omni", "adds", "0.1.1", "encoder-mem-reserve mem-fraction-static talker-mem-fraction-static thinker-mem-fraction-static"),
    ("omni", "adds", "0.1.4",
     "talker.engine.mem_fraction_static thinker.engine.mem_fraction_static thinker.factory.encoder_mem_reserve "
     "thinker.gpu_memory_fraction"),
    ("omni", "adds", "0.1.5", "thinker.engine.kv_cache_bytes thinker.total_reserve_bytes"),
    ("omni", "drops", "0.1.4", "encoder-mem-reserve talker-mem-fraction-static thinker-mem-fraction-static"),
    ("sglang", "adds", "0.1.26",
     "context-length disable-cuda-graph max-running-requests mem-fraction-static quantization schedule-conservativeness tp-size"),
    ("sglang", "adds", "0.2.7", "chunked-prefill-size"),
    ("sglang", "adds", "0.2.8", "max-total-tokens"),
    ("sglang", "adds", "0.2.14", "kv-cache-dtype"),
    ("sglang", "adds", "0.3.1", "max-loras-per-batch"),
    ("sglang", "adds", "0.3.5", "cuda-graph-max-bs"),
    ("sglang", "adds", "0.3.6.post1", "cpu-offload-gb"),
    ("sglang", "adds", "0.4.2.post1", "enable-hierarchical-cache"),
    ("sglang", "adds", "0.4.4.post2", "hicache-ratio"),
    ("sglang", "adds", "0.4.5.post3", "hicache-size"),
    ("sglang", "adds", "0.4.9.post3", "max-lora-rank swa-full-tokens-ratio"),
    ("sglang", "adds", "0.5.2", "max-mamba-cache-size"),
    ("sglang", "adds", "0.5.3", "keep-mm-feature-on-device"),
    ("sglang", "adds", "0.5.3.post2", "enable-piecewise-cuda-graph mamba-full-memory-ratio piecewise-cuda-graph-max-tokens"),
    ("sglang", "adds", "0.5.7", "encoder-only language-only limit-mm-data-per-request"),
    ("sglang", "adds", "0.5.10", "disable-piecewise-cuda-graph"),
    ("sglang", "adds", "0.5.14",
     "cuda-graph-backend-decode cuda-graph-backend-prefill cuda-graph-config cuda-graph-max-bs-decode cuda-graph-max-bs-prefill "
     "disable-prefill-cuda-graph"),
    ("sglang", "adds", "0.5.16", "mm-feature-transport"),
    ("sglang", "adds", "0.5.21", "swa-prefix-tails"),
    ("sglang", "drops", "0.5.14", "enable-piecewise-cuda-graph"),
    ("sglang", "drops", "0.5.20", "cuda-graph-max-bs disable-piecewise-cuda-graph piecewise-cuda-graph-max-tokens"),
    ("sglang", "drops", "0.5.21", "keep-mm-feature-on-device"),
    ("vllm", "adds", "0.2.7",
     "enforce-eager gpu-memory-utilization max-context-len-to-capture max-model-len max-num-batched-tokens max-num-seqs "
     "pipeline-parallel-size quantization swap-space tensor-parallel-size"),
    ("vllm", "adds", "0.3.0", "kv-cache-dtype"),
    ("vllm", "adds", "0.4.0", "enable-chunked-prefill enable-prefix-caching"),
    ("vllm", "adds", "0.4.0.post1", "VLLM_CPU_KVCACHE_SPACE"),
    ("vllm", "adds", "0.4.1", "num-gpu-blocks-override"),
    ("vllm", "adds", "0.4.3", "max-seq-len-to-capture"),
    ("vllm", "adds", "0.5.3", "cpu-offload-gb"),
    ("vllm", "adds", "0.5.5", "limit-mm-per-prompt"),
    ("vllm", "adds", "0.7.0", "enable-sleep-mode"),
    ("vllm", "adds", "0.9.0", "cuda-graph-sizes"),
    ("vllm", "adds", "0.9.1", "disable-hybrid-kv-cache-manager"),
    ("vllm", "adds", "0.10.1", "skip-mm-profiling"),
    ("vllm", "adds", "0.10.2", "kv-cache-memory-bytes"),
    ("vllm", "adds", "0.11.1", "cudagraph-capture-sizes kv-offloading-size max-cudagraph-capture-size"),
    ("vllm", "adds", "0.16.0", "enable-flashinfer-autotune"),
    ("vllm", "adds", "0.17.0", "offload-backend"),
    ("vllm", "adds", "0.18.0", "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS"),
    ("vllm", "adds", "0.24.0", "watermark"),
    ("vllm", "adds", "0.25.0", "mm-ipc-gpu-memory-gb"),
    ("vllm", "adds", "0.26.0", "VLLM_ENABLE_STARTUP_PLAN VLLM_FLASHINFER_AUTOTUNE_SKIP_OPS"),
    ("vllm", "drops", "0.6.4", "max-context-len-to-capture"),
    ("vllm", "drops", "0.11.0", "max-seq-len-to-capture"),
    ("vllm", "drops", "0.13.0", "cuda-graph-sizes"),
    ("vllm", "drops", "0.18.0", "swap-space"),
]  # fmt: skip


@pytest.mark.parametrize(("engine", "change", "release", "names"), [pytest.param(*row, id=" ".join(row[:3])) for row in CHANGES])
def test_a_release_adds_and_drops(engine: str, change: str, release: str, names: str) -> None:
    def end(row: Argument) -> str | None:
        return row.since if change == "adds" else row.before

    assert sorted((row.flag or row.name).removeprefix("--") for row in TABLES[engine] if end(row) == release) == names.split()


@pytest.mark.parametrize("engine", TABLES)
def test_no_other_release_changes_anything(engine: str) -> None:
    rows = TABLES[engine]
    assert {row.since for row in rows} == {release for name, change, release, _ in CHANGES if (name, change) == (engine, "adds")}
    assert {row.before for row in rows} - {None} == {release for name, change, release, _ in CHANGES if (name, change) == (engine, "drops")}


@pytest.mark.parametrize("engine", TABLES)
def test_tables_are_sorted_and_well_formed(engine: str) -> None:
    table = TABLES[engine]
    assert [row.name.lower() for row in table] == sorted(row.name.lower() for row in table)
    for row in table:
        assert re.fullmatch(r"--[a-z][a-z0-9.\-_]*", row.flag) or (row.name.isupper() and not row.flag)
        assert row.before is None or Version(row.since) < Version(row.before)


def test_one_place_says_since_when_the_arena_can_be_pinned() -> None:
    row = argument_of(TABLES["vllm"], "kv_cache_memory_bytes", Version("0.33.0"))
    assert row == Argument("kv_cache_memory_bytes", "--kv-cache-memory-bytes", PINNED_ARENA_SINCE)
