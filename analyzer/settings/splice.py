"""Edits of a YAML or JSON text as splices: which characters to replace by which, and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzer.settings.errors import EditError, Problem
from analyzer.settings.notation import write_like, write_plain, write_value
from analyzer.settings.yaml_nodes import AliasNode, Document, Entry, MappingNode, Node, Path, ScalarNode, ScalarValue, effective_entries

_END_OF_ITEM = re.compile(r"[ \t]*(,?)[ \t]*(?:#.*)?")
_COMMA = re.compile(r"\s*,")


@dataclass(frozen=True, slots=True)
class Splice:
    """The characters from `start` to `end` become `replacement`. `anchor` is an offset in the line a report should name."""

    start: int
    end: int
    replacement: str
    anchor: int


def apply_splice(text: str, splice: Splice) -> str:
    """The text after one splice."""
    return text[: splice.start] + splice.replacement + text[splice.end :]


def splice_set(document: Document, path: Path, value: ScalarValue) -> Splice:
    """Replaces a single value and only it: its anchor, tag and comment stay. Raises EditError when there is none at this place."""
    entry = _entry_of(document, node_at(document, path[:-1]), path)
    node = entry.value
    if isinstance(node, AliasNode):
        written = write_plain(value)
    elif isinstance(node, ScalarNode):
        written = write_like(value, node)
    else:
        raise edit_error(document, path, "expected a single value to replace, found a list or a mapping")
    return Splice(node.span.start, node.span.end, _after_colon(node, written), entry.key.span.start)


def splice_add(document: Document, path: Path, value: ScalarValue, after: str | None = None) -> Splice:
    """Adds a key behind its last sibling, or behind the one named. Raises EditError when the mapping has the key, or is none."""
    parent = node_at(document, path[:-1])
    if isinstance(parent, ScalarNode) and parent.value is None:
        inside = _item(document, path, value, None)
        return Splice(parent.span.start, parent.span.end, _after_colon(parent, f"{{{inside}}}"), parent.span.start)
    if not isinstance(parent, MappingNode):
        raise edit_error(document, path, "expected a mapping to add to")
    if parent.own(str(path[-1])) is not None:
        raise edit_error(document, path, "is there already: expected a key to add")
    if not parent.entries:
        at = parent.span.start + 1
        return Splice(at, at, _item(document, path, value, None), parent.span.start)
    sibling = parent.entries[-1] if after is None else parent.own(after)
    if sibling is None:
        raise edit_error(document, path, f"expected a key {after!r} to add it behind")
    item = _item(document, path, value, sibling)
    return _add_to_flow(document, sibling, item) if parent.flow else _add_to_block(document, parent, sibling, item)


def splice_remove(document: Document, path: Path) -> Splice:
    """Removes a key with its value: the whole line of a block key, or an item of a flow mapping with its comma."""
    parent = node_at(document, path[:-1])
    entry = _entry_of(document, parent, path)
    if not isinstance(parent, MappingNode):
        raise edit_error(document, path, "expected a key of a mapping")
    if parent.flow:
        return _remove_from_flow(document, parent, entry)
    if len(parent.entries) == 1:
        raise edit_error(document, path, "is the only key of its mapping, which would be no mapping without it")
    if not _begins_line(document, entry):
        raise edit_error(document, path, "expected a key at the beginning of its line")
    start = entry.key.span.start
    return Splice(_line_start(document, start), _next_line(document, entry.value.span.end), "", start)


def edit_error(document: Document, path: Path, message: str) -> EditError:
    """An edit that cannot be made, with the line of the closest thing that is there."""
    node, line = document.root, 1
    for step in path:
        entry = node.own(str(step)) if isinstance(node, MappingNode) else None
        if entry is None:
            break
        node, line = entry.value, document.line(entry.key.span.start)
    return EditError([Problem(document.name, line, ".".join(map(str, path)), message)])


def node_at(document: Document, path: Path) -> Node:
    """What is written at a path. Raises EditError when it is written elsewhere: behind an alias, or in a merged mapping."""
    node = document.root
    for depth in range(1, len(path) + 1):
        node = _entry_of(document, node, path[:depth]).value
        if isinstance(node, AliasNode):
            raise edit_error(document, path[:depth], f"is an alias, *{node.name}: others use the same values")
    return node


def _entry_of(document: Document, parent: Node, path: Path) -> Entry:
    """The entry that a mapping itself writes for the last key of the path."""
    key = str(path[-1])
    entry = parent.own(key) if isinstance(parent, MappingNode) else None
    if entry is None:
        inherited = isinstance(parent, MappingNode) and key in effective_entries(parent)
        raise edit_error(document, path, "is written in a merged mapping only" if inherited else "there is no such key")
    return entry


def _item(document: Document, path: Path, value: ScalarValue, sibling: Entry | None) -> str:
    """`key: value`, in double quotes where the siblings are, as in JSON."""
    key = str(path[-1])
    quoted = sibling.key.style == '"' if sibling else document.name.endswith(".json")
    if quoted:
        return f"{write_value(key)}: {write_value(value)}"
    return f"{write_plain(key)}: {write_plain(value)}"


def _after_colon(node: Node, written: str) -> str:
    """Where a key has no value at all, a space is needed between the colon and the new one."""
    return f" {written}" if node.span.start == node.span.end else written


def _add_to_block(document: Document, parent: MappingNode, sibling: Entry, item: str) -> Splice:
    at = _next_line(document, sibling.value.span.end)
    line = " " * (document.column(parent.entries[0].key.span.start) - 1) + item
    ended = at == 0 or document.text[at - 1] == "\n"
    end_of_line = _end_of_line(document)
    return Splice(at, at, line + end_of_line if ended else end_of_line + line, sibling.key.span.start)


def _add_to_flow(document: Document, sibling: Entry, item: str) -> Splice:
    """On a line of its own where the sibling has one; the comment behind the sibling stays with it."""
    end, key = sibling.value.span.end, sibling.key.span.start
    line_end = _next_line(document, end) - len(_end_of_line(document))
    tail = _END_OF_ITEM.fullmatch(document.text, end, max(end, line_end))
    if not _begins_line(document, sibling) or tail is None:
        return Splice(end, end, f", {item}", key)
    indented = _end_of_line(document) + document.text[_line_start(document, key) : key] + item
    if tail[1]:
        return Splice(line_end, line_end, f"{indented},", key)
    return Splice(end, line_end, f",{tail[0]}{indented}", key)


def _remove_from_flow(document: Document, parent: MappingNode, entry: Entry) -> Splice:
    index = parent.entries.index(entry)
    start, end = entry.key.span.start, entry.value.span.end
    line_end = _next_line(document, end)
    tail = _END_OF_ITEM.fullmatch(document.text, end, max(end, line_end - len(_end_of_line(document))))
    has_lines = _begins_line(document, entry) and tail is not None
    is_last = index == len(parent.entries) - 1
    if has_lines and tail is not None and tail[1]:
        return Splice(_line_start(document, start), line_end, "", start)
    if not is_last:
        return Splice(start, parent.entries[index + 1].key.span.start, "", start)
    if index == 0:
        trailing_comma = _COMMA.match(document.text, end)
        return Splice(start, trailing_comma.end() if trailing_comma else end, "", start)
    before = parent.entries[index - 1].value.span.end
    if "#" in document.text[before:start] and has_lines:  # a comma before `}` is fine in YAML, and JSON has no comments
        return Splice(_line_start(document, start), line_end, "", start)
    return Splice(before, end, "", start)


def _begins_line(document: Document, entry: Entry) -> bool:
    return not document.text[_line_start(document, entry.key.span.start) : entry.key.span.start].strip(" \t")


def _line_start(document: Document, offset: int) -> int:
    """The start of the line, behind a byte order mark."""
    start = document.line_starts[document.line(offset) - 1]
    return start + document.text.startswith("\ufeff", start)


def _next_line(document: Document, offset: int) -> int:
    """The start of the line after a value that ends here; a block text ends at the start of a line already."""
    if offset and document.text[offset - 1] == "\n":
        return offset
    line_feed = document.text.find("\n", offset)
    return len(document.text) if line_feed < 0 else line_feed + 1


def _end_of_line(document: Document) -> str:
    """The line ending of the file, as its first line has it."""
    first = document.text.find("\n")
    return "\r\n" if first > 0 and document.text[first - 1] == "\r" else "\n"
