"""Whether the comment behind a value states that value, so that it becomes wrong when the value changes."""

from __future__ import annotations

import re
from fractions import Fraction

from analyzer.settings.yaml_nodes import ScalarValue
from analyzer.units import BINARY_UNITS, DECIMAL_UNITS, Size, size_of

_COMMENT = re.compile(r"(?:^|\s)#(.*)")
_STATED = re.compile(
    r"(?<![\w.])(?P<number>(?:\d{1,3}(?:[ _,\u00a0\u202f]\d{3})+|\d+)(?:\.\d+|,\d{1,2}(?!\d))?)"
    r"\s*(?P<unit>%|[KMGTkmgtКМГТкмгт][iи]?[BБ]?)?(?!\w)"
)


def comment_on(line_rest: str) -> str | None:
    """The comment in what follows a value on its line."""
    found = _COMMENT.search(line_rest)
    return found[1] if found else None


def states(comment: str, value: ScalarValue) -> bool:
    """Whether a comment contains this value, in its own digits or rounded: 5200000000 in "4.84 GiB", 0.95 in "95 %", 131072 in "128k"."""
    if value is None or isinstance(value, bool):
        return False
    if isinstance(value, str):
        return value != "" and (value in comment or any(states(comment, amount) for amount in _amounts(value)))
    return any(_stands_for(found["number"], found["unit"], value) for found in _STATED.finditer(comment))


def _stands_for(number: str, unit: str | None, value: float) -> bool:
    if unit is None or unit == "%":
        written = Fraction(re.sub(r"[^\d.]", "", _with_point(number)))
        return written / (100 if unit else 1) == Fraction(str(value))
    return any(size.low <= value <= size.high for size in _sizes(number, unit))


def _amounts(text: str) -> list[int]:
    """What an amount written as text may mean in bytes or tokens: 5.2g is 5.2e9 or 5.2 * 2**30; nothing for other texts."""
    found = _STATED.fullmatch(text)
    return [size.bytes for size in _sizes(found["number"], found["unit"])] if found and found["unit"] not in {None, "%"} else []


def _sizes(number: str, unit: str) -> list[Size]:
    in_bytes = unit if unit.endswith(("B", "Б")) else f"{unit}B"
    return [size_of(_with_point(number), in_bytes, units=units) for units in (DECIMAL_UNITS, BINARY_UNITS)]


def _with_point(number: str) -> str:
    """4,84 as 4.84; a comma before three digits groups them."""
    return re.sub(r",(\d{1,2})$", r".\1", number)
