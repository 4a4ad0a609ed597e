"""Every example of the catalogues is found, read whole, and taken for one thing only."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import combinations

import pytest

from analyzer.facts.fact import Fact
from analyzer.grammar import Grammars
from analyzer.inputs import sieve
from tests.grammars.catalogues import NAMES, Read, examples, message_of, numbers

JUSTIFIED = {
    ("capture_graph_failed", "possible_solutions"): "the advice under the failure is a message of its own",
    ("capture_graph_failed", "torch_oom"): "SGLang wraps the allocator's text",
    ("child_exit", "exit_code"): "the engine's sentence holds an exit code, which other programs print without it",
    ("command_line", "shell_killed"): "the shell repeats the command it lost",
    ("detokenizer_exception", "traceback_start"): "the traceback begins in the same line",
    ("dp_controller_exception", "traceback_start"): "the traceback begins in the same line",
    ("encoder_worker_exit", "exit_code"): "the engine's sentence holds an exit code, which other programs print without it",
    ("exit_code", "omni_stage_died"): "the engine's sentence holds an exit code, which other programs print without it",
    ("exit_code", "server_process_died"): "the engine's sentence holds an exit code, which other programs print without it",
    ("exit_code", "worker_died"): "the engine's sentence holds an exit code, which other programs print without it",
    ("kv_cache_tokens", "max_concurrency"): "since 0.28 vLLM prints both in one line",
    ("possible_solutions", "torch_oom"): "SGLang wraps the allocator's text",
    ("scheduler_exception", "traceback_start"): "the traceback begins in the same line",
    ("tokenizer_exception", "traceback_start"): "the traceback begins in the same line",
    ("torch_oom", "worker_call_failed"): "vLLM's executor wraps the allocator's text",
}
"""Two messages that one text may be, and why."""
LAST_LINE_OF_A_TRACEBACK = "exception"
"""Has the text of any message that is raised, and so stands beside it."""


@pytest.fixture(params=NAMES)
def catalogue(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_every_message_compiles(grammars: Grammars) -> None:
    for message in grammars.messages.values():
        assert message.parser.rules


def test_every_example_is_recognised(catalogue: str, catalogues: dict[str, Read]) -> None:
    assert [example for example, facts in catalogues[catalogue] if not facts] == []


def test_every_figure_becomes_a_field(catalogue: str, catalogues: dict[str, Read], grammars: Grammars) -> None:
    lost = []
    for example, facts in catalogues[catalogue]:
        printed = numbers(message_of(example.text, grammars))
        kept = numbers([dict(fact.fields) for fact in facts]) & printed
        if len(kept) < min(example.figures, len(printed)):
            lost.append((example.key, example.text, sorted(printed - kept)))
    assert lost == []


def test_the_sieve_loses_none(catalogue: str, catalogues: dict[str, Read], grammars: Grammars) -> None:
    for example, facts in catalogues[catalogue]:
        hits = set(sieve.find_literals(example.text, grammars.by_anchor))
        for fact in facts:
            assert {(fact.line.number - 1, anchor.literal) for anchor in grammars.messages[fact.kind].anchors} & hits, example


@pytest.mark.skipif(find_spec("hyperscan") is None, reason="no automaton to compare with")
def test_both_searches_find_the_same(catalogue: str, grammars: Grammars, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(example.text for example in examples(catalogue))
    fast = list(sieve.find_literals(text, grammars.by_anchor))
    monkeypatch.setattr("analyzer.inputs.sieve.hyperscan", None)
    assert fast == list(sieve.find_literals(text, grammars.by_anchor))


def test_a_text_is_one_message(catalogues: dict[str, Read]) -> None:
    found = {
        pair: example.text
        for name in NAMES
        for example, facts in catalogues[name]
        for pair in _pairs_in_one_place(facts)
        if LAST_LINE_OF_A_TRACEBACK not in pair
    }
    assert {pair: text for pair, text in found.items() if pair not in JUSTIFIED} == {}
    assert JUSTIFIED.keys() - found.keys() == set()


def _pairs_in_one_place(facts: list[Fact]) -> set[tuple[str, str]]:
    """The pairs of kinds that lay claim to the same line."""
    return {
        (min(one.kind, other.kind), max(one.kind, other.kind))
        for one, other in combinations(facts, 2)
        if one.kind != other.kind and one.line.number <= other.last_line and other.line.number <= one.last_line
    }
