"""A question that a log alone answers: the checks of the next start with some of the run's arguments changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from analyzer.analysis import ENGINE_NAMES, Expected, WhatIf
from analyzer.cases.model import Engine, Run
from analyzer.engines.checks import SERVING, Check
from analyzer.figures.known_arguments import TABLES, takes
from analyzer.figures.sglang_figures import least_of
from analyzer.rulebook.case import Case
from analyzer.settings.amounts import Form
from analyzer.settings.arguments import SglangArguments, VllmArguments, expectation, snake_case
from analyzer.what_if.planned import COMPUTED, planned_after
from analyzer.what_if.prediction import check_records, predict, uncomputed
from analyzer.what_if.question import Question, QuestionError, value_of

MODELS: Mapping[Engine, tuple[type[BaseModel], Form]] = {
    "vllm": (VllmArguments, "vllm-arguments"),
    "sglang": (SglangArguments, "sglang-arguments"),
}


def answer_from_log(case: Case, question: Question) -> WhatIf:
    """Each check by the last run that measured anything. Raises QuestionError for a log without one, and for changes it cannot take."""
    run = case.measured_run
    if run is None or run.engine is None:
        raise QuestionError("a what-if needs the log of an engine, or settings: give --config")
    changed = dict(_change(run, change) for change in question.changes)
    free = least_of(run, "free_at_start")
    if question.free is not None and free is None:
        raise QuestionError(f"--free: {run.id} does not tell how much memory was free when it started")
    more_free = question.free - free.bytes if question.free is not None and free is not None else 0
    planned = planned_after(run, changed, more_free)
    checks, untold = predict(run, planned), uncomputed(run, changed)
    nothing = [] if checks else [f"{run.id} has no figures to compute a check from."]
    return WhatIf(
        changes=list(question.changes),
        free=question.free,
        utilization=planned.share,
        expected=_expected(checks, untold),
        reasons=[*nothing, *untold],
        checks=check_records(checks),
        checked_by=run.id if checks else "",
    )


def _expected(checks: Sequence[Check], untold: Sequence[str]) -> Expected:
    if untold:
        return "cannot tell"
    if any(check.outcome == "fails" and check.stops for check in checks):
        return "fails"
    start = [check for check in checks if check.stops and check.name != SERVING]
    return "starts" if start and all(check.outcome == "passes" for check in start) else "cannot tell"


def _change(run: Run, change: str) -> tuple[str, Any]:
    written_name, equals, written = change.partition("=")
    name = snake_case(written_name.strip().lstrip("-"))
    if "." in name:
        raise QuestionError(f"--set {change}: without --config there are no profiles; expected argument=value, e.g. {_example(run)}")
    if not equals or not name:
        raise QuestionError(f"--set {change}: expected argument=value, e.g. {_example(run)}")
    engine = run.engine or "vllm"
    model, form = MODELS[engine]
    if name not in {*model.model_fields, *(row.name for row in TABLES[engine]), *run.args}:
        raise QuestionError(f"--set {change}: no argument that is known here; computed are {', '.join(COMPUTED[engine])}")
    if not takes(run, name):
        raise QuestionError(f"--set {change}: {ENGINE_NAMES[engine]} {run.version_text} does not take {name}")
    value = value_of(change, written)
    try:
        return name, getattr(model.model_validate({name: value}, context=form), name, value)
    except ValidationError as error:
        raise QuestionError(f"--set {change}: {expectation(error)[name]}") from error


def _example(run: Run) -> str:
    return f"{COMPUTED[run.engine or 'vllm'][0]}=0.85"
