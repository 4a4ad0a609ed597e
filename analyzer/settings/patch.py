"""Patches of settings files: an edit, tried on the text and checked, with the diff that carries it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from analyzer.settings.comments import comment_on, states
from analyzer.settings.errors import EditError, Problem, SettingsError
from analyzer.settings.model import Profile, Settings
from analyzer.settings.notation import write_value
from analyzer.settings.splice import Splice, apply_splice, edit_error, node_at, splice_add, splice_remove, splice_set
from analyzer.settings.unified_diff import unified_diff
from analyzer.settings.yaml_document import read_document
from analyzer.settings.yaml_nodes import (
    NOTHING,
    Document,
    Leaf,
    MappingNode,
    Path,
    ScalarValue,
    effective_entries,
    flatten,
    leaf,
    value_at,
)

Operation: TypeAlias = Literal["set", "add", "remove"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of one file. `path` is in the file's spelling; `after` names the sibling behind which a key is added, if not the last."""

    file: str
    path: Path
    op: Operation
    value: ScalarValue = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class PatchPreview:
    """An edit carried out on the text, not on the disk.

    `old` and `new` are the evaluated values, None where there is none. `line` is the line of the key in the present file, for an
    addition that of the sibling it follows. `stale_comment` tells that the comment in this line states the old value.
    """

    file: str
    line: int
    path: Path
    op: Operation
    old: Any
    new: ScalarValue
    diff: str
    new_text: str
    stale_comment: bool


@dataclass(frozen=True, slots=True)
class FilePatch:
    """All edits of one file together: the text before and after, and one diff."""

    file: str
    old_text: str
    new_text: str
    diff: str


def edit_argument(profile: Profile, key: str, value: ScalarValue) -> Edit:
    """The edit that gives an argument (in snake_case) a value in this profile and in no other.

    A value the profile itself states is set; one that is missing, or comes from a merged mapping, is added to the profile.
    """
    found = profile.entries.get(key)
    own = found is not None and not found.inherited
    return Edit(profile.file, profile.place(key), "set" if own else "add", value)


def edit_removal(profile: Profile, key: str) -> Edit:
    """The edit that takes an argument (in snake_case) out of this profile."""
    return Edit(profile.file, profile.place(key), "remove")


def preview_edit(document: Document, edit: Edit) -> PatchPreview:
    """One edit on the text of its file. Setting a value that comes from a merged mapping adds the key to the mapping at the path.

    Raises EditError when the place does not allow it, and when the result, read again, differs in anything but the value meant.
    """
    op = "add" if edit.op == "set" and _is_inherited(document, edit.path) else edit.op
    splice = _splice(document, edit, op)
    new_text = apply_splice(document.text, splice)
    _check(document, new_text, edit, op)
    return PatchPreview(
        file=edit.file,
        line=document.line(splice.anchor),
        path=edit.path,
        op=op,
        old=value_at(document.root, edit.path),
        new=None if op == "remove" else edit.value,
        diff=unified_diff(edit.file, document.text, new_text),
        new_text=new_text,
        stale_comment=op == "set" and _comment_is_stale(document, splice, value_at(document.root, edit.path)),
    )


def preview_edits(settings: Settings, edits: Sequence[Edit]) -> list[FilePatch]:
    """All edits together: one patch for each file they touch, in the order of the settings. Raises EditError as `preview_edit` does."""
    unknown = [edit.file for edit in edits if edit.file not in settings.documents]
    if unknown:
        raise EditError([Problem(unknown[0], None, "", f"expected one of the settings files {', '.join(settings.files)}")])
    patches = []
    for name, document in settings.documents.items():
        current = document
        for edit in edits:
            if edit.file == name:
                current = read_document(name, preview_edit(current, edit).new_text)
        if current is not document:
            patches.append(FilePatch(name, document.text, current.text, unified_diff(name, document.text, current.text)))
    return patches


def _is_inherited(document: Document, path: Path) -> bool:
    parent = node_at(document, path[:-1])
    return isinstance(parent, MappingNode) and parent.own(str(path[-1])) is None and str(path[-1]) in effective_entries(parent)


def _splice(document: Document, edit: Edit, op: Operation) -> Splice:
    try:
        if op == "set":
            return splice_set(document, edit.path, edit.value)
        if op == "add":
            return splice_add(document, edit.path, edit.value, edit.after)
        return splice_remove(document, edit.path)
    except EditError:
        raise
    except ValueError as error:
        raise edit_error(document, edit.path, str(error)) from error


def _check(document: Document, new_text: str, edit: Edit, op: Operation) -> None:
    """Compares the trees before and after. Anchors are the usual reason for a change somewhere else."""
    try:
        after = flatten(read_document(document.name, new_text).root)
    except SettingsError as error:
        raise edit_error(document, edit.path, f"the file would not be readable any more: {error}") from error
    before = flatten(document.root)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    if before.get(edit.path[:-1]) == NOTHING:
        changed.discard(edit.path[:-1])  # a key without a value has become a mapping
    strays = sorted(".".join(map(str, path)) for path in changed if path[: len(edit.path)] != edit.path)
    if strays:
        raise edit_error(document, edit.path, f"the edit would also change {strays[0]}")
    found = after.get(edit.path)
    if op == "remove" and found is not None:
        raise edit_error(document, edit.path, "would get a value from a merged mapping again")
    if op != "remove" and not _means(found, edit.value, before.get(edit.path)):
        raise edit_error(document, edit.path, f"cannot be written as {edit.value!r} here")


def _means(found: Leaf | None, value: ScalarValue, before: Leaf | None) -> bool:
    """Whether a value read back is the one meant. A number that was quoted before is quoted still, and is read as text."""
    if found == leaf(value):
        return True
    was_text = before is not None and before[0] == "str"
    return was_text and not isinstance(value, str) and found is not None and found[1].replace("_", "") == repr(write_value(value))


def _comment_is_stale(document: Document, splice: Splice, old: Any) -> bool:
    comment = comment_on(document.text[splice.end :].partition("\n")[0])
    return comment is not None and states(comment, old)
