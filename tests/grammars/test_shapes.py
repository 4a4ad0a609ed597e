"""Whatever figures the messages of all catalogues hold: read by their shapes, repeated lines give what parsing gives."""

from __future__ import annotations

import re
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.facts.extract import Extraction, extract_facts
from analyzer.facts.shapes import Shapes
from analyzer.grammar import Grammars
from analyzer.inputs.document import Document
from tests.grammars.catalogues import NAMES, examples

SINGLE_LINES = sorted({example.text for name in NAMES for example in examples(name) if "\n" not in example.text})
BETWEEN = (
    "",
    "Process 7 has 3.00 GiB memory in use.",
    'INFO:     10.0.0.2:6 - "POST /v1/completions HTTP/1.1" 200 OK',
    "and 5.00 GiB is reserved",
)
DIGITS = st.one_of(st.integers(0, 10**7).map(str), st.from_regex(r"[0-9]{1,3}(,[0-9]{3})?", fullmatch=True))


@st.composite
def logs(draw: st.DrawFn) -> str:
    """Some messages over and over, each time with other digits, and other lines between them."""
    texts = draw(st.lists(st.sampled_from(SINGLE_LINES), min_size=1, max_size=3))
    lines = []
    for _ in range(draw(st.integers(3, 5))):
        for text in texts:
            lines.append(re.sub(r"(?<=[ =:(])\d+(?=[ .,):%]|$)", lambda _: draw(DIGITS), text) if draw(st.booleans()) else text)
            lines += draw(st.sampled_from([[], *([line] for line in BETWEEN)]))
    return "\n".join(lines)


@settings(max_examples=60)
@given(text=logs())
def test_shapes_change_nothing(text: str, grammars: Grammars):
    with patch.object(Shapes, "find", return_value=None):
        parsed = _facts(text, grammars)
    assert _facts(text, grammars) == parsed


def _facts(text: str, grammars: Grammars) -> Extraction:
    return extract_facts(Document("log", text.encode(), grammars.prefixes), grammars)


def test_every_example_can_be_repeated(grammars: Grammars):
    text = "\n".join(line for line in SINGLE_LINES for _ in range(4))
    with patch.object(Shapes, "find", return_value=None):
        parsed = _facts(text, grammars)
    assert _facts(text, grammars) == parsed
