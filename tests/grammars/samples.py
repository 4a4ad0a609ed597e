"""What samples of messages consist of: a text, the kind of message, and its fields with every Size as an Amount."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Any, NamedTuple

from analyzer.units import Size


class Amount(NamedTuple):
    """A Size without its text: bytes, and the interval."""

    bytes: int
    low: int
    high: int


def printed(number: str, unit: int) -> Amount:
    """What a figure in this unit leaves open: half of its last decimal to either side."""
    value = Fraction(number) * unit
    half = Fraction(unit, 2 * 10 ** len(number.partition(".")[2]))
    return Amount(round(value), ceil(value - half), floor(value + half))


def exact(number: int) -> Amount:
    return Amount(number, number, number)


def plain(value: Any) -> Any:
    """Field values with every Size as an Amount."""
    if isinstance(value, Size):
        return Amount(value.bytes, value.low, value.high)
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


Sample = tuple[str, str, dict[str, Any]]
"""Text, kind, fields."""
