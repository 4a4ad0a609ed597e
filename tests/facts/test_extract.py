"""A document becomes facts: wrapped lines, interleaved processes, several messages on a line, and the lines that nobody knows."""

import time

import pytest

from analyzer.facts.extract import Extraction
from analyzer.facts.fact import Fact
from analyzer.inputs.lines import Line
from analyzer.units import Size
from tests.facts.conftest import Extract

WEIGHTS = "Model loading took 16.44 GiB memory and 3.12 seconds"
KV = "Available KV cache memory: 11.76 GiB"
LINE = Line("log", 1, "text")
HEAD = "(EngineCore_DP0 pid=418) INFO 01-29 15:38:21 [core.py:946] "


def only(extraction: Extraction) -> Fact:
    (fact,) = extraction.facts
    return fact


def told(extraction: Extraction) -> list[tuple[str, int, dict[str, str]]]:
    return [(fact.kind, fact.line.number, {name: str(value) for name, value in fact.fields.items()}) for fact in extraction.facts]


def test_a_fact_knows_its_line_and_who_wrote_it(extract: Extract):
    fact = only(extract(f"nothing\n{HEAD}{WEIGHTS}\nnothing"))
    assert (fact.kind, fact.family, fact.cut) == ("weights_memory", "messages", False)
    assert (fact.line.number, fact.last_line, fact.line.text) == (2, 2, WEIGHTS)
    assert (fact.line.origin.process, fact.line.origin.pid, fact.line.origin.rank) == ("EngineCore", 418, "DP0")
    assert fact.size("weights") == fact.fields["weights"]
    assert fact.number("seconds") == 3.12


def test_a_message_is_found_behind_anything(extract: Extract):
    assert only(extract(f"RuntimeError: {KV}")).size("kv_cache") is not None
    assert only(extract(f'{{"message": "{KV}", "level": "INFO"}}')).size("kv_cache") is not None


def test_a_message_found_by_its_middle_begins_with_the_line(extract: Extract):
    assert told(extract(f"{HEAD}GPU 5 blocks, 6 CPU blocks are there")) == [("blocks", 1, {"integer_blocks": "5", "cpu_blocks": "6"})]
    assert told(extract("see GPU 5 blocks, 6 CPU blocks are there")) == []


@pytest.mark.parametrize(
    "wrapped",
    [
        "Model loading took 16.44 GiB\nmemory and 3.12 seconds",
        "Model loading took 16.44\nGiB memory and 3.12 seconds",
        "Model loading took 16.4\n4 GiB memory and 3.12 seconds",
        "Model loading took 16.44 GiB mem\nory and 3.12 seconds",
        "Model loading took 16.44 GiB memory and 3.1\n2 seconds",
        "Model loading took 16.44 GiB memory and 3.12 sec\nonds",
        "Model loading took\n  16.44 GiB\n\n  memory and\n3.12\nseconds",
        f"{HEAD}Model loading took 16.44 GiB\n{HEAD}memory and 3.12 seconds",
        f"{HEAD}Model loading took 16.44 GiB\nmemory and 3.12 seconds",
    ],
)
def test_a_wrapped_message_is_put_together_again(extract: Extract, wrapped: str):
    fact = only(extract(wrapped))
    assert {name: str(value) for name, value in fact.fields.items()} == {"weights": "16.44 GiB", "seconds": "3.12"}
    assert not fact.cut
    assert (fact.line.number, fact.last_line) == (1, wrapped.count("\n") + 1)


def test_the_lines_of_other_processes_stand_between(extract: Extract):
    found = extract(
        "(Worker_TP0 pid=1) Model loading took 16.44\n"
        "(Worker_TP1 pid=2) Model loading took 17.44\n"
        "(Worker_TP1 pid=2) GiB memory and 4.12 seconds\n"
        "(Worker_TP0 pid=1) GiB memory and 3.12 seconds\n"
    )
    assert told(found) == [
        ("weights_memory", 1, {"weights": "16.44 GiB", "seconds": "3.12"}),
        ("weights_memory", 2, {"weights": "17.44 GiB", "seconds": "4.12"}),
    ]
    assert [fact.line.origin.rank for fact in found.facts] == ["TP0", "TP1"]


def test_a_message_that_never_goes_on_stays_cut(extract: Extract):
    fact = only(extract(f"Model loading took 16.44 GiB memory and\n{HEAD}something else happened\n"))
    assert fact.cut
    assert {name: str(value) for name, value in fact.fields.items()} == {"weights": "16.44 GiB"}
    assert fact.last_line == 1


