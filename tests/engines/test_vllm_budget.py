"""vLLM's KV budget in every era, and what printed ledgers say of it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.version import Version

from analyzer.engines.tokens import bytes_per_token, concurrency, pool_for, tokens_in
from analyzer.engines.vllm import default_utilization
from analyzer.engines.vllm_budget import Profile, consumed_and_headroom, era, gate_shortfall, kv_budget, ledger, requested
from analyzer.engines.vllm_generation import Generation
from analyzer.engines.vllm_graphs import equivalent_utilization, graphs_deducted
from analyzer.units import GIB, Size, parse_size


def gib(amount: float | str) -> Size:
    return parse_size(f"{amount} GiB", decimals=2)


EXACT = {
    # another process holds 5 GiB; the engine itself 50 (40 of weights, 1 beside PyTorch, 9 more at the peak)
    name: Size.exact(amount * GIB)
    for name, amount in {
        "total": 80, "free_at_start": 75, "free_after_profile": 34, "torch_peak": 49, "torch_after": 40,
        "weights": 40, "non_torch": 1, "activation_peak": 9, "graphs": 2,
    }.items()
}  # fmt: skip
PROFILE = Profile(**EXACT)


@pytest.mark.parametrize(
    ("version", "generation", "expected"),
    [
        ("0.2.7", "V0", 72 - (80 - 34)),  # all that is in use
        ("0.3.0", "V0", 72 - (80 - 34)),
        ("0.3.1", "V0", 72 - (75 - 34)),  # own growth
        ("0.6.3.post1", "V0", 72 - (75 - 34)),
        ("0.6.4", "V1", 72 - (75 - 34)),
        ("0.6.4", "V0", 72 - (49 + (80 - 34 - 40))),  # PyTorch's peak and all else in use
        ("0.6.5", "V1", 72 - (49 + (80 - 34 - 40))),
        ("0.9.0.1", "V1", 72 - (49 + (80 - 34 - 40))),
        ("0.6.5", "V0", 72 - (40 + 1 + 9)),  # the ledger
        ("0.10.2", "V0", 72 - (40 + 1 + 9)),
        ("0.9.1", "V1", 72 - (40 + 1 + 9)),
        ("0.17.1", "V1", 72 - (40 + 1 + 9)),
        ("0.18.0", "V1", 72 - (40 + 1 + 9) - 2),  # and graphs, where applied
        ("0.26.0", "V1", 72 - (40 + 1 + 9) - 2),
        ("0.27.0", "V1", 72 - (75 - 34) - (49 - 40) - 2),  # consumed and headroom
        ("0.33.0", "V1", 72 - (75 - 34) - (49 - 40) - 2),
    ],
)
def test_formula_by_release(version: str, generation: Generation, expected: float) -> None:
    budget = kv_budget(Version(version), 0.9, PROFILE, generation)
    assert budget is not None
    assert budget.gib == pytest.approx(expected)


def test_the_last_rule_without_graphs_is_the_rule_before_less_the_peak_that_stays() -> None:
    plain = replace(PROFILE, graphs=Size.exact(0))
    assert kv_budget(Version("0.18.0"), 0.9, plain) == kv_budget(Version("0.17.1"), 0.9, plain)


@pytest.mark.parametrize(
    ("version", "generation", "others", "gate"),
    [
        ("0.3.0", None, "charged", False),
        ("0.3.1", None, "not charged", False),
        ("0.6.4", "V0", "charged", False),
        ("0.6.5", "V0", "not charged", False),
        ("0.9.0.1", "V1", "charged", False),
        ("0.9.1", "V1", "not charged", True),
        ("0.26.0", None, "not charged", True),
        ("0.27.0", None, "changes charged", True),
    ],
)
def test_what_neighbours_do_and_since_when_there_is_a_check(version: str, generation: Generation | None, others: str, gate: bool) -> None:
    row = era(Version(version), generation)
    assert row is not None
    assert (row.others, row.gate) == (others, gate)


@pytest.mark.parametrize(("version", "generation"), [(None, None), ("0.2.6", None), ("0.8.5", None), ("0.11.0", "V0")])
def test_no_era(version: str | None, generation: Generation | None) -> None:
    assert era(Version(version) if version is not None else None, generation) is None


def test_memory_beside_pytorch_as_the_engine_prints_it() -> None:
    """0.6.4 of the older engine prints it and not what PyTorch held afterwards."""
    printed = replace(PROFILE, torch_after=None, free_after_profile=None, beside_torch=Size.exact(6 * GIB))
    assert kv_budget(Version("0.6.4"), 0.9, printed, "V0") == kv_budget(Version("0.6.4"), 0.9, PROFILE, "V0")


@pytest.mark.parametrize("missing", ["total", "weights", "non_torch", "activation_peak", "graphs"])
def test_no_budget_without_its_figures(missing: str) -> None:
    assert kv_budget(Version("0.19.0"), 0.9, replace(PROFILE, **{missing: None})) is None


def test_weights_in_another_process_come_off_from_0_32_0() -> None:
    total, weights = EXACT["total"], Size.exact(40 * GIB)
    assert requested(total, 0.9, Version("0.31.0"), weights).gib == pytest.approx(72)
    assert requested(total, 0.9, Version("0.32.0"), weights).gib == pytest.approx(32)


def test_start_up_check() -> None:
    """23.0 of 31.36 GiB free, 0.92 by default: 5.85 GiB are missing, whatever arena is pinned."""
    wanted = requested(gib("31.36"), 0.92, Version("0.24.0"))
    assert wanted.may_equal(gib("28.85"))
    assert gate_shortfall(gib("23.0"), wanted).gib == pytest.approx(5.85, abs=0.01)
    assert gate_shortfall(gib("29.0"), wanted) < 0


@pytest.mark.parametrize(("version", "expected"), [("0.19.1", 0.9), ("0.20.0", 0.92), ("0.2.7", 0.9), ("0.33.0", 0.92), (None, None)])
def test_default_utilization(version: str | None, expected: float | None) -> None:
    assert default_utilization(Version(version) if version is not None else None) == expected


# ---- CUDA graphs


@pytest.mark.parametrize(
    ("version", "options", "expected"),
    [
        ("0.17.1", {"asked": True}, False),
        ("0.18.0", {}, False),
        ("0.18.0", {"asked": True}, True),
        ("0.19.1", {}, False),
        ("0.20.0", {}, True),
        ("0.20.0", {"asked": False}, False),
        ("0.25.1", {"platform": "rocm"}, False),
        ("0.26.0", {"platform": "rocm"}, True),
        ("0.30.0", {"platform": "xpu"}, False),
        ("0.31.0", {"platform": "xpu"}, True),
        ("0.28.0", {"runner": "second"}, False),
        ("0.29.0", {"runner": "second"}, True),
        (None, {}, None),
    ],
)
def test_whether_graphs_are_in_the_budget(version: str | None, options: dict[str, Any], expected: bool | None) -> None:
    assert graphs_deducted(Version(version) if version is not None else None, **options) is expected


def test_equivalent_utilization_of_a_healthy_log(fixtures_dir) -> None:
    """0.26 GiB of graphs raise 0.7000 to 0.7021: the card has about 120 GiB."""
    log = healthy(fixtures_dir, "vllm-106-healthy-spark-graph-notice-mamba-cap.yaml")
    assert "from 0.7000 to 0.7021" in log
    graphs = gib(figure(log, r"Estimated CUDA graph memory: ([\d.]+) GiB"))
    assert equivalent_utilization(0.7, graphs, gib("121.69")).to_make_up == 0.7021
    assert equivalent_utilization(0.7, graphs, gib("121.69")).without_deduction == 0.6979
    assert equivalent_utilization(0.999, gib("2.0"), gib("80.0")).to_make_up == 1.0


# ---- ledgers of healthy logs: the formula closes within what the printed decimals leave open


def healthy(fixtures_dir: Path, name: str) -> str:
    return str(yaml.safe_load((fixtures_dir / "corpus" / name).read_text(encoding="utf-8"))["log"])


def figure(log: str, pattern: str) -> str:
    found = re.search(pattern, log)
    assert found is not None, pattern
    return found[1]


def test_v0_ledger(fixtures_dir) -> None:
    log = healthy(fixtures_dir, "vllm-101-healthy-v0-073-ledger.yaml")
    total = gib(figure(log, r"total_gpu_memory \(([\d.]+)GiB\)"))
    profile = Profile(
        total=total,
        weights=gib(figure(log, r"weights take ([\d.]+)GiB")),
        non_torch=gib(figure(log, r"non_torch_memory takes ([\d.]+)GiB")),
        activation_peak=gib(figure(log, r"peak memory takes ([\d.]+)GiB")),
    )
    assert requested(total, 0.8, Version("0.7.3")).may_equal(gib(figure(log, r"= ([\d.]+)GiB")))
    printed = gib(figure(log, r"reserved for KV Cache is ([\d.]+)GiB"))
    budget = kv_budget(Version("0.7.3"), 0.8, profile, "V0")
    assert budget is not None
    assert budget.may_equal(printed)
    assert budget.bytes == pytest.approx(printed.bytes, abs=16 * 2**20)


def test_v0_blocks_tokens_and_concurrency(fixtures_dir) -> None:
    """4681 blocks of swap in 4 GiB (the default) give the size of a block, and with it the pool its 53 965 blocks."""
    log = healthy(fixtures_dir, "vllm-101-healthy-v0-073-ledger.yaml")
    blocks, swap_blocks = int(figure(log, r"# cuda blocks: (\d+)")), int(figure(log, r"# CPU blocks: (\d+)"))
    # 4681 is rounded down: a block lies between 4 GiB / 4682 and 4 GiB / 4681
    block = Size.between(4 * GIB / (swap_blocks + 1), 4 * GIB / swap_blocks)
    pool = gib(figure(log, r"reserved for KV Cache is ([\d.]+)GiB"))
    assert tokens_in(pool, block).may_be(blocks)
    assert tokens_in(pool, 16 * 57_344).may_be(blocks)
    assert bytes_per_token(pool, blocks * 16).may_equal(57_344)
    assert f"{concurrency(blocks * 16, 10_240):.2f}" == figure(log, r"per request: ([\d.]+)x")
    assert figure(log, r"for (\d+) tokens per request") == "10240"


RANKS = {"TP0": "Worker_TP0", "TP1": "Worker_TP1"}


@pytest.mark.parametrize("rank", RANKS)
def test_ledger_with_consumed_memory(fixtures_dir, rank: str) -> None:
    """0.27 and 0.28: the printed activation peak holds the graph estimate already, so nothing more is taken off."""
    log = healthy(fixtures_dir, "vllm-103-healthy-v1-028-two-kv-suggestions.yaml")
    line = next(line for line in log.splitlines() if RANKS[rank] in line and "Free memory on device" in line)
    total = gib(figure(line, r"/([\d.]+) GiB\) on startup"))
    profile = Profile(
        total=total,
        consumed=gib(figure(line, r"Actual usage is ([\d.]+) GiB")),
        headroom=gib(figure(line, r"([\d.]+) GiB for peak activation")),
        graphs=Size.exact(0),
    )
    assert requested(total, 0.92, Version("0.28.0")).may_equal(gib(figure(line, r"\(0.92, ([\d.]+) GiB\)")))
    budget = kv_budget(Version("0.28.0"), 0.92, profile)
    assert budget is not None
    assert budget.may_equal(gib(figure(line, r"Current kv cache memory in use is ([\d.]+) GiB")))


@pytest.mark.parametrize(
    ("requested", "consumed", "peak", "cache"),
    [
        ("72.91", "15.26", "1.44", "56.21"),
        ("20.39", "1.49", "0.25", "18.65"),
        ("110.06", "55.99", "3.78", "50.29"),
        ("73.6", "51.66", "2.4", "19.54"),
        ("13.66", "10.29", "0.27", "3.1"),
    ],
    ids=["an 80 GB card", "a 24 GB card", "unified memory, 1.94 of graphs in the peak", "an empty card", "beside 5 GiB of a neighbour"],
)
def test_further_ledgers_with_consumed_memory(requested: str, consumed: str, peak: str, cache: str) -> None:
    """As public logs of 0.27 and 0.28 print them."""
    budget = consumed_and_headroom(gib(requested), Profile(consumed=gib(consumed), headroom=gib(peak), graphs=Size.exact(0)))
    assert budget is not None
    assert budget.may_equal(gib(cache))


def test_a_ledger_of_debug_output() -> None:
    """0.10: weights, memory outside PyTorch and activations of a small model on a 48 GB card."""
    profile = Profile(weights=gib("2.32"), non_torch=gib("0.02"), activation_peak=gib("0.45"))
    budget = ledger(gib("39.88"), profile)
    assert budget is not None
    assert budget.may_equal(gib("37.10"))
    assert bytes_per_token(gib("37.10"), 1_215_552).may_equal(32 * 1024)


def test_hybrid_models_do_not_divide(fixtures_dir) -> None:
    """188 640 tokens of 131 072 would be 1.44 requests; 5.23 are printed, because state layers need no tokens."""
    log = healthy(fixtures_dir, "vllm-106-healthy-spark-graph-notice-mamba-cap.yaml")
    tokens = int(figure(log, r"KV cache size: ([\d,]+) tokens").replace(",", ""))
    assert concurrency(tokens, 131_072) == pytest.approx(1.44, abs=0.005)
    assert float(figure(log, r"per request: ([\d.]+)x")) > 3 * concurrency(tokens, 131_072)
    assert pool_for(tokens, bytes_per_token(gib("17.36"), tokens)).may_equal(gib("17.36"))


def test_a_pool_of_the_older_engine_without_a_ledger_has_no_budget(fixtures_dir) -> None:
    """0.8.3: the log shows graphs only, and of two engines in that release it does not say which."""
    log = healthy(fixtures_dir, "vllm-108-healthy-v0-vl72b-eager-two-graphs.yaml")
    graphs = [gib(amount) for amount in re.findall(r"took ([\d.]+) GiB", log)]
    assert len(graphs) == 4
    assert era(Version("0.8.3")) is None
    assert kv_budget(Version("0.8.3"), 0.95, Profile(graphs=graphs[0]), "V0") is None
    assert graphs_deducted(Version("0.8.3")) is False
