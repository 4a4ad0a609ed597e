"""Edits that change what they mean to change, and nothing else."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analyzer.settings import (
    Edit,
    EditError,
    edit_argument,
    edit_removal,
    load_settings,
    parse_settings,
    preview_edit,
    preview_edits,
)
from analyzer.settings.patch import PatchPreview
from analyzer.settings.unified_diff import unified_diff
from analyzer.settings.yaml_document import read_document

GitApply = Callable[[Path, str], None]


def changed_lines(old: str, new: str) -> list[str]:
    """The lines of a diff that are taken out or put in."""
    return [line for line in unified_diff("p", old, new).split("\n")[2:] if line.startswith(("-", "+"))]


def preview(text: str, path: tuple[str, ...], op: Any, value: Any = None, after: str | None = None, name: str = "p.yaml") -> PatchPreview:
    return preview_edit(read_document(name, text), Edit(name, path, op, value, after))


def test_the_repairs_of_the_profiles_as_found(fixtures_dir: Path):
    text = (fixtures_dir / "seeds" / "profiles.as-found.yaml").read_text(encoding="utf-8")
    found = parse_settings({"profiles.yaml": text})
    edits = [
        edit_argument(found.profiles["raw_1010k"], "requires_free_bytes", 33_200_000_000),
        edit_argument(found.profiles["raw_1010k"], "gpu_memory_utilization", 0.99),
        edit_argument(found.profiles["long_393k"], "requires_free_bytes", 25_572_315_586),
        edit_argument(found.profiles["long_262k"], "requires_free_bytes", 23_972_315_586),
        edit_argument(found.profiles["long_262k"], "gpu_memory_utilization", 0.95),
    ]
    (patch,) = preview_edits(found, edits)
    assert changed_lines(text, patch.new_text) == [
        "-    requires_free_bytes: 32_176_640_076",
        "-    gpu_memory_utilization: 0.95",
        "+    requires_free_bytes: 33_200_000_000",
        "+    gpu_memory_utilization: 0.99",
        "-    requires_free_bytes: 24_053_735_802",
        "+    requires_free_bytes: 25_572_315_586",
        "-    requires_free_bytes: 22_378_037_226",
        "+    requires_free_bytes: 23_972_315_586",
        "+    gpu_memory_utilization: 0.95",
    ]
    repaired = load_settings([fixtures_dir / "seeds" / "profiles.repaired.yaml"])
    patched = parse_settings({"profiles.yaml": patch.new_text})
    assert {name: profile.arguments for name, profile in patched.profiles.items()} == {
        name: profile.arguments for name, profile in repaired.profiles.items()
    }


def test_a_preview_tells_where_and_what():
    text = "profiles:\n  a:\n    kv_cache_memory_bytes: 5200000000    # 4.84 GiB\n    max_model_len: 393216  # wide\n"
    found = preview(text, ("profiles", "a", "kv_cache_memory_bytes"), "set", 5_000_000_000)
    assert (found.file, found.line, found.op, found.old, found.new) == ("p.yaml", 3, "set", 5_200_000_000, 5_000_000_000)
    assert found.stale_comment
    assert found.new_text == text.replace("5200000000", "5000000000")
    assert found.diff == (
        "--- a/p.yaml\n+++ b/p.yaml\n@@ -1,4 +1,4 @@\n profiles:\n   a:\n"
        "-    kv_cache_memory_bytes: 5200000000    # 4.84 GiB\n+    kv_cache_memory_bytes: 5000000000    # 4.84 GiB\n"
        "     max_model_len: 393216  # wide\n"
    )
    assert not preview(text, ("profiles", "a", "max_model_len"), "set", 5).stale_comment


@pytest.mark.parametrize(
    ("text", "value", "line"),
    [
        ("a: 24_053_735_802  # low", 25_572_315_586, "a: 25_572_315_586  # low"),
        ("a: 24053735802# low", 5, None),
        ('a: "131072"  # quoted', 65_536, 'a: "65536"  # quoted'),
        ("a: 5.2g # short", 5_000_000_000, "a: 5000000000 # short"),
        ("a: &x 5 # anchored", 6, "a: &x 6 # anchored"),
        ("a: !!int 5", 6, "a: !!int 6"),
        ("a:", 6, "a: 6"),
        ("a:  # nothing yet", 6, "a: 6  # nothing yet"),
        ("a: null", 0.5, "a: 0.5"),
        ("a: 0.95", 0.9, "a: 0.9"),
        ("a: auto", "fp8", "a: fp8"),
        ("a: true", False, "a: false"),
        ("{a: 5, b: 6}", 7, "{a: 7, b: 6}"),
        ("{a: , b: 6}", 7, "{a: 7 , b: 6}"),
        ('{"a":5,"b":6}', 7, '{"a":7,"b":6}'),
        ("a: |\n  text", 5, "a: 5"),
        ("ж: 🎛\na: 5  # 🎛", 6, "ж: 🎛\na: 6  # 🎛"),
    ],
)
def test_setting_replaces_the_value_only(text: str, value: object, line: str | None):
    if line is not None:
        assert preview(text, ("a",), "set", value).new_text == line
        return
    with pytest.raises(EditError):
        preview(text, ("b",), "set", value)


def test_setting_an_alias_writes_the_value_in_its_place():
    assert preview("x: &n 5\na: *n\n", ("a",), "set", 6).new_text == "x: &n 5\na: 6\n"


@pytest.mark.parametrize(
    ("text", "path", "new_text"),
    [
        ("p:\n  b: 1\n", ("p", "a"), "p:\n  b: 1\n  a: 5\n"),
        ("p:\n  b: 1", ("p", "a"), "p:\n  b: 1\n  a: 5"),
        ("p:\n  b: 1  # one\n\n# about q\nq: 2\n", ("p", "a"), "p:\n  b: 1  # one\n  a: 5\n\n# about q\nq: 2\n"),
        ("p:\r\n   b: 1\r\nq: 2\r\n", ("p", "a"), "p:\r\n   b: 1\r\n   a: 5\r\nq: 2\r\n"),
        ("p:\n  b:\n    c: 1 # deep\nq: 2\n", ("p", "a"), "p:\n  b:\n    c: 1 # deep\n  a: 5\nq: 2\n"),
        ("p:\n  b: |\n    text\nq: 2\n", ("p", "a"), "p:\n  b: |\n    text\n  a: 5\nq: 2\n"),
        ("p:\n  b: [1,\n    2]\nq: 2\n", ("p", "a"), "p:\n  b: [1,\n    2]\n  a: 5\nq: 2\n"),
        ("p:\n  b:\n  - 1\nq: 2\n", ("p", "a"), "p:\n  b:\n  - 1\n  a: 5\nq: 2\n"),
        ("p: {b: 1} # flow\n", ("p", "a"), "p: {b: 1, a: 5} # flow\n"),
        ("p: {b: 1,}\n", ("p", "a"), "p: {b: 1, a: 5,}\n"),
        ("p: {\n  b: 1,  # one\n  c: 2   # two\n}\n", ("p", "a"), "p: {\n  b: 1,  # one\n  c: 2,   # two\n  a: 5\n}\n"),
        ("p: {\n  c: 2,  # two\n}\n", ("p", "a"), "p: {\n  c: 2,  # two\n  a: 5,\n}\n"),
        ("p: {}  # empty\n", ("p", "a"), "p: {a: 5}  # empty\n"),
        ("p: &p {}\n", ("p", "a"), "p: &p {a: 5}\n"),
        ("p:  # nothing\nq: 1\n", ("p", "a"), "p: {a: 5}  # nothing\nq: 1\n"),
        ("p: ~\n", ("p", "a"), "p: {a: 5}\n"),
        ("b: 1\n# end\n", ("a",), "b: 1\na: 5\n# end\n"),
        ("\ufeffb: 1\n", ("a",), "\ufeffb: 1\na: 5\n"),
        ("x: &x {b: 1}\np:\n  <<: *x\n", ("p", "a"), "x: &x {b: 1}\np:\n  <<: *x\n  a: 5\n"),
        ("x: &x {a: 1}\np: {<<: *x}\n", ("p", "a"), "x: &x {a: 1}\np: {<<: *x, a: 5}\n"),
    ],
)
def test_adding_puts_the_key_behind_its_last_sibling(text: str, path: tuple[str, ...], new_text: str):
    assert preview(text, path, "add", 5).new_text == new_text


@pytest.mark.parametrize(
    ("text", "new_text"),
    [
        ("b: 1  # one\nc: 2\n", "b: 1  # one\na: 5\nc: 2\n"),
        ("{b: 1, c: 2}", "{b: 1, a: 5, c: 2}"),
        ("{\n  b: 1,  # one\n  c: 2\n}", "{\n  b: 1,  # one\n  a: 5,\n  c: 2\n}"),
    ],
)
def test_adding_behind_a_named_sibling(text: str, new_text: str):
    assert preview(text, ("a",), "add", 5, after="b").new_text == new_text


@pytest.mark.parametrize(
    ("text", "new_text"),
    [
        ('{"p": {}}', '{"p": {"a": 5}}'),
        ('{"p": {"b": 1}}', '{"p": {"b": 1, "a": 5}}'),
        ('{\n\t"p": {\n\t\t"b": 1\n\t}\n}\n', '{\n\t"p": {\n\t\t"b": 1,\n\t\t"a": 5\n\t}\n}\n'),
    ],
)
def test_adding_to_json_gives_json(text: str, new_text: str):
    assert preview(text, ("p", "a"), "add", 5, name="p.json").new_text == new_text


@pytest.mark.parametrize(
    ("text", "new_text"),
    [
        ("b: 1\na: 5  # five\nc: 2\n", "b: 1\nc: 2\n"),
        ("a: 5\nc: 2\n", "c: 2\n"),
        ("\ufeffa: 5\nc: 2\n", "\ufeffc: 2\n"),
        ("b: 1\r\na:\r\n  x: 5\r\n", "b: 1\r\n"),
        ("b: 1\na: 5", "b: 1\n"),
        ("b: 1\na: |\n  text\nc: 2\n", "b: 1\nc: 2\n"),
        ("{b: 1, a: 5, c: 2}", "{b: 1, c: 2}"),
        ("{a: 5, c: 2}", "{c: 2}"),
        ("{b: 1, a: 5}", "{b: 1}"),
        ("{b: 1, a: 5,}", "{b: 1,}"),
        ("{b: {a: 5}, a: 5}", "{b: {a: 5}}"),
        ("{\n  b: 1,  # one\n  a: 5,  # five\n  c: 2\n}", "{\n  b: 1,  # one\n  c: 2\n}"),
        ("{\n  b: 1,  # one\n  a: 5   # five\n}", "{\n  b: 1,  # one\n}"),
        ('{\n  "b": 1,\n  "a": 5\n}', '{\n  "b": 1\n}'),
    ],
)
def test_removing_takes_the_line_or_the_item(text: str, new_text: str):
    assert preview(text, ("a",), "remove").new_text == new_text


def test_removing_the_only_item_of_a_flow_mapping_leaves_an_empty_one():
    assert preview("p: {a: 5}\n", ("p", "a"), "remove").new_text == "p: {}\n"
    assert preview("p: {a: 5,}\n", ("p", "a"), "remove").new_text == "p: {}\n"


def test_a_value_from_a_merged_mapping_is_overridden_in_the_child(fixtures_dir: Path):
    found = load_settings([fixtures_dir / "settings" / "serving_profiles.yaml"])
    edit = edit_argument(found.profiles["long_262k"], "gpu_memory_utilization", 0.9)
    (document,) = found.documents.values()
    for op in (edit, Edit(edit.file, edit.path, "set", 0.9)):
        patch = preview_edit(document, op)
        assert (patch.op, patch.old, patch.new, patch.line) == ("add", 0.95, 0.9, 22)
        assert changed_lines(document.text, patch.new_text) == ["+    gpu_memory_utilization: 0.9"]
        assert patch.new_text.endswith("    max_model_len: 262144\n    gpu_memory_utilization: 0.9\n")


@pytest.mark.parametrize(
    ("text", "path", "op", "message"),
    [
        ("x: &x {a: 1}\nq: {<<: *x}\n", ("x", "a"), "set", "p.yaml:1: x.a: the edit would also change q.a"),
        ("x: &x\n  b: 1\nq: {<<: *x}\n", ("x", "a"), "add", "p.yaml:1: x.a: the edit would also change q.a"),
        ("x: &x {a: 1}\nq: *x\n", ("q", "a"), "set", "p.yaml:2: q: is an alias, *x: others use the same values"),
        ("x: &x {y: {a: 1}}\nq: {<<: *x}\n", ("q", "y", "a"), "set", "p.yaml:2: q.y: is written in a merged mapping only"),
        ("x: &x {a: 1}\nq: {<<: *x}\n", ("q", "a"), "remove", "p.yaml:2: q.a: is written in a merged mapping only"),
        ("x: &x {a: 1}\nq: {<<: *x, a: 2}\n", ("q", "a"), "remove", "p.yaml:2: q.a: would get a value from a merged mapping again"),
        ("b: 1\n", ("a",), "set", "p.yaml:1: a: there is no such key"),
        ("b: 1\n", ("a",), "remove", "p.yaml:1: a: there is no such key"),
        ("b: 1\n", ("b", "a"), "add", "p.yaml:1: b.a: expected a mapping to add to"),
        ("b: 1\n", ("c", "a"), "add", "p.yaml:1: c: there is no such key"),
        ("b: 1\na: 2\n", ("a",), "add", "p.yaml:2: a: is there already: expected a key to add"),
        ("b: 1\na: [2]\n", ("a",), "set", "p.yaml:2: a: expected a single value to replace, found a list or a mapping"),
        ("b:\n  a: 1\n", ("b", "a"), "remove", "p.yaml:2: b.a: is the only key of its mapping, which would be no mapping without it"),
    ],
)
def test_an_edit_that_would_do_something_else_is_refused(text: str, path: tuple[str, ...], op: str, message: str):
    with pytest.raises(EditError) as raised:
        preview(text, path, op, None if op == "remove" else 5)
    assert str(raised.value) == message


def test_removing_an_anchor_that_is_used_is_refused():
    with pytest.raises(EditError, match=r"p.yaml:1: a: the file would not be readable any more: .*\*n stands for nothing"):
        preview("a: &n 5\nb: *n\n", ("a",), "remove")


def test_a_number_that_is_not_short_is_refused():
    with pytest.raises(EditError, match=r"p.yaml:2: b.a: expected a number of at most 6 decimals"):
        preview("b:\n  a: 1\n", ("b", "a"), "set", 1 / 3)


def test_a_sibling_that_is_missing_is_named():
    with pytest.raises(EditError, match=r"p.yaml:1: a: expected a key 'c' to add it behind"):
        preview("b: 1\n", ("a",), "add", 5, after="c")


def test_an_edit_of_another_file_is_refused():
    with pytest.raises(EditError, match=r"q.yaml: expected one of the settings files p.yaml"):
        preview_edits(parse_settings({"p.yaml": "profiles: {a: {}}"}), [Edit("q.yaml", ("a",), "set", 5)])


@pytest.mark.parametrize(
    ("name", "key", "value", "lines"),
    [
        ("vllm-config.yaml", "max_model_len", 65_536, ['-max-model-len: "131072"', '+max-model-len: "65536"']),
        ("vllm-config.yaml", "max_num_batched_tokens", 2048, ["+max-num-batched-tokens: 2048"]),
        (
            "vllm-config.yaml",
            "max_num_seqs",
            32,
            [
                "-max_num_seqs: 64               # underscores are accepted as well",
                "+max_num_seqs: 32               # underscores are accepted as well",
            ],
        ),
        ("sglang-config.yaml", "max_prefill_tokens", 2048, ["+max-prefill-tokens: 2048"]),
        (
            "sglang-config.yaml",
            "mem_fraction_static",
            0.8,
            [
                "-mem-fraction-static: 0.88      # startup failed at 0.7 on H100",
                "+mem-fraction-static: 0.8      # startup failed at 0.7 on H100",
            ],
        ),
        ("triton_model.json", "max_num_seqs", 8, ['-    "enforce_eager": true', '+    "enforce_eager": true,', '+    "max_num_seqs": 8']),
    ],
)
def test_argument_files_keep_their_spelling(fixtures_dir: Path, name: str, key: str, value: object, lines: list[str]):
    found = load_settings([fixtures_dir / "settings" / name])
    (profile,) = found.profiles.values()
    (patch,) = preview_edits(found, [edit_argument(profile, key, value)])  # type: ignore[arg-type]
    assert changed_lines(patch.old_text, patch.new_text) == lines


def test_an_amount_with_a_unit_becomes_a_plain_integer_and_its_comment_is_stale():
    found = parse_settings({"v.yaml": "kv-cache-memory-bytes: 5.2g  # 5 200 000 000 bytes\n"})
    patch = preview_edit(found.documents["v.yaml"], edit_argument(found.profiles["v"], "kv_cache_memory_bytes", 5_000_000_000))
    assert patch.new_text == "kv-cache-memory-bytes: 5000000000  # 5 200 000 000 bytes\n"
    assert (patch.old, patch.stale_comment) == ("5.2g", True)


def test_an_argument_is_removed_under_its_own_spelling():
    found = parse_settings({"v.yaml": "max-model-len: 5\nenforce-eager: true\n"})
    (patch,) = preview_edits(found, [edit_removal(found.profiles["v"], "enforce_eager")])
    assert patch.new_text == "max-model-len: 5\n"


NAMES = ["profiles.yaml", "configs/profiles.yaml", "my profiles.yaml", "профили.yaml", 'odd"name\\.yaml']


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("end_of_line", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["\n", ""])
def test_git_applies_the_diff(tmp_path: Path, fixtures_dir: Path, git_apply: GitApply, name: str, end_of_line: str, last: str):
    text = (fixtures_dir / "seeds" / "profiles.as-found.yaml").read_text(encoding="utf-8").rstrip("\n") + last
    text = text.replace("\n", end_of_line)
    found = parse_settings({name: text})
    edits = [
        edit_argument(found.profiles["long_393k"], "requires_free_bytes", 25_572_315_586),
        edit_argument(found.profiles["long_262k"], "gpu_memory_utilization", 0.95),
        edit_removal(found.profiles["raw_1010k"], "skip_mm_profiling"),
    ]
    (patch,) = preview_edits(found, edits)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    git_apply(tmp_path, patch.diff)
    assert path.read_bytes() == patch.new_text.encode()


def test_git_applies_the_diffs_of_two_files_at_once(tmp_path: Path, git_apply: GitApply):
    found = parse_settings({"p.yaml": "profiles: {a: {max_model_len: 5}}", "q.yaml": "max-model-len: 7\n"})
    edits = [edit_argument(profile, "max_model_len", 8) for profile in found.profiles.values()]
    patches = preview_edits(found, edits)
    for patch in patches:
        (tmp_path / patch.file).write_bytes(patch.old_text.encode())
    git_apply(tmp_path, "".join(patch.diff for patch in patches))
    assert [(tmp_path / patch.file).read_bytes() for patch in patches] == [b"profiles: {a: {max_model_len: 8}}", b"max-model-len: 8\n"]


def test_an_absolute_name_becomes_a_relative_one_in_the_diff():
    assert unified_diff("/srv/p.yaml", "a\n", "b\n").startswith("--- a/srv/p.yaml\n+++ b/srv/p.yaml\n")
    assert not unified_diff("p.yaml", "a\n", "a\n")
