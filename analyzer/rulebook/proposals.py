"""Proposed changes of settings, each tried on the settings and judged again before it is offered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from analyzer.analysis import Patch, Proof
from analyzer.rulebook.case import Case
from analyzer.rulebook.judge import Change, Judgement, Ruling, judge
from analyzer.rulebook.rulebook import Rulebook
from analyzer.rulebook.views import replayed
from analyzer.settings.errors import SettingsError
from analyzer.settings.loading import replaced
from analyzer.settings.model import Settings
from analyzer.settings.patch import Edit, FilePatch, PatchPreview, edit_argument, edit_removal, preview_edit, preview_edits


@dataclass(frozen=True)
class Proposal:
    """A change, the finding it answers, its edit, and what the rules say of the settings with it."""

    change: Change
    ruling: Ruling
    edit: Edit
    patch: Patch


def propose(rulebook: Rulebook, case: Case, judgement: Judgement) -> list[Proposal]:
    """The changes that the findings ask for. One that does not make its finding vanish, or brings a new error, is withheld."""
    if case.settings is None:
        return []
    proposals: list[Proposal] = []
    taken: set[tuple[object, ...]] = set()
    for ruling in judgement.rulings:
        for change in ruling.changes:
            edit = (
                edit_removal(change.profile, change.spec.key)
                if change.spec.op == "remove"
                else edit_argument(change.profile, change.spec.key, change.value)
            )
            if (edit.file, edit.path) in taken:
                continue
            try:
                preview = preview_edit(case.settings.documents[edit.file], edit)
                patched = replaced(case.settings, {edit.file: preview.new_text})
            except SettingsError:
                continue
            proof = _prove(rulebook, case, judgement, ruling, patched)
            if proof.holds:
                taken.add((edit.file, edit.path))
                proposals.append(Proposal(change, ruling, edit, _patch(change, preview, proof)))
    return proposals


def together(settings: Settings, proposals: Sequence[Proposal]) -> list[FilePatch]:
    """All proposed changes at once: for each file its new text and one diff."""
    return preview_edits(settings, [proposal.edit for proposal in proposals if proposal.patch.safety != "display"])


def _prove(rulebook: Rulebook, case: Case, before: Judgement, ruling: Ruling, patched: Settings) -> Proof:
    patched_case = replace(case, settings=patched)
    after = judge(rulebook, patched_case)
    key = _key(ruling)
    errors_before = {_key(entry) for entry in before.rulings if entry.compiled.rule.severity == "error"}
    new_errors = [entry for entry in after.rulings if entry.compiled.rule.severity == "error" and _key(entry) not in errors_before]
    still_there = any(_key(entry) == key for entry in after.rulings)
    if still_there:
        text = f"{key[0]} still fires"
    elif new_errors:
        text = f"{new_errors[0].compiled.rule.id} fires instead: {new_errors[0].message}"
    else:
        chosen = replayed(patched_case, case.measured_run)
        text = f"{key[0]} no longer fires and no new error appears" + (
            f"; at the free memory of this log the selector would choose {chosen}" if chosen else ""
        )
    return Proof(holds=not still_there and not new_errors, before=ruling.message, after=text)


def _key(ruling: Ruling) -> tuple[str, str | None]:
    profile = ruling.subject.profile if ruling.compiled.rule.for_each == "profile" else None
    return ruling.compiled.rule.id, profile.name if profile is not None else None


def _patch(change: Change, preview: PatchPreview, proof: Proof) -> Patch:
    return Patch(
        file=preview.file,
        line=preview.line,
        path=list(preview.path),
        op=preview.op,
        old=preview.old,
        new=preview.new,
        safety=change.spec.safety,
        proof=proof,
        diff=preview.diff,
    )
