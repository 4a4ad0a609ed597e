"""One row of the table of settings, before it is put into words."""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzer.engines.interval import Bounds


@dataclass(frozen=True, slots=True)
class Shown:
    """`instead` is what else to change where no value works, `note` what the values that work do not give; `effect` what a change does.

    Each is empty where nothing computes it.
    """

    knob: str
    value: int | float | str | None = None
    source: str = ""
    bounds: Bounds = field(default_factory=Bounds)
    instead: str = ""
    effect: str = ""
    note: str = ""
