"""Amounts of memory as engines print them: bytes, with the interval that the printed decimals leave open."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

KIB, MIB, GIB, TIB = 2**10, 2**20, 2**30, 2**40

# Units by their literal meaning. Engines that print "GB" for 2**30 bytes are read with BINARY_UNITS instead.
DECIMAL_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
BINARY_UNITS = {"B": 1, "KB": KIB, "MB": MIB, "GB": GIB, "TB": TIB}
IEC_UNITS = {"B": 1, "KIB": KIB, "MIB": MIB, "GIB": GIB, "TIB": TIB}
UNIT_NAMES = {"BYTES": "B", "BYTE": "B", "G": "GIB", "GI": "GIB", "M": "MIB", "MI": "MIB", "K": "KIB", "KI": "KIB"}
LATIN = str.maketrans("БКМГТИбкмгти", "BKMGTIbkmgti")

_SIZE_TEXT = re.compile(r"(?P<number>[-+]?\d(?:[\d\s_,]*\d)?(?:\.\d+)?)\s*(?P<unit>[^\W\d_]+)?")
_GROUPING = re.compile(r"[\s_,]")
_DECIMAL_COMMA = re.compile(r"(?<=^0),|(?<=^[-+]0),|,(?=(?:\d{1,2}|\d{4,})$)")  # before three digits a comma groups thousands


class CannotTell(Exception):
    """Raised by a comparison of two sizes whose intervals overlap: the printed decimals do not decide it."""


@dataclass(frozen=True, slots=True)
class Size:
    """A number of bytes. `low` <= the true value <= `high`; `text` is how the source printed it, if it did.

    Sums and differences are interval arithmetic. Ordering two sizes answers only when every value in one interval
    is on the same side of every value in the other, and raises `CannotTell` otherwise.
    """

    bytes: int
    low: int
    high: int
    text: str = ""

    @classmethod
    def exact(cls, value: int | float, text: str = "") -> Size:
        """An amount known to the byte."""
        whole = round(value)
        return cls(whole, whole, whole, text or format_bytes(whole))

    @classmethod
    def between(cls, low: int | float, high: int | float, text: str = "") -> Size:
        """An amount known only to lie in an interval; `bytes` is its middle."""
        bottom, top = math.floor(low), math.ceil(high)
        middle = (bottom + top) // 2
        return cls(middle, bottom, top, text or format_bytes(middle))

    @property
    def gib(self) -> float:
        return self.bytes / GIB

    @property
    def is_exact(self) -> bool:
        return self.low == self.high

    def __add__(self, other: Size | int) -> Size:
        if not isinstance(other, Size | int | float):
            return NotImplemented
        right = as_size(other)
        return _derived(self.bytes + right.bytes, self.low + right.low, self.high + right.high)

    __radd__ = __add__

    def __sub__(self, other: Size | int) -> Size:
        if not isinstance(other, Size | int | float):
            return NotImplemented
        right = as_size(other)
        return _derived(self.bytes - right.bytes, self.low - right.high, self.high - right.low)

    def __rsub__(self, other: int) -> Size:
        return as_size(other) - self

    def __neg__(self) -> Size:
        return _derived(-self.bytes, -self.high, -self.low)

    def __mul__(self, factor: int | float) -> Size:
        """Scaled by an exactly known factor."""
        if not isinstance(factor, int | float):
            return NotImplemented
        exact = Fraction(str(factor))
        ends = sorted((self.low * exact, self.high * exact))
        return _derived(round(self.bytes * exact), math.floor(ends[0]), math.ceil(ends[1]))

    __rmul__ = __mul__

    def __truediv__(self, other: Size | int | float) -> float:
        """Ratio of the nominal values."""
        if not isinstance(other, Size | int | float):
            return NotImplemented
        return self.bytes / (other.bytes if isinstance(other, Size) else other)

    def __gt__(self, other: Size | int) -> bool:
        if not isinstance(other, Size | int | float):
            return NotImplemented
        right = as_size(other)
        if self.low > right.high:
            return True
        if self.high <= right.low:
            return False
        raise CannotTell(f"{self} against {right}")

    def __ge__(self, other: Size | int) -> bool:
        if not isinstance(other, Size | int | float):
            return NotImplemented
        right = as_size(other)
        if self.low >= right.high:
            return True
        if self.high < right.low:
            return False
        raise CannotTell(f"{self} against {right}")

    def __lt__(self, other: Size | int) -> bool:
        if not isinstance(other, Size | int | float):
            return NotImplemented
        return not self >= other

    def __le__(self, other: Size | int) -> bool:
        if not isinstance(other, Size | int | float):
            return NotImplemented
        return not self > other

    def may_equal(self, other: Size | int, tolerance: int = 0) -> bool:
        """Whether the two intervals, widened by `tolerance` bytes, have a value in common."""
        right = as_size(other)
        return self.low - tolerance <= right.high and right.low - tolerance <= self.high

    def __str__(self) -> str:
        return self.text


def as_size(value: Size | int | float) -> Size:
    """A size from a size or from a number of bytes."""
    return value if isinstance(value, Size) else Size.exact(value)


def _derived(value: int, low: int, high: int) -> Size:
    return Size(value, low, high, format_bytes(value))


def parse_size(text: str, *, units: dict[str, int] = DECIMAL_UNITS, decimals: int | None = None) -> Size:
    """Read "16.44 GiB", "498.00 MiB", "23,03 ГиБ", "5 200 000 000" (bytes).

    `units` says what KB, MB, GB mean to the program that printed them (KiB, MiB, GiB always mean powers of two).
    `decimals` is given where the printer drops trailing zeros, so that "23.0" of round(x, 2) still stands for two decimals.
    Raises ValueError for anything else.
    """
    found = _SIZE_TEXT.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"not an amount of memory: {text!r}")
    return size_of(found["number"], found["unit"] or "B", units=units, decimals=decimals, text=text.strip())


def size_of(number: str, unit: str, *, units: dict[str, int] = DECIMAL_UNITS, decimals: int | None = None, text: str = "") -> Size:
    """A size from a printed number and unit; see `parse_size`."""
    english = "bytes" if unit == "байт" else unit.translate(LATIN)
    name = UNIT_NAMES.get(english.upper(), english.upper())
    scale = IEC_UNITS.get(name) or units.get(name)
    if scale is None:
        raise ValueError(f"unknown unit of memory: {unit!r}")
    plain = _GROUPING.sub("", _DECIMAL_COMMA.sub(".", number))
    mantissa, _, exponent = plain.lower().partition("e")
    printed = len(mantissa.partition(".")[2]) - int(exponent or 0)
    value = Fraction(plain) * scale
    spelled = text if text and unit.isascii() else f"{number} {english}"
    if scale == 1 and printed == 0:
        return Size.exact(int(value), spelled)
    open_decimals = printed if decimals is None else max(printed, decimals)
    half = scale * Fraction(10) ** -open_decimals / (1 if plain.endswith(".") else 2)  # "16." was cut: 16.9 is possible
    whole = round(value)
    return Size(whole, min(whole, math.ceil(value - half)), max(whole, math.floor(value + half)), spelled)


def format_bytes(value: int) -> str:
    """The two-decimal binary form people compare with the log: "4.84 GiB", "-5.40 GiB", "498.00 MiB"."""
    magnitude = abs(value)
    for name, scale in (("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if magnitude >= scale * (10 if name == "TiB" else 1):
            return f"{value / scale:.2f} {name}"
    return f"{value} B"


def group_digits(value: int) -> str:
    """25 571 033 088: groups of three, as in the profile files."""
    return f"{value:,}".replace(",", " ")
