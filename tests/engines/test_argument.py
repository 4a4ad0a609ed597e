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
        ("sglang", "max_running_requests", "0.3.0", "--max-num-reqs"),
        ("sglang", "max_running_requests", "0.3.1", "--max-running-requests"),
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
