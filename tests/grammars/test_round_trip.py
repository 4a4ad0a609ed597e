"""Whatever figures a message holds and whatever stands in front of it: they come back as its fields, intervals included.

The templates are the examples of the catalogues and the samples beside them: every figure that became a field is replaced by another
with the same number of digits and decimals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.facts.fact import Fact
from analyzer.grammar import Grammars
from analyzer.units import Size
from tests.grammars import newest_samples, sglang_samples, vllm_samples
from tests.grammars.allocator_samples import ALLOCATOR
from tests.grammars.catalogues import Read
from tests.grammars.conftest import Reader
from tests.grammars.further_samples import FURTHER
from tests.grammars.selector_samples import SELECTOR
from tests.grammars.system_samples import COMMAND, SYSTEM, TRACEBACK

HEADS = {
    "STREAM_QUOTE": "> ",
    "STREAM_COMPOSE": "vllm-1  | ",
    "LINE_CRI": "2025-07-25T07:53:08.21748708+08:00 stdout F ",
    "STREAM_TABLE": "  | ",
    "STREAM_GREP_FILE": "crash.log:",
    "STREAM_GREP_LINE": "17:",
    "LINE_POD": "[pod/vllm-0/server] ",
    "LINE_CLOUD": "INFO 2025-11-19T20:16:36.096674521Z [resource.labels.containerName: vllm] ",
    "LINE_BRACKETED_UTC": "[2026-02-24T20:21:58Z] ",
    "LINE_JOURNAL_ISO": "2026-05-15T07:13:30+0000 node-1 vllm[3988]: ",
    "LINE_UTC": "2026-05-15 07:13:30.817212+00:00",
    "LINE_DMESG": "[26002.108918] ",
    "LINE_JOURNAL": "Jul 26 02:11:07 node-1 vllm[3988]: ",
    "LINE_PROMPT": "user@node-1:~$ ",
    "LINE_TORCH_RANK": "[rank0]: ",
    "LINE_RAY_WORKER": "(RayWorkerWrapper pid=308, ip=10.0.0.1) ",
    "LINE_VLLM_RANKED": "(VllmWorker rank=1 pid=1002) ",
    "LINE_VLLM_PROCESS": "(Worker_TP7_DCP1_EP7 pid=641) ",
    "LINE_VLLM_NUMBERED": "(EngineCore_0 pid=4321) ",
    "LINE_RAY_DAEMON": "(raylet, ip=10.0.0.1) ",
    "LINE_OMNI_STAGE": "[Stage-1] ",
    "LINE_LAUNCHER": "2026-05-08 11:47:02.257 [Error] (Process) ",
    "LINE_VLLM_RECORD": "ERROR 10-24 01:26:57 [core.py:779] ",
    "LINE_VLLM_RECORD_NO_TIME": "[multiproc_executor.py:492] ",
    "LINE_SGLANG": "[2025-07-02 07:41:58 DP0 TP0] ",
    "LINE_SGLANG_SHORT_DATE": "[12-11 17:52:54] ",
    "LINE_SGLANG_GPU": "[gpu_id=0] ",
    "LINE_SGLANG_CUSTOM": "2025-08-28 21:19:34 ERROR 1001 [ DP10 TP10 EP10 scheduler.py:2655] ",
    "LINE_STANDARD": "2026-07-06 23:18:23,723 - WARNING - autotuner.py:1315 - flashinfer.jit: ",
    "LINE_STANDARD_NAMED": "2026-07-06 23:18:23,723 - sglang.srt - ERROR - ",
    "LINE_STANDARD_NUMBERED": "2026-07-06 23:18:23,723 xinference.core 123 ERROR    ",
    "LINE_STANDARD_HYDRA": "[2026-07-06 23:18:23,723][__main__][ERROR] - ",
    "LINE_LOGURU": "2026-07-06 23:18:23.723 | ERROR    | module:function:12 - ",
    "LINE_STANDARD_BARE": "WARNING:2025-11-28 16:00:45,396:",
    "LINE_TRANSFORMERS": "[WARNING|logging.py:329] 2025-03-10 21:43:12,326 >> ",
    "LINE_C10": "[W905 00:28:47.118800213 CUDACachingAllocator.cpp:508] ",
    "LINE_GLOG": "I0325 09:32:23.100996  1001 client_metric.cpp:76] ",
    "LINE_SELECTOR": "[profiles] ",
    "GLUED_RECORD": "50%|##   | 1/2 [00:00<00:00,  1.40it/s](VllmWorkerProcess pid=1002) INFO 04-15 09:13:18 [model_runner.py:1562] ",
    "GLUED_SGLANG": "Capturing: 50%|##   | 1/2 [00:00<00:00,  1.40it/s][2025-07-02 07:41:58 TP0] ",
    "GLUED_STANDARD": "86%|####  | 18/21 [00:00<00:00, 22.78it/s]2026-07-06 23:18:23,723 - WARNING - autotuner.py:1315 - flashinfer.jit: ",
}
FIXED_FIGURES = {"hf_unauthorized"}
"""Kinds that are told by a figure (401, 403), which therefore cannot be another."""
FIGURE = re.compile(r"(?<![\w.])\d+(?:[,_\u00a0\u202f]\d{3})*(?:[.,]\d+)?")
SCALES = (1, *(base**power for base in (1000, 1024) for power in (1, 2, 3, 4)))


@dataclass(frozen=True, repr=False)
class Template:
    """A message without heads, the fields read from it, and where its replaceable figures stand: (begin, end) -> path of the field."""

    kind: str
    text: str
    fields: dict[str, Any]
    places: dict[tuple[int, int], tuple[Any, ...]]


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The numbers and sizes in nested fields, with the way to them."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _leaves(part, (*path, index))
    elif isinstance(value, (int, float, Size)) and not isinstance(value, bool):
        yield path, value


def _number(figure: str) -> Fraction:
    return Fraction(re.sub(r",(?=\d{1,2}$)", ".", re.sub(r"[,_\u00a0\u202f](?=\d{3})", "", figure)))


def _value(leaf: Any) -> Fraction:
    """The number as the message prints it."""
    if isinstance(leaf, Size):
        found = FIGURE.search(leaf.text)
        assert found, leaf
        return _number(found[0])
    return Fraction(str(leaf))


def _scale(size: Size) -> int | None:
    """Bytes of the unit that a size is printed in; None where it is printed in two units, or cut."""
    return next((scale for scale in SCALES if abs(abs(_value(size)) * scale - abs(size.bytes)) <= 1), None)


def _is_scaled(leaf: Any) -> bool:
    return not isinstance(leaf, Size) or _scale(leaf) is not None


def _template(fact: Fact, text: str) -> Template:
    """Only figures that stand once in the text and are one field can be told apart, so only these are replaced."""
    numbers = [(found.span(), _number(found[0])) for found in FIGURE.finditer(text)]
    leaves = list(_leaves(dict(fact.fields)))
    places = {}
    for path, leaf in leaves:
        value = abs(_value(leaf))
        spans = [span for span, number in numbers if number == value]
        if (
            value
            and _is_scaled(leaf)
            and fact.kind not in FIXED_FIGURES
            and len(spans) == 1
            and sum(abs(_value(other)) == value for _, other in leaves) == 1
        ):
            places[spans[0]] = path
    return Template(fact.kind, text, dict(fact.fields), places)


@pytest.fixture(scope="session")
def templates(catalogues: dict[str, Read], read: Reader) -> list[Template]:
    """One for each wording of each kind of message, as far as it stands on one line."""
    texts = [example.text for catalogue in catalogues.values() for example, _ in catalogue]
    texts += [text for text, _, _ in (*ALLOCATOR, *SELECTOR, *TRACEBACK, *COMMAND, *SYSTEM)]
    texts += [sample[0] for sample in vllm_samples.ALL]
    texts += [sample[0] for start in sglang_samples.STARTS.values() for sample in start]
    texts += [sample[0] for sample in (*sglang_samples.START_FAILURES, *sglang_samples.SERVING, *sglang_samples.OMNI)]
    texts += [sample[0] for sample in (*newest_samples.VLLM, *newest_samples.SGLANG)]
    texts += FURTHER
    found: list[Template] = []
    for text in dict.fromkeys(texts):
        facts = read(text)
        lines = {fact.line.number: fact.line.text for fact in facts}
        for fact in facts:
            if fact.last_line != fact.line.number:
                continue
            found.append(_template(fact, lines[fact.line.number]))
    return found


def _refilled(template: Template, digits: str) -> tuple[str, dict[tuple[Any, ...], str]]:
    """The text with other digits in its figures, and the figure of each field."""
    supply = cycle(digits)
    figures = {}
    parts, done = [], 0
    for (begin, end), path in sorted(template.places.items()):
        figure = re.sub(r"\d", lambda _: next(supply), template.text[begin:end])
        figure = re.sub(r"^0(?=\d|[,_\u00a0\u202f]\d{3})", "1", figure)
        figures[path] = figure
        parts += [template.text[done:begin], figure]
        done = end
    return "".join([*parts, template.text[done:]]), figures


def _at(fields: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        fields = fields[step]
    return fields


def _same(figure: str, leaf: Any, before: Any) -> bool:
    """Whether a field holds a figure, in the unit and with the openness the field had before."""
    sign = -1 if (before.bytes if isinstance(before, Size) else before) < 0 else 1
    number = sign * _number(figure)
    if not isinstance(before, Size):
        return type(leaf) is type(before) and Fraction(str(leaf)) == number
    scale = _scale(before)
    assert scale is not None
    half = Fraction(before.high - before.low, 2)
    expected = (number * scale, number * scale - half, number * scale + half)
    return all(abs(got - wanted) <= 1 for got, wanted in zip((leaf.bytes, leaf.low, leaf.high), expected, strict=True))


def test_every_prefix_has_a_head_here(grammars: Grammars) -> None:
    assert HEADS.keys() == grammars.prefixes.keys()


def test_every_message_has_a_template(templates: list[Template], grammars: Grammars) -> None:
    assert sorted(set(grammars.messages) - {template.kind for template in templates}) == []


@given(shift=st.integers(0, len(HEADS) - 1), digits=st.text("0123456789", min_size=97, max_size=97))
@settings(max_examples=10)
def test_figures_come_back(shift: int, digits: str, templates: list[Template], read: Reader) -> None:
    heads = sorted(HEADS.values())
    for number, template in enumerate(templates, start=shift):
        text, figures = _refilled(template, digits)
        whole = heads[number % len(heads)] + text
        fields = [dict(fact.fields) for fact in read(whole) if fact.kind == template.kind]
        assert fields, (template.kind, whole)
        for path, before in _leaves(template.fields):
            after = _at(fields[0], path)
            assert _same(figures[path], after, before) if path in figures else after == before, (template.kind, whole, path, after)
