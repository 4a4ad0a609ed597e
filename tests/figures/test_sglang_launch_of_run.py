"""What the log of an SGLang run tells of its launch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from analyzer.engines.sglang_launch import Launch
from analyzer.figures.sglang_automatic import fraction_is_default, was_asked
from analyzer.figures.sglang_launch_of_run import cards_of_run, launches, likely_cards, releases_of_run, shows_all_arguments
from tests.corpus.score import cases
from tests.runs import run_of
from tests.sglang_dumps import dump

H100 = 81_559


ROWS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    # release, what the dump shows, what the launch has of it
    ("0.5.9", {"tp_size": 4, "pp_size": 2}, {"tp": 4, "pp": 2, "dp": 1, "role": "whole", "dp_attention": False}),
    ("0.5.9", {"chunked_prefill_size": -1, "max_prefill_tokens": 4096}, {"chunked_prefill_size": -1, "max_prefill_tokens": 4096}),
    ("0.5.9", {"dp_size": 8, "chunked_prefill_size": 1024}, {"dp": 8, "dp_attention": False, "chunked_prefill_size": 1024}),
    ("0.5.9", {"dp_size": 8, "enable_dp_attention": True, "chunked_prefill_size": 1024},
     {"dp_attention": True, "chunked_prefill_size": 8192}),
    ("0.5.22", {"dp_size": 1, "attn_dp_size": 4, "chunked_prefill_size": 2048},
     {"attention_dp": 4, "dp_attention": True, "chunked_prefill_size": 8192}),
    ("0.5.9", {"speculative_algorithm": "EAGLE", "speculative_num_draft_tokens": 4}, {"speculative_algorithm": "EAGLE", "draft_tokens": 4}),
    ("0.5.15", {"disaggregation_mode": "decode", "max_running_requests": 64}, {"role": "decode", "max_running_requests": 64}),
    ("0.5.15", {"disaggregation_mode": "null", "moe_a2a_backend": "deepep"}, {"role": "whole", "deepep": True}),
    ("0.4.8", {"enable_deepep_moe": True}, {"deepep": True}),
    ("0.5.9", {"enable_piecewise_cuda_graph": True, "piecewise_cuda_graph_max_tokens": 4096, "chunked_prefill_size": 8192},
     {"prefill_graphs": True, "prefill_graph_max_tokens": 4096}),
    ("0.5.10", {"disable_piecewise_cuda_graph": True}, {"prefill_graphs": False}),
    ("0.5.9", {"cuda_graph_max_bs": 160, "disable_cuda_graph": True}, {"graph_max_batch_size": 160, "decode_graphs": False}),
    ("0.5.14", {"cuda_graph_config": {"decode": {"backend": "full", "max_bs": 64}, "prefill": {"backend": "disabled", "max_bs": 2048}}},
     {"graph_max_batch_size": 64, "decode_graphs": True, "prefill_graphs": False, "prefill_graph_max_tokens": 2048}),
    ("0.5.9", {"device": "npu"}, {"platform": "npu"}),
    ("0.5.9", {"device": "cuda", "attention_backend": "aiter", "context_length": 32768}, {"platform": "rocm", "context_length": 32768}),
]  # fmt: skip


@pytest.mark.parametrize(("release", "shown", "expected"), [pytest.param(*row, id=f"{row[0]}-{'-'.join(row[1])}") for row in ROWS])
def test_a_dump_becomes_a_launch(release: str, shown: dict[str, Any], expected: dict[str, Any]) -> None:
    launch = launches(run_of(dump(release, mem_fraction_static=0.8, **shown)), (H100,))[0]
    assert (str(launch.release), launch.card_mib) == (release, H100)
    assert {name: getattr(launch, name) for name in expected} == expected


def test_a_dump_without_a_fraction_shows_what_was_asked() -> None:
    """Nothing is filled in yet: a chunk is not divided, and a switch that is not thrown leaves prefill graphs to the engine's rule."""
    shown = {"dp_size": 8, "enable_dp_attention": True, "chunked_prefill_size": 1024, "disable_piecewise_cuda_graph": False}
    launch = launches(run_of(dump("0.5.10", **shown)), (H100,))[0]
    assert (launch.chunked_prefill_size, launch.prefill_graphs) == (1024, None)
    switched_off = launches(run_of(dump("0.5.10", **{**shown, "disable_piecewise_cuda_graph": True})), (H100,))[0]
    assert switched_off.prefill_graphs is False


