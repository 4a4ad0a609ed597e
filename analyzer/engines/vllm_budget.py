"""vLLM's KV budget, for every era of its formula.

What is requested, the `share`, is gpu_memory_utilization x the card's total memory, in all releases; what is taken off it has changed.
Sources are vllm/worker/worker.py (V0), vllm/v1/worker/gpu_worker.py (V1) and vllm/utils/mem_utils.py of the releases named in `ERAS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from packaging.version import Version

from analyzer.engines.release import is_within
from analyzer.engines.vllm import requested_memory
from analyzer.engines.vllm_generation import Generation
from analyzer.units import Size

Others = Literal["charged", "changes charged", "not charged"]
"""Whether memory of other processes shrinks the pool: all of it, what they take or return during the start, or none."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a profiling run measured, as far as the log shows it.

    `free_at_start` is the first snapshot, `free_after_profile` the card after the profiling run, `torch_peak` and `torch_after` what
    PyTorch held at its peak and afterwards, `beside_torch` what anyone used of the card beside it, `non_torch` the own growth of that,
    `headroom` the peak less what stayed, `graphs` the estimate that was applied (zero where none was), `external_weights` those held by
    a weight-cache daemon. None is not known.
    """

    total: Size | None = None
    free_at_start: Size | None = None
    free_after_profile: Size | None = None
    torch_peak: Size | None = None
    torch_after: Size | None = None
    beside_torch: Size | None = None
    weights: Size | None = None
    non_torch: Size | None = None
    activation_peak: Size | None = None
    consumed: Size | None = None
    headroom: Size | None = None
    graphs: Size | None = None
    external_weights: Size | None = None


def whole_card(share: Size, profile: Profile) -> Size | None:
    """share - (total - free after the profiling run): all that is in use is charged, other processes included."""
    if profile.total is None or profile.free_after_profile is None:
        return None
    return share - (profile.total - profile.free_after_profile)


def own_growth(share: Size, profile: Profile) -> Size | None:
    """share - (free at start - free after the profiling run): other processes are not charged, so the card can overflow."""
    if profile.free_at_start is None or profile.free_after_profile is None:
        return None
    return share - (profile.free_at_start - profile.free_after_profile)


def peak_and_rest_of_card(share: Size, profile: Profile) -> Size | None:
    """share - (PyTorch's peak + what is in use beside PyTorch, by anyone)."""
    peak, beside = profile.torch_peak, _beside_torch(profile)
    return share - peak - beside if peak is not None and beside is not None else None


def ledger(share: Size, profile: Profile) -> Size | None:
    """share - (weights + non-torch + activation peak): other processes are not charged."""
    if profile.weights is None or profile.non_torch is None or profile.activation_peak is None:
        return None
    return share - profile.weights - profile.non_torch - profile.activation_peak


def ledger_and_graphs(share: Size, profile: Profile) -> Size | None:
    """share - (weights + non-torch + activation peak) - the graph estimate that was applied."""
    left = ledger(share, profile)
    return _less_graphs(left, profile)


def consumed_and_headroom(share: Size, profile: Profile) -> Size | None:
    """share - consumed (free at start - free after profiling) - headroom - the graph estimate that was applied.

    What neighbours take or return while the engine starts goes straight into the pool. On ROCm, from 0.29.0, a negative consumption is
    replaced by what PyTorch reserved in between; give that as `consumed` there.
    """
    consumed = profile.consumed
    if consumed is None and profile.free_at_start is not None and profile.free_after_profile is not None:
        consumed = profile.free_at_start - profile.free_after_profile
    headroom = profile.headroom
    if headroom is None and profile.torch_peak is not None and profile.torch_after is not None:
        headroom = profile.torch_peak - profile.torch_after
    return _less_graphs(share - consumed - headroom, profile) if consumed is not None and headroom is not None else None


Formula = Callable[[Size, Profile], Size | None]
"""From what is requested and what was measured, the size of the KV cache; None where a figure is missing."""


@dataclass(frozen=True, slots=True)
class Era:
    """A range of releases with one formula. `others` is what memory of other processes does to the pool, `gate` whether the engine
    first wants `requested` to be free."""

    generation: Generation
    since: str
    before: str | None
    formula: Formula
    others: Others
    gate: bool


ERAS = (
    Era("V0", "0.2.7", "0.3.1", whole_card, others="charged", gate=False),
    Era("V0", "0.3.1", "0.6.4", own_growth, others="not charged", gate=False),
    Era("V0", "0.6.4", "0.6.5", peak_and_rest_of_card, others="charged", gate=False),
    Era("V0", "0.6.5", "0.11.0", ledger, others="not charged", gate=False),
    Era("V1", "0.6.4", "0.6.5", own_growth, others="not charged", gate=False),
    Era("V1", "0.6.5", "0.9.1", peak_and_rest_of_card, others="charged", gate=False),
    Era("V1", "0.9.1", "0.18.0", ledger, others="not charged", gate=True),
    Era("V1", "0.18.0", "0.27.0", ledger_and_graphs, others="not charged", gate=True),
    Era("V1", "0.27.0", None, consumed_and_headroom, others="changes charged", gate=True),
)

FORMULA_OF_PART: dict[tuple[str, str], Formula] = {
    ("profile_debug", "consumed"): consumed_and_headroom,
    ("profile_debug", "non_torch"): ledger_and_graphs,
    ("profiling_result_v0", "activation_peak"): ledger,
    ("profiling_result_v0", "torch_peak"): peak_and_rest_of_card,
    ("startup_memory_summary", "consumed"): consumed_and_headroom,
    ("startup_memory_summary", "non_torch"): ledger_and_graphs,
}
"""Kind and part of a message -> the formula of the releases that print it so; of releases before 0.18.0 the graphs are zero."""

WEIGHT_CACHE_SINCE = "0.32.0"
"""First release in which weights held by a weight-cache daemon come off what is requested."""


def era(version: Version | None, generation: Generation | None = None) -> Era | None:
    """The era of a release; None when it is unknown, or when the release has two engines and which one ran is unknown."""
    if version is None:
        return None
    found = [row for row in ERAS if generation in (None, row.generation) and is_within(version, row.since, row.before)]
    return found[0] if len(found) == 1 else None


def requested(total: Size, utilization: float, version: Version, external_weights: Size | None = None) -> Size:
    """utilization x total; from 0.32.0 less the weights that a weight-cache daemon holds."""
    asked = requested_memory(total, utilization)
    return asked - external_weights if external_weights is not None and is_within(version, WEIGHT_CACHE_SINCE) else asked


def kv_budget(version: Version, utilization: float, profile: Profile, generation: Generation | None = None) -> Size | None:
    """What is left for the KV cache by the formula of the release; None when the era or a figure it needs is unknown."""
    row = era(version, generation)
    if row is None or profile.total is None:
        return None
    return row.formula(requested(profile.total, utilization, version, profile.external_weights), profile)


def gate_shortfall(free_at_start: Size, wanted: Size) -> Size:
    """What is requested - free at start: positive where the start-up check refuses (V1, 0.9.1 -).

    A pinned KV arena does not skip the check.
    """
    return wanted - free_at_start


def _beside_torch(profile: Profile) -> Size | None:
    """As the engine prints it, else total - free - what PyTorch held, and never negative."""
    total, free, held = profile.total, profile.free_after_profile, profile.torch_after
    if profile.beside_torch is not None or total is None or free is None or held is None:
        return profile.beside_torch
    beside = total - free - held
    return Size(max(0, beside.bytes), max(0, beside.low), max(0, beside.high))


def _less_graphs(left: Size | None, profile: Profile) -> Size | None:
    return left - profile.graphs if left is not None and profile.graphs is not None else None
