"""What a settings file is: a profiles file, or the argument file of one engine."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.settings.amounts import Form
from analyzer.settings.arguments import SGLANG_ONLY, VLLM_ONLY, snake_case
from analyzer.settings.errors import SettingsError
from analyzer.settings.yaml_nodes import Document, MappingNode, Node, Path, SequenceNode, effective_entries, resolve


@dataclass(frozen=True, slots=True)
class Recognised:
    """A file's form, and the mapping that holds `profiles` or the arguments, with its path."""

    document: Document
    form: Form
    root: MappingNode
    path: Path


def recognise(document: Document) -> Recognised:
    """Tells the form of a file by its keys; the engine of an argument file shows in arguments that only this engine has.

    `profiles` may stand at the top, or below a single key at the top. Raises SettingsError when the file is nothing of the kind.
    """
    root = resolve(document.root)
    if not isinstance(root, MappingNode) or not root.entries:
        line = document.line(root.span.start)
        raise SettingsError.at(document.name, line, f"expected `profiles:` or engine arguments at the top, found {kind(root)}")
    entries = effective_entries(root)
    if "profiles" in entries:
        return Recognised(document, "profiles", root, ())
    if len(root.entries) == 1:
        only = root.entries[0]
        below = resolve(only.value)
        if isinstance(below, MappingNode) and "profiles" in effective_entries(below):
            return Recognised(document, "profiles", below, (only.key.text,))
    written = {snake_case(key): key for key in entries}
    vllm, sglang = (sorted(written[key] for key in known & written.keys()) for known in (VLLM_ONLY, SGLANG_ONLY))
    if vllm and sglang:
        message = f"{vllm[0]} belongs to vLLM and {sglang[0]} to SGLang: expected the arguments of one engine"
        raise SettingsError.at(document.name, document.line(entries[sglang[0]].entry.key.span.start), message)
    if not vllm and not sglang:
        expected = "expected `profiles:`, or arguments of vLLM (gpu-memory-utilization ...) or SGLang (mem-fraction-static ...) at the top"
        raise SettingsError.at(document.name, None, f"not a settings file this program reads: {expected}")
    return Recognised(document, "vllm-arguments" if vllm else "sglang-arguments", root, ())


def kind(node: Node) -> str:
    """What a value is, for messages."""
    node = resolve(node)
    if isinstance(node, SequenceNode):
        return "a list"
    if isinstance(node, MappingNode):
        return "a mapping" if node.entries else "an empty mapping"
    if node.value is None:
        return "nothing"
    return f"the text {node.text[:40]!r}" if isinstance(node.value, str) else node.source
