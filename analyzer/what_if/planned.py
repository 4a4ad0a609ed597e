"""What the next start is given, of the settings whose effect the figures of a log tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from analyzer.cases.model import Run
from analyzer.engines import vllm
from analyzer.figures.sglang_figures import asked_fraction, context_length, mem_fraction_static
from analyzer.figures.vllm_cache import window
from analyzer.figures.vllm_figures import utilization_in_effect
from analyzer.settings.model import Profile
from analyzer.units import Size

COMPUTED = {
    "vllm": ("gpu_memory_utilization", "device_memory_utilization", "kv_cache_memory_bytes", "max_model_len", "enforce_eager"),
    "sglang": ("mem_fraction_static", "context_length", "max_total_tokens", "disable_cuda_graph"),
}
"""Arguments whose effect on the checks of a start follows from figures; what others change shows in a run only."""

NOT_OF_THE_START = ("engine", "requires_free_bytes")
"""Entries of a profile that only the selector reads."""

Graphs = Literal["as in the log", "none", "not in the log"]


@dataclass(frozen=True, slots=True)
class Planned:
    """`share` is the fraction of memory, `arena` a pinned KV cache, `window` the longest request in tokens; None is not known, or no pin.

    `more_free` is by how much more memory is free than at the start of the log's run, `most_tokens` SGLang's max_total_tokens.
    """

    share: float | None
    arena: Size | None = None
    window: int | Literal["auto"] | None = None
    more_free: int = 0
    graphs: Graphs = "as in the log"
    most_tokens: int | None = None


def planned_by(profile: Profile, before: Profile, run: Run, share: float | None, more_free: int) -> Planned:
    """Of a profile, with the share that the selector hands to the engine; `before` is the profile with which the run was made."""
    engine = run.engine or "vllm"
    graphs_off, longest = GRAPHS_OFF[engine], WINDOW[engine]
    removed = before.value(longest) is not None and profile.value(longest) is None
    return Planned(
        share,
        profile.size("kv_cache_memory_bytes"),
        None if removed else profile.value(longest) or window_of(run),
        more_free,
        _graphs(run, bool(profile.value(graphs_off)) if profile.value(graphs_off) != before.value(graphs_off) else None),
        profile.value("max_total_tokens"),
    )


def planned_after(run: Run, changed: Mapping[str, Any], more_free: int) -> Planned:
    """As the run was started, but for the changed arguments; a value of None is an argument that is taken away."""
    engine = run.engine or "vllm"
    pinned = next((size for rank in run.ranks if (size := rank.size("kv_pinned")) is not None), None)
    asked = changed.get("kv_cache_memory_bytes")
    longest, graphs_off = WINDOW[engine], GRAPHS_OFF[engine]
    cap = changed["max_total_tokens"] if "max_total_tokens" in changed else run.args.get("max_total_tokens")
    return Planned(
        _share(run, changed),
        (Size.exact(asked) if asked is not None else None) if "kv_cache_memory_bytes" in changed else pinned,
        changed[longest] if longest in changed else window_of(run),
        more_free,
        _graphs(run, bool(changed[graphs_off]) if graphs_off in changed else None),
        cap if isinstance(cap, int) else None,
    )


GRAPHS_OFF = {"vllm": "enforce_eager", "sglang": "disable_cuda_graph"}
WINDOW = {"vllm": "max_model_len", "sglang": "context_length"}


def window_of(run: Run) -> int | None:
    """The longest request that the run had to hold, in tokens."""
    if run.engine == "sglang":
        return context_length(run)
    return window(run)[0]


def _share(run: Run, changed: Mapping[str, Any]) -> float | None:
    if run.engine == "sglang":
        asked = asked_fraction(run)
        then = asked if asked is not None else mem_fraction_static(run)
        return changed.get("mem_fraction_static") if "mem_fraction_static" in changed else then
    for name in ("gpu_memory_utilization", "device_memory_utilization"):
        if name in changed:
            value: float | None = changed[name]
            return value if value is not None else vllm.default_utilization(run.version)
    return utilization_in_effect(run)[0]


def _graphs(run: Run, turned_off: bool | None) -> Graphs:
    """`turned_off` is what is asked; None where nothing is."""
    if turned_off is None:
        return "as in the log"
    if turned_off:
        return "none"
    return "not in the log" if run.args.get(GRAPHS_OFF[run.engine or "vllm"]) is True else "as in the log"
