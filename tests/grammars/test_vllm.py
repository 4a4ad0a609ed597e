"""vLLM's messages: what each becomes in each release, and that wrapping, cutting and quoting them tells nothing wrong."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from analyzer.facts.fact import Fact
from analyzer.grammar import Grammars
from analyzer.units import GIB
from tests.grammars.conftest import Reader
from tests.grammars.samples import plain, printed
from tests.grammars.vllm_samples import ALL, CUT, FAILURES, KV_CACHE, LOOK_ALIKES, PROFILE, START_UP_CHECK, WARM_UP

HEAD = "(EngineCore_DP0 pid=418) ERROR 01-29 15:38:21 [core.py:946] "
TERMINAL_WIDTHS = (80, 100, 120, 132)
BREAKABLE = [
    next(sample for sample in ALL if sample[1] == kind and len(sample[0]) > 80)
    for kind in (
        "free_memory_below_utilization",
        "kv_memory_pinned",
        "max_len_above_kv_tokens",
        "memory_profiling_error",
        "no_available_cache_blocks",
        "one_request_does_not_fit",
        "rocm_profiling_fallback",
        "sampler_warmup_oom",
        "startup_memory_summary",
        "startup_plan_applied",
        "weights_memory",
    )
]
"""Messages whose last figure is followed by a word: nothing of them can be mistaken when a line is broken inside it."""
LONG = [sample for sample in (*START_UP_CHECK, *PROFILE, *KV_CACHE, *WARM_UP) if len(sample[0]) > 100 and "\n" not in sample[0]]
FAILED_START = [
    "ERROR 05-05 14:36:28 [core.py:396] EngineCore failed to start.",
    "ERROR 05-05 14:36:28 [core.py:396] Traceback (most recent call last):",
    'ERROR 05-05 14:36:28 [core.py:396]   File "/path/vllm/v1/core/kv_cache_utils.py", line 501, in check_enough_kv_cache_memory',
    'ERROR 05-05 14:36:28 [core.py:396]     raise ValueError("No available memory for the cache blocks. "',
    "ERROR 05-05 14:36:28 [core.py:396] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when",
]
V0_PROFILE = [
    "{head}Memory profiling takes 1.21 seconds",
    "{head}the current vLLM instance can use total_gpu_memory (79.11GiB) x gpu_memory_utilization (0.90) = 71.20GiB",
    "{head}model weights take 14.99GiB; non_torch_memory takes 0.15GiB; PyTorch activation peak memory takes 1.23GiB; the rest of the "
    "memory reserved for KV Cache is 54.83GiB.",
]
V0_PROFILE_FIELDS = {
    "seconds": 1.21,
    "total": printed("79.11", GIB),
    "utilization": 0.9,
    "budget": printed("71.20", GIB),
    "weights": printed("14.99", GIB),
    "non_torch": printed("0.15", GIB),
    "activation_peak": printed("1.23", GIB),
    "kv_cache": printed("54.83", GIB),
}


def of_engine(text: str, read: Reader) -> list[Fact]:
    """The facts that the grammars of vLLM and of the server around it find; an exception's own line stands beside them."""
    return [fact for fact in read(text) if fact.family in ("vllm", "serving")]


def kinds_and_fields(text: str, read: Reader) -> list[tuple[str, dict[str, Any]]]:
    return [(fact.kind, plain(dict(fact.fields))) for fact in of_engine(text, read)]


@pytest.mark.parametrize(("text", "kind", "fields"), [pytest.param(*sample, id=f"{n}-{sample[1]}") for n, sample in enumerate(ALL)])
def test_a_message_becomes_this_fact(text: str, kind: str, fields: dict[str, Any], read: Reader) -> None:
    assert kinds_and_fields(text, read) == [(kind, fields)]


def test_messages_do_not_disturb_each_other(read: Reader) -> None:
    samples = [sample for sample in ALL if "\n" not in sample[0]]
    log = "\n".join(f"INFO 07-26 12:00:00 [x.py:1] {text}" for text, _, _ in samples)
    assert kinds_and_fields(log, read) == [(kind, fields) for _, kind, fields in samples]


def test_a_gigabyte_is_what_its_message_means_by_it(read: Reader) -> None:
    (weights, saved) = of_engine("Loading model weights took 14.9888 GB\n\nCreated mmap file /dev/shm/x (17.18 GB)", read)
    binary, decimal = weights.size("weights"), saved.size("region")
    assert binary is not None
    assert decimal is not None
    assert (binary.low, binary.high) == (16_094_047_765, 16_094_155_138)
    assert (decimal.low, decimal.high) == (17_175_000_000, 17_185_000_000)


def test_dropped_zeros_still_leave_two_decimals_open(read: Reader) -> None:
    (pinned,) = of_engine("Initial free memory 23.0 GiB, reserved 4.84 GiB memory for KV Cache", read)
    free = pinned.size("free_at_start")
    assert free is not None
    assert (free.low, free.bytes, free.high) == (24_690_693_243, 24_696_061_952, 24_701_430_661)


def test_two_facts_in_one_line(read: Reader) -> None:
    line = "GPU KV cache size: 406,726 tokens, Maximum concurrency for 393,216 tokens per request: 1.03x"
    assert kinds_and_fields(line, read) == [
        ("kv_cache_tokens", {"tokens": 406726}),
        ("max_concurrency", {"tokens_per_request": 393216, "concurrency": 1.03}),
    ]


