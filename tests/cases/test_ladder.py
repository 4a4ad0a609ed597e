"""Ladders: what runs at several amounts of free memory say about a threshold, and which of them say nothing."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cases.ladder import Bracket, Ladder, OverheadBounds, Rung, build_ladders, to_record
from analyzer.cases.receipts import Ending, Receipt
from analyzer.units import Size, parse_size

TOTAL = 34_190_917_632


def run(free: int | Size, outcome: Ending, profile: str = "p") -> Receipt:
    size = free if isinstance(free, Size) else Size.exact(free)
    return Receipt(f"{profile}-{size.bytes}-{outcome}.json", profile, "selected", size, outcome)


def only(receipts: list[Receipt]) -> Ladder:
    (ladder,) = build_ladders(receipts)
    return ladder


@pytest.mark.parametrize(
    ("profile", "fails_at", "passes_at"),
    [
        ("long_393k", [25_229_197_312, 25_371_803_648], [25_571_033_088, 25_971_589_120, 26_720_272_384, 27_471_052_800]),
        ("long_262k", [20_470_759_424, 21_471_100_928, 22_471_442_432, 23_461_298_176], [23_970_906_112]),
        ("raw_1010k", [33_568_063_488], [34_188_820_480]),
    ],
)
def test_the_runs_that_count(ladders: dict[str, Ladder], profile: str, fails_at: list[int], passes_at: list[int]):
    assert (ladders[profile].fails_at, ladders[profile].passes_at) == (fails_at, passes_at)
    assert ladders[profile].contradictions == ()


@pytest.mark.parametrize(
    ("profile", "low", "high"),
    [
        ("long_393k", 25_371_803_648, 25_571_033_088),
        ("long_262k", 23_461_298_176, 23_970_906_112),
        ("raw_1010k", 33_568_063_488, 34_188_820_480),
    ],
)
def test_the_bracket_of_each_threshold(ladders: dict[str, Ladder], profile: str, low: int, high: int):
    assert ladders[profile].threshold == Bracket(low, high)
    assert to_record(ladders[profile]).threshold == {"low": low, "high": high}


@pytest.mark.parametrize(
    ("profile", "loaded", "gib"),
    [("long_393k", 22_852_315_587, "21.28"), ("long_262k", 21_252_315_587, "19.79"), ("raw_1010k", 30_802_315_587, "28.69")],
)
def test_weights_and_arena(ladders: dict[str, Ladder], profile: str, loaded: int, gib: str):
    size = ladders[profile].weights_and_arena
    assert size is not None
    assert size.bytes == loaded
    assert f"{size.gib:.2f}" == gib


@pytest.mark.parametrize(
    ("profile", "more_than", "at_most"),
    [
        ("long_393k", 2_519_488_061, 2_718_717_501),
        ("long_262k", 2_208_982_589, 2_718_590_525),
        ("raw_1010k", 2_765_747_901, 3_386_504_893),
    ],
)
def test_the_overhead_of_each_profile(ladders: dict[str, Ladder], profile: str, more_than: int, at_most: int):
    bounds = ladders[profile].overhead
    assert bounds.more_than is not None
    assert bounds.at_most is not None
    assert (bounds.more_than.bytes, bounds.at_most.bytes) == (more_than, at_most)
    assert bounds.at_most.high - bounds.at_most.bytes == pytest.approx(0.005 * 2**30, abs=1)
    record = to_record(ladders[profile])
    assert record.overhead == {"low": more_than, "high": at_most}
    assert record.notes[0] == "The printed decimals leave 5.4 MB of the overhead open either way."


@pytest.mark.parametrize(
    ("profile", "requires", "reserved"),
    [("long_262k", 22_378_037_226, "1.05"), ("long_393k", 24_053_735_802, "1.12"), ("raw_1010k", 32_176_640_076, "1.28")],
)
def test_what_the_declared_thresholds_reserve_for_it(ladders: dict[str, Ladder], profile: str, requires: int, reserved: str):
    loaded = ladders[profile].weights_and_arena
    assert loaded is not None
    assert f"{(requires - loaded).gib:.2f}" == reserved


@pytest.mark.parametrize(("initial_free", "overhead"), [("23.0 GiB", "1.72"), ("23.7 GiB", "2.42")])
def test_the_overhead_in_the_engines_own_count(receipts: list[Receipt], initial_free: str, overhead: str):
    spent = Rung(replace(receipts[0], free=parse_size(initial_free, decimals=2), arena=parse_size("4.84 GiB"))).overhead
    assert spent is not None
    assert f"{spent.gib:.2f}" == overhead
    assert spent.high - spent.low == pytest.approx(3 * 0.01 * 2**30, abs=8)  # three printed figures


def test_forced_runs_and_runs_by_hand_do_not_count(receipts: list[Receipt], ladders: dict[str, Ladder]):
    aside = [rung for rung in ladders["raw_1010k"].rungs if not rung.counts]
    assert [rung.receipt.free.bytes for rung in aside] == [31_671_648_256, 32_072_204_288, 32_470_663_168]
    assert {rung.aside for rung in aside} == {"the profile was forced by name, past the selector: the run does not test what users get"}
    by_hand = only([replace(receipt, path="flags") for receipt in receipts[:6]])
    assert by_hand.threshold is None
    assert by_hand.overhead == OverheadBounds(None, None)
    (note,) = to_record(by_hand).notes
    assert note.startswith("Not counted (25 229 197 312, 25 371 803 648, ")
    assert note.endswith("passed by hand, past the profiles: the run does not test what users get.")


def test_a_run_that_took_an_unknown_path_does_not_count():
    ladder = only([run(9, "pass"), replace(run(12, "fail"), path="unknown")])
    assert ladder.threshold == Bracket(None, 9)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"total": Size.exact(25_757_220_864)}, "it ran on a device of 23.99 GiB, the others on one of 31.84 GiB"),
        ({"arena": Size.exact(4_600_000_000)}, "its arena was 4.28 GiB, that of the others 4.84 GiB"),
        ({"window": 262_144}, "its window was 262144, that of the others 393216"),
    ],
)
def test_a_run_of_another_setup_does_not_count(receipts: list[Receipt], changes: dict[str, object], reason: str):
    other = replace(receipts[3], outcome="fail", **changes)  # type: ignore[arg-type]
    ladder = only([other, *receipts[:6]])
    assert [rung.aside for rung in ladder.rungs if not rung.counts] == [reason]
    assert ladder.threshold == Bracket(25_371_803_648, 25_571_033_088)


def test_what_a_run_does_not_say_does_not_set_it_apart(receipts: list[Receipt]):
    bare = replace(receipts[0], total=None, arena=None, weights=None, window=None)
    assert all(rung.counts for rung in only([bare, *receipts[:6]]).rungs)


def test_printed_figures_bound_the_threshold_from_their_far_ends(receipts: list[Receipt]):
    logged = parse_size("25.50 GiB")  # known to 5.4 MB
    ladder = only([run(logged, "fail"), run(28 * 10**9, "pass")])
    assert ladder.threshold == Bracket(logged.low, 28 * 10**9)
    assert only([run(logged, "pass"), run(10**9, "fail")]).threshold == Bracket(10**9, logged.high)
    overlapping = only([run(logged, "pass"), run(logged, "fail")])
    assert overlapping.contradictions == ()
    assert overlapping.threshold == Bracket(logged.low, logged.high)


def test_contradictory_runs_are_reported_and_not_averaged(receipts: list[Receipt]):
    ladder = only([*receipts[:6], replace(receipts[5], outcome="fail", source="again.json")])
    assert ladder.threshold is None
    assert ladder.overhead == OverheadBounds(None, None)
    record = to_record(ladder)
    assert (record.threshold, record.overhead) == (None, None)
    assert [str(contradiction) for contradiction in ladder.contradictions] == [
        f"it passed with {free} bytes free ({file}) and failed with 27 471 052 800 (again.json)"
        for free, file in [
            ("25 571 033 088", "03_long_393k_25571033088_pass.json"),
            ("25 971 589 120", "04_long_393k_25971589120_pass.json"),
            ("26 720 272 384", "05_long_393k_26720272384_pass.json"),
            ("27 471 052 800", "06_long_393k_27471052800_pass.json"),
        ]
    ]
    assert all(note.startswith("Contradictory runs, so no threshold: it passed with ") for note in record.notes)


@pytest.mark.parametrize(
    ("outcome", "bracket", "note"),
    [
        ("fail", Bracket(5, None), "No run that counts passed, so the threshold is only known from below."),
        ("pass", Bracket(None, 5), "No run that counts failed, so the threshold is only known from above."),
    ],
)
def test_a_bracket_may_be_open_on_one_side(outcome: Ending, bracket: Bracket, note: str):
    ladder = only([run(5, outcome)])
    assert ladder.threshold == bracket
    assert to_record(ladder).threshold is None
    assert to_record(ladder).notes == [note]


def test_rungs_go_up_and_profiles_keep_their_order():
    ladders = build_ladders([run(3, "pass", "b"), run(2, "fail", "a"), run(1, "fail", "b"), run(2, "fail", "b")])
    assert [(ladder.profile, [rung.receipt.free.bytes for rung in ladder.rungs]) for ladder in ladders] == [("b", [1, 2, 3]), ("a", [2])]


frees = st.integers(0, 200)


@given(st.lists(frees, min_size=1), st.integers(1, 200))
def test_the_bracket_holds_the_threshold_that_the_runs_obey(measured: list[int], threshold: int):
    ladder = only([run(free, "pass" if free >= threshold else "fail") for free in measured])
    found = ladder.threshold
    assert ladder.contradictions == ()
    assert found is not None
    assert found.low is None or found.low < threshold
    assert found.high is None or threshold <= found.high
    assert not any(found.low < free < found.high for free in measured if found.low is not None and found.high is not None)


@given(st.lists(st.tuples(frees, st.integers(0, 5), st.integers(0, 5)), min_size=1), st.integers(1, 200))
def test_so_it_does_when_only_intervals_are_printed(measured: list[tuple[int, int, int]], threshold: int):
    printed = [(true, Size(true, true - below, true + above)) for true, below, above in measured]
    ladder = only([run(size, "pass" if true >= threshold else "fail") for true, size in printed])
    found = ladder.threshold
    assert found is not None
    assert found.low is None or found.low < threshold
    assert found.high is None or threshold <= found.high


@given(st.lists(st.tuples(frees, st.sampled_from(["pass", "fail"])), min_size=1))
def test_runs_contradict_each_other_just_when_one_passes_at_or_below_a_failure(measured: list[tuple[int, Ending]]):
    ladder = only([run(free, outcome) for free, outcome in measured])
    failures = [free for free, outcome in measured if outcome == "fail"]
    contradicting = [free for free, outcome in measured if outcome == "pass" and any(free <= failed for failed in failures)]
    assert sorted(contradiction.passed.receipt.free.bytes for contradiction in ladder.contradictions) == sorted(contradicting)
    assert (ladder.threshold is None) == bool(contradicting)
