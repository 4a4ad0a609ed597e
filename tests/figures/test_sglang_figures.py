"""The quantities of SGLang runs that rules name, from logs."""

import pytest

from analyzer.figures.sglang_figures import (
    asked_per_effect,
    budget_figures,
    context_length,
    mem_fraction_static,
    pool_tokens,
    run_figures,
    trial_figures,
)
from tests.runs import runs_of
from tests.sglang_dumps import dump

ARGS = "[2026-03-02 10:00:00] server_args=ServerArgs(model_path='/m', context_length=None, mem_fraction_static={fraction}, tp_size=2)\n"
TWO_RANKS = """\
[2026-03-02 10:00:13 TP0] Load weight begin. avail mem=78.00 GB
[2026-03-02 10:00:13 TP1] Load weight begin. avail mem=72.00 GB
[2026-03-02 10:01:02 TP0] Load weight end. type=L, dtype=torch.bfloat16, avail mem=18.00 GB, mem usage=60.00 GB.
[2026-03-02 10:01:02 TP1] Load weight end. type=L, dtype=torch.bfloat16, avail mem=12.00 GB, mem usage=60.00 GB.
"""
POOL = "[2026-03-02 10:01:03 TP0] KV Cache is allocated. #tokens: 32768, K size: 1.00 GB, V size: 1.00 GB\n"
END = (
    "[2026-03-02 10:01:16 TP0] max_total_num_tokens=32768, chunked_prefill_size=8192, max_prefill_tokens=16384, "
    "max_running_requests=2048, context_len=131072, available_gpu_mem=10.19 GB\n"
)
REFUSED = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n"
EXCEEDED = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
    "GPU 0 has a total capacity of 79.11 GiB of which 1.17 GiB is free.\n"
)


def test_the_budget_is_that_of_the_poorest_rank() -> None:
    (run,) = runs_of(ARGS.format(fraction=0.8) + TWO_RANKS + REFUSED)
    figures = budget_figures(run, run.ranks[0])
    assert (figures["pre"].text, figures["post"].text) == ("72.00 GB", "12.00 GB")
    assert figures["kv_budget"].gib == pytest.approx(-2.4)
    assert figures["smallest_fraction"] == pytest.approx(0.8333, abs=0.0001)
    assert figures["suggested_fraction"] == 0.87
    told = run_figures(run)
    assert (told["least_free_rank"], told["least_free"].text, told["most_free"].text) == ("TP1", "72.00 GB", "78.00 GB")


def test_the_minimum_that_the_engine_prints_goes_before_the_computed_one() -> None:
    refusal = (
        "ValueError: Loaded weights leave no GPU memory for the KV cache under --mem-fraction-static=0.8. "
        "Raise --mem-fraction-static above 0.835 (minimum viable = 1 - available/pre = 0.8345).\n"
    )
    (run,) = runs_of(TWO_RANKS + refusal)
    assert (budget_figures(run, None)["smallest_fraction"], mem_fraction_static(run)) == (0.8345, 0.8)


def test_no_fraction_is_suggested_where_none_is_left() -> None:
    (run,) = runs_of("[2026-03-02 10:01:02 TP0] Load weight end. type=L, avail mem=0.50 GB, mem usage=78.00 GB.\n" + REFUSED)
    figures = budget_figures(run, run.ranks[0])
    assert figures["smallest_fraction"] > 0.99
    assert figures["suggested_fraction"] is None


def test_a_reduced_fraction_is_the_one_in_effect() -> None:
    line = "[2025-03-28 10:00:02 TP0] Automatically reduce --mem-fraction-static to 0.792 because this is a multimodal model.\n"
    (run,) = runs_of(ARGS.format(fraction=0.88) + line + TWO_RANKS + REFUSED)
    assert (mem_fraction_static(run), run_figures(run)["asked_fraction"]) == (0.792, 0.88)
    assert budget_figures(run, None)["suggested_fraction"] == 0.96, "(0.8333 + 0.03) x 0.88 / 0.792"


def test_one_request_of_full_length_needs_a_larger_pool() -> None:
    (run,) = runs_of(ARGS.format(fraction=0.8) + TWO_RANKS + POOL + END)
    assert (pool_tokens(run), context_length(run)) == (32768, 131072)
    assert budget_figures(run, run.ranks[0])["fraction_for_one_request"] == 0.945, "(60 + 8) / 72"


def test_another_engine_has_none_of_these() -> None:
    (run,) = runs_of("INFO 01-01 10:00:00 [gpu_worker.py:1] Available KV cache memory: 4.00 GiB\n")
    assert budget_figures(run, None) == {}


def test_trials_on_both_sides() -> None:
    refused = ARGS.format(fraction=0.8) + TWO_RANKS + REFUSED
    exceeded = ARGS.format(fraction=0.9) + TWO_RANKS + POOL + EXCEEDED
    assert trial_figures(runs_of(refused + exceeded)) == {
        "largest_refused_fraction": 0.8,
        "smallest_exceeded_fraction": 0.9,
        "fraction_between_trials": 0.86,
    }, "the pool is empty at 0.8333"
    assert trial_figures(runs_of(refused)) == {
        "largest_refused_fraction": 0.8,
        "smallest_exceeded_fraction": None,
        "fraction_between_trials": None,
    }


def test_trials_of_two_models_have_nothing_between_them() -> None:
    refused = ARGS.format(fraction=0.8) + TWO_RANKS + REFUSED
    other = (ARGS.format(fraction=0.9) + TWO_RANKS + POOL + EXCEEDED).replace("model_path='", "model_path='/models/other-")
    assert trial_figures(runs_of(refused + other))["fraction_between_trials"] is None


@pytest.mark.parametrize(("release", "expected"), [("0.5.13", False), ("0.5.14", True)])
def test_the_dump_of_arguments_tells_where_the_draft_model_lies(release: str, expected: bool) -> None:
    (run,) = runs_of(dump(release) + TWO_RANKS)
    assert run_figures(run)["draft_in_static_share"] is expected


def test_a_shortened_dump_does_not() -> None:
    (run,) = runs_of(ARGS.format(fraction=0.8) + TWO_RANKS)
    assert run_figures(run)["draft_in_static_share"] is None


@pytest.mark.parametrize("printed", ["0", "-1"])
def test_a_fraction_that_none_can_be_is_not_in_effect(printed: str) -> None:
    refused = (
        f"RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: mem_fraction_static={printed}\n"
    )
    (run,) = runs_of("server_args=ServerArgs(model_path='/m', mem_fraction_static=0.8, tp_size=1)\n" + refused)
    assert (mem_fraction_static(run), asked_per_effect(run)) == (0.8, 1.0)
