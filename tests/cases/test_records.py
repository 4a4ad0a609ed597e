"""A record of several lines names its rank on the first one; the others are of the same rank."""

from dataclasses import replace

from analyzer.cases.records import with_ranks
from analyzer.facts.fact import Fact
from analyzer.inputs.lines import Origin
from tests.cases.making import frame, made

HEADED = ("cri", "sglang")
BARE = ("cri",)


def on(fact: Fact, wrappers: tuple[str, ...]) -> Fact:
    return replace(fact, line=replace(fact.line, wrappers=wrappers))


def ranks(facts: list[Fact]) -> list[str]:
    return [fact.line.origin.rank for fact in with_ranks(facts)]


def record(rank: str) -> list[Fact]:
    return [
        on(made("scheduler_exception", 1, origin=Origin(rank=rank)), HEADED),
        on(frame(2, "sglang/srt/managers/scheduler.py", "run"), BARE),
        on(made("torch_oom", 4, gpu=3), BARE),
    ]


def test_the_further_lines_of_a_record_are_of_its_rank():
    assert ranks(record("TP3")) == ["TP3", "TP3", "TP3"]
    assert ranks([*record("TP3"), *record("TP1")]) == ["TP3"] * 3 + ["TP1"] * 3


def test_a_line_with_a_head_of_its_own_ends_it():
    own = on(made("memory_pool_end", 5, origin=Origin(rank="TP0")), HEADED)
    assert ranks([*record("TP3"), own, on(made("torch_oom", 6), BARE)]) == ["TP3", "TP3", "TP3", "TP0", ""]


def test_a_record_without_a_rank_gives_none():
    assert ranks(record("")) == ["", "", ""]


def test_nothing_is_lost_and_nothing_else_is_changed():
    facts = [*record("TP3"), on(made("memory_pool_end", 9), HEADED)]
    assert [fact.kind for fact in with_ranks(facts)] == [fact.kind for fact in facts]
    assert [fact.fields for fact in with_ranks(facts)] == [fact.fields for fact in facts]
