"""The vocabulary in words."""

from typing import get_args

import pytest

from analyzer.analysis import Advice, Confidence, Outcome, Path, Phase, Role, Safety, SizeRecord, Verdict
from analyzer.outputs import wording
from analyzer.units import Size, parse_size


@pytest.mark.parametrize(
    ("vocabulary", "table"),
    [
        (Outcome, wording.OUTCOMES),
        (Confidence, wording.CONFIDENCES),
        (Phase, wording.PHASES),
        (Path, wording.PATHS),
        (Role, wording.ROLES),
        (Safety, wording.SAFETIES),
    ],
)
def test_every_name_has_words(vocabulary: object, table: dict[str, str]) -> None:
    assert set(table) == set(get_args(vocabulary))


@pytest.mark.parametrize(
    ("advice", "headline", "interval"),
    [
        (
            Advice(knob="kv_cache_memory_bytes", direction="lower", value=3_600_000_000, high=4_300_000_000, why=""),
            "lower kv_cache_memory_bytes to 3600000000 (3.35 GiB)",
            "at most 4300000000 (4.00 GiB)",
        ),
        (
            Advice(knob="mem_fraction_static", direction="raise", value=0.85, low=0.8, high=0.9, why=""),
            "raise mem_fraction_static to 0.85",
            "between 0.8 and 0.9",
        ),
        (Advice(knob="max_num_seqs", direction="lower", why=""), "lower max_num_seqs", ""),
        (Advice(knob="kv_cache_dtype", direction="set", value="fp8", why=""), "set kv_cache_dtype to fp8", ""),
        (Advice(knob="cpu_offload_gb", direction="set", value=0, low=0, why=""), "set cpu_offload_gb to 0", "at least 0"),
        (Advice(knob="enforce_eager", direction="remove", why=""), "remove enforce_eager", ""),
        (Advice(knob="gpu_memory_utilization", direction="none", why=""), "leave gpu_memory_utilization alone", ""),
    ],
)
def test_advice_in_words(advice: Advice, headline: str, interval: str) -> None:
    assert wording.advice_headline(advice) == headline
    assert wording.advice_interval(advice) == interval


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (parse_size("16.44 GiB"), "16.435 to 16.445 GiB"),
        (parse_size("272.00 MiB"), "271.995 to 272.005 MiB"),
        (-parse_size("5.40 GiB"), "-5.405 to -5.395 GiB"),
        (Size.exact(5_200_000_000), "exact"),
        (Size.between(10, 20), "10 to 20 B"),
    ],
)
def test_what_the_printed_decimals_leave_open(size: Size, expected: str) -> None:
    assert wording.interval(SizeRecord.of(size)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the weights do not fit", "The weights do not fit"),
        ("free at start", "Free at start"),
        ("log-probabilities ran out", "Log-probabilities ran out"),
        ("kv_cache_memory_bytes pins it", "kv_cache_memory_bytes pins it"),
        ("vLLM ignores it", "vLLM ignores it"),
        ("/dev/shm is too small", "/dev/shm is too small"),
        ("", ""),
    ],
)
def test_a_sentence_begins_with_a_capital_but_a_name_stays(text: str, expected: str) -> None:
    assert wording.sentence(text) == expected


def test_a_ledger_is_read_in_order_and_loses_nothing() -> None:
    size = SizeRecord.of(parse_size("1 GiB"))
    ledger = {"unaccounted": size, "swa_pool": size, "weights": size, "total": size}
    assert [words for _, words, _ in wording.ordered_ledger(ledger)] == ["total", "weights", "unaccounted", "swa_pool"]


@pytest.mark.parametrize(
    ("cause", "confidence", "headline"),
    [
        ("lora-oom", "certain", "LoRA adapters ran out of memory"),
        ("lora-oom", "likely", "LoRA adapters ran out of memory"),
        ("lora-oom", "possible", "perhaps LoRA adapters ran out of memory"),
        ("none", "possible", "nothing failed"),
        ("unknown", "possible", "this log cannot tell"),
    ],
)
def test_a_headline_claims_no_more_than_its_verdict(cause: str, confidence: Confidence, headline: str) -> None:
    verdict = Verdict(outcome="unknown", cause=cause, phase=None, confidence=confidence, summary="")
    assert wording.verdict_headline(verdict) == headline
