"""Who holds the memory, by the process clauses of an out-of-memory message."""

import pytest

from analyzer.cases.processes import DeviceUse, device_use
from analyzer.units import Size
from tests.cases.making import gib

OWN = frozenset({1, 90, 91})


def clauses(*entries: tuple[int, str]) -> list[dict[str, object]]:
    return [{"pid": pid, "in_use": gib(size)} for pid, size in entries]


@pytest.mark.parametrize(
    ("this", "processes", "allocated", "own", "front_end", "others", "pids"),
    [
        ("17.40", [], "16.00", "17.40", None, None, ()),
        ("17.40", [(7001, "6.00")], "16.00", "17.40", None, "6.00", (7001,)),
        ("17.40", [(7001, "6.00"), (7002, "2.00")], "16.00", "17.40", None, "8.00", (7001, 7002)),
        ("17.40", [(90, "0.50"), (7001, "6.00")], "16.00", "17.40", "0.50", "6.00", (7001,)),
        (None, [(7001, "17.40")], "16.00", "17.40", None, None, ()),
        (None, [(7001, "17.40"), (7002, "2.00")], "16.00", "17.40", None, "2.00", (7002,)),
        (None, [(7001, "17.40"), (7002, "18.00")], "16.00", None, None, None, ()),
        (None, [(7001, "2.00")], "16.00", None, None, "2.00", (7001,)),
        (None, [(7001, "17.40")], None, None, None, None, ()),
        (None, [(7001, "0.00"), (7002, "17.40")], "16.00", "17.40", None, None, ()),
        (None, [], "16.00", None, None, None, ()),
    ],
    ids=[
        "this process by its clause",
        "a neighbour beside it",
        "two neighbours",
        "the engine's other process is no neighbour",
        "in a container: the one that holds what PyTorch allocated",
        "... and a neighbour",
        "two that could be it: neither is taken for it, nor for a neighbour",
        "none is large enough to be it",
        "nothing to know it by: it may be this process",
        "a process of nothing counts for nothing",
        "no clauses",
    ],
)
def test_the_clauses_are_sorted(
    this: str | None,
    processes: list[tuple[int, str]],
    allocated: str | None,
    own: str | None,
    front_end: str | None,
    others: str | None,
    pids: tuple[int, ...],
):
    use = device_use(gib(this) if this else None, clauses(*processes), gib(allocated) if allocated else None, OWN)
    assert (_text(use.own), _text(use.own_front_end), _text(use.others)) == (own, front_end, others)
    assert use.other_pids == pids


def _text(size: Size | None) -> str | None:
    return None if size is None else f"{size.gib:.2f}"


def test_a_clause_without_its_figure_is_left_out():
    use = device_use(gib("17.40"), [{"pid": 7001}, {"pid": 7002, "in_use": "17179869184.00 GiB (implausible)"}], gib("16.00"), OWN)
    assert use == DeviceUse(gib("17.40"), None, None, ())


def test_all_that_is_not_this_process():
    use = device_use(gib("17.40"), clauses((90, "0.50"), (7001, "6.00")), gib("16.00"), OWN)
    assert _text(use.beside) == "6.50"
    assert use.described == "processes 7001 and this engine's other processes"
    assert device_use(gib("17.40"), [], None, OWN).beside is None
