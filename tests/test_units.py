"""Amounts of memory: what a printed figure leaves open, and that arithmetic never loses the true value."""

import operator
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.units import (
    BINARY_UNITS,
    DECIMAL_UNITS,
    GIB,
    IEC_UNITS,
    KIB,
    MIB,
    TIB,
    CannotTell,
    Size,
    as_size,
    format_bytes,
    group_digits,
    parse_size,
    size_of,
)

DEVICE = 2**43
amounts = st.integers(-DEVICE, DEVICE)


@st.composite
def uncertain(draw: st.DrawFn) -> tuple[int, Size]:
    """A true number of bytes, and a size that holds it somewhere in its interval."""
    true, below, above = draw(amounts), draw(st.integers(0, GIB)), draw(st.integers(0, GIB))
    return true, Size.between(true - below, true + above)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("16.44 GiB", 16.435 * GIB, 16.445 * GIB),
        ("498.00 MiB", 497.995 * MIB, 498.005 * MIB),
        ("23,03 ГиБ", 23.025 * GIB, 23.035 * GIB),
        ("0,723 ГиБ", 0.7225 * GIB, 0.7235 * GIB),
        ("512 МиБ", 511.5 * MIB, 512.5 * MIB),
        ("24,5 ГБ", 24.45e9, 24.55e9),
        ("1,234.56 MiB", 1234.555 * MIB, 1234.565 * MIB),
        ("23.03GiB", 23.025 * GIB, 23.035 * GIB),
        ("10GB", 9.5e9, 10.5e9),
        ("7.5G", 7.45 * GIB, 7.55 * GIB),
        ("40 Gi", 39.5 * GIB, 40.5 * GIB),
        ("8 kB", 7.5e3, 8.5e3),
        ("1.5 TiB", 1.45 * TIB, 1.55 * TIB),
        ("-5.40 GB", -5.405e9, -5.395e9),
    ],
)
def test_a_printed_figure_leaves_half_of_its_last_decimal_open(text: str, low: float, high: float):
    size = parse_size(text)
    assert size.low == pytest.approx(low, abs=1)
    assert size.high == pytest.approx(high, abs=1)
    assert size.bytes == pytest.approx((low + high) / 2, abs=1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5 200 000 000", 5_200_000_000),
        ("5_200_000_000", 5_200_000_000),
        ("5,200,000,000 B", 5_200_000_000),
        ("25\u202f229\u202f197\u202f312 bytes", 25_229_197_312),
        ("25\u00a0229\u00a0197\u00a0312 байт", 25_229_197_312),
        ("1 byte", 1),
        ("-4224", -4224),
        ("  0 B  ", 0),
    ],
)
def test_bytes_are_exact(text: str, value: int):
    size = parse_size(text)
    assert (size.low, size.bytes, size.high) == (value, value, value)


@pytest.mark.parametrize(
    ("text", "english"),
    [
        (" 16.44  GiB ", "16.44  GiB"),
        ("5 200 000 000", "5 200 000 000"),
        ("23,03 ГиБ", "23,03 GiB"),
        ("512 МиБ", "512 MiB"),
        ("24,5 кБ", "24,5 kB"),
        ("1048576 байт", "1048576 bytes"),
    ],
)
def test_a_figure_is_shown_as_printed_with_its_unit_in_english(text: str, english: str):
    assert str(parse_size(text)) == english


@pytest.mark.parametrize("text", ["", "GiB", "auto", "16.44 GiB free", "1.2.3 GiB", "16.44 parsecs", "0x10", "12 ГиБайт", "1 2 !"])
def test_anything_else_is_not_an_amount(text: str):
    with pytest.raises(ValueError, match=r"amount|unit"):
        parse_size(text)


def test_a_program_may_print_gb_and_mean_gib():
    assert parse_size("15.41 GB", units=BINARY_UNITS).bytes == parse_size("15.41 GiB").bytes
    assert parse_size("15.41 GB").bytes == 15_410_000_000
    assert parse_size("15.41 GiB", units=DECIMAL_UNITS) == parse_size("15.41 GiB", units=BINARY_UNITS)


def test_a_printer_that_drops_zeros_still_means_two_decimals():
    assert parse_size("23.0 GiB", decimals=2).high - 23 * GIB == GIB // 200
    assert parse_size("23 GiB", decimals=2).high - 23 * GIB == GIB // 200
    assert parse_size("23.0 GiB").high - 23 * GIB == GIB // 20
    assert parse_size("23.125 GiB", decimals=2) == parse_size("23.125 GiB")


def test_a_figure_cut_at_its_point_may_have_any_decimals():
    cut = size_of("16.", "GiB")
    assert cut.low <= 16 * GIB
    assert cut.high >= int(16.99 * GIB)


@given(amounts, st.sampled_from(sorted(IEC_UNITS)), st.integers(0, 20))
@example(17652448147, "GIB", 16)
@example(1, "GIB", 2)
def test_the_printed_figure_holds_the_true_value(true: int, unit: str, decimals: int):
    printed = f"{true / IEC_UNITS[unit]:.{decimals}f} {unit}"
    size = parse_size(printed)
    assert size.low <= true <= size.high
    assert size.low <= size.bytes <= size.high


