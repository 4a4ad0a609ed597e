"""SGLang's rows of the table of settings, from logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from analyzer.knobs.sglang import sglang_knobs
from analyzer.knobs.shown import Shown
from tests.runs import run_of
from tests.sglang_dumps import dump

Read = Callable[[str], dict[str, Shown]]

CARD = "| N/A   29C    P0              73W / 700W |      0MiB / 81559MiB |      0%      Default |\n"
LOADED = """\
[2026-03-02 10:00:13] Load weight begin. avail mem=78.00 GB
[2026-03-02 10:01:02] Load weight end. type=L, dtype=torch.bfloat16, avail mem=18.00 GB, mem usage=60.00 GB.
"""
POOL = "[2026-03-02 10:01:03] KV Cache is allocated. #tokens: {}, K size: 1.00 GB, V size: 1.00 GB\n"
POOL_END = "[2026-03-02 10:01:03] Memory pool end. avail mem=16.00 GB\n"
DRAFT = """\
[2026-03-02 10:01:16] Load weight begin. avail mem=14.00 GB
[2026-03-02 10:01:17] Load weight end. type=LlamaForCausalLMEagle, dtype=torch.bfloat16, avail mem=13.30 GB, mem usage=0.70 GB.
"""
SMALL = {"tp_size": 1, "chunked_prefill_size": 8192, "cuda_graph_max_bs": 256, "max_prefill_tokens": 16384, "mem_fraction_static": 0.835}


def rows(log: str) -> dict[str, Shown]:
    """The rows of the only run of a log, by setting."""
    return {row.knob: row for row in sglang_knobs(run_of(log))}


def started(tokens: int = 32_768, release: str = "0.5.9", **shown: Any) -> str:
    return dump(release, **{**SMALL, "context_length": 8192, **shown}) + LOADED + POOL.format(tokens) + POOL_END


def test_the_rows_say_which_values_are_the_engines_own() -> None:
    command = "python -m sglang.launch_server --model-path /m --context-length 8192 --tp 1\n"
    found = rows(command + dump("0.5.9", **SMALL) + CARD)
    own = "SGLang 0.5.9 for a card of 81559 MiB, tp 1"
    assert found["mem_fraction_static"].source.endswith(f"not on the command line, line 2; automatic: the default of {own}")
    assert found["chunked_prefill_size"].source.endswith(f"line 2; default of {own}")
    assert found["cuda_graph_max_bs"].source.endswith(f"line 2; default of {own}")


def test_a_release_that_the_arguments_tell_explains_a_fraction_that_was_not_in_effect() -> None:
    pool = POOL.format(16_384).replace("1.00 GB", "0.89 GB")
    log = dump("0.4.8", mem_fraction_static=0.88, context_length=8192) + LOADED + pool + POOL_END
    expected = "by the size of the pools 0.792 was in effect: a multimodal model: the runner scales even an explicit value"
    assert expected in rows(log)["mem_fraction_static"].source, "(60 + 1.78) / 78 = 0.88 x 0.90"


def test_a_release_that_the_arguments_tell_explains_the_running_requests() -> None:
    end = (
        "[2026-03-02 10:01:16] max_total_num_tokens=32768, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=2048\n"
    )
    source = rows(started() + end)["max_running_requests"].source
    assert source == "printed by the engine, line 6; it is the default for a pool of 32768 tokens"


def test_graphs_of_the_later_releases_stand_in_a_configuration() -> None:
    graphs = {"decode": {"backend": "full", "max_bs": 64}, "prefill": {"backend": "disabled", "max_bs": None}}
    row = rows(dump("0.5.14", cuda_graph_config=graphs))["cuda_graph_max_bs"]
    assert (row.value, row.source) == (64, "in the server arguments, which show defaults too, line 1")


# ---- 32 768 tokens of 64 KiB; 60 GiB of 78 are weights, a request of 8192 tokens takes 0.5 GiB
HELD = "the pool holds 4.00 requests of 8192 tokens at once"
SELDOM = "(they are seldom all of full length)"


@pytest.mark.parametrize(
    ("shown", "effect"),
    [
        ({"max_running_requests": None}, HELD),
        ({"max_running_requests": 4}, f"{HELD}; 4 such requests would take mem_fraction_static = 0.795 {SELDOM}"),
        ({"max_running_requests": 20}, f"{HELD}; 20 such requests would take mem_fraction_static = 0.898 {SELDOM}"),
        ({"max_running_requests": 64}, f"{HELD}; no mem_fraction_static holds 64 such requests {SELDOM}"),
        (
            {"max_running_requests": 64, "dp_size": 8, "enable_dp_attention": True},
            f"{HELD}; 8 such requests, a rank's share of 64, would take mem_fraction_static = 0.821 {SELDOM}",
        ),
        ({"max_running_requests": 64, "dp_size": 8}, f"{HELD}; no mem_fraction_static holds 64 such requests {SELDOM}"),
    ],
    ids=["not asked", "as the pool holds", "a larger pool", "no pool", "divided by data-parallel attention", "not by replicas"],
)
def test_what_the_asked_concurrency_would_take(shown: dict[str, Any], effect: str) -> None:
    found = rows(started(**shown))
    assert found["max_running_requests"].effect == effect
    assert found["mem_fraction_static"].bounds.low == pytest.approx(60.5 / 78, abs=1e-9), "one request stays the bound"


def test_nothing_is_worked_out_without_a_pool() -> None:
    assert rows(dump("0.5.9", **SMALL, context_length=8192, max_running_requests=64) + LOADED)["max_running_requests"].effect == ""


@pytest.mark.parametrize(
    ("cap", "tokens", "effect"),
    [
        (None, 32_768, ""),
        (32_768, 32_768, "caps the pool at 32 768 tokens: a higher mem_fraction_static does not make it larger"),
        (32_800, 32_768, "caps the pool at 32 768 tokens: a higher mem_fraction_static does not make it larger"),
        (50_000, 32_768, "none: the pool holds 32 768 tokens, which the cap does not reach"),
    ],
    ids=["no cap", "reached", "reached but for a part of a page", "not reached"],
)
def test_a_cap_on_the_pool(cap: int | None, tokens: int, effect: str) -> None:
    row = rows(started(tokens, max_total_tokens=cap))["max_total_tokens"]
    assert (row.value, row.effect) == (cap, effect)


@pytest.mark.parametrize(
    ("chunk", "effect"),
    [
        (8192, "none while a chunk of 8192 tokens bounds a prefill"),
        (16_384, "none while a chunk of 16384 tokens bounds a prefill"),
        (32_768, "activations of a prefill grow with it"),
        (-1, "activations of a prefill grow with it"),
        (None, ""),
    ],
)
def test_the_largest_prefill(chunk: int | None, effect: str) -> None:
    assert rows(dump("0.5.9", **{**SMALL, "chunked_prefill_size": chunk}))["max_prefill_tokens"].effect == effect


BESIDE = "the draft model lies beside weights and pools: mem_fraction_static has to be the lower for it"
INSIDE = "the draft model lies inside the static share: mem_fraction_static has to be the higher for it"


@pytest.mark.parametrize(
    ("log", "effect"),
    [
        (dump("0.5.13", speculative_algorithm="EAGLE"), BESIDE),
        (dump("0.5.14", speculative_algorithm="EAGLE"), INSIDE),
        ("[2026-03-02 10:00:00] server_args=ServerArgs(speculative_algorithm='EAGLE', tp_size=1, page_size=1)\n", ""),
        (started(release="0.5.13", speculative_algorithm="EAGLE") + DRAFT, f"{BESIDE}; it took 0.70 GB"),
        (dump("0.5.14", speculative_algorithm="EAGLE") + LOADED + DRAFT + POOL.format(32_768) + POOL_END, INSIDE),
        (dump("0.5.14", speculative_algorithm="NGRAM"), "there is no draft model"),
    ],
    ids=["by the release before", "by the first release", "no release", "by the order of lines, after", "before", "no draft model"],
)
def test_where_the_draft_model_lies(log: str, effect: str) -> None:
    assert rows(log)["speculative_algorithm"].effect == effect


def test_the_order_of_lines_goes_before_the_release() -> None:
    """A build may load its draft model as another release does."""
    log = started(release="0.5.9", speculative_algorithm="EAGLE").replace(POOL.format(32_768), DRAFT + POOL.format(32_768))
    assert rows(log)["speculative_algorithm"].effect == INSIDE


@pytest.mark.parametrize(
    ("log", "value", "effect"),
    [
        (started(kv_cache_dtype="fp8_e4m3"), "fp8_e4m3", "a token takes 64.00 KiB of the pool"),
        (started(kv_cache_dtype="auto"), "auto", "a token takes 64.00 KiB of the pool"),
        (dump("0.5.9", kv_cache_dtype="fp8_e4m3"), "fp8_e4m3", ""),
        (dump("0.5.9", kv_cache_dtype="auto"), None, ""),
    ],
    ids=["with a pool", "left to the model", "no pool", "nothing to say"],
)
def test_the_format_of_the_cache(log: str, value: str | None, effect: str) -> None:
    row = rows(log)["kv_cache_dtype"]
    assert (row.value, row.effect) == (value, effect)
