"""Laws of edits, over profiles files of many shapes."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from analyzer.settings import Edit, EditError, Settings, edit_argument, edit_removal, parse_settings, preview_edit
from analyzer.settings.patch import PatchPreview

KEYS = ["requires_free_bytes", "kv_cache_memory_bytes", "max_model_len", "max_num_seqs", "cpu_offload_gb", "unknown_argument"]
COMMENTS = st.sampled_from(["", "  # note", "   # 4.84 GiB: {a: 1}", " # 'quoted' 🎛"])
NUMBERS = st.integers(1, 10**11)


@st.composite
def number_source(draw: st.DrawFn, anchor: str) -> str:
    number = draw(NUMBERS)
    return draw(st.sampled_from([str(number), f"{number:_}", f"&{anchor} {number}"]))


@st.composite
def profile_lines(draw: st.DrawFn, name: str, merged: str | None) -> list[str]:
    """A profile in block or flow style, on one line or on several."""
    entries = [(key, draw(number_source(f"{name}_{key}"))) for key in draw(st.lists(st.sampled_from(KEYS), min_size=1, unique=True))]
    if merged is not None:
        entries.insert(0, ("<<", f"*{merged}"))
    anchor = draw(st.sampled_from(["", f" &{name}"]))
    style = draw(st.sampled_from(["block", "flow", "flow lines"]))
    if style == "flow":
        return [f"  {name}:{anchor} {{{', '.join(f'{key}: {value}' for key, value in entries)}}}{draw(COMMENTS)}"]
    if style == "flow lines":
        last = len(entries) - 1
        commas = ["," if index < last else draw(st.sampled_from(["", ","])) for index in range(len(entries))]
        inner = [f"      {key}: {value}{comma}{draw(COMMENTS)}" for (key, value), comma in zip(entries, commas, strict=True)]
        return [f"  {name}:{anchor} {{", *inner, f"  }}{draw(COMMENTS)}"]
    indent = " " * draw(st.integers(3, 6))
    block = [f"  {name}:{anchor}{draw(COMMENTS)}"]
    for key, value in entries:
        block += draw(st.sampled_from([[], [], [""], [f"{indent}# about {key}"]]))
        block.append(f"{indent}{key}: {value}{draw(COMMENTS)}")
    return block


@st.composite
def profiles_text(draw: st.DrawFn) -> str:
    lines = [*draw(st.sampled_from([[], ["# Профили"], ["", "# top"]])), "profiles:"]
    anchors: list[str] = []
    for name in ("first", "second", "third"):
        merged = draw(st.none() | st.sampled_from(anchors)) if anchors else None
        written = draw(profile_lines(name, merged))
        anchors += [name] if f"&{name} " in f"{written[0]} " else []
        lines += [*written, *draw(st.sampled_from([[], [], ["  # between"], [""]]))]
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) + text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


PROFILES = st.sampled_from(["first", "second", "third"])


def bare(line: str) -> str:
    """A line without what an edit of its neighbour may add to it: commas, spaces, a carriage return."""
    return line.translate({ord(character): None for character in " ,\r"})


def accepted(found: Settings, edit: Edit) -> PatchPreview:
    """The preview of an edit. It may be refused only because others use an anchor in this place."""
    document = found.documents["p.yaml"]
    try:
        return preview_edit(document, edit)
    except EditError as error:
        if "&" not in document.text:
            raise AssertionError(document.text) from error
        reject()


@settings(max_examples=60)
@given(text=profiles_text(), name=PROFILES, key=st.sampled_from(KEYS))
def test_setting_changes_the_characters_of_the_value_only(text: str, name: str, key: str):
    found = parse_settings({"p.yaml": text})
    profile = found.profiles[name]
    entry = profile.entries.get(key)
    assume(entry is not None and not entry.inherited)
    assert entry is not None
    patch = accepted(found, edit_argument(profile, key, 123_456_789))
    span = entry.entry.value.span
    written = "123_456_789" if "_" in text[span.start : span.end] else "123456789"
    assert patch.new_text == text[: span.start] + written + text[span.end :]
    expected = yaml.safe_load(text)
    expected["profiles"][name][key] = 123_456_789
    assert yaml.safe_load(patch.new_text) == expected


@settings(max_examples=60)
@given(text=profiles_text(), name=PROFILES, key=st.sampled_from(KEYS))
def test_adding_changes_one_place_only(text: str, name: str, key: str):
    found = parse_settings({"p.yaml": text})
    entry = found.profiles[name].entries.get(key)
    assume(entry is None or entry.inherited)
    patch = accepted(found, edit_argument(found.profiles[name], key, 123_456_789))
    expected = yaml.safe_load(text)
    expected["profiles"][name][key] = 123_456_789
    assert yaml.safe_load(patch.new_text) == expected
    old, new = text.split("\n"), patch.new_text.split("\n")
    same = next((index for index, (before, after) in enumerate(zip(old, new, strict=False)) if before != after), len(old) - 1)
    rest = len(old) - same - 1
    assert old[:same] == new[:same]
    assert old[len(old) - rest :] == new[len(new) - rest :]
    around = "".join(new[same : len(new) - rest])
    assert bare(around.replace(f"{key}: 123456789", "")) == bare(old[same])


@settings(max_examples=60)
@given(text=profiles_text(), name=PROFILES, key=st.sampled_from(KEYS))
def test_what_was_added_can_be_removed_again(text: str, name: str, key: str):
    found = parse_settings({"p.yaml": text})
    assume(key not in found.profiles[name].entries)
    added = accepted(found, edit_argument(found.profiles[name], key, 123_456_789))
    changed = parse_settings({"p.yaml": added.new_text})
    removed = preview_edit(changed.documents["p.yaml"], edit_removal(changed.profiles[name], key))
    assert yaml.safe_load(removed.new_text) == yaml.safe_load(text)
    assert [bare(line) for line in removed.new_text.rstrip("\n").split("\n")] == [bare(line) for line in text.rstrip("\n").split("\n")]


@settings(max_examples=60)
@given(text=profiles_text(), name=PROFILES, key=st.sampled_from(KEYS))
def test_removing_takes_one_value_away(text: str, name: str, key: str):
    found = parse_settings({"p.yaml": text})
    entry = found.profiles[name].entries.get(key)
    assume(entry is not None and not entry.inherited and len(found.profiles[name].node.entries) > 1)
    patch = accepted(found, edit_removal(found.profiles[name], key))
    expected = yaml.safe_load(text)
    del expected["profiles"][name][key]
    assert yaml.safe_load(patch.new_text) == expected
    old, new = text.split("\n"), patch.new_text.split("\n")
    line = found.profiles[name].line(key) - 1
    before, behind = max(0, line - 1), len(old) - line - 1  # the line before may lose its comma
    assert new[:before] == old[:before]
    assert behind == 0 or new[-behind:] == old[-behind:]
    assert len(old) - len(new) in {0, 1}


@settings(max_examples=10)
@given(text=profiles_text(), name=PROFILES, key=st.sampled_from(KEYS))
def test_git_applies_every_diff(
    tmp_path_factory: pytest.TempPathFactory, git_apply: Callable[[Path, str], None], text: str, name: str, key: str
):
    found = parse_settings({"p.yaml": text})
    patch = accepted(found, edit_argument(found.profiles[name], key, 123_456_789))
    folder = tmp_path_factory.mktemp("repository")
    (folder / "p.yaml").write_bytes(text.encode())
    git_apply(folder, patch.diff)
    assert (folder / "p.yaml").read_bytes() == patch.new_text.encode()