@given(st.integers(0, DEVICE), st.integers(0, 6))
def test_so_does_one_in_scientific_notation(true: int, decimals: int):
    size = size_of(f"{true / GIB:.{decimals}e}", "GiB")
    assert size.low <= true <= size.high


@given(st.integers(0, DEVICE))
def test_so_does_one_printed_by_round(true: int):
    size = parse_size(f"{round(true / GIB, 2)} GiB", decimals=2)
    assert size.low <= true <= size.high


@given(amounts)
def test_the_form_for_people_holds_the_true_value(true: int):
    size = parse_size(format_bytes(true))
    assert size.low <= true <= size.high


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (-KIB, "-1.00 KiB"),
        (498 * MIB, "498.00 MiB"),
        (5_200_000_000, "4.84 GiB"),
        (-int(5.4 * GIB), "-5.40 GiB"),
        (2 * TIB, "2048.00 GiB"),
        (12 * TIB, "12.00 TiB"),
    ],
)
def test_format_bytes(value: int, text: str):
    assert format_bytes(value) == text


def test_group_digits():
    assert group_digits(25_571_033_088) == "25 571 033 088"
    assert group_digits(-4224) == "-4 224"


@given(uncertain(), uncertain())
def test_sums_and_differences_hold_the_true_value(one: tuple[int, Size], other: tuple[int, Size]):
    (a, left), (b, right) = one, other
    assert (left + right).low <= a + b <= (left + right).high
    assert (left - right).low <= a - b <= (left - right).high
    assert (-left).low <= -a <= (-left).high
    assert (left + b).low <= a + b <= (left + b).high
    assert (b - left).low <= b - a <= (b - left).high


@given(uncertain(), st.decimals("-3", "3", places=3))
def test_a_multiple_holds_the_true_value(one: tuple[int, Size], factor: object):
    true, size = one
    scaled = size * float(str(factor))
    assert scaled.low <= true * Fraction(str(factor)) <= scaled.high
    assert scaled == float(str(factor)) * size


@given(uncertain(), uncertain())
def test_the_named_value_stays_in_the_interval(one: tuple[int, Size], other: tuple[int, Size]):
    for size in (one[1] + other[1], one[1] - other[1], one[1] * 0.98, -one[1]):
        assert size.low <= size.bytes <= size.high


@given(uncertain(), uncertain(), st.sampled_from([operator.lt, operator.le, operator.gt, operator.ge]))
def test_a_comparison_that_answers_is_right_for_every_value_left_open(
    one: tuple[int, Size], other: tuple[int, Size], compare: Callable[[object, object], bool]
):
    left, right = one[1], other[1]
    everywhere = {compare(a, b) for a in (left.low, left.high) for b in (right.low, right.high)}
    if len(everywhere) == 1:
        assert compare(left, right) in everywhere
    else:
        with pytest.raises(CannotTell):
            compare(left, right)


@given(amounts, amounts)
def test_exact_sizes_compare_as_their_bytes(a: int, b: int):
    left, right = Size.exact(a), Size.exact(b)
    assert (left < right, left <= right, left > right, left >= right) == (a < b, a <= b, a > b, a >= b)
    assert (left < b, left >= b) == (a < b, a >= b)


def test_what_the_decimals_do_not_decide_is_not_decided():
    with pytest.raises(CannotTell, match=r"23\.03 GiB against 23\.03 GiB"):
        _ = parse_size("23.03 GiB") > parse_size("23.03 GiB")
    with pytest.raises(CannotTell):
        _ = parse_size("23.0 GiB") < parse_size("23.03 GiB")
    assert parse_size("23.0 GiB", decimals=2) < parse_size("23.03 GiB")
    assert parse_size("23.04 GiB") > parse_size("23.03 GiB")


def test_may_equal():
    assert parse_size("23.03 GiB").may_equal(parse_size("23.0 GiB"))
    assert not parse_size("23.03 GiB").may_equal(parse_size("23.06 GiB"))
    assert parse_size("23.03 GiB").may_equal(parse_size("23.06 GiB"), tolerance=GIB // 40)
    assert Size.exact(100).may_equal(101, tolerance=1)
    assert not Size.exact(100).may_equal(101)


@given(uncertain(), uncertain(), st.integers(0, GIB))
def test_may_equal_is_symmetric_and_agrees_with_order(one: tuple[int, Size], other: tuple[int, Size], tolerance: int):
    left, right = one[1], other[1]
    assert left.may_equal(right, tolerance) == right.may_equal(left, tolerance)
    ordered = left.high < right.low or right.high < left.low
    assert left.may_equal(right) != ordered
    if ordered:
        assert (left < right) != (left > right)


def test_ratio_and_conversion():
    assert parse_size("8.00 GiB") / parse_size("32.00 GiB") == 0.25
    assert Size.exact(10) / 4 == 2.5
    assert parse_size("1.50 GiB").gib == 1.5
    assert as_size(5) == Size.exact(5)
    assert Size.exact(5).is_exact
    assert not parse_size("5 KiB").is_exact
    assert str(parse_size("16.44 GiB") + 0) == "16.44 GiB"


@pytest.mark.parametrize("combine", [operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.ge])
def test_a_size_and_a_text_do_not_mix(combine: Callable[[object, object], object]):
    with pytest.raises(TypeError):
        combine(Size.exact(5), "5")
