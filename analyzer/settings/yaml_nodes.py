"""A YAML document as a tree that remembers where everything stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

ScalarValue: TypeAlias = bool | int | float | str | None
Path: TypeAlias = tuple[str | int, ...]
Style: TypeAlias = Literal["", "'", '"', "|", ">"]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the decoded text: offsets count characters, not bytes. An anchor or tag before a value is outside of it."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """A single value. `text` is its content without quotes, `source` the characters of the file; `style` is "" when it is plain."""

    value: ScalarValue
    text: str
    source: str
    style: Style
    span: Span


@dataclass(frozen=True, slots=True)
class SequenceNode:
    items: tuple[Node, ...]
    flow: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Entry:
    """A key with its value, as written. `merges` marks the key `<<`."""

    key: ScalarNode
    value: Node
    merges: bool


@dataclass(frozen=True, slots=True)
class MappingNode:
    """The entries a mapping itself writes down; `effective_entries` adds what it merges in."""

    entries: tuple[Entry, ...]
    flow: bool
    span: Span

    def own(self, key: str) -> Entry | None:
        """The entry this mapping itself writes for a key."""
        return next((entry for entry in self.entries if entry.key.text == key and not entry.merges), None)


@dataclass(frozen=True, slots=True)
class AliasNode:
    """`*name`, which stands for a value written elsewhere."""

    name: str
    target: Node
    span: Span


Node: TypeAlias = ScalarNode | SequenceNode | MappingNode | AliasNode


@dataclass(frozen=True, slots=True)
class Document:
    """One file: its name as given, its text, and the tree."""

    name: str
    text: str
    root: Node
    line_starts: tuple[int, ...]

    def line(self, offset: int) -> int:
        """The line of a character, from 1, counted by line feeds as editors and diffs do."""
        return bisect_right(self.line_starts, offset)

    def column(self, offset: int) -> int:
        """The column of a character, from 1; a byte order mark takes none."""
        start = self.line_starts[self.line(offset) - 1]
        return offset - start + 1 - self.text.startswith("\ufeff", start)


def resolve(node: Node) -> ScalarNode | SequenceNode | MappingNode:
    """The value itself, behind an alias if need be."""
    while isinstance(node, AliasNode):
        node = node.target
    return node


@dataclass(frozen=True, slots=True)
class EffectiveEntry:
    """An entry that counts after merging; `inherited` when it is written in a merged mapping."""

    entry: Entry
    inherited: bool


def effective_entries(mapping: MappingNode) -> dict[str, EffectiveEntry]:
    """The entries that count after merge keys, by key: own ones win, then earlier merged mappings (as PyYAML 6 does it)."""
    result: dict[str, EffectiveEntry] = {}
    for merged in _merged_mappings(mapping):
        for key, found in effective_entries(merged).items():
            result.setdefault(key, EffectiveEntry(found.entry, True))
    result.update({entry.key.text: EffectiveEntry(entry, False) for entry in mapping.entries if not entry.merges})
    return result


def _merged_mappings(mapping: MappingNode) -> Iterator[MappingNode]:
    for entry in mapping.entries:
        if entry.merges:
            value = resolve(entry.value)
            sources = value.items if isinstance(value, SequenceNode) else (value,)
            yield from (found for found in map(resolve, sources) if isinstance(found, MappingNode))


def plain(node: Node) -> Any:
    """The tree as Python values: None, bool, int, float, str, list, dict with text keys. Merge keys and aliases are carried out."""
    node = resolve(node)
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, SequenceNode):
        return [plain(item) for item in node.items]
    return {key: plain(found.entry.value) for key, found in effective_entries(node).items()}


def value_at(node: Node, path: Path) -> Any:
    """The evaluated value at a path of keys, as `plain` gives it; None when there is none."""
    for step in path:
        node = resolve(node)
        found = effective_entries(node).get(str(step)) if isinstance(node, MappingNode) else None
        if found is None:
            return None
        node = found.entry.value
    return plain(node)


Leaf: TypeAlias = tuple[str, str]


def leaf(value: ScalarValue) -> Leaf:
    """The type and the spelling of a value, which tell 1 from 1.0 and from true, and a NaN equal to itself."""
    return type(value).__name__, repr(value)


NOTHING = leaf(None)


def flatten(node: Node, path: Path = ()) -> dict[Path, Leaf]:
    """What stands at each place of the evaluated tree, for comparing two trees exactly."""
    node = resolve(node)
    if isinstance(node, ScalarNode):
        return {path: leaf(node.value)}
    result: dict[Path, Leaf] = {path: (type(node).__name__, "")}
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            result |= flatten(item, (*path, index))
        return result
    for key, found in effective_entries(node).items():
        result |= flatten(found.entry.value, (*path, key))
    return result
