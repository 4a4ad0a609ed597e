"""Figures on both sides of the release from which the engine computes or words something in another way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analyzer.cases.model import Run
from analyzer.figures.sglang_automatic import default_fraction_of, fraction_is_default
from analyzer.figures.sglang_host_cache import largest_pool
from analyzer.figures.sglang_launch_of_run import launches
from analyzer.figures.vllm_bounds import has_start_up_check
from tests.runs import run_of
from tests.sglang_dumps import dump

H100 = 81_559
CARD = f"| N/A   29C    P0              73W / 700W |      0MiB / {H100}MiB |      0%      Default |\n"
COMMAND = "python -m sglang.launch_server --model-path /m --tp 1\n"
LOADED = (
    "[2026-03-02 10:00:13] Load weight begin. avail mem=78.58 GB\n"
    "[2026-03-02 10:01:02] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=18.00 GB, mem usage=60.00 GB.\n"
)
REFUSED = (
    "ValueError: Not enough host memory available. Requesting 52.43 GB but only have 40.00 GB free. "
    "Please reduce the size of the hierarchical cache.\n"
)
ALLOCATED = {
    "old": "[2025-05-01 12:00:00 TP0] Allocating 52.43 GB host memory for hierarchical KV cache.\n",
    "new": "[2025-05-01 12:00:00 TP0] Allocating kv hierarchical KV host pool: 800000 tokens, 52.43 GB host memory.\n",
}


def of_release(release: str, log: str) -> Run:
    return replace(run_of(log), version_text=release)


@pytest.mark.parametrize(("release", "checks"), [("0.9.0.1", False), ("0.9.1", True)])
def test_vllms_start_up_check(release: str, checks: bool) -> None:
    log = f"(APIServer pid=1) INFO 01-01 10:00:00 [api_server.py:1] vLLM API server version {release}\n"
    assert has_start_up_check(run_of(log + "INFO 01-01 10:00:05 [core.py:61] Waiting for init message from front-end.\n")) is checks


@pytest.mark.parametrize(("release", "value"), [("0.5.9", 0.835), ("0.5.10", "0.816 to 0.835")])
def test_prefill_graphs_leave_the_default_open(release: str, value: float | str) -> None:
    """512 + 1.5 x 8192 + 128 + 2 x 256 MiB; from 0.5.10 prefill graphs, which only the model decides upon, may come to that."""
    found = default_fraction_of(of_release(release, COMMAND + LOADED + CARD))
    assert found is not None
    assert found[0] == value


@pytest.mark.parametrize(("release", "kinds"), [("0.5.7", {False}), ("0.5.8", {False, True})])
def test_latent_attention_matters_to_prefill_graphs(release: str, kinds: set[bool]) -> None:
    shown = {"tp_size": 1, "chunked_prefill_size": 8192, "enable_piecewise_cuda_graph": True, "mem_fraction_static": 0.8}
    assert {launch.mla for launch in launches(run_of(dump(release, **shown) + CARD), (H100,))} == kinds


@pytest.mark.parametrize(("release", "recognized"), [("0.4.9.post2", False), ("0.4.9.post3", True)])
def test_the_size_of_the_vision_tower_matters(release: str, recognized: bool) -> None:
    """10 GiB off the card, and for a tower of 32 layers of 1280: 0.95 x (1 - 0.1 x (32 x 1280 squared / (24 x 1024 squared) - 1))."""
    fraction = round((H100 - 10 * 1024) / H100, 3) * 0.95 * (1 - 0.1 * (32 * 1280**2 / (24 * 1024**2) - 1))
    run = of_release(release, COMMAND + LOADED + CARD)
    assert ("reduced for a multimodal model" in fraction_is_default(run, fraction)) is recognized


@pytest.mark.parametrize(
    ("release", "wording", "agree"), [("0.5.16", "old", True), ("0.5.16", "new", False), ("0.5.17", "old", False), ("0.5.17", "new", True)]
)
def test_a_wording_that_the_release_does_not_have(release: str, wording: str, agree: bool) -> None:
    """Then nothing is computed by the release's rule."""
    run = of_release(release, ALLOCATED[wording] + REFUSED)
    refused = run.first("hicache_host_not_enough")
    assert refused is not None
    assert (largest_pool(run, refused) is not None) is agree
