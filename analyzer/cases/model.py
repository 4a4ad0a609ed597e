"""The case: what the logs given together tell about runs, ranks, their memory, and what went wrong in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from packaging.version import Version

from analyzer.analysis import Outcome, Path, Phase
from analyzer.engines.release import release
from analyzer.engines.sites import Frame
from analyzer.engines.vllm_generation import Generation
from analyzer.facts.fact import Fact
from analyzer.units import Size

Engine = Literal["vllm", "sglang"]
Basis = Literal["measured", "computed", "assumed"]

LEDGER_ITEMS = (
    "total",
    "free_at_start",
    "budget",
    "weights",
    "activation_peak",
    "non_torch",
    "cuda_graphs",
    "kv_cache",
    "kv_pinned",
    "kv_needed",
    "other_processes",
    "free_after_load",
    "free_at_failure",
    "allocation_refused",
    "allocated",
    "reserved_unallocated",
    "unaccounted",
)
"""The items of the contract, in its order."""


@dataclass(frozen=True, slots=True)
class Item:
    """One figure of a ledger and how it is known: from which fact, or from which other items."""

    size: Size
    basis: Basis
    source: str
    fact: Fact | None = None


def _by_kind(facts: Sequence[Fact]) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = {}
    for fact in facts:
        found.setdefault(fact.kind, []).append(fact)
    return found


@dataclass(frozen=True)
class Rank:
    """One worker process with its device."""

    name: str
    pid: int | None
    device: str | None
    ledger: Mapping[str, Item]
    facts: Sequence[Fact] = field(repr=False, default=())

    def size(self, item: str) -> Size | None:
        found = self.ledger.get(item)
        return found.size if found else None

    @cached_property
    def by_kind(self) -> Mapping[str, Sequence[Fact]]:
        """The facts of each kind, in order of lines."""
        return _by_kind(self.facts)

    def first(self, kind: str) -> Fact | None:
        return next(iter(self.by_kind.get(kind, ())), None)


@dataclass(frozen=True)
class Event:
    """Something a rule may judge: one message, its repeats counted once, with the code and the phase it came from."""

    kind: str
    fact: Fact
    repeats: Sequence[Fact]
    rank: str | None
    phase: Phase | None
    frames: Sequence[Frame]
    site: str
    sites: Sequence[str]

    @property
    def count(self) -> int:
        return len(self.repeats)


@dataclass(frozen=True)
class Choice:
    """How the run's profile was chosen, as the selector logged it."""

    profile: str | None = None
    path: Path = "unknown"
    rejected: Sequence[str] = ()
    available: Size | None = None
    """The budget the selector compared with, discounted by its safety factor."""
    free: Size | None = None
    """Raw free memory the selector saw."""
    total: Size | None = None
    utilization_asked: float | None = None
    utilization_clamped: float | None = None


@dataclass(frozen=True)
class Run:
    """One life of one engine, from its arguments to its end (or to where the log is cut)."""

    id: str
    source: str
    engine: Engine | None
    version_text: str | None
    args: Mapping[str, Any]
    choice: Choice
    ranks: Sequence[Rank]
    events: Sequence[Event]
    facts: Sequence[Fact] = field(repr=False, default=())
    phase: Phase | None = None
    outcome: Outcome = "unknown"
    """From what the log shows of the engine itself: served, failed (it says that it died), unknown. Rules refine it."""
    head_cut: bool = False
    generation: Generation | None = None
    """Which of vLLM's two engines; None when nothing tells, and for SGLang."""

    @property
    def version(self) -> Version | None:
        return release(self.version_text)

    @cached_property
    def by_kind(self) -> Mapping[str, Sequence[Fact]]:
        """The facts of each kind, in order of lines."""
        return _by_kind(self.facts)

    def first(self, kind: str) -> Fact | None:
        return next(iter(self.all(kind)), None)

    def all(self, kind: str) -> Sequence[Fact]:
        return self.by_kind.get(kind, ())
