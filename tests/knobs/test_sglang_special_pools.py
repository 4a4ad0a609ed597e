"""The rows of settings that size states, window pools, host pools, and pools after graph capture, from logs."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from analyzer.analysis import KnobRecord
from analyzer.figures.sglang_host_cache import largest_pool, ranks_on_host
from analyzer.knobs.sglang_post_capture import fraction_after_capture
from analyzer.knobs.table import knobs
from tests.runs import run_of

START = "[2026-03-02 10:00:00] server_args=ServerArgs(model_path='/m', tp_size=1, {args})\n"
LOADED = """\
[2026-03-02 10:00:13] Load weight begin. avail mem=78.00 GB
[2026-03-02 10:01:02] Load weight end. elapsed=49.02 s, type=L, dtype=torch.bfloat16, avail mem=58.00 GB, mem usage=20.00 GB.
"""
STATES = (
    "[2026-03-02 10:01:03] Mamba Cache is allocated. max_mamba_cache_size: {slots}, conv_state size: {conv}GB, ssm_state size: {ssm}GB \n"
)
KV = "[2026-03-02 10:01:03] KV Cache is allocated. dtype: torch.bfloat16, #tokens: {tokens}, K size: {half} GB, V size: {half} GB\n"
CAPPED = (
    "[2026-03-02 10:01:03] max_running_requests is capped to {cap} by the mamba state cache (max_mamba_cache_size={slots}, "
    "3 state slots per request). To raise it: increase --mamba-full-memory-ratio\n"
)
TOO_SMALL = (
    "RuntimeError: Hybrid (mamba/linear-attention) state cache is too small to serve any requests. max_mamba_cache_size=2, mamba_ratio=3, "
    "resulting max_num_reqs=0. Try: (1) reduce --max-running-requests\n"
)
HYBRID = LOADED + STATES.format(slots=204, conv="0.30", ssm="19.63") + KV.format(tokens=725600, half="11.07")
"""204 slots of 0.0972 GiB and one for padding, beside 22.14 GiB of KV pool: 0.9 / 1.9 of 41.97 GiB are 204.5 slots."""


def rows(log: str) -> dict[str, KnobRecord]:
    """The rows of the table, by setting."""
    return {row.knob: row for row in knobs(run_of(log))}


def corpus(fixtures_dir: Path, name: str) -> str:
    (file,) = (fixtures_dir / "corpus").glob(f"{name}*.yaml")
    return str(yaml.safe_load(file.read_text(encoding="utf-8"))["log"])


def test_the_ratio_of_the_states_and_what_the_kv_pool_bounds() -> None:
    row = rows(START.format(args="mamba_full_memory_ratio=0.9, context_length=131072") + HYBRID)["mamba_full_memory_ratio"]
    assert (row.value, row.source) == (0.9, "in the server arguments, which show defaults too, line 1")
    assert row.effect == "204 slots of 99.55 MiB each, beside a KV pool of 725 600 tokens (22.14 GiB)"
    assert row.low is None
    # one request is 131 072 / 725 728 of the pool, a slot 0.0044 of it; the pool is 1 / 1.9 of the budget
    assert row.high == pytest.approx(1.9 / (131072 / 725728 - 0.0044) - 1, abs=0.02)
    assert "one request of 131072 tokens" in row.works


def test_the_printed_sizes_are_not_those_of_the_ratio_asked_for() -> None:
    row = rows(START.format(args="mamba_full_memory_ratio=0.5") + HYBRID)["mamba_full_memory_ratio"]
    assert row.value == 0.5
    assert row.source.endswith("line 1; by the printed sizes 0.895 to 0.910 was in effect")


@pytest.mark.parametrize(
    "args",
    ["max_total_tokens=725600", "speculative_algorithm='EAGLE'", "pp_size=2", "disable_radix_cache=True"],
    ids=["pool capped", "draft model", "pipeline stages", "no prefix cache"],
)
def test_sizes_that_something_else_than_the_ratio_divides_imply_none(args: str) -> None:
    row = rows(START.format(args=f"mamba_full_memory_ratio=0.5, context_length=131072, {args}") + HYBRID)["mamba_full_memory_ratio"]
    assert "printed sizes" not in row.source
    assert row.works == ""


def test_a_ratio_that_nobody_sets_is_the_default_where_the_sizes_agree(fixtures_dir: Path) -> None:
    row = rows(corpus(fixtures_dir, "sglang-120"))["mamba_full_memory_ratio"]
    assert (row.value, row.source) == (0.9, "default of SGLang since 0.5.3.post2, with which the printed sizes agree")
    assert "80 slots of 146.77 MiB each, 12.62 GiB for draft tokens" in row.effect


def test_a_log_without_arguments_whose_sizes_disagree_tells_no_ratio() -> None:
    assert "mamba_full_memory_ratio" not in rows(HYBRID.replace("19.63", "9.63").replace("204", "102"))


def test_what_the_requests_asked_for_take() -> None:
    log = START.format(args="mamba_full_memory_ratio=0.9, max_running_requests=100") + CAPPED.format(cap=68, slots=204) + HYBRID
    effect = rows(log)["mamba_full_memory_ratio"].effect
    # 0.9 / 1.9 of the budget gives 204 slots, 300 / 204 of that is 0.6966 of it: 2.296
    assert "100 requests at once take 300 slots: a ratio of 2.296 gives them and leaves about 418 287 tokens of KV pool" in effect


def test_requests_that_no_ratio_is_sure_to_give_slots_for() -> None:
    log = START.format(args="mamba_full_memory_ratio=0.9, max_running_requests=200") + CAPPED.format(cap=68, slots=204) + HYBRID
    assert "200 requests at once take 600 slots, which no ratio is sure to give" in rows(log)["mamba_full_memory_ratio"].effect


def test_data_parallel_attention_divides_requests_and_slots() -> None:
    args = "mamba_full_memory_ratio=0.9, max_running_requests=400, enable_dp_attention=True, dp_size=4"
    effect = rows(START.format(args=args) + CAPPED.format(cap=68, slots=204) + HYBRID)["mamba_full_memory_ratio"].effect
    assert "100 requests at once take 300 slots" in effect


def test_a_number_of_slots_that_is_set_leaves_the_ratio_without_effect() -> None:
    found = rows(START.format(args="mamba_full_memory_ratio=0.9, max_mamba_cache_size=2") + TOO_SMALL)
    assert found["mamba_full_memory_ratio"].effect == "none: max_mamba_cache_size gives the number of slots"
    slots = found["max_mamba_cache_size"]
    assert (slots.value, slots.low, slots.works) == (2, 3, "at least 3 (each request takes 3 slots)")


@pytest.mark.parametrize(
    ("release", "effect"),
    [
        ("dllm_algorithm=None, dllm_block_size=None", "none in this release while the prefix cache is on"),  # 0.5.6
        ("speculative_moe_a2a_backend=None, hybrid_kvcache_ratio=None", "204 slots of 99.55 MiB each"),  # 0.5.7
    ],
    ids=["0.5.4 - 0.5.6", "0.5.7 -"],
)
def test_slots_are_as_asked_from_0_5_7_on(release: str, effect: str) -> None:
    log = START.format(args=f"max_mamba_cache_size=300, mamba_full_memory_ratio=0.9, {release}") + HYBRID
    assert rows(log)["max_mamba_cache_size"].effect.startswith(effect)


WINDOWS = """\
[2026-03-02 10:01:03 TP0] Use sliding window memory pool. full_layer_tokens=300032, swa_layer_tokens={window}
[2026-03-02 10:01:03 TP0] SWA KV Cache is allocated. dtype: torch.bfloat16, #tokens: {window}, K size: 8.00 GB, V size: 8.00 GB
[2026-03-02 10:01:03 TP0] Full KV Cache is allocated. dtype: torch.bfloat16, #tokens: 300032, K size: 2.00 GB, V size: 2.00 GB
[2026-03-02 10:01:03 TP0] SWAKVPool mem usage: 20.00 GB, swa size: {window}, full size: 300032
"""


def test_both_pools_of_a_model_with_windows() -> None:
    row = rows(START.format(args="swa_full_tokens_ratio=0.8, page_size=64") + WINDOWS.format(window=240000))["swa_full_tokens_ratio"]
    assert row.source == "in the server arguments, which show defaults too, line 1"
    # 20 GiB / (4 GiB / 300 032 + 0.7 x 16 GiB / 240 000) = 333 341
    assert row.effect == (
        "the full layers hold 300 032 tokens, the window layers 240 000 (4.00 GiB and 16.00 GiB); "
        "0.1 less gives the full layers about 33 309 tokens more"
    )


def test_a_window_pool_that_is_not_of_the_ratio_asked_for() -> None:
    row = rows(START.format(args="swa_full_tokens_ratio=0.8, page_size=64") + WINDOWS.format(window=300032))["swa_full_tokens_ratio"]
    assert row.source.endswith("; by the printed pools 1.000 was in effect")


def test_a_window_pool_by_the_requests_at_once() -> None:
    args = "swa_full_tokens_ratio=0.8, page_size=64, disable_radix_cache=True, max_running_requests=16"
    assert rows(START.format(args=args) + WINDOWS.format(window=64000))["swa_full_tokens_ratio"].effect.startswith("none: without prefix")


def test_equal_pools_of_a_healthy_log_are_not_the_default(fixtures_dir: Path) -> None:
    row = rows(corpus(fixtures_dir, "sglang-122"))["swa_full_tokens_ratio"]
    assert row.value == 1.0
    assert row.source == "by the printed pools 1.000 was in effect, not 0.8, the default of SGLang since 0.4.9.post3"
    assert "(8.03 GiB and 69.60 GiB)" in row.effect, "without labels the window pool comes first"


REFUSED_WINDOW = (
    "ValueError: SWA pool ({tokens} tokens) cannot hold even one request: the prefill admission floor is sliding_window_size (4096) + "
    "page_size (64). Increase --swa-full-tokens-ratio or the total KV budget.\n"
)


def test_the_least_ratio_for_a_window() -> None:
    row = rows(START.format(args="swa_full_tokens_ratio=0.1") + REFUSED_WINDOW.format(tokens=2048))["swa_full_tokens_ratio"]
    # 0.1 x (4096 + 64 + 1) / (2048 + 64 x 1.1)
    assert (row.low, row.high) == (0.197, 1.0)
    assert "at most 21 830 tokens" in row.effect, "(4096 + 3 x 64) / 0.1964"


def test_no_ratio_for_a_window() -> None:
    row = rows(START.format(args="swa_full_tokens_ratio=0.8") + REFUSED_WINDOW.format(tokens=2048))["swa_full_tokens_ratio"]
    assert row.works.startswith("no value works: at least 1.539")
    assert row.works.endswith("raise mem_fraction_static: both pools together are too small")


HOST = "enable_hierarchical_cache=True, hicache_ratio={ratio}, hicache_size={size}, nnodes=1"
REFUSED_HOST = "ValueError: Not enough host memory available. Requesting {asked} GB but only have {free} GB free. Please reduce the size.\n"
BEFORE_0_5_15 = ", enable_piecewise_cuda_graph=False"
"""An argument of 0.5.4 - 0.5.9."""


def test_host_pools_that_fit(fixtures_dir: Path) -> None:
    row = rows(corpus(fixtures_dir, "sglang-123"))["hicache_ratio"]
    assert row.value == 1.0
    assert row.effect == "each rank asks for 15.58 GB of host memory; the pool on its device takes 15.59 GB"


def test_a_refusal_whose_figure_has_ten_gibibytes_to_come_off(fixtures_dir: Path) -> None:
    row = rows(corpus(fixtures_dir, "sglang-090"))["hicache_size"]
    assert (row.value, row.high) == (None, 34.137), "44.875 GB - 10 GiB"


def test_a_ratio_for_two_ranks_of_a_host() -> None:
    args = HOST.format(ratio=2.0, size=0).replace("tp_size=1, ", "")
    log = (
        START.replace("tp_size=1", "tp_size=2").format(args=args)
        + KV.format(tokens=400000, half="12.21")
        + "[2026-03-02 10:01:04 TP1] Allocating 52.43 GB host memory for hierarchical KV cache.\n"
        + REFUSED_HOST.format(asked="52.43", free="40.00")
    )
    row = rows(log)["hicache_ratio"]
    assert row.value == 2.0
    assert row.high == pytest.approx(2.0 * (40.0 + 52.43) / 2 / 52.43, abs=0.002)
    assert "each of its 2 ranks" in row.works
    assert row.effect == (
        "each rank asks for 52.43 GB of host memory, 2 ranks of a host 104.86 GB together; the pool on its device takes 26.22 GB"
    )


@pytest.mark.parametrize(
    ("release", "no_value"),
    [("enable_piecewise_cuda_graph=False", True), ("enable_unified_memory=False", False)],
    ids=["refused up to 0.5.14", "a warning from 0.5.15"],
)
def test_a_host_with_less_than_the_device(release: str, no_value: bool) -> None:
    log = START.format(args=f"{HOST.format(ratio=2.0, size=0)}, {release}") + KV.format(tokens=400000, half="12.21")
    row = rows(log + REFUSED_HOST.format(asked="52.43", free="20.00"))["hicache_ratio"]
    assert row.works.startswith("no value works") is no_value
    assert row.high == 0.763


def test_a_size_for_each_rank() -> None:
    log = START.format(args=HOST.format(ratio=2.0, size=60) + BEFORE_0_5_15) + KV.format(tokens=400000, half="12.21")
    found = rows(log + REFUSED_HOST.format(asked="60.00", free="40.00"))
    assert "hicache_ratio" not in found
    size = found["hicache_size"]
    assert (size.value, size.low, size.high) == (60, 26.211, 40.005)


def test_a_ratio_that_the_engine_lowers_itself() -> None:
    row = rows(
        START.format(args="enable_hierarchical_cache=True, hicache_host_memory_fraction=0.8, hicache_size=0")
        + "[2026-03-02 10:01:04] HiCache memory headroom: host 512.0 GiB, cgroup 610.0 GiB\n"
        + "[2026-03-02 10:01:04] HiCache auto-sizing: ratio 2.000 -> 1.500; 50.2 GiB host memory per rank (fraction 0.80, 8 ranks on "
        "this host), host pools 47.5 GiB.\n"
    )["hicache_ratio"]
    assert (row.value, row.source) == (1.5, "printed by the engine, line 3")
    assert row.effect == "nobody set it: the engine lowered 2.0 until the pools, 47.5 GiB, fit into 50.2 GiB for each rank"


CAPTURED = """\
[2026-03-02 10:01:03 TP0] KV Cache VA upper bound. dtype: torch.bfloat16, #tokens: 444500, K size: 27.13 GB, V size: 27.13 GB
[2026-03-02 10:01:03 TP0] Post-capture KV sizing: KV cache allocated. dtype: torch.bfloat16, #tokens: 400000, KV size: 48.80 GB, \
avail mem=7.90 GB
"""


def test_pools_sized_after_capture() -> None:
    log = START.format(args="mem_fraction_static=0.9") + LOADED.replace("] Load", " TP0] Load") + CAPTURED
    row = rows(log)["SGLANG_ENABLE_POST_CAPTURE_KV_SIZING"]
    assert row.value == 1
    assert row.effect == (
        "the pool was sized from 444 500 tokens (54.26 GiB) to 400 000 tokens (48.80 GiB) once the graphs had been captured, and 7.90 GB "
        "stayed free; mem_fraction_static only says what stays free after graph capture: 7.80 GiB of 78.00 GB"
    )
    assert fraction_after_capture(run_of(log)).startswith("mem_fraction_static only says")
    assert fraction_after_capture(run_of(START.format(args="mem_fraction_static=0.9") + LOADED)) == ""


def test_what_is_kept_for_work_outside_the_graphs_may_be_more() -> None:
    gap = (
        "[2026-03-02 10:01:03 TP0] Post-capture KV sizing: decode CUDA graph max_bs=160 < max_running_requests=2048; reserving activation "
    )
    oom = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 MiB. GPU 0 has a total capacity of 79.11 GiB of which 0.50 MiB"
    )
    args = "mem_fraction_static=0.98, chunked_prefill_size=8192, speculative_dspark_block_size=None, enable_gdn_replayssm_spec=False"
    run = run_of(START.format(args=args) + LOADED + gap + "headroom\n" + CAPTURED + oom + " is free.\n")
    assert fraction_after_capture(run).endswith("and less than the 12.62 GiB that is kept for work outside the graphs"), (
        "512 + 1.5 x 8192 + 128"
    )


def test_a_plain_model_has_none_of_these_rows() -> None:
    found = rows(
        START.format(args="mem_fraction_static=0.9, swa_full_tokens_ratio=0.8, mamba_full_memory_ratio=0.9, hicache_ratio=2.0") + LOADED
    )
    assert not {"swa_full_tokens_ratio", "mamba_full_memory_ratio", "hicache_ratio", "SGLANG_ENABLE_POST_CAPTURE_KV_SIZING"} & found.keys()


@pytest.mark.parametrize(
    ("command", "ranks"),
    [
        ("--tp 8", 8),
        ("--tp-size 8 --nnodes 2", 4),
        ("--tp 4 --dp 2", 8),
        ("--tp 4 --dp 4 --enable-dp-attention", 4),
        ("--mem-fraction-static 0.8", 1),
        ("--tp 8 --config server.yaml", None),
    ],
)
def test_ranks_of_a_host(command: str, ranks: int | None) -> None:
    assert (
        ranks_on_host(run_of(f"python -m sglang.launch_server --model-path /m --enable-hierarchical-cache {command} --port 30000\n"))
        == ranks
    )


@pytest.mark.parametrize(
    ("version", "wording", "fits"),
    [
        ("0.5.16", "Allocating 52.43 GB host memory for hierarchical KV cache.", True),
        ("0.5.17", "Allocating 52.43 GB host memory for hierarchical KV cache.", False),
        ("0.5.16", "Allocating kv hierarchical KV host pool: 800000 tokens, 52.43 GB host memory.", False),
        ("0.5.17", "Allocating kv hierarchical KV host pool: 800000 tokens, 52.43 GB host memory.", True),
    ],
)
def test_the_wording_narrows_the_releases_down(version: str, wording: str, fits: bool) -> None:
    run = run_of(f"[2026-03-02 10:01:04 TP1] {wording}\n" + REFUSED_HOST.format(asked="52.43", free="40.00"))
    found = largest_pool(replace(run, version_text=version), run.all("hicache_host_not_enough")[0])
    assert (found is not None) is fits


def test_host_memory_that_the_engine_measured_bounds_the_size_without_a_refusal() -> None:
    row = rows(
        START.replace("tp_size=1", "tp_size=8").format(args=HOST.format(ratio=2.0, size=20))
        + "[2026-03-02 10:01:04] HiCache memory headroom: host 512.0 GiB, cgroup 250.0 GiB\n"
    )["hicache_size"]
    assert row.high == pytest.approx((250.05 - 10) / 8 * 1.073741824, abs=0.001)


@pytest.mark.parametrize("slots", [0, -1])
def test_slots_that_no_pool_has_show_nothing(slots: int) -> None:
    log = START.format(args="mamba_full_memory_ratio=0.9") + LOADED + STATES.format(slots=slots, conv="0.30", ssm="19.63")
    assert "slots of" not in rows(log)["mamba_full_memory_ratio"].effect
