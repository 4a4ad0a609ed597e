"""Score the analyzer on fixtures/corpus and print what changed against the committed verdicts.

usage: python -m tests.corpus.score [--update] [--list]
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from analyzer import Analysis, analyze

CORPUS = Path(__file__).resolve().parents[2] / "fixtures" / "corpus"
STATE = CORPUS / "state.json"
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[_ ]\d{3})*(?:\.\d+)?")
HARMFUL = {"raise": {"lower"}, "lower": {"raise"}, "none": {"raise", "lower"}, "not-lower": {"lower"}}
NOT_SPECIFIC = ("unknown", "device-oom")

Case = dict[str, Any]


def cases() -> list[Case]:
    """All reports, in order of their ids."""
    return [yaml.safe_load(file.read_text(encoding="utf-8")) for file in sorted(CORPUS.glob("*.yaml"))]


def analyse_log(log: str) -> Analysis:
    """The analysis of a log given as text."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "crash.log")
        file.write_text(log + "\n", encoding="utf-8")
        return analyze([file])


def numbers(value: Any) -> set[float]:
    """Every number in a nested value, also inside texts."""
    if isinstance(value, bool) or value is None:
        return set()
    if isinstance(value, int | float):
        return {float(value)}
    if isinstance(value, dict):
        return set().union(*map(numbers, value.values()))
    if isinstance(value, list | tuple):
        return set().union(*map(numbers, value))
    return {float(re.sub(r"[_ ]", "", found)) for found in NUMBER.findall(str(value))}


def judge(case: Case, analysis: Analysis) -> dict[str, Any]:
    """How one analysis compares with what the experts found."""
    expect, verdict = case["expect"], analysis.verdict
    advice = {(entry.knob, entry.direction) for entry in verdict.advice}
    wanted = {(knob, way) for knob, way in expect["knobs"].items() if way in ("raise", "lower")}
    printed = numbers(case["log"])
    elsewhere = case.get("not_in_log") or []
    told = {figure for name, value in (expect["facts"] or {}).items() if name not in elsewhere for figure in numbers(value)}
    found = numbers([fact.fields for fact in analysis.facts]) | numbers([run.model_dump() for run in analysis.runs])
    right = verdict.cause in expect["cause"]
    return {
        "complete": case["complete"],
        "right": right,
        "specific": right and verdict.cause not in NOT_SPECIFIC,
        "outcome": verdict.outcome in expect["outcome"],
        "harmful": any((knob, way) in advice for knob, want in expect["knobs"].items() for way in HARMFUL.get(want, ())),
        "overclaim": not right and verdict.confidence == "certain",
        "helped": not wanted or bool(wanted & advice) or any((knob, "set") in advice for knob, _ in wanted),
        "told": len(told & printed),
        "lost": sorted((told & printed) - found),
    }


def shortcomings(row: dict[str, Any]) -> list[str]:
    """What one report falls short in, in the words of the row."""
    short = [name for name in ("right", "outcome", "helped") if not row[name]]
    return short + ["harmful"] * row["harmful"] + [f"lost {figure:g}" for figure in row["lost"]]


def figures(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The scores over all reports, in per cent where the name says so."""
    complete = [row for row in rows if row["complete"]]
    told = sum(row["told"] for row in rows)

    def share(name: str, among: list[dict[str, Any]]) -> float:
        return round(100 * sum(bool(row[name]) for row in among) / max(1, len(among)), 1)

    return {
        "cases": len(rows),
        "complete": len(complete),
        "cause_right_complete_pct": share("right", complete),
        "cause_right_all_pct": share("right", rows),
        "specific_right_pct": share("specific", rows),
        "outcome_right_pct": share("outcome", rows),
        "wrong_direction": sum(row["harmful"] for row in rows),
        "certain_and_wrong": sum(row["overclaim"] for row in rows),
        "useful_advice_complete_pct": share("helped", complete),
        "figures_extracted_pct": round(100 * (told - sum(len(row["lost"]) for row in rows)) / max(1, told), 1),
    }


def state_of(analysis: Analysis) -> dict[str, Any]:
    """What is kept of an analysis to see later changes."""
    verdict = analysis.verdict
    return {
        "cause": verdict.cause,
        "confidence": verdict.confidence,
        "outcome": verdict.outcome,
        "advice": [f"{entry.knob} {entry.direction}" for entry in verdict.advice],
        "findings": [finding.rule for finding in analysis.findings],
    }


def changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """What differs between two states, a line for each report."""
    for name in sorted({*before, *after}):
        old, new = before.get(name, {}), after.get(name, {})
        parts = [f"{key}: {old.get(key)} -> {new.get(key)}" for key in new if old.get(key) != new[key]]
        if parts:
            yield f"{name}: {'; '.join(parts)}"


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--update", action="store_true", help="keep the present verdicts as the committed state")
    ask.add_argument("--list", action="store_true", help="name every report that falls short")
    options = ask.parse_args()
    known: dict[str, Any] = json.loads(STATE.read_text(encoding="utf-8")) if STATE.exists() else {}
    rows, now = [], {}
    for case in cases():
        analysis = analyse_log(case["log"])
        row = judge(case, analysis)
        rows.append(row)
        now[case["id"]] = state_of(analysis)
        if options.list and (short := shortcomings(row)):
            verdict = now[case["id"]]
            print(f"{case['id']}: {verdict['cause']} ({verdict['confidence']}), expected {case['expect']['cause']}; falls short: {short}")
    print("\n".join(changes(known, now)) or "no verdict changed")
    print(json.dumps(figures(rows)))
    if options.update:
        STATE.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
