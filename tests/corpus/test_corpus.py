"""The corpus of real reports: how often the verdict is what the experts found, and what must never happen."""

from __future__ import annotations

from typing import Any

import pytest

from tests.corpus.score import analyse_log, cases, figures, judge

pytestmark = pytest.mark.xdist_group("corpus")

AT_LEAST = {
    "cause_right_complete_pct": 97.0,
    "cause_right_all_pct": 95.0,
    "specific_right_pct": 75.0,
    "outcome_right_pct": 98.0,
    "useful_advice_complete_pct": 95.0,
    "figures_extracted_pct": 99.0,
}


@pytest.fixture(scope="module")
def judged() -> dict[str, dict[str, Any]]:
    """The rows of the score by report."""
    return {case["id"]: judge(case, analyse_log(case["log"])) for case in cases()}


@pytest.mark.parametrize(("figure", "least"), AT_LEAST.items())
def test_the_score_is_high_enough(judged: dict[str, dict[str, Any]], figure: str, least: float) -> None:
    assert figures(list(judged.values()))[figure] >= least


def test_no_advice_goes_in_the_wrong_direction(judged: dict[str, dict[str, Any]]) -> None:
    assert [name for name, row in judged.items() if row["harmful"]] == []


def test_what_is_certain_is_right(judged: dict[str, dict[str, Any]]) -> None:
    assert [name for name, row in judged.items() if row["overclaim"]] == []
