"""Bytes become numbered lines, whatever the encoding, the line ends and the terminal left in them."""

from collections.abc import Callable

import pytest

from analyzer.inputs.document import Document

Reader = Callable[[str | bytes], Document]

TEXT = "INFO 11-19 12:16:36 [core.py:76] Инициализация\nAvailable KV cache memory: 11.76 GiB\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        "\ufeff".encode("utf-16-be") + TEXT.encode("utf-16-be"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r\n").encode("utf-16"),
        TEXT.replace("memory", "\x1b[31mmemory\x1b[0m").encode(),
    ],
    ids=["utf-8", "byte order mark", "utf-16 little", "utf-16 big", "crlf", "utf-16 crlf", "colours"],
)
def test_the_same_lines_come_out(read: Reader, data: bytes):
    document = read(data)
    assert document.physical_lines == [*TEXT.splitlines(), ""]
    assert document.line_count == 2
    assert [line.text for index in range(2) for line in document.records(index)] == [
        "Инициализация",
        "Available KV cache memory: 11.76 GiB",
    ]


@pytest.mark.parametrize(("text", "count"), [("", 0), ("\n", 1), ("one", 1), ("one\n", 1), ("one\ntwo", 2), ("one\r\ntwo\r\n", 2)])
def test_lines_are_counted_as_editors_do(read: Reader, text: str, count: int):
    assert read(text).line_count == count


def test_broken_bytes_do_not_stop_the_reading(read: Reader):
    document = read(b"caf\xe9 Available KV cache memory: 11.76 GiB\n\xff\xff\nlast")
    assert document.line_count == 3
    assert document.records(0)[0].text == "caf\ufffd Available KV cache memory: 11.76 GiB"


def test_a_line_keeps_its_number_and_its_source(read: Reader):
    document = read("\n\n[12:00:00 TP0] third\n")
    assert document.records(0) == []
    (line,) = document.records(2)
    assert (line.source, line.number, line.raw) == ("log", 3, "[12:00:00 TP0] third")


def test_other_line_breaks_of_unicode_are_text(read: Reader):
    assert read("one\x0b\x0c\u2028\u0085still one\ntwo").line_count == 2


def test_redraws_of_a_progress_bar_are_records_of_one_line(read: Reader):
    document = read("Capturing batches (bs=8 avail_mem=6.10 GB):  50%\rCapturing batches (bs=1 avail_mem=5.94 GB): 100%\nnext")
    assert [line.text for line in document.records(0)] == [
        "Capturing batches (bs=8 avail_mem=6.10 GB):  50%",
        "Capturing batches (bs=1 avail_mem=5.94 GB): 100%",
    ]
    assert document.records(0)[1].number == 1
    assert document.records(1)[0].text == "next"


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        (
            "Loading shards: 100% Completed | 4/4 [00:04<00:00]INFO 11-19 12:16:36 [core.py:76] Loading weights took 4.1 seconds",
            ["Loading shards: 100% Completed | 4/4 [00:04<00:00]", "Loading weights took 4.1 seconds"],
        ),
        (
            "100%|###| 23/23 [00:05<00:00,  4.01it/s](EngineCore_DP0 pid=7) INFO 11-19 12:16:36 [core.py:76] captured",
            ["100%|###| 23/23 [00:05<00:00,  4.01it/s]", "captured"],
        ),
        (
            "100%|###| 23/23 [00:05<00:00,  4.01it/s][2025-05-01 12:00:00 TP0] Capture cuda graph end.",
            ["100%|###| 23/23 [00:05<00:00,  4.01it/s]", "Capture cuda graph end."],
        ),
        (
            "Tuning: 86%|### | 18/212026-07-26 03:12:44,810 - WARNING - autotuner.py:512 - flashinfer.jit: OOM detected",
            ["Tuning: 86%|### | 18/21", "OOM detected"],
        ),
        (
            "INFO 11-19 12:16:36 [core.py:76] one INFO 11-19 12:16:37 [core.py:77] two",
            ["one", "two"],
        ),
    ],
)
def test_records_glued_into_one_line_come_apart(read: Reader, line: str, texts: list[str]):
    assert [record.text for record in read(line).records(0)] == texts


@pytest.mark.parametrize(
    "line",
    [
        "(Worker pid=9) (Worker_TP0 pid=9) INFO 11-19 12:16:36 [core.py:76] one",
        "(SGLangEngine pid=12)  [2025-05-01 12:00:00 TP0] one",
        "2025-07-25T07:53:08.2+08:00 stdout F [2025-07-25 07:53:08 TP2] one",
        "2026-11-19T12:16:36.09662Z (EngineCore pid=9) INFO 11-19 12:16:36 [core.py:76] one",
        "vllm-1  | INFO 11-19 12:16:36 [core.py:76] one",
    ],
)
def test_heads_one_after_the_other_are_not_glued_records(read: Reader, line: str):
    (record,) = read(f"{line}\n{line}").records(0)
    assert record.text == "one"


def test_the_lines_that_follow_are_those_of_the_same_process(read: Reader):
    document = read(
        "(Worker_TP0 pid=1) first\n(Worker_TP1 pid=2) other\n(Worker_TP0 pid=1) second\nwithout a head\n(Worker_TP0 pid=1) too far away"
    )
    (first,) = document.records(0)
    assert [line.text for line in document.following(0, first, limit=3)] == ["second", "without a head"]


def test_wrappers_are_named_by_how_often_they_stand_there(read: Reader):
    document = read("[12:00:00 TP0] one\n[rank0]: two\n[12:00:00 TP0] three")
    assert document.wrappers == ["sglang", "torch_rank"]
    assert read("plain").wrappers == []


def test_the_fingerprint_is_that_of_the_bytes(read: Reader):
    assert read(b"").sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert read(b"\xef\xbb\xbf").sha256 != read(b"").sha256


@pytest.mark.parametrize("outer", ["", "vllm-1  | ", "2025-11-19T20:16:36.096674521Z "], ids=["bare", "compose", "kubectl"])
def test_what_follows_a_line_of_a_process(read: Reader, outer: str):
    lines = [
        "(EngineCore pid=316) To serve at least one request, (4.26 GiB KV cach",
        "e is needed",
        "(APIServer pid=1) INFO",
        "(EngineCore pid=316) next",
    ]
    document = read("\n".join(outer + line for line in lines))
    (first,) = document.records(0)
    assert [line.text for line in document.following(0, first, 60)] == ["e is needed", "next"]
