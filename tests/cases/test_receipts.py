"""Receipts from JSON keys and from logs."""

from dataclasses import replace
from typing import Any

import pytest

from analyzer.analysis import Outcome
from analyzer.cases.model import Choice, Item, Rank, Run
from analyzer.cases.receipts import NotARung, Receipt, ReceiptError, is_receipt, parse_receipt, receipt_from_run
from analyzer.units import GIB, Size, parse_size

RECEIPT = {
    "receipt": 1,
    "profile": "long_393k",
    "path": "selected",
    "gpu": "RTX 5090",
    "total_bytes": 34_190_917_632,
    "free_bytes_at_selection": 25_971_589_120,
    "weights_gib": 16.44,
    "kv_cache_memory_bytes": 5_200_000_000,
    "window": 393_216,
    "outcome": "pass",
    "gpu_memory_utilization_clamped": 0.744,
    "free_bytes_after_load": 1_169_948_672,
    "load_seconds": 73.7,
    "log": "Application startup complete.",
}


def test_all_keys_are_read():
    receipt = parse_receipt(RECEIPT, "a.json")
    assert (receipt.source, receipt.profile, receipt.path, receipt.outcome) == ("a.json", "long_393k", "selected", "pass")
    assert (receipt.free, receipt.total) == (Size.exact(25_971_589_120), Size.exact(34_190_917_632))
    assert (receipt.arena, receipt.free_after_load) == (Size.exact(5_200_000_000), Size.exact(1_169_948_672))
    assert (receipt.window, receipt.utilization_clamped, receipt.load_seconds) == (393_216, 0.744, 73.7)
    assert receipt.log == "Application startup complete."
    assert receipt.other == {"gpu": "RTX 5090"}


@pytest.mark.parametrize(
    ("printed", "low", "high"), [(16.44, 16.435, 16.445), (16.4, 16.395, 16.405), (16, 15.995, 16.005), (16.4412, 16.44115, 16.44125)]
)
def test_the_decimals_of_the_weights_leave_an_interval_open(printed: float, low: float, high: float):
    weights = parse_receipt(RECEIPT | {"weights_gib": printed}, "a.json").weights
    assert weights is not None
    assert weights.low == pytest.approx(low * GIB, abs=1)
    assert weights.high == pytest.approx(high * GIB, abs=1)


def test_what_a_receipt_does_not_say_is_not_known():
    receipt = parse_receipt({"profile": "p", "free_bytes_at_selection": 1, "outcome": "fail", "total_bytes": None}, "a.json")
    assert receipt == Receipt("a.json", "p", "unknown", Size.exact(1), "fail")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"free_bytes_at_selection": "25 GB"}, "a.json: free_bytes_at_selection: expected a valid integer, found '25 GB'"),
        ({"free_bytes_at_selection": 25.5e9}, "a.json: free_bytes_at_selection: expected a valid integer, found 25500000000.0"),
        ({"free_bytes_at_selection": True}, "a.json: free_bytes_at_selection: expected a valid integer, found True"),
        ({"free_bytes_at_selection": -1}, "a.json: free_bytes_at_selection: expected greater than or equal to 0, found -1"),
        ({"free_bytes_at_selection": 40 * 10**9}, "a.json: free_bytes_at_selection: expected at most total_bytes, 34190917632"),
        ({"total_bytes": 10**30}, "a.json: total_bytes: expected less than or equal to 1152921504606846976"),
        ({"outcome": "passed"}, "a.json: outcome: expected 'pass' or 'fail', found 'passed'"),
        ({"path": "by hand"}, "a.json: path: expected 'selected', 'forced', 'flags' or 'unknown', found 'by hand'"),
        ({"profile": ""}, "a.json: profile: "),
        ({"weights_gib": float("nan")}, "a.json: weights_gib: "),
        ({"weights_gib": "16.44"}, "a.json: weights_gib: expected a valid number, found '16.44'"),
        ({"gpu_memory_utilization_clamped": 72.3}, "a.json: gpu_memory_utilization_clamped: expected less than or equal to 1"),
        ({"receipt": 2}, "a.json: receipt: expected 1, found 2"),
        ({"log": ["a"]}, "a.json: log: expected a valid string"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_file_and_key(changes: dict[str, Any], message: str):
    with pytest.raises(ReceiptError) as caught:
        parse_receipt(RECEIPT | changes, "a.json")
    assert str(caught.value).startswith(message)


def test_every_missing_key_is_named():
    with pytest.raises(ReceiptError, match=r"a.json: profile: expected, but missing; a.json: outcome: expected, but missing"):
        parse_receipt({"free_bytes_at_selection": 1}, "a.json")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (RECEIPT, True),
        ({"free_bytes_at_selection": "wrong"}, True),
        ({"receipt": 1, "profile": "p"}, True),
        ({"receipt": {"shop": "corner"}}, False),
        ({"profile": "p", "outcome": "pass"}, False),
        ([RECEIPT], False),
        ("free_bytes_at_selection", False),
        (None, False),
    ],
)
def test_what_is_meant_as_a_receipt(data: object, expected: bool):
    assert is_receipt(data) is expected


