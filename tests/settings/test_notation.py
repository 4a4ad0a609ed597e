"""How values are written, and whether a comment states one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.settings.comments import comment_on, states
from analyzer.settings.notation import write_like, write_plain, write_value
from analyzer.settings.yaml_document import read_document
from analyzer.settings.yaml_nodes import MappingNode, ScalarNode, plain


def scalar(source: str) -> ScalarNode:
    root = read_document("p.yaml", f"key: {source}").root
    assert isinstance(root, MappingNode)
    value = root.entries[0].value
    assert isinstance(value, ScalarNode)
    return value


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (25_572_315_586, "25572315586"),
        (-1, "-1"),
        (0.95, "0.95"),
        (0.7231, "0.7231"),
        (1.0, "1.0"),
        (0.00001, "0.00001"),
        (True, "true"),
        (None, "null"),
        ('say "x"', '"say \\"x\\""'),
    ],
)
def test_a_value_is_written_plainly(value: object, written: str):
    assert write_value(value) == written  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1 / 3, float("nan"), float("inf"), 1e-9])
def test_numbers_that_are_not_short_are_refused(value: float):
    with pytest.raises(ValueError, match="at most 6 decimals"):
        write_value(value)


@pytest.mark.parametrize(
    ("text", "written"), [("auto", "auto"), ("fp8_e5m2", "fp8_e5m2"), ("yes", '"yes"'), ("5", '"5"'), ("a: b", '"a: b"'), ("", '""')]
)
def test_text_has_quotes_only_where_it_needs_them(text: str, written: str):
    assert write_plain(text) == written


@pytest.mark.parametrize(
    ("value", "replaced", "written"),
    [
        (25_572_315_586, "24_053_735_802", "25_572_315_586"),
        (25_572_315_586, "24053735802", "25572315586"),
        (999, "24_053_735_802", "999"),
        (65_536, '"131072"', '"65536"'),
        (65_536, "'131_072'", "'65_536'"),
        (0.9, "'0.95'", "'0.9'"),
        (0.9, "95", "0.9"),
        (5_000_000_000, "5.2g", "5000000000"),
        (25_769_803_776, "'24 GiB'", "25769803776"),
        ("fp8", "auto", "fp8"),
        ("fp8", "'auto'", '"fp8"'),
        (True, "false", "true"),
    ],
)
def test_a_value_is_written_as_the_one_before(value: object, replaced: str, written: str):
    assert write_like(value, scalar(replaced)) == written  # type: ignore[arg-type]


@given(st.text() | st.integers() | st.decimals(0, 1, places=4).map(float) | st.booleans() | st.none())
def test_what_is_written_is_read_back(value: str | float | bool | None):
    for written in (write_value(value), write_plain(value)):
        for text in (f"key: {written}", f"{{key: {written}}}"):
            assert plain(read_document("p.yaml", text).root) == {"key": value}


@pytest.mark.parametrize(
    ("rest", "comment"),
    [("   # 4.84 GiB", " 4.84 GiB"), ("# tight", " tight"), (", b: 2}  # both", " both"), ("", None), ("#not", "not"), (" x#y", None)],
)
def test_the_comment_behind_a_value(rest: str, comment: str | None):
    assert comment_on(rest) == comment


@pytest.mark.parametrize(
    ("comment", "value"),
    [
        ("4.84 GiB", 5_200_000_000),
        ("4,84 ГиБ", 5_200_000_000),
        ("5.2 GB on the card", 5_200_000_000),
        ("was 5_200_000_000", 5_200_000_000),
        ("5 200 000 000 bytes", 5_200_000_000),
        ("5,200,000,000 bytes", 5_200_000_000),
        ("128k tokens", 131_072),
        ("131k tokens", 131_072),
        ("95 %", 0.95),
        ("95% of the card", 0.95),
        ("0.95 is the limit", 0.95),
        ("5 200 000 000 bytes", "5.2g"),
        ("128k: see the card", "128k"),
        ("auto is best", "auto"),
    ],
)
def test_a_comment_that_states_the_value(comment: str, value: float | str):
    assert states(comment, value)


@pytest.mark.parametrize(
    ("comment", "value"),
    [
        ("4.85 GiB", 5_200_000_000),
        ("was 0.90 until the rollout", 0.95),
        ("measured too low by 1.5 GB", 24_053_735_802),
        ("v0.95.1", 0.95),
        ("see the card", ""),
        ("true", True),
        ("none", None),
    ],
)
def test_a_comment_that_does_not(comment: str, value: float | str | None):
    assert not states(comment, value)