def test_a_command_line_shows_what_was_asked_before_it_was_divided() -> None:
    command = "python -m sglang.launch_server --model-path /m --tp 8 --dp 8 --enable-dp-attention --chunked-prefill-size 8192\n"
    run = run_of(command + "[2026-03-02 10:00:13 TP0] Load weight begin. avail mem=78.58 GB\n")
    assert launches(run, (H100,)) == (), "no release"
    launch = launches(replace(run, version_text="0.5.9"), (H100,))[0]
    assert (launch.tp, launch.dp, launch.dp_attention, launch.chunked_prefill_size) == (8, 8, True, 8192)


def test_a_model_whose_attention_is_not_known_leaves_two_launches() -> None:
    graphs = {"cuda_graph_config": {"decode": {"backend": "full", "max_bs": 64}, "prefill": {"backend": "full", "max_bs": 2048}}}
    found = launches(run_of(dump("0.5.14", mem_fraction_static=0.8, chunked_prefill_size=2048, **graphs)), (H100,))
    assert [launch.mla for launch in found] == [False, True]


def test_pools_sized_after_capture_show() -> None:
    line = "[2026-03-02 10:01:16] Post-capture KV sizing: KV cache allocated. dtype: torch.bfloat16, #tokens: 400000, KV size: 48.80 GB\n"
    found: tuple[Launch, ...] = launches(run_of(dump("0.5.17", chunked_prefill_size=8192) + line), (H100,))
    assert found[0].post_capture_sizing


ROW = "| N/A   29C    P0              73W / 700W |      0MiB / {}MiB |      0%      Default |\n"
NAMED = "GPU models and configuration: GPU 0: NVIDIA RTX A6000\n"
FREE = "[2026-03-02 10:00:13 TP{}] Load weight begin. avail mem={} GB\n"


@pytest.mark.parametrize(
    ("log", "printed", "likely"),
    [
        (ROW.format(143771) + ROW.format(81559), (81_559,), (81_559,)),
        (ROW.format(81559) + NAMED, (81_559,), (81_559,)),
        (NAMED, (46_068, 49_140), (46_068, 49_140)),
        (FREE.format(0, "78.58"), (), (81_559, 81_920)),
        (FREE.format(0, "44.58") + FREE.format(1, "78.58"), (), (81_559, 81_920)),
        (FREE.format(0, "60.00"), (), ()),
    ],
    ids=["the smallest of a table", "a table before a name", "a name", "free memory", "the rank that has most", "no card fits"],
)
def test_the_card(log: str, printed: tuple[int, ...], likely: tuple[int, ...]) -> None:
    run = run_of(log + dump("0.5.9"))
    assert (cards_of_run(run), likely_cards(run)) == (printed, likely)


RELEASE, CARD, ARGUMENTS, FRACTION = "release", "card", "all arguments", "fraction"
SHOWS = {
    # the reports of the corpus that show any input of the automatic fraction; every other one shows none
    "sglang-003-gpustack-ascend-fraction-0-2": {RELEASE},
    "sglang-014-a800-neighbour-holds-40g-process-0-bytes": {CARD},
    "sglang-020-h20-deepep-lowlat-capture-448mib": {CARD},
    "sglang-021-h20-dsv4-non-pytorch-15gib": {CARD},
    "sglang-040-olmocr-a100-vlm-4-93gib": {CARD},
    "sglang-051-omni-asr-5090-encoder-3-10gib-then-crash": {CARD},
    "sglang-054-kimi-vl-ci-log-cut-before-exception": {ARGUMENTS},
    "sglang-060-slime-trainer-58gib-reversed-trace": {CARD},
    "sglang-072-qwen25-leak-negative-4224": {ARGUMENTS, FRACTION},
}
REPORTS = {case["id"]: case["log"] for case in cases() if case["engine"] == "sglang"}


@pytest.mark.parametrize("report", REPORTS)
def test_the_corpus_lacks_an_input_of_the_automatic_fraction_everywhere(report: str) -> None:
    """Where a report shows all of them and nobody asked for the fraction, the value that it shows has to be the computed one."""
    run = run_of(REPORTS[report])
    inputs = {
        RELEASE: releases_of_run(run) is not None,
        CARD: bool(cards_of_run(run)),
        ARGUMENTS: shows_all_arguments(run),
        FRACTION: run.args.get("mem_fraction_static") is not None,
    }
    assert {name for name, shown in inputs.items() if shown} == SHOWS.get(report, set())
    if all(inputs.values()) and not was_asked(run, "mem_fraction_static"):
        assert fraction_is_default(run, run.args["mem_fraction_static"])


def test_the_range_of_a_dump_whose_head_is_cut() -> None:
    assert str(releases_of_run(run_of(REPORTS["sglang-003-gpustack-ascend-fraction-0-2"]))) == "0.5.6 to 0.5.7", "it was 0.5.6.post1"