def sized(text: str) -> Item:
    return Item(parse_size(text), "measured", "log")


LOGGED = Run(
    id="crash.log#1",
    source="crash.log",
    engine="vllm",
    version_text="0.24.0",
    args={"kv_cache_memory_bytes": 5_200_000_000, "max_model_len": 393_216},
    choice=Choice(
        profile="long_393k", path="selected", free=parse_size("23.50 GiB"), total=parse_size("31.84 GiB"), utilization_clamped=0.723
    ),
    ranks=(Rank("TP0", 4021, None, {"weights": sized("16.44 GiB"), "kv_pinned": sized("4.84 GiB")}),),
    events=(),
)


@pytest.mark.parametrize(("outcome", "ending"), [("served", "pass"), ("failed", "fail")])
def test_a_logged_run_is_a_receipt_with_what_its_decimals_leave_open(outcome: Outcome, ending: str):
    receipt = receipt_from_run(LOGGED, outcome)
    assert isinstance(receipt, Receipt)
    assert (receipt.source, receipt.profile, receipt.path, receipt.outcome) == ("crash.log#1", "long_393k", "selected", ending)
    assert receipt.free.low <= 25_229_197_312 <= receipt.free.high
    assert receipt.free.high - receipt.free.low == pytest.approx(0.01 * GIB, abs=2)
    assert receipt.total is not None
    assert receipt.total.may_equal(34_190_917_632)
    assert (receipt.arena, receipt.weights) == (Size.exact(5_200_000_000), parse_size("16.44 GiB"))
    assert (receipt.window, receipt.utilization_clamped) == (393_216, 0.723)


def test_without_its_argument_the_arena_is_as_the_engine_printed_it():
    receipt = receipt_from_run(replace(LOGGED, args={}, outcome="served"))
    assert isinstance(receipt, Receipt)
    assert receipt.arena == parse_size("4.84 GiB")


def test_of_several_ranks_the_heaviest_counts():
    ranks = (*LOGGED.ranks, Rank("TP1", 4022, None, {"weights": sized("16.50 GiB")}), Rank("TP2", 4023, None, {}))
    receipt = receipt_from_run(replace(LOGGED, ranks=ranks), "failed")
    assert isinstance(receipt, Receipt)
    assert receipt.weights == parse_size("16.50 GiB")


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (LOGGED, "it neither served nor failed (outcome unknown)"),
        (replace(LOGGED, outcome="degraded"), "it neither served nor failed (outcome degraded)"),
        (
            replace(LOGGED, outcome="served", choice=Choice(profile="long_262k", path="forced")),
            "the free memory that the selector saw is not logged",
        ),
        (replace(LOGGED, outcome="served", choice=Choice()), "it does not say which profile it ran"),
    ],
)
def test_a_run_that_cannot_stand_on_a_ladder_says_why(run: Run, reason: str):
    assert receipt_from_run(run) == NotARung("crash.log#1", reason)
