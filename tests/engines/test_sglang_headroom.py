"""What SGLang needs outside the static share, and the interval of fractions that is left."""

import pytest
from packaging.version import Version

from analyzer.engines.sglang_headroom import (
    Headroom,
    direction_for_draft_weights,
    draft_weights_in_static_share,
    fraction_after_refusal,
    fraction_interval,
    largest_fraction,
    needed_at_failure,
)
from analyzer.units import GIB, Size


def gib(amount: float) -> Size:
    return Size.exact(amount * GIB)


def test_a_refused_allocation_bounds_the_headroom_from_below() -> None:
    # 11.7 GiB free after the pools, 0.3 at the failure, 2.0 asked: at least 11.7 - 0.3 + 2.0
    assert needed_at_failure(gib(11.7), gib(0.3), gib(2)).gib == pytest.approx(13.4, abs=1e-6)
    assert largest_fraction(gib(78), gib(13.4)) == pytest.approx(1 - 13.4 / 78)


def test_the_fraction_that_follows_from_a_refused_allocation() -> None:
    """0.85 - (2.00 - 0.44) / 78: the pool shrinks by what the allocation lacked."""
    assert fraction_after_refusal(0.85, gib(78), refused=gib(2), free=gib(0.44)) == pytest.approx(0.83)


def test_known_items_add_up() -> None:
    headroom = Headroom(graphs=gib(1.5), draft_model=gib(3))
    assert list(headroom.known) == ["graphs", "draft_model"]
    assert headroom.total.gib == pytest.approx(4.5)
    assert Headroom().total.bytes == 0


def test_room_for_both() -> None:
    interval = fraction_interval(gib(78), gib(18), kv_needed=gib(5), headroom=gib(9), headroom_from="graphs")
    assert interval.low == pytest.approx(65 / 78)
    assert interval.high == pytest.approx(69 / 78)
    assert (interval.smallest(), interval.largest()) == (0.84, 0.88)
    assert interval.high_because == "9.00 GiB outside the static share: graphs"
    assert interval.low_because == "weights 60.00 GiB and a KV pool of 5.00 GiB, of 78.00 GiB free before loading"


def test_refused_below_and_out_of_memory_above() -> None:
    """Weights of 65.6 GiB need 0.841; the run at 0.85 had 11.7 GiB left for graphs and activations, and lacked 1 GiB more."""
    pre, post = gib(78), gib(12.4)
    at_085 = needed_at_failure(pre * (1 - 0.85), gib(0.2), gib(1.2))
    interval = fraction_interval(pre, post, gib(0), at_085, "a refused allocation")
    assert interval.low == pytest.approx(0.841, abs=5e-4)
    assert interval.high == pytest.approx(0.837, abs=5e-4)
    assert interval.is_empty
    assert interval.reason.startswith("no value works")


@pytest.mark.parametrize(
    ("version", "inside", "direction"),
    [
        ("0.1.26", False, "lower"),
        ("0.5.13", False, "lower"),
        ("0.5.14", True, "raise"),
        ("0.4.2", False, "lower"),
        ("0.5.23", True, "raise"),
        (None, None, None),
    ],
)
def test_draft_weights_turn_the_direction_round_in_0_5_14(version: str | None, inside: bool | None, direction: str | None) -> None:
    known = Version(version) if version is not None else None
    assert draft_weights_in_static_share(known) is inside
    assert direction_for_draft_weights(known) == direction
