"""What stands in front of a message is taken off, and what it says about the line is kept."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.inputs.document import Document
from analyzer.inputs.lines import Line, Origin
from analyzer.inputs.peel import Patterns, peel, usable_prefixes, without_colours
from tests.inputs.heads import LAUNCHERS, LAYERS, LOGGERS, SGLANG, TRANSPORT, VLLM

Reader = Callable[[str | bytes], Document]


def only(document: Document) -> Line:
    (line,) = document.records(0)
    return line


@pytest.mark.parametrize(("line", "text", "origin"), [*VLLM, *SGLANG, *LAUNCHERS, *TRANSPORT, *LOGGERS, *LAYERS])
def test_a_head_becomes_the_origin_of_the_line(read: Reader, line: str, text: str, origin: Origin):
    found = only(read(line))
    assert found.text == text
    assert found.origin == origin
    assert found.raw == line


def test_every_head_of_the_grammar_has_an_example(read: Reader, prefixes: Patterns):
    shown = {name for line, _, _ in (*VLLM, *SGLANG, *LAUNCHERS, *TRANSPORT, *LOGGERS) for name in only(read(line)).wrappers}
    assert {name.removeprefix("LINE_").lower() for name in prefixes if name.startswith("LINE_")} == shown


@pytest.mark.parametrize(
    "line",
    [
        "vllm-1     | INFO",
        "> INFO",
        "12: only one line has this",
        "Free memory on device (23.0/31.36 GiB) on startup",
        "(GPU 0; 23.69 GiB total capacity)",
        'INFO:     10.0.0.1:4 - "GET /health HTTP/1.1" 200 OK',
        "[AutoTuner]: Tuning fp8_gemm",
        "[profiles are missing]",
        "(pid=7, name='pt_main_thread', status='sleeping')",
        '  File "/x/y.py", line 3, in z',
        "12:00:00 the engine started",
    ],
)
def test_what_only_looks_like_a_head_stays(read: Reader, line: str):
    found = only(read(f"{line}\n" + "something else\n" * 9))
    assert found.text == line
    assert found.origin == Origin()
    assert found.wrappers == ()


@pytest.mark.parametrize(
    ("head", "origin", "wrapper"),
    [
        ("> ", Origin(), "quote"),
        ("> > ", Origin(), "quote"),
        ("▎ ", Origin(), "quote"),
        ("sglang-1  | ", Origin(host="sglang-1"), "compose"),
        ("> sglang-1  | ", Origin(host="sglang-1"), "compose"),
        ("run/server.log:1376:", Origin(), "grep_line"),
        ("1376:", Origin(), "grep_line"),
        ("1376-", Origin(), "grep_line"),
    ],
)
def test_a_head_like_ordinary_text_counts_where_most_lines_have_it(read: Reader, head: str, origin: Origin, wrapper: str):
    document = read("\n".join(f"{head}Load weight begin. {number}" for number in range(9)) + "\nLoad weight end.")
    (line,) = document.records(3)
    assert (line.text, line.origin) == ("Load weight begin. 3", origin)
    assert wrapper in line.wrappers
    assert wrapper in document.wrappers


def test_a_number_that_no_process_has_is_no_number(read: Reader):
    line = only(read(f"(Worker pid={'9' * 5000}) line"))
    assert (line.text, line.origin.pid) == ("line", None)


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[1;36m(EngineCore_DP0 pid=270)\x1b[0;0m INFO 11-19 12:16:36 [core.py:76] line",
        "(EngineCore_DP0 pid=270) \x1b[32mINFO\x1b[0m \x1b[90m11-19 12:16:36\x1b[0m \x1b[90m[core.py:76]\x1b[0m line",
        "[1;36m(EngineCore_DP0 pid=270)[0;0m INFO 11-19 12:16:36 [core.py:76] line",
        "^[[1;36m(EngineCore_DP0 pid=270)^[[0;0m INFO 11-19 12:16:36 [core.py:76] line",
        "\\u001b[1;36m(EngineCore_DP0 pid=270)\\u001b[0;0m INFO 11-19 12:16:36 [core.py:76] line",
        "#033[1;36m(EngineCore_DP0 pid=270)#033[0;0m INFO 11-19 12:16:36 [core.py:76] line",
        "\x1b]0;vllm serve\x07(EngineCore_DP0 pid=270) INFO 11-19 12:16:36 [core.py:76] line\x1b(B\x1b[m",
    ],
)
def test_colours_are_no_text(read: Reader, text: str):
    line = only(read(text))
    assert line.text == "line"
    assert (line.origin.process, line.origin.rank, line.origin.place) == ("EngineCore", "DP0", "core.py:76")


def test_colours_never_take_a_line_break_with_them():
    assert without_colours("\x1b]an unfinished title\nnext\x07").count("\n") == 1
    assert without_colours("a[90m] is no colour [0m") == "a[90m] is no colour "


# The heads of the catalogues' examples, written down here once more: what is taken off must be one of them, and no part of a message.
HEAD = re.compile(
    r"(?:\((?:[A-Za-z]\w*(?: rank=\d+)? pid=\d+|raylet)\) )?"
    r"(?:(?:INFO|WARNING|ERROR|DEBUG|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[?[\w./]+:\d+\] )?"
    r"|\[(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(?:\.\d+)?(?: [A-Z_]+\d+)*\] "
    r"|\[gpu(?:_id)?=\d\] "
    r"|(?:\[rank\d\]:)?\[[EW]\d+ \d\d:\d\d:\d\d\.\d+ \w+\.\w+:\d+\] (?:Warning: )?"
    r"|\[rank\d\]: "
    r"|\[\d+\.\d+\] "
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ (?:\[[A-Z]+\] [\w.]+: |- [A-Z]+ - \w+\.py:\d+ - [\w.]+: )"
    r"|[A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d \w+ kernel: (?:\[\d+\.\d+\] )?"
)


@pytest.mark.parametrize("catalogue", ["vllm", "sglang", "allocators"])
def test_no_part_of_a_message_is_taken_off(read: Reader, fixtures_dir: Path, catalogue: str):
    entries = json.loads((fixtures_dir / "catalogues" / f"{catalogue}.json").read_text(encoding="utf-8"))
    examples = {line for entry in entries for example in entry["examples"] for line in example.splitlines() if line.strip()}
    assert len(examples) > 100
    for example in examples:
        line = only(read(example))
        assert line.text
        assert HEAD.fullmatch(example.rstrip().removesuffix(line.text)), example


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1)


@given(st.sampled_from([line.removesuffix(text) for line, text, _ in (*VLLM, *SGLANG, *LAUNCHERS, *LOGGERS)]), words, words)
def test_a_head_ends_where_the_message_begins(prefixes: Patterns, head: str, first: str, rest: str):
    message = f"x{first} {rest}"
    usable = usable_prefixes(prefixes, [])
    assert peel(head + message, usable, source="log", number=1).text == message
