"""Allocators' messages: what each figure means, and that the out-of-memory text survives what people and terminals do to it."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grammars.allocator_samples import ALLOCATOR, HINT, WHOLE_OOM, WHOLE_OOM_FIELDS
from tests.grammars.conftest import Reader
from tests.grammars.samples import plain

NOT_A_FULL_DEVICE = {
    "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests.": "torch_oom",
    "Prefill out of memory. Try to lower your batch size.\nTry to allocate 8192 tokens.": "torch_oom",
    "CUDA out of memory. Allocation was preemptively rejected because it would exceed": "torch_oom",
    "DefaultCPUAllocator: can't allocate memory: you tried to allocate 17179869184 bytes.": "torch_oom",
    '            "OOMKilled": false,': "oom_killed",
    "There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage.": "oom_killed",
    "[torch_memory_saver.cpp] cuMemCreate CUDA_ERROR_OUT_OF_MEMORY (may not be an issue e.g. torch frees its cache)": "cuda_oom_code",
    "ray.exceptions.OutOfMemoryError:": "torch_oom",
    "Search for `cudaErrorMemoryAllocation' in https://docs.example for more information.": "cuda_oom_code",
    "CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62": "cumem_error",
    "hierarchical cache: OSError: [Errno 2] No such file": "host_allocation_failed",
}


@pytest.mark.parametrize(("text", "kind", "fields"), ALLOCATOR, ids=[f"{kind}-{n}" for n, (_, kind, _) in enumerate(ALLOCATOR)])
def test_message_becomes_this_fact(text: str, kind: str, fields: dict[str, Any], read: Reader) -> None:
    assert [plain(fact.fields) for fact in read(text) if fact.kind == kind] == [fields]


@pytest.mark.parametrize(("text", "kind"), NOT_A_FULL_DEVICE.items())
def test_look_alikes_are_told_apart(text: str, kind: str, read: Reader) -> None:
    assert kind not in {fact.kind for fact in read(text)}


def _oom(text: str, read: Reader) -> list[dict[str, object]]:
    return [plain(dict(fact.fields)) for fact in read(text) if fact.kind == "torch_oom"]


def test_cut_anywhere_it_keeps_what_was_complete(read: Reader) -> None:
    first = WHOLE_OOM.index("Tried to allocate")
    for end in range(first, len(WHOLE_OOM)):
        (fields,) = _oom(WHOLE_OOM[:end], read)
        assert fields.keys() <= WHOLE_OOM_FIELDS.keys()
        for name in fields.keys() - {"process"}:
            assert fields[name] == WHOLE_OOM_FIELDS[name], WHOLE_OOM[:end]


PLACES = range(WHOLE_OOM.index("Tried to allocate") + 1, len(WHOLE_OOM) - 1)


@given(width=st.integers(60, 200), indent=st.sampled_from(["", "    ", "> "]))
def test_wrapped_at_blanks(width: int, indent: str, read: Reader) -> None:
    assert _oom("\n".join(textwrap.wrap(WHOLE_OOM + HINT, width, subsequent_indent=indent)), read) == [WHOLE_OOM_FIELDS]


@given(place=st.sampled_from([place for place in PLACES if WHOLE_OOM[place - 1] != " "]))
def test_wrapped_within_a_word_or_figure(place: int, read: Reader) -> None:
    assert _oom(WHOLE_OOM[:place] + "\n" + WHOLE_OOM[place:] + HINT, read) == [WHOLE_OOM_FIELDS]


@pytest.mark.parametrize(
    "text",
    [
        f"ERROR 10-11 12:27:29 engine.py:157] OutOfMemoryError('{WHOLE_OOM.partition(': ')[2]}{HINT}')",
        json.dumps({"message": WHOLE_OOM + HINT}),
        json.dumps({"message": WHOLE_OOM.replace(". ", ".\n") + HINT}),
        WHOLE_OOM.replace("(e.g., CUDA", "(e.g. CUDA") + HINT.replace("PYTORCH", "PY            YTORCH"),
        WHOLE_OOM.replace(" GiB memory in use. Including", " GiB memory in use. ... Including"),
        WHOLE_OOM.replace(". ", ".\n"),
        f"Exception: Capture cuda graph failed: {WHOLE_OOM.partition(': ')[2]}\nPossible solutions:\n1. set --mem-fraction-static",
        f"orch.OutOfMemoryError: {WHOLE_OOM.partition(': ')[2]}",
        f"| {WHOLE_OOM} |",
    ],
)
def test_dressed_up_it_stays_the_same(text: str, read: Reader) -> None:
    assert _oom(text, read) == [WHOLE_OOM_FIELDS]


@given(
    clauses=st.permutations(
        [" Process 7 has 1.00 GiB memory in use.", " 30.00 GiB allowed;", " Of the allocated memory 2.00 GiB is allocated by PyTorch,"]
    )
)
def test_clauses_in_any_order(clauses: list[str], read: Reader) -> None:
    (fields,) = _oom(f"CUDA out of memory. Tried to allocate 1.00 GiB.{''.join(clauses)}", read)
    assert fields.keys() == {"backend", "tried", "process", "allowed", "allocated"}


def test_each_of_several_in_one_line_counts(read: Reader) -> None:
    assert _oom(f"{WHOLE_OOM}{HINT} {WHOLE_OOM}{HINT}", read) == [WHOLE_OOM_FIELDS] * 2


def test_two_processes_wrapping_their_lines_at_once(read: Reader) -> None:
    head, tail = WHOLE_OOM.split(" of which ")
    lines = [f"(Worker_TP{rank} pid=1{rank}) {part}" for part in (head, f"of which {tail}") for rank in (0, 1)]
    assert _oom("\n".join(lines), read) == [WHOLE_OOM_FIELDS] * 2


def test_clause_per_line_is_one_fact(read: Reader) -> None:
    (fact,) = [fact for fact in read(WHOLE_OOM.replace(". ", ".\n")) if fact.kind == "torch_oom"]
    assert (fact.line.number, fact.last_line) == (1, 7)
