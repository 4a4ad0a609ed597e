"""What the engines do differently with memory from one release to another, in sentences for the reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from packaging.version import Version

from analyzer.engines.release import is_within, published
from analyzer.engines.sglang_default_fraction import ERAS as FRACTION_ERAS
from analyzer.engines.sglang_headroom import draft_weights_in_static_share
from analyzer.engines.vllm import default_utilization
from analyzer.engines.vllm_budget import Era, era
from analyzer.engines.vllm_graphs import graphs_deducted

GRAPHS = {True: "come off the KV budget", False: "live in what the utilization leaves free"}
DRAFT = {True: "inside the static share, before the pools are sized", False: "beside the pools"}
OTHERS = {
    "charged": "shrinks the KV cache",
    "changes charged": "shrinks the KV cache by what it takes while the engine starts",
    "not charged": "is not taken off the KV cache",
}


def release_changes(engine: Literal["vllm", "sglang"], before: Version | None, after: Version | None) -> list[str]:
    """Changes of defaults and formulas between two releases, in either direction; none when a release is unknown or both are the same.

    The sources stand at the tables that are compared here.
    """
    if before is None or after is None or published(before) == published(after):
        return []
    return list(_vllm(before, after) if engine == "vllm" else _sglang(before, after))


def _vllm(before: Version, after: Version) -> Iterator[str]:
    yield from _change("gpu_memory_utilization, when nobody sets it: {}", default_utilization, before, after)
    yield from _change("CUDA graphs {}", _graphs, before, after)
    yield from _change("memory of other processes {}", lambda version: _of_era(version, _others), before, after)
    yield from _change("the start-up check of free memory: {}", lambda version: _of_era(version, _gate), before, after)
    yield from _change("the KV budget is computed as {}", lambda version: _of_era(version, _formula), before, after)


def _graphs(version: Version) -> str | None:
    deducted = graphs_deducted(version)
    return None if deducted is None else GRAPHS[deducted]


def _draft(version: Version) -> str | None:
    inside = draft_weights_in_static_share(version)
    return None if inside is None else DRAFT[inside]


def _of_era(version: Version, told: Callable[[Era], str]) -> str | None:
    found = era(version)
    return told(found) if found is not None else None


def _others(found: Era) -> str:
    return OTHERS[found.others]


def _gate(found: Era) -> str:
    return "made" if found.gate else "not made"


def _formula(found: Era) -> str:
    return found.formula.__name__.replace("_", " ")


def _sglang(before: Version, after: Version) -> Iterator[str]:
    first, last = sorted((before, after))
    crossed = [since for since in FRACTION_ERAS if not is_within(first, since) and is_within(last, since)]
    if crossed:
        yield f"the rule for mem_fraction_static, when nobody sets it, changed in {', '.join(crossed)}"
    yield from _change("a draft model's weights are {}", _draft, before, after)


def _change(text: str, value: Callable[[Version], object], before: Version, after: Version) -> Iterator[str]:
    old, new = value(before), value(after)
    if old is not None and new is not None and old != new:
        yield text.format(f"{old} in {before}, {new} in {after}")
