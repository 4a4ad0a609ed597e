"""Receipts in files of every shape, and what is none."""

import json
from typing import Any

import pytest

from analyzer.analysis import Analysis, FactRecord, InputRecord, LadderRecord, RankRecord, RunRecord, SizeRecord, Tool, Verdict
from analyzer.cases.receipt_files import Reading, read_receipts
from analyzer.cases.receipts import NotARung, Receipt, ReceiptError
from analyzer.units import Size, parse_size

ONE = {"receipt": 1, "profile": "a", "path": "selected", "free_bytes_at_selection": 10, "outcome": "pass"}
OTHER = ONE | {"profile": "b", "free_bytes_at_selection": 9, "outcome": "fail"}


def read(text: str) -> Reading:
    reading = read_receipts(text, "r.json")
    assert reading is not None
    return reading


def test_the_receipts_of_the_seeds(receipts: list[Receipt]):
    assert len(receipts) == 16
    assert {receipt.weights for receipt in receipts} == {parse_size("16.44 GiB")}
    assert {receipt.total for receipt in receipts} == {Size.exact(34_190_917_632)}
    assert [receipt.utilization_clamped for receipt in receipts if receipt.utilization_clamped] == [0.723, 0.744, 0.766, 0.787]


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        (json.dumps(ONE), ["r.json"]),
        (json.dumps(ONE, indent=1), ["r.json"]),
        (json.dumps([ONE, OTHER]), ["r.json[0]", "r.json[1]"]),
        (f"{json.dumps(ONE)}\n\n{json.dumps(OTHER)}\n", ["r.json", "r.json, line 3"]),
        (f"\n{json.dumps(ONE, indent=1)}\n{json.dumps(OTHER, indent=1)}", ["r.json, line 2", "r.json, line 9"]),
    ],
)
def test_one_receipt_a_list_or_several_in_a_row(text: str, sources: list[str]):
    reading = read(text)
    assert [receipt.source for receipt in reading.receipts] == sources
    assert [receipt.profile for receipt in reading.receipts] == ["a", "b"][: len(sources)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "INFO 07-26 02:11:07 engine started",
        '[profiles] the receipt of this run: {"free_bytes_at_selection": 1}',
        '{"log": "engine started", "stream": "stderr"}\n{"log": "cut li',
        '{"log": "wrote", "receipt": 5}\n{"free_bytes_at_selection": "x"}',
        '{"schema_version": "1", "made by": "somebody else"}',
        "[1, 2]",
        "{}",
    ],
)
def test_anything_else_is_no_receipt(text: str):
    assert read_receipts(text, "r.json") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"receipt": 1, "profile": "a",', "r.json, line 1: expected JSON"),
        (f'{json.dumps(ONE)}\n{{"receipt": 1', "r.json, line 2: expected JSON"),
        (f'{json.dumps(ONE)}\n{{"profile": "a"}}', "r.json, line 2: expected a receipt like the first, found {'profile': 'a'}"),
        (json.dumps([ONE, 5]), "r.json[1]: expected a receipt like the first, found 5"),
        (json.dumps([ONE, OTHER | {"outcome": 1}]), "r.json[1]: outcome: expected 'pass' or 'fail', found 1"),
        ('{"receipt": ' + "[" * 100_000, "r.json: JSON beyond measure"),
        ('{"receipt": ' + "9" * 5_000 + "}", "r.json: JSON beyond measure"),
        ('{"schema_version": "2", "tool": {}, "runs": []}', "r.json: schema_version: expected \"1\", found '2'"),
        ('{"schema_version": "1", "tool": {}, "runs": [{}]}', "r.json: runs.0.id: Field required"),
    ],
)
def test_what_begins_as_receipts_and_goes_wrong_is_an_error(text: str, message: str):
    with pytest.raises(ReceiptError) as caught:
        read_receipts(text, "r.json")
    assert str(caught.value).startswith(message)


def size(text: str) -> dict[str, Any]:
    return SizeRecord.of(parse_size(text)).model_dump()


def output(*, ladder: list[LadderRecord]) -> str:
    """An analysis as this program prints it: one run that failed with its free memory logged, and one without."""
    run = RunRecord(
        id="crash.log#1",
        input="crash.log",
        engine="vllm",
        engine_version="0.24.0",
        outcome="failed",
        phase="warmup",
        args={"kv_cache_memory_bytes": 5_200_000_000, "max_model_len": 393_216},
        profile="long_393k",
        path="selected",
        ranks=[RankRecord(rank="TP0", ledger={"weights": SizeRecord.of(parse_size("16.44 GiB"))})],
    )
    fields = {"profile": "long_393k", "asked": 0.95, "free": size("23.50 GiB"), "total": size("31.84 GiB"), "clamped": 0.723}
    return Analysis(
        tool=Tool(name="vram-postmortem", version="0"),
        inputs=[InputRecord(name="crash.log", bytes=1, lines=1, sha256="0" * 64)],
        verdict=Verdict(outcome="failed", cause="pinned-kv-arena", phase="warmup", confidence="certain", summary="It failed."),
        runs=[run, run.model_copy(update={"id": "crash.log#2"})],
        ladder=ladder,
        facts=[FactRecord(kind="selector_clamp", input="crash.log", line=2, run="crash.log#1", rank=None, fields=fields)],
    ).model_dump_json()


def test_this_programs_own_output_gives_receipts():
    reading = read(output(ladder=[]))
    (receipt,) = reading.receipts
    assert receipt == Receipt(
        source="r.json: crash.log#1",
        profile="long_393k",
        path="selected",
        free=parse_size("23.50 GiB"),
        outcome="fail",
        total=parse_size("31.84 GiB"),
        weights=parse_size("16.44 GiB"),
        arena=Size.exact(5_200_000_000),
        window=393_216,
        utilization_clamped=0.723,
    )
    assert reading.left_out == [NotARung("r.json: crash.log#2", "the free memory that the selector saw is not logged")]


def test_the_ladder_of_an_earlier_output_stands_in_for_profiles_without_runs():
    ladder = [LadderRecord(profile="long_393k", fails_at=[1]), LadderRecord(profile="long_262k", fails_at=[5, 7], passes_at=[9])]
    reading = read(output(ladder=ladder))
    assert [(receipt.profile, receipt.outcome, receipt.free.bytes) for receipt in reading.receipts[1:]] == [
        ("long_262k", "pass", 9),
        ("long_262k", "fail", 5),
        ("long_262k", "fail", 7),
    ]
    assert {receipt.source for receipt in reading.receipts[1:]} == {"r.json: ladder of long_262k"}


def test_receipts_and_outputs_can_follow_one_another():
    assert [receipt.profile for receipt in read(f"{json.dumps(ONE)}\n{output(ladder=[])}").receipts] == ["a", "long_393k"]
