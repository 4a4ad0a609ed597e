"""The catalogues of messages in fixtures/catalogues, and what our grammars make of their examples."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.facts.extract import extract_facts
from analyzer.facts.fact import Fact
from analyzer.grammar import Grammars
from analyzer.inputs.document import Document
from analyzer.units import Size

FOLDER = Path(__file__).resolve().parents[2] / "fixtures/catalogues"
NAMES = ("vllm", "sglang", "allocators")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[,_ ]\d{3})*(?:\.\d+)?")


@dataclass(frozen=True)
class Example:
    """One example of a wording, and how many figures the wording holds."""

    key: str
    text: str
    figures: int


def examples(name: str) -> list[Example]:
    entries = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return [Example(f"{entry['id']}/{entry.get('variant', 1)}", text, entry["fields"]) for entry in entries for text in entry["examples"]]


Read = list[tuple[Example, list[Fact]]]


def facts_of_examples(name: str, grammars: Grammars) -> Read:
    """Each example of a catalogue read as a log of its own."""
    return [
        (example, extract_facts(Document(example.key, example.text.encode(), grammars.prefixes), grammars).facts)
        for example in examples(name)
    ]


def message_of(text: str, grammars: Grammars) -> str:
    """A text without the heads of its lines."""
    document = Document("example", text.encode(), grammars.prefixes)
    return "\n".join(line.text for index in range(document.line_count) for line in document.records(index))


def numbers(value: Any) -> set[float]:
    """Every number in a value, nested ones and those inside texts included."""
    if isinstance(value, bool) or value is None:
        return set()
    if isinstance(value, (int, float)):
        return {float(value)}
    if isinstance(value, Size):
        return numbers(value.text) | {float(value.bytes)}
    if isinstance(value, dict):
        return set().union(*map(numbers, value.values()))
    if isinstance(value, list):
        return set().union(*map(numbers, value))
    return {float(re.sub(r"[,_ ]", "", number)) for number in NUMBER.findall(str(value))}
