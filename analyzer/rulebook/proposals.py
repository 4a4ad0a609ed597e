"""Proposed changes of settings: what a finding asks for is tried on the settings, judged again, and held against every measured run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from analyzer.analysis import Patch, Proof, Safety
from analyzer.rulebook.case import Case
from analyzer.rulebook.forecast import Forecast, refuted, rung_forecasts, told
from analyzer.rulebook.judge import Change, Judgement, Ruling, judge
from analyzer.rulebook.rulebook import Rulebook
from analyzer.rulebook.views import replayed
from analyzer.settings.errors import SettingsError
from analyzer.settings.loading import replaced
from analyzer.settings.model import Settings
from analyzer.settings.patch import Edit, FilePatch, PatchPreview, edit_argument, edit_removal, preview_edit, preview_edits


@dataclass(frozen=True)
class Proposal:
    """A change, the findings it answers, its edit, and what the rules say of the settings with it."""

    change: Change
    rulings: tuple[Ruling, ...]
    edit: Edit
    patch: Patch


@dataclass(frozen=True)
class _Repair:
    """The changes that one finding asks for. They belong together: it takes all of them to make it vanish."""

    ruling: Ruling
    changes: tuple[tuple[Change, Edit], ...]

    @property
    def edits(self) -> list[Edit]:
        return [edit for _, edit in self.changes]


def propose(rulebook: Rulebook, case: Case, judgement: Judgement) -> list[Proposal]:
    """The changes that the findings ask for, each with its proof.

    A repair is withheld when its finding does not vanish, alone or beside the repairs before it, when a new error appears, or when the
    selector would then still take the profile at an amount of free memory where it was measured to fail.
    """
    if case.settings is None:
        return []
    rules = rulebook.of_settings
    kept: list[_Repair] = []
    for repair in _repairs(judgement):
        if _vanishes(rules, case, judgement, [repair]) and _vanishes(rules, case, judgement, [*kept, repair]):
            kept.append(repair)
    while taken := _still_taken(case, kept):
        kept = [repair for repair in kept if repair not in taken]
    return list(_proposals(case, kept))


def together(settings: Settings, proposals: Sequence[Proposal]) -> list[FilePatch]:
    """All proposed changes at once: for each file its new text and one diff."""
    return preview_edits(settings, [proposal.edit for proposal in proposals if proposal.patch.safety != "display"])


def _repairs(judgement: Judgement) -> Iterator[_Repair]:
    """What each finding asks for, repairs of several changes first: they contain those that would not be enough."""
    found = [_Repair(ruling, tuple((change, _edit(change)) for change in ruling.changes)) for ruling in judgement.rulings if ruling.changes]
    yield from sorted(found, key=lambda repair: -len(repair.changes))


def _edit(change: Change) -> Edit:
    if change.spec.op == "remove":
        return edit_removal(change.profile, change.spec.key)
    return edit_argument(change.profile, change.spec.key, change.value)


def _joined(repairs: Sequence[_Repair]) -> list[Edit] | None:
    """The edits of several repairs, each once; None when two want different things in one place."""
    edits: dict[tuple[object, ...], Edit] = {}
    for edit in (edit for repair in repairs for edit in repair.edits):
        if edits.setdefault((edit.file, edit.path), edit) != edit:
            return None
    return list(edits.values())


def _patched(settings: Settings, edits: Sequence[Edit]) -> Settings | None:
    """The settings with these edits; None when they cannot be made in this file."""
    try:
        return replaced(settings, {patch.file: patch.new_text for patch in preview_edits(settings, edits)})
    except SettingsError:
        return None


def _vanishes(rules: Rulebook, case: Case, before: Judgement, repairs: Sequence[_Repair]) -> bool:
    """Whether the findings of these repairs are gone with them, and no error has come instead."""
    edits = _joined(repairs)
    patched = None if case.settings is None or edits is None else _patched(case.settings, edits)
    if patched is None:
        return False
    after = judge(rules, replace(case, settings=patched)).rulings
    errors = {_key(ruling) for ruling in after if ruling.compiled.rule.severity == "error"}
    new = errors - {_key(ruling) for ruling in before.rulings}
    return not new and not {_key(ruling) for ruling in after} & {_key(repair.ruling) for repair in repairs}


def _key(ruling: Ruling) -> tuple[str, str | None]:
    return ruling.compiled.rule.id, ruling.subject.place


def _still_taken(case: Case, repairs: Sequence[_Repair]) -> list[_Repair]:
    """The repairs of profiles that, with all of them made, the selector still takes where they were measured to fail."""
    edits = _joined(repairs)
    patched = None if case.settings is None or edits is None else _patched(case.settings, edits)
    if patched is None:
        return []
    failing = {found.profile for found in refuted(rung_forecasts(case, patched))}
    return [repair for repair in repairs if any(change.profile.name in failing for change, _ in repair.changes)]


def _proposals(case: Case, kept: Sequence[_Repair]) -> Iterator[Proposal]:
    settings = case.settings
    edits = _joined(kept)
    whole = None if settings is None or edits is None else _patched(settings, edits)
    if settings is None or whole is None:
        return
    outcomes = rung_forecasts(case, whole)
    single = len(edits or ()) == 1
    done: set[tuple[object, ...]] = set()
    for repair in kept:
        for change, edit in repair.changes:
            if (edit.file, edit.path) in done:
                continue
            done.add((edit.file, edit.path))
            rulings = tuple(other.ruling for other in kept if edit in other.edits)
            preview = preview_edit(settings.documents[edit.file], edit)
            after = " ".join(
                [
                    *_gone(case, rulings, whole),
                    *([] if single else _alone(case, settings, change, edit, outcomes)),
                    *_measured(outcomes, "With it" if single else "With all changes together"),
                    *_stale(preview),
                ]
            )
            proof = Proof(holds=True, before=rulings[0].message, after=after)
            yield Proposal(change, rulings, edit, _patch(preview, proof, _safety(change, outcomes)))


def _gone(case: Case, rulings: Sequence[Ruling], patched: Settings) -> Iterator[str]:
    names = " and ".join(dict.fromkeys(ruling.compiled.rule.id for ruling in rulings))
    chosen = replayed(replace(case, settings=patched), case.measured_run)
    yield f"{names} no longer fires and no new error appears" + (
        f"; at the free memory of this log the selector would choose {chosen}." if chosen else "."
    )


def _alone(case: Case, settings: Settings, change: Change, edit: Edit, outcomes: Sequence[Forecast]) -> Iterator[str]:
    """Where this change without the others is not enough: at amounts of free memory where its profile is taken before, or after all."""
    patched = _patched(settings, [edit])
    if patched is None:
        return
    name = change.profile.name
    rows = list(zip(rung_forecasts(case, settings), rung_forecasts(case, patched), outcomes, strict=True))
    failing = [(before, alone, after) for before, alone, after in rows if alone.expected == "fails"]
    found = [
        *[alone for before, alone, _ in failing if before.profile == name][-1:],
        *[alone for _, alone, after in failing if after.profile == name][-1:],
    ]
    if found:
        yield f"Alone it is not enough: {'; '.join(dict.fromkeys(map(told, found)))}."


def _measured(outcomes: Sequence[Forecast], changes: str) -> Iterator[str]:
    """What the patched selector does at each amount of free memory that was measured."""
    wrong, untold = refuted(outcomes), [found for found in outcomes if found.expected == "cannot tell"]
    if wrong:
        yield f"{changes} it still goes wrong: {told(wrong[-1])}."
    elif untold:
        yield f"{changes} no measured run speaks against it, but {told(untold[-1])}."
    elif outcomes:
        yield (
            f"{changes}, at each of the {len(outcomes)} measured amounts of free memory, the selector takes a profile that was measured "
            "to start with no more than that, or none."
        )


def _stale(preview: PatchPreview) -> Iterator[str]:
    if preview.stale_comment:
        yield f"The comment in line {preview.line} states the old value and must be mended by hand."


def _safety(change: Change, outcomes: Sequence[Forecast]) -> Safety:
    """As the rule says, but no more than `review` while a measured amount of free memory is left with a profile that fails there."""
    return "review" if change.spec.safety == "safe" and refuted(outcomes) else change.spec.safety


def _patch(preview: PatchPreview, proof: Proof, safety: Safety) -> Patch:
    return Patch(
        file=preview.file,
        line=preview.line,
        path=list(preview.path),
        op=preview.op,
        old=preview.old,
        new=preview.new,
        safety=safety,
        proof=proof,
        diff=preview.diff,
    )
