"""Reads YAML (and JSON, which is YAML for this purpose) into a tree with positions, constructing no objects of any tag."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, cast

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import ScalarNode as YamlScalar
from yaml.resolver import Resolver

from analyzer.settings.errors import SettingsError
from analyzer.settings.yaml_nodes import (
    AliasNode,
    Document,
    Entry,
    MappingNode,
    Node,
    ScalarNode,
    ScalarValue,
    SequenceNode,
    Span,
    Style,
    resolve,
)

# Settings are written by hand. The limits keep nested aliases ("billion laughs") and deep nesting from exhausting the reader.
MAX_CHARACTERS = 2**18
MAX_DEPTH = 64
MAX_EXPANDED_NODES = 100_000

_TAG = "tag:yaml.org,2002:"
_CONSTRUCTORS = {
    f"{_TAG}null": SafeConstructor.construct_yaml_null,
    f"{_TAG}bool": SafeConstructor.construct_yaml_bool,
    f"{_TAG}int": SafeConstructor.construct_yaml_int,
    f"{_TAG}float": SafeConstructor.construct_yaml_float,
}
# Tags that plain text can resolve to and that stay text here.
_TEXT_TAGS = {f"{_TAG}{name}" for name in ("str", "timestamp", "value", "merge")}


def read_document(name: str, text: str) -> Document:
    """The tree of a file that holds exactly one YAML document.

    Values follow YAML 1.1 as PyYAML reads it: `33_200_000_000` is an integer, `1e9` is text.
    Raises SettingsError, naming the line, for broken YAML, an empty file, a second document, a key given twice,
    tags other than those of plain values, and trees beyond the limits above.
    """
    if len(text) > MAX_CHARACTERS:
        raise SettingsError.at(name, None, f"longer than {MAX_CHARACTERS} characters: not a settings file")
    # JSON may be indented by tabs, YAML may not; one space for one tab keeps all positions.
    readable = text.replace("\t", " ") if name.endswith(".json") else text
    line_starts = (0, *(offset + 1 for offset, character in enumerate(text) if character == "\n"))
    try:
        root = _Reader(name, readable, line_starts).read()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = bisect_right(line_starts, mark.index) if mark else None
        raise SettingsError.at(name, line, f"not valid YAML: {error.problem}") from error
    except yaml.reader.ReaderError as error:
        line = bisect_right(line_starts, error.position)
        raise SettingsError.at(name, line, f"not valid YAML: character U+{ord(text[error.position]):04X} is not allowed") from error
    return Document(name, text, root, line_starts)


class _Reader:
    """Builds the tree from PyYAML's events: unlike its nodes, these still tell where an alias stands."""

    def __init__(self, name: str, text: str, line_starts: tuple[int, ...]) -> None:
        self.name = name
        self.text = text
        self.line_starts = line_starts
        self.events: Iterator[Any] = iter(yaml.parse(text, Loader=yaml.SafeLoader))
        self.resolver = Resolver()
        self.anchors: dict[str, tuple[Node, int]] = {}
        # Where values begin behind their anchor and tag, by where the token ends.
        opening = (yaml.ScalarToken, yaml.FlowMappingStartToken, yaml.FlowSequenceStartToken)
        tokens: Iterator[Any] = yaml.scan(text, Loader=yaml.SafeLoader)
        self.token_starts = {token.end_mark.index: token.start_mark.index for token in tokens if type(token) in opening}

    def read(self) -> Node:
        next(self.events)  # start of the stream
        if isinstance(next(self.events), yaml.StreamEndEvent):
            raise SettingsError.at(self.name, None, "empty: expected `profiles:` or engine arguments")
        root, _ = self.node(next(self.events), 0)
        next(self.events)  # end of the document
        follower = next(self.events)
        if not isinstance(follower, yaml.StreamEndEvent):
            raise self.error(follower.start_mark.index, "a second YAML document: expected one document in the file")
        return root

    def node(self, event: Any, depth: int) -> tuple[Node, int]:
        """The node that an event begins, and how many nodes it stands for when all its aliases are expanded."""
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        if depth > MAX_DEPTH:
            raise self.error(event.start_mark.index, f"nested deeper than {MAX_DEPTH} levels")
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node, size = self.scalar(event), 1
        elif isinstance(event, yaml.SequenceStartEvent):
            node, size = self.sequence(event, depth)
        else:
            node, size = self.mapping(event, depth)
        if size > MAX_EXPANDED_NODES:
            raise self.error(event.start_mark.index, f"stands for more than {MAX_EXPANDED_NODES} values when its aliases are expanded")
        if event.anchor is not None:
            if event.anchor in self.anchors:  # YAML allows it, PyYAML and so the engines do not
                raise self.error(event.start_mark.index, f"the anchor &{event.anchor} is given twice: expected each name once")
            self.anchors[event.anchor] = (node, size)
        return node, size

    def alias(self, event: Any) -> tuple[Node, int]:
        if event.anchor not in self.anchors:
            raise self.error(
                event.start_mark.index, f"*{event.anchor} stands for nothing: expected an anchor &{event.anchor} that ends before it"
            )
        target, size = self.anchors[event.anchor]
        return AliasNode(event.anchor, target, Span(event.start_mark.index, event.end_mark.index)), size

    def scalar(self, event: Any) -> ScalarNode:
        end = event.end_mark.index
        span = Span(self.token_starts.get(end, end), end)
        tag = event.tag
        if tag is None or tag == "!":
            tag = self.resolver.resolve(YamlScalar, event.value, event.implicit)  # type: ignore[no-untyped-call]
        source = self.text[span.start : span.end]
        return ScalarNode(self.value(tag, event), event.value, source, cast("Style", event.style or ""), span)

    def value(self, tag: str, event: Any) -> ScalarValue:
        if tag in _TEXT_TAGS:
            return str(event.value)
        if tag not in _CONSTRUCTORS:
            raise self.error(event.start_mark.index, f"tag {tag!r}: expected a value without a tag")
        try:
            return cast("ScalarValue", _CONSTRUCTORS[tag](SafeConstructor(), YamlScalar(tag, event.value)))
        except (ValueError, LookupError) as error:
            raise self.error(event.start_mark.index, f"{event.value[:40]!r} cannot be read as {tag.removeprefix(_TAG)}") from error

    def sequence(self, event: Any, depth: int) -> tuple[SequenceNode, int]:
        self.refuse_tag(event, "seq")
        items: list[Node] = []
        size = 1
        while not isinstance(follower := next(self.events), yaml.SequenceEndEvent):
            item, item_size = self.node(follower, depth + 1)
            items.append(item)
            size += item_size
        span = self.flow_span(event, follower) if event.flow_style else Span(items[0].span.start, items[-1].span.end)
        return SequenceNode(tuple(items), bool(event.flow_style), span), size

    def mapping(self, event: Any, depth: int) -> tuple[MappingNode, int]:
        self.refuse_tag(event, "map")
        entries: dict[tuple[str, bool], Entry] = {}
        size = 1
        while not isinstance(follower := next(self.events), yaml.MappingEndEvent):
            entry, entry_size = self.entry(follower, depth)
            earlier = entries.setdefault((entry.key.text, entry.merges), entry)
            if earlier is not entry:
                line = self.line(earlier.key.span.start)
                raise self.error(entry.key.span.start, f"given twice: it stands in line {line} already", entry.key.text)
            size += entry_size
        written = tuple(entries.values())
        span = self.flow_span(event, follower) if event.flow_style else Span(written[0].key.span.start, written[-1].value.span.end)
        return MappingNode(written, bool(event.flow_style), span), size

    def entry(self, key_event: Any, depth: int) -> tuple[Entry, int]:
        key, _ = self.node(key_event, depth + 1)
        if not isinstance(key, ScalarNode):
            raise self.error(key_event.start_mark.index, "expected a plain key")
        value, size = self.node(next(self.events), depth + 1)
        merges = key.text == "<<" and not key.style
        if merges:
            self.refuse_bad_merge(value)
        return Entry(key, value, merges), size + 1

    def refuse_bad_merge(self, value: Node) -> None:
        target = resolve(value)
        sources = target.items if isinstance(target, SequenceNode) else (target,)
        if not all(isinstance(resolve(source), MappingNode) for source in sources):
            raise self.error(value.span.start, "expected a mapping, or a list of mappings, to merge in", "<<")

    def refuse_tag(self, event: Any, default: str) -> None:
        if event.tag not in {None, "!", _TAG + default}:
            raise self.error(event.start_mark.index, f"tag {event.tag!r}: expected a value without a tag")

    def flow_span(self, start: Any, end: Any) -> Span:
        return Span(self.token_starts.get(start.end_mark.index, start.start_mark.index), end.end_mark.index)

    def line(self, offset: int) -> int:
        return bisect_right(self.line_starts, offset)

    def error(self, offset: int, message: str, key: str = "") -> SettingsError:
        return SettingsError.at(self.name, self.line(offset), message, key)
