"""Facts of one document -> runs: one life of one engine each."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.analysis import Phase
from analyzer.engines.phases import PHASE_AFTER, order
from analyzer.facts.fact import Fact

STARTS = (
    "selector_choice",
    "selector_forced",
    "command_line",
    "engine_version",
    "args_namespace",
    "non_default_args",
    "server_args",
    "engine_config",
)
"""Messages printed once per life and process, before anything is loaded."""
BANNERS = ("engine_version", "args_namespace", "non_default_args", "server_args")
"""Of these, what the server prints before it starts an engine: after a failure it is another
life, also where the first one lost its start."""
ENGINES = ("vllm", "sglang")
CONFIRMED: Phase = "load_weights"
"""A start message opens a new run only when the run before had come this far, or had failed."""


def split_runs(facts: Sequence[Fact], failing: frozenset[str]) -> list[list[Fact]]:
    """The facts of each run. `failing` names the kinds after which an engine does not go on."""
    runs: list[list[Fact]] = []
    current: list[Fact] = []
    seen: set[tuple[str, str, str]] = set()
    failed = False
    failed_at = -1
    progress = -1
    engine = ""
    for fact in facts:
        key = (fact.kind, fact.line.origin.process, fact.line.origin.rank)
        phase = order(PHASE_AFTER.get(fact.kind))
        family = fact.family if fact.family in ENGINES else ""
        again = fact.kind in STARTS and key in seen and (progress >= order(CONFIRMED) or failed)
        restarted = again or (fact.kind in BANNERS and failed and not seen)
        other_engine = bool(family and engine and family != engine and (fact.kind in STARTS or failed))
        backwards = failed_at > phase >= 0 and fact.kind in failing
        if current and (restarted or other_engine or backwards):
            runs.append(current)
            current, seen, failed, failed_at, progress, engine = [], set(), False, -1, -1, ""
        current.append(fact)
        engine = engine or family
        progress = max(progress, phase)
        if fact.kind in STARTS:
            seen.add(key)
        if fact.kind in failing:
            failed = True
            failed_at = max(failed_at, phase)
    if current:
        runs.append(current)
    return runs
