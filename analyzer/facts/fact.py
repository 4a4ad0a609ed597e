"""A fact: what one message says, typed, with the line it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from analyzer.inputs.lines import Line
from analyzer.units import Size

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fact:
    """One message, read. Its kind is the name of its grammar rule, its fields are the named parts of that rule.

    The typed accessors give None for a field that this wording does not have, and for one that the log repeats with different values.
    They raise TypeError for a field of another type: a mistake of the program (or a grammar that disagrees with it), never of the log.
    """

    kind: str
    line: Line
    fields: Mapping[str, Any] = field(default_factory=dict)
    cut: bool = False
    """The text ended before the message did; the fields are those that were complete."""
    last_line: int = 0
    family: str = ""

    def size(self, name: str) -> Size | None:
        """Also None for an implausible figure, which is kept as text."""
        return None if isinstance(self._only(name), str) else self._typed(name, Size)

    def text(self, name: str) -> str | None:
        return self._typed(name, str)

    def integer(self, name: str) -> int | None:
        return self._typed(name, int)

    def number(self, name: str) -> float | None:
        value = self._only(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{self.kind}.{name} is {type(value).__name__}, a number was expected")
        return float(value)

    def mapping(self, name: str) -> Mapping[str, Any]:
        """A nested part (argument dump, clause group); empty when absent."""
        return self._typed(name, dict) or {}

    def many(self, name: str) -> list[Any]:
        """A part that may be repeated, always as a list."""
        value = self.fields.get(name)
        return [] if value is None else value if isinstance(value, list) else [value]

    def _only(self, name: str) -> Any:
        """The value of a part that is not repeated, or repeated with the same value."""
        values = self.many(name)
        return values[0] if values and all(value == values[0] for value in values) else None

    def _typed(self, name: str, kind: type[T]) -> T | None:
        value = self._only(name)
        if value is None:
            return None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise TypeError(f"{self.kind}.{name} is {type(value).__name__}, {kind.__name__} was expected")
        return value
