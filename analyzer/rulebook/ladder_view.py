"""The quantities of one ladder, and of all of them, under the names that rules use."""

from __future__ import annotations

from typing import Any

from analyzer.cases.ladder import Ladder
from analyzer.rulebook.case import Case
from analyzer.rulebook.expressions import View
from analyzer.units import group_digits


def ladder_view(case: Case, ladder: Ladder) -> View:
    """The ladder of one profile; amounts are raw free memory in bytes."""
    bracket, recommended = ladder.threshold, case.recommendations[ladder.profile]
    aside = [rung for rung in ladder.rungs if not rung.counts]
    return View(
        "ladder",
        {
            "aside": [f"{group_digits(rung.receipt.free.bytes)} bytes free" for rung in aside],
            "aside_reasons": list(dict.fromkeys(rung.aside for rung in aside)),
            "contradictions": list(map(str, ladder.contradictions)),
            "counted": len(ladder.counted),
            "fails_at": ladder.fails_at,
            "passes_at": ladder.passes_at,
            "profile": ladder.profile,
            "recommended": recommended.threshold,
            "runs": len(ladder.rungs),
            "threshold_high": bracket.high if bracket else None,
            "threshold_low": bracket.low if bracket else None,
        },
    )


def overhead_figures(case: Case) -> dict[str, Any]:
    """Whether the memory needed beyond weights and arena is the same for several profiles."""
    if not case.ladders:
        return {"overhead_is": "cannot tell"}
    found = case.constancy
    return {
        "overhead_is": found.verdict,
        "overhead_reason": found.reason,
        "overhead_common": found.common,
        "overhead_spread": found.spread,
        "overhead_may_differ_by": found.may_differ_by,
        "overhead_passing": [
            f"{profile} {group_digits(size.bytes)}" for profile, size in found.passing.items() if profile in found.profiles
        ],
    }
