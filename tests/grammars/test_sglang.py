"""SGLang's messages: what each becomes in each release, and that cutting, wrapping and mixing them tells nothing wrong."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.facts.fact import Fact
from analyzer.units import GIB, Size
from tests.grammars import sglang_samples as samples
from tests.grammars.conftest import Reader
from tests.grammars.samples import plain, printed

FAILURES = [*samples.START_FAILURES, *samples.SERVING, *samples.OMNI]


def of_sglang(text: str, read: Reader) -> list[Fact]:
    """The facts that the grammar of SGLang finds; those of allocators and of Python stand beside them."""
    return [fact for fact in read(text) if fact.family == "sglang"]


def kinds_and_fields(text: str, read: Reader) -> list[tuple[str, dict[str, Any]]]:
    return [(fact.kind, plain(dict(fact.fields))) for fact in of_sglang(text, read)]


def test_a_gigabyte_of_a_device_is_binary_and_one_of_the_host_decimal(read: Reader) -> None:
    (device,) = of_sglang("Load weight begin. avail mem=78.58 GB", read)
    free = device.size("free")
    assert free is not None
    assert (free.low, free.high) == (84_369_263_821, 84_380_001_239)
    (host,) = of_sglang("Allocating 15.58 GB host memory for hierarchical KV cache.", read)
    size = host.size("host_size")
    assert size is not None
    assert (size.low, size.high) == (15_575_000_000, 15_585_000_000)


@pytest.mark.parametrize(
    ("text", "kind", "fields"),
    [
        pytest.param(*sample, id=f"{release}-{number}-{sample[1]}")
        for release, start in samples.STARTS.items()
        for number, sample in enumerate(start)
    ],
)
def test_a_line_of_a_start_becomes_this_fact(text: str, kind: str, fields: dict[str, Any], read: Reader) -> None:
    assert kinds_and_fields(text, read) == [(kind, fields)]


@pytest.mark.parametrize("release", samples.STARTS)
def test_the_lines_of_a_start_do_not_disturb_each_other(release: str, read: Reader) -> None:
    start = samples.STARTS[release]
    assert kinds_and_fields("\n".join(text for text, _, _ in start), read) == [(kind, fields) for _, kind, fields in start]


@pytest.mark.parametrize(("text", "arguments"), samples.ARGUMENTS.values(), ids=samples.ARGUMENTS)
def test_a_dump_of_the_arguments(text: str, arguments: dict[str, Any], read: Reader) -> None:
    assert kinds_and_fields(text, read) == [("server_args", {"args": arguments})]


@pytest.mark.parametrize(("text", "arguments"), samples.FRAGMENTS.values(), ids=samples.FRAGMENTS)
def test_a_dump_without_its_head(text: str, arguments: dict[str, Any], read: Reader) -> None:
    assert kinds_and_fields(text, read) == [("server_args_fragment", {"args": arguments})]


@pytest.mark.parametrize(("text", "kind", "fields"), FAILURES, ids=[f"{number}-{kind}" for number, (_, kind, _) in enumerate(FAILURES)])
def test_a_failure_becomes_this_fact(text: str, kind: str, fields: dict[str, Any], read: Reader) -> None:
    assert [found for found in kinds_and_fields(text, read) if found[0] != "possible_solutions"] == [(kind, fields)]


# --- cut, wrapped, mixed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "kind", "fields"), samples.CUT, ids=[kind for _, kind, _ in samples.CUT])
def test_what_a_cut_message_still_tells(text: str, kind: str, fields: dict[str, Any], read: Reader) -> None:
    (fact,) = of_sglang(text, read)
    assert (fact.kind, plain(dict(fact.fields)), fact.cut) == (kind, fields, True)


@pytest.mark.parametrize("text", samples.WRAPPED.values(), ids=samples.WRAPPED)
def test_a_wrapped_message_is_read_whole(text: str, read: Reader) -> None:
    (fact,) = of_sglang(text, read)
    assert plain(dict(fact.fields)) == {"tokens": 444500, "k_size": printed("27.13", GIB), "v_size": printed("27.14", GIB)}
    assert fact.last_line == text.count("\n") + 1


def test_a_wrapped_sentence_with_its_figures_on_later_lines(read: Reader) -> None:
    text = (
        "ValueError: Loaded weights leave no GPU memory for the KV cache under\n--mem-fraction-static=0.7. Raise --mem-fraction-static "
        "above\n"
        "0.770 (minimum viable = 1 - available/pre\n= 0.7692)."
    )
    assert kinds_and_fields(text, read) == [("kv_weights_leave_none", {"mem_fraction_static": 0.7, "suggested": 0.77, "minimum": 0.7692})]


def test_another_rank_writes_between_the_lines_of_a_message(read: Reader) -> None:
    text = (
        "[2025-05-01 12:00:00 TP0] Decode out of memory. Try to lower your batch size.\n"
        "[2025-05-01 12:00:00 TP1] Memory pool end. avail mem=8.53 GB\n"
        "Try to allocate 64 tokens.\n"
        "Available tokens: 10 (available_size=10 + evictable_size=0)"
    )
    asked = {"decode": True, "asked_tokens": 64, "available_tokens": 10, "available": 10, "evictable": 0}
    assert kinds_and_fields(text, read) == [("pool_out_of_memory", asked), ("memory_pool_end", {"free": printed("8.53", GIB)})]


LOAD_WEIGHT_END = "Load weight end. elapsed=12.31 s, type=LlamaForCausalLM, avail mem=63.52 GB, mem usage=15.06 GB."


@given(length=st.integers(0, len(LOAD_WEIGHT_END)))
def test_a_cut_line_never_tells_a_wrong_amount(length: int, read: Reader) -> None:
    (whole,) = of_sglang(LOAD_WEIGHT_END, read)
    for fact in of_sglang(LOAD_WEIGHT_END[:length], read):
        assert fact.kind == "load_weight_end"
        amounts = {name: plain(value) for name, value in fact.fields.items() if isinstance(value, Size)}
        assert amounts.items() <= plain(dict(whole.fields)).items()


@pytest.mark.parametrize("separator", [", ", ". ", "; "])
def test_fields_come_in_any_order(separator: str, read: Reader) -> None:
    expected = kinds_and_fields(LOAD_WEIGHT_END, read)
    parts = LOAD_WEIGHT_END.removeprefix("Load weight end. ").removesuffix(".").split(", ")
    for order in itertools.permutations(parts):
        assert kinds_and_fields(f"Load weight end. {separator.join(order)}.", read) == expected


def test_fields_of_a_later_release_are_kept(read: Reader) -> None:
    line = "[2027-01-01 00:00:00] Load weight end. elapsed=1.00 s, offloaded=4.25 GB, shards=12, avail mem=63.52 GB, mem usage=15.06 GB."
    ((kind, fields),) = kinds_and_fields(line, read)
    assert kind == "load_weight_end"
    assert fields["args"] == {"offloaded": printed("4.25", GIB), "shards": 12}
    assert fields["weights"] == printed("15.06", GIB)


# --- what is somebody else's -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", samples.OTHERS)
def test_a_line_that_only_looks_alike_is_left_alone(line: str, read: Reader) -> None:
    assert of_sglang(line, read) == []


def test_the_summary_of_a_start_is_not_a_dump_of_arguments(read: Reader) -> None:
    line = "max_total_num_tokens=444500, chunked_prefill_size=8192, max_prefill_tokens=16384, max_running_requests=4097, context_len=131072"
    assert [fact.kind for fact in of_sglang(line, read)] == ["max_total_num_tokens"]


def test_the_second_load_line_of_overlapped_loading_is_a_fact_of_its_own(read: Reader) -> None:
    line = (
        "[2026-05-01 12:00:00 TP0] Load weight end. Committed real weights after CUDA graph capture in 3.10 s "
        "(capture overlap window 8.00 s, startup overlap total 20.10 s)"
    )
    assert kinds_and_fields(line, read) == [("load_weight_commit", {"seconds": 3.1, "overlap_seconds": 8.0, "total_seconds": 20.1})]


def test_the_token_ids_of_a_hanging_batch_are_left_out(read: Reader) -> None:
    line = (
        "[2025-08-02 19:24:30 TP3] self.cur_batch.batch_size()=109, self.cur_batch.reqs=[Req(rid=0, input_ids=[128000, 9125], "
        "output_ids=[271])], "
        "self.token_to_kv_pool_allocator.available_size()=2225, self.tree_cache.evictable_size()=482822, "
    )
    expected = [("watchdog_batch", {"batch_size": 109}), ("watchdog_batch", {"available_tokens": 2225, "evictable": 482822})]
    assert kinds_and_fields(line, read) == expected
