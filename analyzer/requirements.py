"""`--require`: conditions on the result, in the language of the rules."""

from __future__ import annotations

from analyzer.pipeline import Result
from analyzer.rulebook.expressions import Missing, NameProblem, View, check_template, compile_expression, environment
from analyzer.rulebook.views import case_view, rank_view, run_view, selection_view, worst_rank
from analyzer.rulebook.vocabulary import SCOPES
from analyzer.units import CannotTell

VERDICT_NAMES = frozenset({"cause", "confidence", "outcome", "phase"})


class RequirementError(ValueError):
    """A condition that is not an expression over known names."""


def holds(expression: str, result: Result) -> bool:
    """Whether a condition such as `verdict.outcome == 'served' and rank.free_after_load > 1e9` is true of the result.

    What the log does not tell, or leaves open, is not true. Raises RequirementError for unknown names.
    """
    run = result.case.measured_run
    rank = worst_rank(run) if run is not None and run.ranks else None
    verdict = result.analysis.verdict
    scopes = {
        "case": case_view(result.case, run),
        "rank": rank_view(run, rank),
        "run": run_view(run),
        "selection": selection_view(result.case, run),
        "verdict": View("verdict", {name: getattr(verdict, name) for name in VERDICT_NAMES}),
    }
    vocabulary = {scope: VERDICT_NAMES if scope == "verdict" else frozenset(SCOPES[scope]) for scope in scopes}
    env = environment()
    try:
        check_template(env, f"{{{{ {expression} }}}}", vocabulary)
    except NameProblem as problem:
        raise RequirementError(f"--require {expression!r}: {problem}") from problem
    try:
        return bool(compile_expression(env, expression)(scopes))
    except (Missing, CannotTell):
        return False
