"""What comes beside the KV cache: CUDA graphs, warm-up and serving, by what the run of the log took or lacked there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analyzer.analysis import Phase
from analyzer.cases.model import Rank, Run
from analyzer.engines.checks import (
    GRAPHS,
    SERVING,
    WARM_UP,
    Check,
    beside_cache,
    came_through,
    estimated_graphs,
    no_graphs,
    not_shown,
)
from analyzer.engines.phases import order
from analyzer.figures.refusal import refusals
from analyzer.units import Size
from analyzer.what_if.planned import Graphs

NOT_SHOWN = "the run of the log does not show what that takes"

STAGES: tuple[tuple[Phase, str], ...] = (("graph_capture", GRAPHS), ("warmup", WARM_UP), ("serve", SERVING))


@dataclass(frozen=True, slots=True)
class Cache:
    """The KV cache of the log's run and the planned one, counted as if the same memory were free at the start.

    `left` is what the run had free when its start was over, `estimate` the engine's estimate of its graphs, and `beside` what weights
    and the planned cache leave for them; None where the log does not tell.
    """

    then: Size | None
    now: Size
    left: Size | None = None
    estimate: Size | None = None
    beside: Size | None = None


def later_checks(run: Run, rank: Rank, cache: Cache, graphs: Graphs) -> Iterator[Check]:
    """One check for each stage; one for each allocation that was refused in it."""
    failed = list(refusals(run, rank))
    for phase, name in STAGES:
        refused = [refusal for refusal in failed if refusal.phase == phase]
        if phase == "graph_capture" and graphs == "none":
            yield no_graphs()
        elif phase == "graph_capture" and graphs == "not in the log":
            yield not_shown(name, "the run of the log captured none")
        elif refused and cache.then is not None:
            for refusal in refused:
                yield beside_cache(name, refusal.tried, refusal.free, cache.then, cache.now)
        elif cache.then is not None and _came_through(run, phase):
            yield came_through(name, cache.then, cache.now, cache.left if phase != "serve" else None)
        elif phase == "graph_capture" and cache.estimate is not None and cache.beside is not None:
            yield estimated_graphs(cache.estimate, cache.beside)
        else:
            yield not_shown(name, NOT_SHOWN)


def _came_through(run: Run, phase: Phase) -> bool:
    """Of the stages of a start: the run reached the one after. Serving counts only where nothing failed."""
    return run.outcome == "served" if phase == "serve" else run.outcome == "served" or order(run.phase) >= order("serve")
