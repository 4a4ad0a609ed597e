"""Which values of SGLang runs are the engine's own defaults, told by release, card and arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from analyzer.cases.model import Run
from analyzer.figures.sglang_automatic import (
    chunk_is_default,
    default_fraction_of,
    fraction_is_default,
    graph_batch_is_default,
    was_asked,
)
from tests.runs import run_of
from tests.sglang_dumps import dump

H100 = "|   0  NVIDIA H100 80GB HBM3          On  | 00000000:00:09.0 Off |                    0 |\n"
H100_USED = "| N/A   29C    P0              73W / 700W |      0MiB / 81559MiB |      0%      Default |\n"
H200_USED = "| N/A   32C    P0            120W /  700W |       0MiB / 143771MiB |      0%      Default |\n"
SEEN_79_11 = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
    "GPU 0 has a total capacity of 79.11 GiB of which 0.44 GiB is free.\n"
)
SEEN_287_98 = SEEN_79_11.replace("CUDA", "HIP").replace("79.11", "287.98")
FREE = "[2026-03-02 10:00:13] Load weight begin. avail mem=78.58 GB\n"
LOADED = "[2026-03-02 10:01:02] Load weight end. type={}, dtype=torch.bfloat16, avail mem=18.00 GB, mem usage=60.00 GB.\n"
COMMAND = "python -m sglang.launch_server --model-path /m --tp 1 --trust-remote-code\n"

ONE_CARD = {"tp_size": 1, "pp_size": 1, "dp_size": 1, "enable_dp_attention": False, "max_prefill_tokens": 16384, "device": "cuda"}
SMALL = {**ONE_CARD, "chunked_prefill_size": 8192, "cuda_graph_max_bs": 256}
GRAPHS_OFF = {"backend": "disabled", "max_bs": None, "bs": None}
GRAPHS_8192 = {"backend": "breakable", "max_bs": 8192}
DECODE_256 = {"backend": "full", "max_bs": 256}
WITH_PREFILL = {**ONE_CARD, "chunked_prefill_size": 8192, "cuda_graph_config": {"decode": DECODE_256, "prefill": GRAPHS_8192}}
WITHOUT_PREFILL = {**ONE_CARD, "chunked_prefill_size": 8192, "cuda_graph_config": {"decode": DECODE_256, "prefill": GRAPHS_OFF}}
DP8 = {**ONE_CARD, "tp_size": 8, "dp_size": 8, "enable_dp_attention": True, "chunked_prefill_size": 1024, "cuda_graph_max_bs": 256}
MI355X = {**ONE_CARD, "tp_size": 8, "chunked_prefill_size": 16384, "cuda_graph_max_bs": 512}


ROWS: list[tuple[str, str, float, dict[str, Any], str, str]] = [
    # what it shows, release, fraction, arguments, what tells the card, expected
    # 512 + 1.5 x 8192 + 128 + 2 x 256 = 13440 MiB, the value of public logs of 0.5.9 on an H100
    ("nvidia-smi", "0.5.9", 0.835, SMALL, H100_USED, "SGLang 0.5.9 for a card of 81559 MiB, tp 1"),
    ("the name of the card", "0.5.9", 0.835, SMALL, H100, "SGLang 0.5.9 for a card of 81559 MiB, tp 1"),
    ("PyTorch's total", "0.5.9", 0.835, SMALL, SEEN_79_11, "SGLang 0.5.9 for a card of 81559 MiB, tp 1"),
    ("PyTorch's total, another card", "0.5.9", 0.836, SMALL, SEEN_79_11, "SGLang 0.5.9 for a card of 81920 MiB, tp 1"),
    ("free before loading", "0.5.9", 0.835, SMALL, FREE, "SGLang 0.5.9 for a card of 81559 MiB, tp 1"),
    # 58 prefill graphs of 8 MiB more: a public log of an H200 shows 0.903
    ("prefill graphs", "0.5.18", 0.903, WITH_PREFILL, H200_USED, "SGLang 0.5.18 for a card of 143771 MiB, tp 1"),
    ("latent attention", "0.5.18", 0.896, WITH_PREFILL, H200_USED, "SGLang 0.5.18 for a card of 143771 MiB, tp 1"),
    ("prefill graphs off", "0.5.18", 0.907, WITHOUT_PREFILL, H200_USED, "SGLang 0.5.18 for a card of 143771 MiB, tp 1"),
    # 512 + 1.5 x 16384 + 1024 + 2 x 512 = 27136 MiB: a public log of eight MI355X shows 0.908
    ("ROCm", "0.5.9", 0.908, MI355X, SEEN_287_98, "SGLang 0.5.9 for a card of 294896 MiB, tp 8"),
    # the chunk of 8 x 1024 is what the fraction was worked out with, before it was divided: 512 + 12288 + 1024 + 512 + 3 x 256 x 8
    ("a chunk divided", "0.5.9", 0.858, DP8, H200_USED, "SGLang 0.5.9 for a card of 143771 MiB, tp 8"),
    # before 0.5.3 by card and ranks alone: (12 + 1 / 2) GiB
    ("one reserve for a class of cards", "0.5.2", 0.911, ONE_CARD, H200_USED, "SGLang 0.5.2 for a card of 143771 MiB, tp 1"),
    ("stages", "0.5.2", 0.904, {**ONE_CARD, "pp_size": 3}, H200_USED, "SGLang 0.5.2 for a card of 143771 MiB, tp 1, pp 3"),
    ("not rounded", "0.4.6", (143771 - 13 * 1024) / 143771, {"tp_size": 8}, H200_USED, "SGLang 0.4.6 for a card of 143771 MiB, tp 8"),
    (
        "aiter attention",
        "0.5.9",
        0.862 * 0.85,
        {**MI355X, "attention_backend": "aiter", "context_length": 32768},
        "GPU models and configuration: GPU 0: AMD Instinct MI300X\n",
        "SGLang 0.5.9 for a card of 196592 MiB, tp 8",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("release", "fraction", "shown", "card", "expected"), [pytest.param(*row[1:], id=row[0]) for row in ROWS])
def test_the_engines_own_value_is_recognized(release: str, fraction: float, shown: dict[str, Any], card: str, expected: str) -> None:
    run = run_of(dump(release, mem_fraction_static=fraction, **shown) + card)
    assert fraction_is_default(run, fraction) == f"automatic: the default of {expected}"


def test_a_value_reduced_for_a_multimodal_model() -> None:
    fraction = 0.835 * 0.95 * (1 - 0.1 * (32 * 1280**2 / (24 * 1024**2) - 1))
    run = run_of(dump("0.5.9", mem_fraction_static=fraction, **SMALL) + H100_USED)
    expected = "automatic: the default of SGLang 0.5.9 for a card of 81559 MiB, tp 1, reduced for a multimodal model"
    assert fraction_is_default(run, fraction) == expected


WHOLE = dump("0.5.9", mem_fraction_static=0.835, **SMALL)
NEXT_RELEASE = dump("0.5.10", mem_fraction_static=0.835, disable_piecewise_cuda_graph=False, piecewise_cuda_graph_max_tokens=8192, **SMALL)

SILENT = [
    # what it shows, the log, its fraction
    ("asked on the command line", COMMAND.replace("--tp 1", "--mem-fraction-static 0.835") + WHOLE + H100_USED, 0.835),
    ("asked with a shortened flag", COMMAND.replace("--tp 1", "--mem-fraction 0.835") + WHOLE + H100_USED, 0.835),
    ("another value", WHOLE.replace("0.835", "0.834") + H100_USED, 0.834),
    ("the default of the release before", NEXT_RELEASE + H100_USED, 0.835),
    ("two decimals may have been asked for", dump("0.5.18", mem_fraction_static=0.83, **WITH_PREFILL) + H100_USED, 0.83),
    ("no card", WHOLE, 0.835),
    ("a card that is not in the table", WHOLE + SEEN_79_11.replace("79.11", "61.27"), 0.835),
    ("a build between two releases", WHOLE.replace("moe_dp_size=", "debug_cuda_graph=") + H100_USED, 0.835),
    ("a dump cut before the number of ranks", WHOLE.split(", tp_size")[0] + "\n" + H100_USED, 0.835),
]


@pytest.mark.parametrize(("log", "fraction"), [pytest.param(*row[1:], id=row[0]) for row in SILENT])
def test_nothing_is_said_where_it_cannot_be_told(log: str, fraction: float) -> None:
    assert fraction_is_default(run_of(log), fraction) == ""


def test_two_decimals_that_a_command_line_does_not_ask_for() -> None:
    run = run_of(COMMAND + dump("0.5.18", mem_fraction_static=0.83, **WITH_PREFILL) + H100_USED)
    assert fraction_is_default(run, 0.83) == "automatic: the default of SGLang 0.5.18 for a card of 81559 MiB, tp 1"


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (COMMAND, False),
        (COMMAND.replace("--tp 1", "--mem-fraction-static 0.8"), True),
        (COMMAND.replace("--tp 1", "--config /m.yaml"), None),
        (dump("0.5.9", mem_fraction_static=0.8), None),
        (dump("0.5.9", mem_fraction_static=None), False),
        (FREE, None),
    ],
    ids=["a command line without it", "with it", "a configuration file", "a dump with a value", "a dump without one", "nothing"],
)
def test_whether_the_fraction_was_asked_for(log: str, expected: bool | None) -> None:
    assert was_asked(run_of(log + FREE), "mem_fraction_static") is expected


def not_shown(release: str, command: str = COMMAND, card: str = H100_USED, model: str = "LlamaForCausalLM") -> Run:
    return replace(run_of(command + FREE + LOADED.format(model) + card), version_text=release)


@pytest.mark.parametrize(
    ("release", "card", "value", "source"),
    [
        ("0.5.2", H100_USED, 0.874, "default of SGLang 0.5.2 for a card of 81559 MiB, tp 1"),
        ("0.5.3", H100_USED, 0.835, "default of SGLang 0.5.3 for a card of 81559 MiB, tp 1"),
        ("0.5.2", SEEN_79_11, "0.874 to 0.875", "default of SGLang 0.5.2 for a card of 81559 or 81920 MiB, tp 1"),
        # with 58 prefill graphs 0.830, with latent attention 0.816, without them 0.835
        ("0.5.10", H100_USED, "0.816 to 0.835", "default of SGLang 0.5.10 for a card of 81559 MiB, tp 1"),
    ],
)
def test_a_value_that_the_log_does_not_show(release: str, card: str, value: float | str, source: str) -> None:
    assert default_fraction_of(not_shown(release, card=card)) == (value, source)


@pytest.mark.parametrize(
    "changed",
    [
        {"command": COMMAND.replace("--tp 1", "--mem-fraction-static 0.8")},
        {"command": ""},
        {"card": ""},
        {"model": "LlavaLlamaForCausalLM"},
        {"model": "Qwen2VLForConditionalGeneration"},
        {"release": ""},
    ],
    ids=["asked for", "no command line", "only the free memory hints at the card", "multimodal", "of a model that may be", "no release"],
)
def test_no_value_is_made_up(changed: dict[str, str]) -> None:
    assert default_fraction_of(not_shown(**{"release": "0.5.2", **changed})) is None


def test_chunk_and_graphs_that_nobody_asked_for() -> None:
    source = "default of SGLang 0.5.9 for a card of 81559 MiB, tp 1"
    run = run_of(COMMAND + dump("0.5.9", mem_fraction_static=0.835, **SMALL) + H100_USED)
    assert chunk_is_default(run, 8192) == (8192, source)
    assert graph_batch_is_default(run, 256) == (256, source)
    unseen = not_shown("0.5.9")
    assert chunk_is_default(unseen, None) == (8192, source)
    assert graph_batch_is_default(unseen, None) == (256, source)


@pytest.mark.parametrize(
    ("mib", "earlier", "later", "values"),
    [(30_000, "0.4.7", "0.4.7.post1", (8192, 2048)), (46_068, "0.5.2", "0.5.3", (8192, 4096)), (32_607, "0.5.19", "0.5.20", (2048, 4096))],
)
def test_the_default_chunk_changes_with_the_release(mib: int, earlier: str, later: str, values: tuple[int, int]) -> None:
    card = H100_USED.replace("81559", str(mib))
    assert tuple(chunk_is_default(not_shown(release, card=card), None)[0] for release in (earlier, later)) == values


@pytest.mark.parametrize(("release", "expected"), [("0.5.2", None), ("0.5.3", 256)])
def test_the_graphs_have_no_default_by_card_before(release: str, expected: int | None) -> None:
    assert graph_batch_is_default(not_shown(release), None)[0] == expected


def test_a_chunk_that_may_have_been_asked_for() -> None:
    run = run_of(dump("0.5.9", mem_fraction_static=0.835, **SMALL) + H100_USED)
    assert chunk_is_default(run, 8192) == (8192, "")
    assert graph_batch_is_default(run, 256) == (256, "")


def test_a_chunk_that_is_not_the_default() -> None:
    run = run_of(COMMAND + dump("0.5.9", mem_fraction_static=0.835, **{**SMALL, "chunked_prefill_size": 4096}) + H100_USED)
    assert chunk_is_default(run, 4096) == (4096, "")
