"""How far a message is read, and what it then tells: whole, cut, prolonged, or something else."""

import pytest

from analyzer.facts.read import Ending, Reading
from tests.facts.conftest import Read

WEIGHTS = "Model loading took 16.44 GiB memory and 3.12 seconds"
KV = "Available KV cache memory: 11.76 GiB"
ALLOCATION = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.10 GiB of which 1.00 GiB is free. "
    "Process 77 has 1.00 GiB memory in use. Process 78 has 2.00 GiB memory in use. "
    "Of the allocated memory 3.00 GiB is allocated by PyTorch, and 4.00 GiB is reserved"
)


def texts(reading: Reading) -> dict[str, str]:
    return {name: str(value) for name, value in reading.fields.items()}


@pytest.mark.parametrize(
    ("kind", "text", "fields"),
    [
        ("weights_memory", WEIGHTS, {"weights": "16.44 GiB", "seconds": "3.12"}),
        ("weights_memory", "Model loading took 16.44 GiB and 3.12 seconds", {"weights": "16.44 GiB", "seconds": "3.12"}),
        ("weights_memory", "Model loading took 16.44 GiB memory only", {"weights": "16.44 GiB"}),
        ("weights_memory", "Model loading took 16.44\n  GiB memory\nand 3.12\tseconds", {"weights": "16.44 GiB", "seconds": "3.12"}),
        ("kv_memory", KV, {"kv_cache": "11.76 GiB"}),
        ("blocks", "GPU 5 blocks, 6 CPU blocks are there", {"integer_blocks": "5", "cpu_blocks": "6"}),
    ],
)
def test_a_whole_message(read: Read, kind: str, text: str, fields: dict[str, str]):
    reading = read(kind, text)
    assert reading.ending is Ending.COMPLETE
    assert texts(reading) == fields
    assert reading.used == len(text)


@pytest.mark.parametrize("tail", ["", ".", " on device cuda:0", "\nThe next line", ". Try increasing gpu_memory_utilization", " (Worker"])
def test_what_stands_behind_a_message_is_left_alone(read: Read, tail: str):
    reading = read("weights_memory", WEIGHTS + tail)
    assert reading.ending is Ending.COMPLETE
    assert texts(reading) == {"weights": "16.44 GiB", "seconds": "3.12"}
    assert reading.used == len(WEIGHTS)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Model loading took 16.44 GiB mem", {"weights": "16.44 GiB"}),
        ("Model loading took 16.44 GiB memory", {"weights": "16.44 GiB"}),
        ("Model loading took 16.44 GiB memory and", {"weights": "16.44 GiB"}),
        ("Model loading took 16.44 GiB ...", {"weights": "16.44 GiB"}),
        ("Model loading took 16.44 GiB …", {"weights": "16.44 GiB"}),
        ("Model loading took 16.44 GiB memory and 3.12 sec", {"weights": "16.44 GiB", "seconds": "3.12"}),
        ("Model loading took 16.44 GiB memory and 3", {"weights": "16.44 GiB"}),
        ("Model loading took 16.44 GiB memory and 3...", {"weights": "16.44 GiB"}),
        ("Model loading took 16", {}),
        ("Model loading took", {}),
    ],
)
def test_a_cut_message_keeps_its_complete_figures_and_no_other(read: Read, text: str, fields: dict[str, str]):
    reading = read("weights_memory", text)
    assert reading.ending is Ending.CUT
    assert texts(reading) == fields
    assert reading.open


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("weights_memory", "Model loading took a long time"),
        ("weights_memory", "Model loading took 16.44 GiB bananas"),
        ("weights_memory", "Model loading takes 16.44 GiB memory and 3 seconds"),
        ("weights_memory", ""),
        ("kv_memory", "Available KV cache memory: none"),
        ("kv_memory", f"{'9' * 5000} GiB"),
        ("kv_memory", f"Available KV cache memory: {'9' * 5000} GiB"),
        ("kv_memory", "Available KV cache memory: 1e99999999 GiB"),
        ("allocation", "CUDA out of memory. Tried harder"),
        ("namespace", f"args: Namespace(a={'[' * 3000}{']' * 3000})"),
    ],
)
def test_something_else(read: Read, kind: str, text: str):
    reading = read(kind, text)
    assert reading.ending is Ending.OTHER
    assert reading.fields == {}
    assert not reading.open


def test_clauses_repeat_and_may_be_missing(read: Read):
    whole = read("allocation", ALLOCATION)
    assert whole.ending is Ending.COMPLETE
    assert [(clause["pid"], str(clause["in_use"])) for clause in whole.fields["process"]] == [(77, "1.00 GiB"), (78, "2.00 GiB")]
    assert str(whole.fields["reserved_unallocated"]) == "4.00 GiB"

    short = read("allocation", ALLOCATION.partition(" Process")[0])
    assert short.ending is Ending.COMPLETE
    assert set(short.fields) == {"tried", "gpu", "total", "free"}
    assert short.open  # clauses may still come

    one = read("allocation", ALLOCATION.partition(" Process 78")[0])
    assert one.fields["process"]["pid"] == 77


@pytest.mark.parametrize(
    ("text", "last"),
    [
        (ALLOCATION.partition(", and 4.00")[0], "allocated"),
        (ALLOCATION.partition(" is allocated")[0], "process"),
        (ALLOCATION.partition(" memory in use. Process 78")[0], "free"),
    ],
)
def test_a_clause_that_is_cut_takes_nothing_from_the_others(read: Read, text: str, last: str):
    reading = read("allocation", text)
    assert {"tried", "gpu", "total", "free"} <= set(reading.fields)
    assert last in reading.fields
    assert "reserved_unallocated" not in reading.fields


def test_a_message_followed_by_what_only_looks_like_its_next_clause(read: Read):
    text = ALLOCATION.partition(" Process")[0]
    reading = read("allocation", f"{text} Process group was destroyed")
    assert reading.ending is Ending.COMPLETE
    assert set(reading.fields) == {"tried", "gpu", "total", "free"}
    assert not reading.open


@pytest.mark.parametrize("length", range(len("Model loading took"), len(WEIGHTS)))
def test_cut_anywhere_it_tells_nothing_wrong(read: Read, length: int):
    reading = read("weights_memory", WEIGHTS[:length])
    assert reading.ending is Ending.CUT
    assert texts(reading).items() <= {"weights": "16.44 GiB", "seconds": "3.12"}.items()
