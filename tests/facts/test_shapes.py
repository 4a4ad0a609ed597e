"""Lines that differ in their numbers only are parsed twice, and give the same facts as if they were parsed each time."""

from __future__ import annotations

import pytest
from lark import Lark

from analyzer.facts import shapes
from analyzer.facts.extract import Extraction
from analyzer.facts.read import Reading, read_message
from analyzer.facts.shapes import Shapes, masked
from tests.facts.conftest import Extract

WEIGHTS = "Model loading took {:.2f} GiB memory and {} seconds"
KV = "Available KV cache memory: {:.2f} GiB"
HEAD = "(EngineCore_DP0 pid=418) INFO 01-29 15:38:21 [core.py:946] "


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that a parser has read."""
    texts: list[str] = []

    def read(parser: Lark, text: str) -> Reading:
        texts.append(text)
        return read_message(parser, text)

    monkeypatch.setattr("analyzer.facts.messages.read_message", read)
    return texts


def values(extraction: Extraction, field: str) -> list[str]:
    return [str(fact.fields[field]) for fact in extraction.facts]


def test_two_lines_are_parsed_and_the_others_read(extract: Extract, parsed: list[str]):
    found = extract("\n".join(HEAD + WEIGHTS.format(16 + n / 4, n * n) for n in range(100)))
    assert values(found, "weights") == [f"{16 + n / 4:.2f} GiB" for n in range(100)]
    assert values(found, "seconds") == [str(n * n) for n in range(100)]
    assert [fact.line.number for fact in found.facts] == [fact.last_line for fact in found.facts] == list(range(1, 101))
    assert {(fact.kind, fact.family, fact.cut, fact.line.origin.pid) for fact in found.facts} == {
        ("weights_memory", "messages", False, 418)
    }
    assert len(parsed) == 2


def test_each_shape_is_learned_by_itself(extract: Extract, parsed: list[str]):
    found = extract("\n\n".join(line for n in range(50) for line in (WEIGHTS.format(n, n), f"[rank0]: {KV.format(n)}")))
    assert [fact.kind for fact in found.facts] == ["weights_memory", "kv_memory"] * 50
    assert len(parsed) == 4


def test_a_value_belongs_to_its_fact_alone(extract: Extract):
    found = extract("\n".join(f"args: Namespace(a=[{n}, {{'b': {n}}}])" for n in range(5)))
    assert [fact.mapping("args") for fact in found.facts] == [{"a": [n, {"b": n}]} for n in range(5)]


def test_a_message_that_goes_on_in_the_next_line_is_parsed(extract: Extract):
    lines = [KV.format(n) for n in range(10)]
    lines[5] = "Available KV cache memory: 5.5\n5 GiB"
    assert values(extract("\n".join(lines)), "kv_cache") == [f"{n}.00 GiB" if n != 5 else "5.55 GiB" for n in range(10)]


def test_a_line_that_could_go_on_is_parsed_before_each_new_kind_of_line(extract: Extract, parsed: list[str]):
    line = "CUDA out of memory. Tried to allocate {0}.00 GiB. GPU 0 has a total capacity of 8.00 GiB of which {0}.50 GiB is free."
    more = "Process 7 has 3.00 GiB memory in use."
    found = extract("\n".join([*(line.format(n) for n in range(9)), more, line.format(9)]))
    assert [len(fact.many("process")) for fact in found.facts] == [0] * 8 + [1, 0]
    assert values(found, "tried") == [f"{n}.00 GiB" for n in range(10)]
    assert len({text.partition(".")[0] for text in parsed}) == 1


@pytest.mark.parametrize(
    "lines",
    [
        ["Available KV cache memory: 5 GiB", "Available KV cache memory: 6 GiB", f"Available KV cache memory: {'7' * 41} GiB"],
        [
            "args: Namespace(a=1234)",
            "args: Namespace(a=12)",
            "args: Namespace(a=1_2)",
            "args: Namespace(a=1e3)",
            "args: Namespace(a=1e301)",
        ],
        [
            "GPU 1,234 blocks, 5 CPU blocks are there",
            "GPU 12,345 blocks, 5 CPU blocks are there",
            "GPU 12,34 blocks, 5 CPU blocks are there",
        ],
    ],
)
def test_digits_that_a_grammar_tells_apart(extract: Extract, lines: list[str], monkeypatch: pytest.MonkeyPatch):
    found = extract("\n\n".join(lines * 3)).facts
    monkeypatch.setattr(Shapes, "find", lambda *_: None)
    assert extract("\n\n".join(lines * 3)).facts == found


def test_a_shape_that_turns_out_wrong_is_given_up(extract: Extract, parsed: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shapes.Shape, "fields", lambda *_: {"kv_cache": "wrong"})
    assert values(extract("\n".join(KV.format(n) for n in range(5))), "kv_cache") == [f"{n}.00 GiB" for n in range(5)]
    assert len(parsed) == 5


def test_the_memory_for_shapes_is_bounded(extract: Extract, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shapes, "MOST_SHAPES", 3)
    names = [f"task-{name}" for name in "abcdefgh" for _ in range(4)]
    found = extract("\n".join(f"{KV.format(n)}\n{name}" for n, name in enumerate(names)))
    assert values(found, "kv_cache") == [f"{n}.00 GiB" for n in range(len(names))]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("took 16.44 GiB and 3 seconds", "took 0.0 GiB and 0 seconds"),
        ("#token: 123456, usage: 0.5", "#token: 0, usage: 0.0"),
        ("10.0.0.1:8000 - 'GET' 200", "0.0.0.0:0 - 'GET' 0"),
        ("281,579 tokens", "281,579 tokens"),
        ("V1 1e5 2x 0x7f GPU0 rank_3", "V1 1e5 2x 0x7f GPU0 rank_3"),
        ("#queue-req: 7,", "#queue-req: 7,"),
        ("262 144", "0 0"),
        ("262\u202f144", "262\u202f144"),
        ("1" * 41, "1" * 41),
    ],
)
def test_what_may_differ_within_a_shape(text: str, shape: str):
    assert masked(text) == shape
