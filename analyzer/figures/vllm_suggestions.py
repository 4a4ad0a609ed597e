"""What is wrong with the sizes and directions that vLLM suggests itself, under the names that rules use."""

from __future__ import annotations

from typing import Any

from analyzer.cases.model import Event, Run
from analyzer.engines.vllm_graphs import graphs_deducted
from analyzer.engines.vllm_suggestion import audit_suggestion
from analyzer.facts.fact import Fact
from analyzer.units import Size

BESIDE_KV = ("weights", "consumed", "activation_peak", "non_torch")
"""What the summary at the end of the start prints of the memory beside the KV cache; each release prints some of them."""


def suggestion_figures(run: Run, event: Event) -> dict[str, Any]:
    """The suggested size to fit into what was requested, recomputed from the figures of its line."""
    fact = event.fact
    printed, basis, graphs = fact.fields.get("suggested_kv_cache_memory_bytes"), fact.size("budget"), fact.size("cuda_graphs")
    beside = [size for name in BESIDE_KV if (size := fact.size(name)) is not None]
    if not isinstance(printed, Size) or basis is None or graphs is None or not beside:
        return {}
    estimate = applied_estimate(run, event)
    audit = audit_suggestion(run.version, printed.bytes, basis, sum(beside, Size.exact(0)), graphs, estimate)
    twice = audit.difference.bytes > 0
    return {
        "suggestion_agrees": audit.agrees,
        "graphs_counted_twice": twice,
        "graph_estimate": estimate,
        "corrected_arena": audit.value.low if twice and audit.agrees else None,
    }


def applied_estimate(run: Run, event: Event) -> Size | None:
    """The graph estimate of the event's rank where it came off the KV budget; None where it did not, or is not in the log."""
    hint = run.first("cudagraph_profiling_hint")
    applied = "graphs_in_budget" in hint.fields if hint is not None else graphs_deducted(run.version)
    if not applied:
        return None
    facts: list[Fact] = [fact for rank in run.ranks if event.rank in (rank.name, None) for fact in rank.facts]
    return next((size for fact in facts if (size := fact.size("cuda_graphs_estimated")) is not None), None)
