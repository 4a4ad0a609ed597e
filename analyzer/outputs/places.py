"""Where findings point to: the settings files they would patch, and the lines of the log they rest on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from analyzer.analysis import Analysis, Evidence, Finding, Patch


class Place(NamedTuple):
    """A line, counted from 1, of an input or settings file."""

    name: str
    line: int

    def __str__(self) -> str:
        return f"{self.name}:{self.line}"


def patches_of(finding: Finding, analysis: Analysis) -> list[Patch]:
    """The patches a finding names."""
    return [analysis.patches[index] for index in finding.patches]


def place_of_finding(finding: Finding, analysis: Analysis) -> Place | None:
    """The line to show the finding at: the first it would patch, else the first of its evidence, else None."""
    places = [Place(patch.file, patch.line) for patch in patches_of(finding, analysis)]
    places += [Place(evidence.input, evidence.line) for evidence in finding.evidence]
    return places[0] if places else None


def evidence_of(findings: Iterable[Finding]) -> list[Evidence]:
    """Every line that any of the findings rests on, once, in the order of the lines; inputs in the order of their first mention."""
    lines = list(dict.fromkeys(line for finding in findings for line in finding.evidence))
    inputs = list(dict.fromkeys(line.input for line in lines))
    return sorted(lines, key=lambda line: (inputs.index(line.input), line.line))
