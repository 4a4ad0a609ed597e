"""What a log holds never steers a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.outputs.printable import one_line, printable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("50%\rdone", r"50%\x0ddone"),
        ("a\u202egnp.exe", r"a\u202egnp.exe"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("bad\udc80byte", r"bad\udc80byte"),
        ("tag\U000e0041", r"tag\U000e0041"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("свободно 23,03 ГиБ 内存不足 ⚠️ 👩‍💻", "свободно 23,03 ГиБ 内存不足 ⚠️ 👩‍💻"),
    ],
)
def test_control_characters_are_shown(text: str, expected: str) -> None:
    assert printable(text) == expected


def test_one_line_stays_one_line() -> None:
    assert one_line("a\n::error::b\tc") == r"a\n::error::b\tc"


@given(st.text(st.characters(codec=None)))
def test_no_control_character_is_left(text: str) -> None:
    shown = printable(text)
    assert not {char for char in shown if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}} - {"\n", "\t"}
    shown.encode("utf-8")
    assert printable(shown) == shown
