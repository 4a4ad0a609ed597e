"""vLLM's own suggestion at the end of a start, "Replace gpu_memory_utilization config with `--kv-cache-memory=N`", recomputed.

Source: vllm/v1/worker/gpu_worker.py, compile_or_warm_up_model, 0.10.2 - 0.33.0.
"""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import Version

from analyzer.engines.release import value_since
from analyzer.engines.vllm import SUGGESTION_RESERVE
from analyzer.units import Size, as_size

PRINTED_FLAG = "--kv-cache-memory"
FLAG = "--kv-cache-memory-bytes"
"""The option that is declared; the printed one works only as an abbreviation on a command line, not in a file."""

GRAPHS_COUNTED_TWICE = (("0.10.2", False), ("0.18.0", True), ("0.19.0", False), ("0.27.0", True))
"""Whether the suggestion takes off the applied graph estimate (as part of the activation peak) and the captured graphs as well."""

LEVEL = (("0.10.2", "INFO"), ("0.11.0", "DEBUG"), ("0.26.0", "INFO"))
"""The level of the line that carries the suggestion: between 0.11.0 and 0.25.1 it does not show by default."""


@dataclass(frozen=True, slots=True)
class SuggestionAudit:
    """`agrees` is whether the printed number follows from the printed figures; `value` is the number to use, `difference` what it is
    larger by, `reserve` what the engine keeps off it for good measure. `notes` say what was found, one sentence each."""

    printed: int
    agrees: bool
    value: Size
    difference: Size
    reserve: Size
    notes: tuple[str, ...]


def suggested(basis: Size, non_kv: Size, graphs: Size) -> Size:
    """The engine's formula: basis - non-KV memory - captured graphs - 150 MiB.

    `basis` is what was requested, or what was free at the start; `non_kv` the figures of the same line (weights, non-torch and
    activation peak, or consumed memory and activation peak).
    """
    return basis - non_kv - graphs - SUGGESTION_RESERVE


def audit_suggestion(
    version: Version | None, printed: int, basis: Size, non_kv: Size, graphs: Size, estimate: Size | None = None
) -> SuggestionAudit:
    """The printed number held against its own figures, and corrected.

    `estimate` is the graph estimate that was applied; where the release counts graphs twice, it is put back. The figures of several
    ranks differ: the smallest of their values is the one that suits all.
    """
    agrees = suggested(basis, non_kv, graphs).may_equal(printed)
    twice = value_since(GRAPHS_COUNTED_TWICE, version) is True and estimate is not None
    difference = estimate if twice and estimate is not None else as_size(0)
    notes = [f"the option is called {FLAG}; {PRINTED_FLAG} is an abbreviation that files do not take"]
    if not agrees:
        notes.append("the number does not follow from the figures of its line")
    if twice:
        notes.append(f"CUDA graphs were taken off twice, as an estimate of {estimate} and as captured: the number is too small by it")
    return SuggestionAudit(printed, agrees, printed + difference, difference, as_size(SUGGESTION_RESERVE), tuple(notes))