@pytest.mark.parametrize(
    "head", ["", "INFO 12-20 20:25:46 worker.py:241] ", "(VllmWorkerProcess pid=90) INFO 12-20 20:25:46 worker.py:241] "]
)
def test_the_profile_of_v0_is_one_fact_in_three_lines(head: str, read: Reader) -> None:
    log = "\n".join(line.format(head=head) for line in V0_PROFILE)
    assert kinds_and_fields(log, read) == [("profiling_result_v0", V0_PROFILE_FIELDS)]


def test_profiles_of_two_processes_mixed(read: Reader) -> None:
    heads = [f"(VllmWorkerProcess pid={pid}) INFO 12-20 20:25:46 worker.py:241] " for pid in (90, 91)]
    log = "\n".join(line.format(head=head) for line in V0_PROFILE for head in heads)
    facts = of_engine(log, read)
    assert [(fact.line.origin.pid, plain(dict(fact.fields))) for fact in facts] == [(90, V0_PROFILE_FIELDS), (91, V0_PROFILE_FIELDS)]


@pytest.mark.parametrize(("text", "kind", "fields"), [pytest.param(text, *told, id=told[0]) for text, told in CUT.items()])
def test_what_a_cut_message_still_tells(text: str, kind: str, fields: dict[str, Any], read: Reader) -> None:
    (fact,) = [fact for fact in of_engine(text, read) if fact.kind == kind]
    assert (fact.cut, plain(dict(fact.fields))) == (True, fields)


def test_a_text_cut_before_it_decides_is_neither_failure_nor_summary(read: Reader) -> None:
    assert of_engine("Free memory on device cuda:0 (23.0/31.36 GiB) on star", read) == []


@pytest.mark.parametrize(("text", "kind", "fields"), [pytest.param(*sample, id=f"{n}-{sample[1]}") for n, sample in enumerate(LONG)])
@pytest.mark.parametrize("width", TERMINAL_WIDTHS)
def test_a_message_wrapped_at_blanks(width: int, text: str, kind: str, fields: dict[str, Any], read: Reader) -> None:
    assert kinds_and_fields(textwrap.fill(text, width, break_on_hyphens=False), read) == [(kind, fields)]


@pytest.mark.parametrize(("text", "kind", "fields"), [pytest.param(*sample, id=sample[1]) for sample in BREAKABLE])
def test_a_message_broken_anywhere_behind_its_first_words(
    text: str, kind: str, fields: dict[str, Any], read: Reader, grammars: Grammars
) -> None:
    first_words = min(
        text.find(anchor.literal) + len(anchor.literal) for anchor in grammars.messages[kind].anchors if anchor.literal in text
    )
    for edge in range(first_words, len(text), 3):
        assert kinds_and_fields(f"{HEAD}{text[:edge]}\n{text[edge:]}", read) == [(kind, fields)], text[:edge]


@pytest.mark.parametrize(("text", "kind", "fields"), [pytest.param(*sample, id=f"{n}-{sample[1]}") for n, sample in enumerate(FAILURES)])
def test_what_stands_behind_a_message_does_not_matter(text: str, kind: str, fields: dict[str, Any], read: Reader) -> None:
    told = kinds_and_fields(text + " and so on", read)
    assert [name for name, _ in told] == [kind]


@pytest.mark.parametrize(("text", "kind"), LOOK_ALIKES.items())
def test_look_alikes_are_told_apart(text: str, kind: str, read: Reader) -> None:
    assert kind not in {fact.kind for fact in read(text)}


def test_the_source_line_of_a_traceback_is_not_the_message(read: Reader) -> None:
    found = [(fact.kind, fact.line.number) for fact in of_engine("\n".join(FAILED_START), read)]
    assert found == [("engine_core_start_failed", 1), ("no_cache_blocks_raised", 4), ("no_available_cache_blocks", 5)]


def test_a_dump_that_never_closes_keeps_what_it_told(read: Reader) -> None:
    log = (
        "Dumping scheduler output for model execution: SchedulerOutput(scheduled_new_reqs=[NewRequestData(req_id=chatcmpl-0,"
        "prompt_token_ids_len=8899,mm_features=[MultiModalFeatureSpec(data={'image_grid_thw': MultiModalFieldElem(modality='image', "
        "data=tensor([ 1, 44, 80]), field=MultiModalBatchedField()), 'pixel_values': tensor([[0.5234, 0.5234,  ..., 0.7500],"
    )
    facts = {fact.kind: fact for fact in of_engine(log, read)}
    assert facts["crash_scheduler_output"].cut
    assert facts["scheduled_request"].fields == {"prompt_tokens": 8899}


def test_a_config_broken_inside_its_keys_and_values(read: Reader) -> None:
    dump = (
        "Initializing a V1 LLM engine (v0.10.2) with config: model='/models/instruct', dtype=torch.bfloat16, "
        "max_seq_len=393216, seed=1024, "
    )
    whole = kinds_and_fields(dump, read)
    for width in range(60, 75):
        log = "\n".join(dump[start : start + width] for start in range(0, len(dump), width))
        assert kinds_and_fields(log, read) == whole
