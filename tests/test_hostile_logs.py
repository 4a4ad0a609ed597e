"""Whatever a log is made of, it is analysed to an end: cut, shuffled, repeated and absurd lines raise nothing."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer import analyze
from analyzer.content import content_folder
from analyzer.facts.extract import extract_facts
from analyzer.grammar import Grammars, load_grammars
from analyzer.inputs.document import Document
from analyzer.knobs.table import knobs
from analyzer.what_if.planned import planned_after
from analyzer.what_if.prediction import predict
from tests.conftest import ROOT
from tests.runs import runs_of

EXAMPLES = [
    line
    for name in ("vllm", "sglang", "allocators")
    for entry in json.loads((ROOT / "fixtures" / "catalogues" / f"{name}.json").read_text(encoding="utf-8"))
    for example in entry["examples"]
    for line in example.splitlines()
]
ABSURD = (
    "0",
    "-1",
    "1e299",
    "9" * 39,
    "9" * 5000,
    "17179869184.00",
    "NaN",
    "None",
    "[]",
    "{",
    "'",
    '"',
    "GiB",
    "\x00",
    "\x1b[31m",
    "²",
    "\u2028",
)


@st.composite
def spoilt_lines(draw: st.DrawFn) -> str:
    """A line that engines print, some of its words missing, repeated, cut or replaced."""
    words = draw(st.sampled_from(EXAMPLES)).split(" ")
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(words) - 1))
        spoilt = draw(st.sampled_from(["", words[at][: len(words[at]) // 2], " ".join(words[at:]), *ABSURD]))
        words[at] = spoilt if draw(st.booleans()) else f"{words[at]} {spoilt}"
    return " ".join(words)


logs = st.lists(spoilt_lines() | st.text(max_size=40), max_size=12).map("\n".join)


WHOLE = sorted(
    example["log"]
    for file in (ROOT / "fixtures" / "rules").rglob("*.yaml")
    for example in yaml.safe_load(file.read_text(encoding="utf-8"))
    if "log" in example
)
NUMBER = re.compile(r"(?<=[=: (])\d+(?:\.\d+)?")


@st.composite
def absurd_logs(draw: st.DrawFn) -> str:
    """A log whose lines belong together, one or a few of its figures replaced by such as no device has."""
    log: str = draw(st.sampled_from(WHOLE))
    places = [found.span() for found in NUMBER.finditer(log)]
    chosen = draw(st.lists(st.sampled_from(places), min_size=1, max_size=6, unique=True)) if places else []
    for start, end in sorted(chosen, reverse=True):
        log = log[:start] + draw(st.sampled_from(("0", "-1", "0.00", "1e400", "nan", "9" * 20))) + log[end:]
    return log


@pytest.fixture(scope="module")
def grammars(tmp_path_factory: pytest.TempPathFactory) -> Grammars:
    folder = tmp_path_factory.mktemp("grammars")
    for file in content_folder("grammars").glob("*.lark"):
        shutil.copy(file, folder)
    return load_grammars(folder, cache=folder)


@settings(max_examples=200)
@given(logs)
def test_every_log_is_read(grammars: Grammars, log: str):
    document = Document("log", log.encode(errors="replace"), grammars.prefixes)
    extraction = extract_facts(document, grammars)
    assert all(1 <= fact.line.number <= fact.last_line <= len(document.physical_lines) for fact in extraction.facts)


@pytest.mark.slow
@settings(max_examples=40)
@given(logs)
def test_every_log_gets_a_verdict(tmp_path_factory: pytest.TempPathFactory, log: str):
    file = Path(tmp_path_factory.mktemp("log")) / "crash.log"
    file.write_bytes(log.encode(errors="replace"))
    analysis = analyze([file], [ROOT / "fixtures" / "seeds" / "profiles.as-found.yaml"])
    assert json.loads(analysis.model_dump_json())["verdict"]["summary"]


@pytest.mark.slow
@settings(max_examples=400)
@given(absurd_logs())
def test_absurd_figures_get_a_verdict_and_checks(log: str):
    for run in runs_of(log):
        assert all(row.knob for row in knobs(run))
        asked = {"gpu_memory_utilization": 0.5, "mem_fraction_static": 0.5, "max_model_len": 1000, "context_length": 1000}
        assert all(check.why for check in predict(run, planned_after(run, asked, 10**9)))
