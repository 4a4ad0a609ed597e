"""Whether the overhead is the same in all profiles."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.cases.ladder import Ladder, build_ladders
from analyzer.cases.ladder_overhead import Constancy, constancy
from analyzer.cases.receipts import Receipt
from analyzer.units import Size, parse_size

MB = 10**6
WEIGHTS = Size.exact(100 * MB)


def measured(profile: str, *, failed: int, passed: int, weights: Size = WEIGHTS, arena: int = 0) -> Ladder:
    """A profile of which runs failed and passed with these overheads, in MB."""
    loaded = weights.bytes + arena * MB
    run = Receipt("r.json", profile, "selected", Size.exact(loaded + passed * MB), "pass", weights=weights, arena=Size.exact(arena * MB))
    (ladder,) = build_ladders([run, replace(run, free=Size.exact(loaded + failed * MB), outcome="fail")])
    return ladder


def test_the_overhead_of_the_two_long_profiles_is_one_constant(receipts: list[Receipt]):
    found = constancy(build_ladders(receipts[:11]))
    assert found.verdict == "constant"
    assert found.profiles == ("long_393k", "long_262k")
    assert found.exceptions == ()
    assert {profile: size.bytes for profile, size in found.passing.items()} == {"long_262k": 2_718_590_525, "long_393k": 2_718_717_501}
    assert found.spread == 126_976  # 127 kB
    assert f"{found.percent:.3f}" == "0.005"
    assert found.common == 2_718_717_501
    assert (found.low, found.high) == (2_519_488_061, 2_718_590_525)
    assert found.may_differ_by == 2_718_717_501 - 2_208_982_589
    assert found.reason == "long_393k and long_262k passed with overheads 126 976 bytes (0.005 %) apart"


def test_forced_runs_do_not_bear_on_it(receipts: list[Receipt]):
    assert constancy(build_ladders(receipts[:14])) == constancy(build_ladders(receipts[:11]))


def test_the_widest_profile_needs_more_than_the_constant(ladders: dict[str, Ladder]):
    found = constancy(list(ladders.values()))
    assert (found.verdict, found.profiles, found.exceptions) == ("constant", ("long_393k", "long_262k"), ("raw_1010k",))
    assert (found.spread, found.common) == (126_976, 2_718_717_501)
    assert found.reason.endswith("not so raw_1010k, which needs more than 2 765 747 901 and at most 3 386 504 893")


def test_one_figure_for_the_weights_cancels_whatever_its_decimals_leave_open():
    printed = parse_size("16.44 GiB")  # 5.4 MB open either way
    ladders = [measured("a", failed=1000, passed=1010, weights=printed), measured("b", failed=1011, passed=1012, weights=printed)]
    assert constancy(ladders).verdict == "not constant"
    other = parse_size("16.45 GiB")
    ladders[1] = measured("b", failed=1011, passed=1012, weights=other)
    found = constancy(ladders)
    assert found.verdict == "constant"  # 10 MB are within the decimals of two different figures
    assert found.spread == 2 * MB


@pytest.mark.parametrize(
    ("profiles", "verdict", "alike", "exceptions"),
    [
        ({"a": (10, 20)}, "cannot tell", ("a",), ()),
        ({"a": (900, 1000), "b": (950, 1005)}, "constant", ("a", "b"), ()),
        ({"a": (900, 1000), "b": (999, 1200)}, "cannot tell", ("a", "b"), ()),
        ({"a": (900, 1000), "b": (1000, 1005)}, "not constant", ("a", "b"), ()),
        ({"a": (900, 1000), "b": (2000, 2005), "c": (950, 1001)}, "constant", ("a", "c"), ("b",)),
        ({"a": (1, 2), "b": (1, 2), "c": (5, 6), "d": (5, 6)}, "not constant", ("a", "b", "c", "d"), ()),
    ],
)
def test_the_criterion(profiles: dict[str, tuple[int, int]], verdict: str, alike: tuple[str, ...], exceptions: tuple[str, ...]):
    found = constancy([measured(profile, failed=failed, passed=passed) for profile, (failed, passed) in profiles.items()])
    assert (found.verdict, found.profiles, found.exceptions) == (verdict, alike, exceptions)
    assert (found.common is not None) == (verdict == "constant")


def test_without_a_run_that_passed_and_one_that_failed_a_profile_tells_nothing(ladders: dict[str, Ladder]):
    long = ladders["long_393k"]
    only_passed = Ladder("long_262k", tuple(ladders["long_262k"].passed))
    without_weights = Ladder("x", tuple(replace(rung, receipt=replace(rung.receipt, weights=None)) for rung in long.rungs))
    assert constancy([]).verdict == "cannot tell"
    found = constancy([long, only_passed, without_weights])
    assert found == Constancy(
        verdict="cannot tell",
        profiles=("long_393k",),
        exceptions=(),
        passing=found.passing,
        low=None,
        high=None,
        spread=None,
        percent=None,
        may_differ_by=None,
        reason="it takes two profiles with a run that failed and a run that passed",
    )


@given(
    st.dictionaries(st.sampled_from("abcd"), st.tuples(st.integers(0, 2000), st.integers(1, 200)), min_size=2),
    st.integers(1, 3000),
    st.integers(0, 50),
)
def test_a_true_constant_is_never_denied(offsets: dict[str, tuple[int, int]], truth: int, arena: int):
    """Whatever the rungs, profiles that share one overhead are constant or cannot be told."""
    ladders = [
        measured(profile, failed=truth - below - 1, passed=truth + above - 1, arena=arena * number)
        for number, (profile, (below, above)) in enumerate(offsets.items())
    ]
    found = constancy(ladders)
    assert found.verdict != "not constant"
    assert found.exceptions == ()
    assert found.low is not None
    assert found.high is not None
    assert found.low < truth * MB <= found.high
