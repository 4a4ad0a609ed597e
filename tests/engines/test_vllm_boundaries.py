"""vLLM's rules on both sides of the release that changed them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from packaging.version import Version

from analyzer.engines.release import value_since
from analyzer.engines.vllm import default_utilization
from analyzer.engines.vllm_budget import ERAS, era
from analyzer.engines.vllm_generation import Generation
from analyzer.engines.vllm_suggestion import GRAPHS_COUNTED_TWICE, LEVEL

GENERATIONS: tuple[Generation, ...] = ("V0", "V1")


@pytest.mark.parametrize(
    ("release", "generation", "formula", "others", "gate"),
    [
        ("0.2.6", "V0", None, None, None),
        ("0.2.7", "V0", "whole card", "charged", False),
        ("0.3.0", "V0", "whole card", "charged", False),
        ("0.3.1", "V0", "own growth", "not charged", False),
        ("0.6.3.post1", "V0", "own growth", "not charged", False),
        ("0.6.4", "V0", "peak and rest of card", "charged", False),
        ("0.6.4.post1", "V0", "peak and rest of card", "charged", False),
        ("0.6.5", "V0", "ledger", "not charged", False),
        ("0.10.2", "V0", "ledger", "not charged", False),
        ("0.11.0", "V0", None, None, None),
        ("0.6.3.post1", "V1", None, None, None),
        ("0.6.4", "V1", "own growth", "not charged", False),
        ("0.6.4.post1", "V1", "own growth", "not charged", False),
        ("0.6.5", "V1", "peak and rest of card", "charged", False),
        ("0.9.0.1", "V1", "peak and rest of card", "charged", False),
        ("0.9.1", "V1", "ledger", "not charged", True),
        ("0.17.1", "V1", "ledger", "not charged", True),
        ("0.18.0", "V1", "ledger and graphs", "not charged", True),
        ("0.26.0", "V1", "ledger and graphs", "not charged", True),
        ("0.27.0", "V1", "consumed and headroom", "changes charged", True),
    ],
)
def test_the_budget(release: str, generation: Generation, formula: str | None, others: str | None, gate: bool | None) -> None:
    found = era(Version(release), generation)
    told = (found.formula.__name__.replace("_", " "), found.others, found.gate) if found is not None else (None, None, None)
    assert told == (formula, others, gate)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_the_eras_of_an_engine_follow_each_other(generation: Generation) -> None:
    rows = [row for row in ERAS if row.generation == generation]
    assert [earlier.before for earlier, _ in pairwise(rows)] == [later.since for _, later in pairwise(rows)]


@pytest.mark.parametrize(("release", "value"), [("0.2.6", None), ("0.2.7", 0.9), ("0.19.1", 0.9), ("0.20.0", 0.92)])
def test_the_default_utilization(release: str, value: float | None) -> None:
    assert default_utilization(Version(release)) == value


@pytest.mark.parametrize(
    ("release", "level", "twice"),
    [
        ("0.10.1.1", None, None),
        ("0.10.2", "INFO", False),
        ("0.11.0", "DEBUG", False),
        ("0.17.1", "DEBUG", False),
        ("0.18.0", "DEBUG", True),
        ("0.18.1", "DEBUG", True),
        ("0.19.0", "DEBUG", False),
        ("0.25.1", "DEBUG", False),
        ("0.26.0", "INFO", False),
        ("0.27.0", "INFO", True),
    ],
)
def test_the_suggested_size(release: str, level: str | None, twice: bool | None) -> None:
    assert value_since(LEVEL, Version(release)) == level
    assert value_since(GRAPHS_COUNTED_TWICE, Version(release)) is twice
