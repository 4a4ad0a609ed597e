"""The automaton and the plain search find the same literals on the same lines."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.inputs import sieve
from analyzer.inputs.sieve import find_literals

alphabet = st.sampled_from("ab .\n\rГиБ世é\U0001f600")
literals = st.lists(st.text(st.sampled_from("ab .ГиБ世é\U0001f600"), min_size=1, max_size=6), min_size=1, max_size=6)


def test_every_literal_is_found_on_every_line_that_has_it():
    text = "Tried to allocate 2.00 GiB\n\nfree memory, out of memory\n3 ГиБ свободно"
    assert list(find_literals(text, ["memory", "GiB", "ГиБ", "Tried to", "absent"])) == [
        (0, "GiB"),
        (0, "Tried to"),
        (2, "memory"),
        (3, "ГиБ"),
    ]


@pytest.mark.parametrize("text", ["", "\n", "\n\n\n", "nothing here"])
def test_texts_with_nothing_in_them(text: str):
    assert list(find_literals(text, ["memory"])) == []


def test_a_literal_is_no_pattern():
    assert list(find_literals("GiB (x)\n[core.py:1] a.c\nabc", ["(x)", "[core.py", "a.c"])) == [(0, "(x)"), (1, "[core.py"), (1, "a.c")]


@pytest.mark.skipif(not sieve.HAS_AUTOMATON, reason="no automaton on this platform")
@given(st.text(alphabet, max_size=200), literals)
@example("a\nb", ["a", "b"])
@example("aaa\n", ["a", "aa", "aaa"])
@example("é\né", ["é"])
def test_both_searches_agree(text: str, wanted: list[str]):
    wanted = sorted(set(wanted))
    assert list(sieve._search_with_automaton(text, wanted)) == list(sieve._search_plainly(text, wanted))


@given(st.text(alphabet, max_size=200), literals)
def test_the_search_is_complete_and_ordered(text: str, wanted: list[str]):
    found = list(find_literals(text, wanted))
    assert found == sorted(found)
    assert set(found) == {(index, literal) for index, line in enumerate(text.split("\n")) for literal in wanted if literal in line}


def test_without_the_automaton_the_answer_is_the_same(monkeypatch: pytest.MonkeyPatch):
    text = "free memory\nout of memory"
    with_it = list(find_literals(text, ["memory", "out"]))
    monkeypatch.setattr(sieve, "HAS_AUTOMATON", False)
    assert list(find_literals(text, ["memory", "out"])) == with_it == [(0, "memory"), (1, "memory"), (1, "out")]
