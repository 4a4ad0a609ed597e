"""What if: changed settings and another amount of free memory, put to the selector and to everything that was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzer.analysis import Expected, WhatIf
from analyzer.cases.model import Run
from analyzer.engines.checks import Check
from analyzer.rulebook.case import Case
from analyzer.rulebook.forecast import Forecast, forecast, unpinned
from analyzer.rulebook.views import used_profile
from analyzer.settings.loading import replaced
from analyzer.settings.model import Profile, Settings
from analyzer.settings.patch import Edit, edit_argument, edit_removal, preview_edits
from analyzer.settings.selection import Selection
from analyzer.settings.yaml_nodes import ScalarValue
from analyzer.units import format_bytes, group_digits
from analyzer.what_if.planned import NOT_OF_THE_START, planned_by
from analyzer.what_if.prediction import check_records, predict, uncomputed
from analyzer.what_if.question import Question, QuestionError, value_of


def answer_from_settings(case: Case, settings: Settings, question: Question) -> WhatIf:
    """Which profile the changed settings choose, with which budget, and whether it starts. Raises QuestionError or SettingsError."""
    free, total = _free(case, question), case.device
    if free is None:
        raise QuestionError("no log tells the free memory: give --free")
    if total is None:
        raise QuestionError("neither log nor receipt tells the total memory: give --total")
    changed = _changed(settings, question.changes)
    found = forecast(case, changed, total.bytes, free)
    least, most = found.spare
    trial = found.selection.trials[-1] if found.profile is not None else None
    run, checks = _checks(case, changed, found)
    used = used_profile(case, run) if run is not None else None
    untold = _beside_the_figures(run, used, changed.profiles[used.name]) if run is not None and used is not None else []
    return WhatIf(
        changes=list(question.changes),
        free=free,
        total=total.bytes,
        profile=found.profile,
        budget=trial.budget if trial is not None else None,
        utilization=found.utilization,
        expected=_expected(found, checks, untold),
        spare_at_least=least,
        spare_at_most=most,
        reasons=[*_selection(found.selection), *_engine(found), *_unpinned(case, changed), *untold],
        checks=check_records(checks),
        checked_by=run.id if run is not None and checks else "",
    )


def _free(case: Case, question: Question) -> int | None:
    if question.free is not None:
        return question.free
    return next((run.choice.free.bytes for run in reversed(case.runs) if run.choice.free is not None), None)


def _changed(settings: Settings, changes: Sequence[str]) -> Settings:
    edits = [_edit(settings, change) for change in changes]
    return replaced(settings, {patch.file: patch.new_text for patch in preview_edits(settings, edits)})


def _edit(settings: Settings, change: str) -> Edit:
    place, equals, written = change.partition("=")
    name, dot, key = place.rpartition(".")
    if not equals or not dot or name not in settings.profiles:
        raise QuestionError(f"--set {change}: expected profile.argument=value, with a profile of {', '.join(settings.profiles)}")
    profile, key = settings.profiles[name], key.replace("-", "_")
    value: ScalarValue = value_of(change, written)
    if value is None:
        if key not in profile.entries:
            raise QuestionError(f"--set {change}: {name} has no {key} to remove")
        return edit_argument(profile, key, None) if profile.inherits(key) else edit_removal(profile, key)
    return edit_argument(profile, key, value)


def _selection(selection: Selection) -> Iterator[str]:
    for trial in selection.trials:
        budget = f"budget {group_digits(trial.budget)} ({trial.binding_term})"
        if trial.requires is None:
            yield f"{trial.profile}: states no requires_free_bytes, so the selector passes it over."
        elif trial.short_by:
            yield f"{trial.profile}: {budget} is {group_digits(trial.short_by)} bytes short of its {group_digits(trial.requires)}."
        else:
            yield f"{trial.profile}: {budget} reaches its {group_digits(trial.requires)}: chosen."
    if selection.winner is None:
        yield "No profile fits."


def _engine(found: Forecast) -> Iterator[str]:
    if found.profile is None:
        return
    if found.utilization is not None:
        yield f"The engine is handed a utilization of {found.utilization:.3f}."
    words = {
        "starts": "The memory suffices",
        "fails": "The memory does not suffice",
        "cannot tell": "Whether the memory suffices is not shown",
    }
    yield f"{words[found.expected]}: {found.why}."
    least, most = found.spare
    if least is not None and most is not None:
        yield f"That leaves {_signed(least)} to {_signed(most)} to spare."
    elif most is not None:
        yield f"That leaves at most {_signed(most)} to spare; no run that passed tells how much less."
    elif least is not None:
        yield f"That leaves at least {_signed(least)} to spare."


def _unpinned(case: Case, changed: Settings) -> Iterator[str]:
    """What a log shows of running without a pin, for each profile from which the question takes it."""
    before = case.settings.profiles if case.settings is not None else {}
    for name, profile in changed.profiles.items():
        if before[name].value("kv_cache_memory_bytes") is None or profile.value("kv_cache_memory_bytes") is not None:
            continue
        found = unpinned(case, profile)
        if found is None:
            yield f"{name} loses its pin: the engine then sizes the KV cache by its own profiling, and no log shows how much that leaves."
        else:
            yield f"{name} loses its pin: {found}, so removing it is {'wrong' if found.refused else 'possible'}."


def _checks(case: Case, changed: Settings, found: Forecast) -> tuple[Run | None, list[Check]]:
    """The checks of the start, by the figures of the last log whose run had the profile that is chosen now, and that run."""
    for run in reversed(case.runs) if found.profile is not None else ():
        used = used_profile(case, run)
        if used is not None and used.name == found.profile:
            more_free = found.free - run.choice.free.bytes if run.choice.free is not None else 0
            return run, predict(run, planned_by(changed.profiles[used.name], used, run, found.utilization, more_free))
    return None, []


def _beside_the_figures(run: Run, before: Profile, after: Profile) -> list[str]:
    """What changed arguments do that no formula computes."""
    keys = sorted(before.arguments.keys() | after.arguments.keys())
    changed = [key for key in keys if key not in NOT_OF_THE_START and before.value(key) != after.value(key)]
    return uncomputed(run, changed)


def _expected(found: Forecast, checks: Sequence[Check], untold: Sequence[str]) -> Expected:
    if found.expected == "starts" and untold:
        return "cannot tell"
    return "fails" if not untold and any(check.outcome == "fails" and check.stops for check in checks) else found.expected


def _signed(amount: int) -> str:
    return f"{group_digits(amount)} bytes ({format_bytes(amount)})"