def test_a_message_cut_before_its_first_figure_is_no_fact(extract: Extract):
    found = extract("Model loading took\nsomething else")
    assert found.facts == []


def test_a_whole_message_takes_no_more_of_the_next_line_than_belongs_to_it(extract: Extract):
    assert told(extract(f"{KV}\n12 more lines\n{WEIGHTS}")) == [
        ("kv_memory", 1, {"kv_cache": "11.76 GiB"}),
        ("weights_memory", 3, {"weights": "16.44 GiB", "seconds": "3.12"}),
    ]


def test_repeated_messages_on_one_line(extract: Extract):
    assert told(extract(f"{KV} {KV.replace('11.76', '5.00')}")) == [
        ("kv_memory", 1, {"kv_cache": "11.76 GiB"}),
        ("kv_memory", 1, {"kv_cache": "5.00 GiB"}),
    ]


def test_several_messages_on_one_line(extract: Extract):
    assert told(extract(f"{KV}\\n{WEIGHTS}\\n")) == [
        ("kv_memory", 1, {"kv_cache": "11.76 GiB"}),
        ("weights_memory", 1, {"weights": "16.44 GiB", "seconds": "3.12"}),
    ]


def test_redraws_and_glued_records_are_read_each(extract: Extract):
    assert [fact.kind for fact in extract(f"{KV}\r{KV}\r{KV}").facts] == ["kv_memory"] * 3
    assert [fact.kind for fact in extract(f"{HEAD}{KV}{HEAD}{WEIGHTS}").facts] == ["kv_memory", "weights_memory"]


def test_facts_come_in_order_of_lines(extract: Extract):
    found = extract("\n".join([WEIGHTS, KV] * 50))
    assert [fact.line.number for fact in found.facts] == list(range(1, 101))


def test_memory_looking_lines_that_no_grammar_knows_are_told(extract: Extract):
    found = extract(f"{WEIGHTS}\nthe memory of an elephant\nnothing of interest\n3 ГиБ свободно\n{HEAD}out of space\n")
    assert [(line.number, line.text) for line in found.unknown] == [
        (2, "the memory of an elephant"),
        (4, "3 ГиБ свободно"),
        (5, "out of space"),
    ]


def test_a_line_that_a_wrapped_message_takes_in_is_known(extract: Extract):
    assert extract("Model loading took 16.44 GiB\nmemory and 3.12 seconds").unknown == []


def test_an_empty_document(extract: Extract):
    assert extract("") == Extraction([], [])
    assert extract("\n\n\n") == Extraction([], [])


@pytest.mark.parametrize(
    ("unit", "facts"),
    [(f"{KV} ", 2000), (f"{KV}\r", 2000), ("Model loading took ", 0), ("args: Namespace( ", 0), ("args: Namespace(a=args: ", 0)],
)
def test_a_line_of_the_same_words_over_and_over_takes_no_hour(extract: Extract, unit: str, facts: int):
    started = time.monotonic()
    assert len(extract(unit * 2000).facts) == facts
    assert time.monotonic() - started < 60


@pytest.mark.parametrize(
    ("kind", "value"),
    [("size", 16), ("text", 16), ("integer", "16"), ("integer", True), ("number", "16"), ("number", True), ("mapping", "{}")],
)
def test_a_field_of_another_type_than_asked_for_is_a_mistake(kind: str, value: object):
    fact = Fact("weights_memory", LINE, fields={"field": value})
    with pytest.raises(TypeError, match=r"weights_memory\.field is .* expected"):
        getattr(fact, kind)("field")


def test_a_field_that_is_not_there_is_none():
    fact = Fact("weights_memory", LINE, fields={"clause": {"pid": 7}, "pids": [1, 2], "implausible": "17179869184.00 GiB (implausible)"})
    assert (fact.size("x"), fact.text("x"), fact.integer("x"), fact.number("x")) == (None, None, None, None)
    assert (fact.mapping("x"), fact.many("x")) == ({}, [])
    assert (fact.mapping("clause"), fact.many("clause"), fact.many("pids")) == ({"pid": 7}, [{"pid": 7}], [1, 2])
    assert fact.size("implausible") is None


def test_a_field_that_the_log_repeats_is_what_all_its_copies_say():
    fact = Fact("stats", LINE, {"same": [3, 3], "different": [3, 4], "sizes": [Size.exact(5), Size.exact(5)], "texts": ["a", "b"]})
    assert (fact.integer("same"), fact.number("same"), fact.size("sizes")) == (3, 3.0, Size.exact(5))
    assert (fact.integer("different"), fact.number("different"), fact.text("texts")) == (None, None, None)
