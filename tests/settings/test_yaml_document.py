"""Reading YAML and JSON with positions."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from analyzer.settings.errors import SettingsError
from analyzer.settings.yaml_document import MAX_CHARACTERS, read_document
from analyzer.settings.yaml_nodes import AliasNode, Document, MappingNode, Node, ScalarNode, effective_entries, plain, resolve, value_at


def scalar(document: Document, *path: str) -> ScalarNode:
    """The single value at a path, behind aliases and merges."""
    node: Node = document.root
    for key in path:
        mapping = resolve(node)
        assert isinstance(mapping, MappingNode)
        node = effective_entries(mapping)[key].entry.value
    found = resolve(node)
    assert isinstance(found, ScalarNode)
    return found


def test_a_value_knows_its_line_its_column_and_how_it_is_written():
    document = read_document("p.yaml", "# видеокарта 🎛\nпрофиль:\n  requires_free_bytes: 33_200_000_000   # с запасом\n")
    value = scalar(document, "профиль", "requires_free_bytes")
    assert (value.value, value.source) == (33_200_000_000, "33_200_000_000")
    assert document.text[value.span.start : value.span.end] == "33_200_000_000"
    assert (document.line(value.span.start), document.column(value.span.start)) == (3, 24)


def test_a_byte_order_mark_takes_no_column():
    document = read_document("p.yaml", "\ufeffa: 1\n")
    value = scalar(document, "a")
    assert (document.line(value.span.start), document.column(value.span.start)) == (1, 4)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("33_200_000_000", 33_200_000_000),
        ("0.95", 0.95),
        (".8", 0.8),
        ("1.0e+9", 1e9),
        ("1e9", "1e9"),
        ("'131072'", "131072"),
        ("true", True),
        ("yes", True),
        ("null", None),
        ("", None),
        ("2026-07-26", "2026-07-26"),
        ("24 GiB", "24 GiB"),
        ("!!int 5", 5),
    ],
)
def test_values_follow_yaml_1_1(written: str, value: object):
    assert plain(read_document("p.yaml", f"key: {written}\n").root) == {"key": value}


@pytest.mark.parametrize(
    ("written", "style", "source"),
    [("5", "", "5"), ("'5'", "'", "'5'"), ('"5"', '"', '"5"'), ("&five 5", "", "5"), ("&five !!int 5", "", "5"), ("&five", "", "")],
)
def test_an_anchor_or_a_tag_is_not_part_of_the_value(written: str, style: str, source: str):
    value = scalar(read_document("p.yaml", f"key: {written}  # comment\n"), "key")
    assert (value.style, value.source) == (style, source)


def test_own_values_win_over_merged_ones_and_earlier_merges_over_later_ones():
    document = read_document("p.yaml", "a: &a {x: 1, y: 1}\nb: &b {x: 2, y: 2, z: 2}\nc:\n  <<: [*a, *b]\n  x: 3\n")
    assert value_at(document.root, ("c",)) == {"x": 3, "y": 1, "z": 2}
    root = document.root
    assert isinstance(root, MappingNode)
    merging = resolve(root.entries[2].value)
    assert isinstance(merging, MappingNode)
    entries = effective_entries(merging)
    assert {key: found.inherited for key, found in entries.items()} == {"x": False, "y": True, "z": True}
    assert document.line(entries["z"].entry.key.span.start) == 2


def test_an_alias_keeps_its_own_place():
    document = read_document("p.yaml", "a: &n 5\nb: *n\n")
    assert isinstance(document.root, MappingNode)
    alias = document.root.entries[1].value
    assert isinstance(alias, AliasNode)
    assert document.text[alias.span.start : alias.span.end] == "*n"
    assert plain(document.root) == {"a": 5, "b": 5}


def test_json_indented_by_tabs_is_read():
    assert plain(read_document("p.json", '{\n\t"a": [1, 2],\n\t"b": {"c": null}\n}\n').root) == {"a": [1, 2], "b": {"c": None}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "p.yaml: empty: expected `profiles:` or engine arguments"),
        ("# only a comment\n", "p.yaml: empty: expected `profiles:` or engine arguments"),
        ("a: 1\nb: [1, 2\nc: 3\n", "p.yaml:3: not valid YAML: expected ',' or ']', but got ':'"),
        ("a: 1\nb:\n\t- 2\n", "p.yaml:3: not valid YAML: found character '\\t' that cannot start any token"),
        ("a: 1\nb: \x07\n", "p.yaml:2: not valid YAML: character U+0007 is not allowed"),
        ("a: 1\nb: 2\na: 3\n", "p.yaml:3: a: given twice: it stands in line 1 already"),
        ("a: 1\n---\nb: 2\n", "p.yaml:2: a second YAML document: expected one document in the file"),
        ("a: !!python/name:os.system\n", "p.yaml:1: tag 'tag:yaml.org,2002:python/name:os.system': expected a value without a tag"),
        ("a: !secret x\n", "p.yaml:1: tag '!secret': expected a value without a tag"),
        ("a: !!set {x}\n", "p.yaml:1: tag 'tag:yaml.org,2002:set': expected a value without a tag"),
        ("a: !!int five\n", "p.yaml:1: 'five' cannot be read as int"),
        ("a: 0x_\n", "p.yaml:1: '0x_' cannot be read as int"),
        ("a: !!bool maybe\n", "p.yaml:1: 'maybe' cannot be read as bool"),
        ("a: *b\n", "p.yaml:1: *b stands for nothing: expected an anchor &b that ends before it"),
        ("a: &a [*a]\n", "p.yaml:1: *a stands for nothing: expected an anchor &a that ends before it"),
        ("a: &a 1\nb: &a 1\n", "p.yaml:2: the anchor &a is given twice: expected each name once"),
        ("a: {<<: 3}\n", "p.yaml:1: <<: expected a mapping, or a list of mappings, to merge in"),
        ("? [a]\n: 3\n", "p.yaml:1: expected a plain key"),
        ("[" * 70 + "]" * 70, "p.yaml:1: nested deeper than 64 levels"),
        ("a" * (MAX_CHARACTERS + 1), f"p.yaml: longer than {MAX_CHARACTERS} characters: not a settings file"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, message: str):
    with pytest.raises(SettingsError) as raised:
        read_document("p.yaml", text)
    assert str(raised.value) == message


def test_aliases_that_multiply_are_refused():
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 9)]
    with pytest.raises(SettingsError, match=r"p.yaml:6: stands for more than 100000 values when its aliases are expanded"):
        read_document("p.yaml", "\n".join(lines))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5).filter(lambda key: key != "<<"), inner, max_size=3),
        max_leaves=12,
    ),
    st.booleans(),
)
def test_agrees_with_pyyaml(value: object, flow: bool):
    text = yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True)
    assert plain(read_document("p.yaml", text).root) == yaml.safe_load(text)
