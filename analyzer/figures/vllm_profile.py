"""What vLLM's profiling run measured, as a log shows it, and the KV cache that the formula of the release makes of it."""

from __future__ import annotations

from typing import Literal

from analyzer.cases.model import Rank, Run
from analyzer.engines.release import value_since
from analyzer.engines.vllm import requested_memory
from analyzer.engines.vllm_budget import FORMULA_OF_PART, Formula, Profile, era
from analyzer.engines.vllm_graphs import Platform, graphs_deducted
from analyzer.engines.vllm_suggestion import GRAPHS_COUNTED_TWICE
from analyzer.facts.fact import Fact
from analyzer.figures.vllm_figures import AS_PRINTED, utilization_in_effect
from analyzer.units import Size

SUMMARY, DEBUG, HINT = "startup_memory_summary", "profile_debug", "cudagraph_profiling_hint"
MEASURED = (SUMMARY, DEBUG, "profiling_result_v0")
"""Messages that print what was measured, the fullest first."""
OTHER_WORKERS = (
    "cpu_kv_auto",
    "cpu_kv_default",
    "gaudi_memory_plan",
    "gaudi_profiling",
    "metal_memory",
    "metal_no_room_for_kv",
    "xpu_profile",
)
"""Messages of workers that size their KV cache by rules of their own."""
NOTHING = Size.exact(0)
HALF_OF_LAST_DECIMAL = 0.00005


def computed_budget(run: Run, rank: Rank) -> Size | None:
    """The KV cache by the formula of the release, before anything is taken off for decoding media.

    None when the formula or a figure it needs is not known, and with a pinned arena, which measures nothing.
    """
    formula, share = formula_of(run), share_of(run, rank)
    if formula is None or share is None or "kv_pinned" in rank.ledger:
        return None
    return formula(share, profile_of(run, rank))


def printed_budget(run: Run, rank: Rank) -> Size | None:
    """The same as the engine prints it."""
    kinds = ("available_kv_memory", *MEASURED)
    printed = (size for kind in kinds for fact in rank.by_kind.get(kind, ()) if (size := fact.size("kv_cache")) is not None)
    return next(printed, None if run.all("mm_ipc_reserve") else rank.size("kv_cache"))


def kv_budget_of(run: Run, rank: Rank) -> Size | None:
    """The KV cache as the ledger has it, else as it is computed."""
    return rank.size("kv_cache") or computed_budget(run, rank)


def unexplained(run: Run, rank: Rank) -> Size | None:
    """What the printed KV cache has more than the formula gives; None when one of the two is not known."""
    printed, computed = printed_budget(run, rank), computed_budget(run, rank)
    return printed - computed if printed is not None and computed is not None else None


def formula_of(run: Run) -> Formula | None:
    """By the parts of the messages that only releases with one formula print, else by release and generation."""
    if any(run.all(kind) for kind in OTHER_WORKERS):
        return None
    parts = ((kind, name) for kind in MEASURED for fact in run.all(kind) for name in fact.fields)
    printed = next((formula for part in parts if (formula := FORMULA_OF_PART.get(part)) is not None), None)
    known = era(run.version, run.generation)
    return printed or (known.formula if known is not None else None)


def share_of(run: Run, rank: Rank) -> Size | None:
    """What the engine may take: as printed, else utilization x total."""
    held = rank.first("external_weights")
    printed = (held.size("engine_budget") if held is not None else None) or rank.size("budget")
    utilization, total = utilization_in_effect(run)[0], rank.size("total")
    if printed is not None or utilization is None or total is None:
        return printed
    return requested_memory(total, utilization)


def profile_of(run: Run, rank: Rank) -> Profile:
    """Each figure from the message that prints it; None where the log has none."""
    measured = next((fact for kind in MEASURED for fact in rank.by_kind.get(kind, ())), None)
    older = measured is not None and "torch_peak" in measured.fields
    return Profile(
        total=total_of(run, rank),
        free_at_start=rank.size("free_at_start"),
        free_after_profile=_free_after_profile(rank),
        torch_peak=_part(measured, "torch_peak"),
        beside_torch=_part(measured, "non_torch") if older else None,
        weights=_part(measured, "weights") or rank.size("weights"),
        non_torch=_part(measured, "non_torch") if not older else None,
        activation_peak=_part(measured, "activation_peak") or _part(measured, "torch_peak_increase"),
        consumed=_part(rank.first("rocm_profiling_fallback"), "torch_reserved") or _part(measured, "consumed"),
        headroom=_headroom(measured),
        graphs=_graphs_still_to_come_off(run, rank, measured),
        external_weights=_part(rank.first("external_weights"), "external"),
    )


def total_of(run: Run, rank: Rank) -> Size | None:
    """Total memory of the card: as printed, else what is requested / utilization, which debug output rounds to two decimals."""
    printed, (utilization, source), budget = rank.size("total"), utilization_in_effect(run), rank.size("budget")
    if printed is not None or not utilization or budget is None or rank.first("external_weights") is not None:
        return printed
    half = 0.005 if source == AS_PRINTED and utilization > 0.01 else 0.0
    return Size.between(budget.low / (utilization + half), budget.high / (utilization - half))


def applied_graphs(run: Run, rank: Rank) -> Size | None:
    """The estimate of CUDA graphs that came off the KV cache: zero where none did, None where the log does not tell.

    The engine's hint spells out whether it was applied, and by how much of the utilization.
    """
    hint = rank.first(HINT) or run.first(HINT)
    if run.args.get("enforce_eager") is True or run.generation == "V0" or (hint is not None and "graphs_not_in_budget" in hint.fields):
        return NOTHING
    runner: Literal["first", "second"] = "second" if run.all("model_runner_v2") else "first"
    applied = True if hint is not None else graphs_deducted(run.version, _platform(run), runner)
    if applied is False:
        return NOTHING
    estimates = (size for fact in rank.facts if (size := fact.size("cuda_graphs_estimated")) is not None)
    return next(estimates, _estimate_of(hint, total_of(run, rank))) if applied else None


def _platform(run: Run) -> Platform:
    """By the name under which PyTorch runs out of memory."""
    backends = {fact.text("backend") for fact in run.all("torch_oom")}
    return "rocm" if "HIP" in backends or run.all("rocm_profiling_fallback") else "xpu" if "XPU" in backends else "cuda"


def _graphs_still_to_come_off(run: Run, rank: Rank, measured: Fact | None) -> Size | None:
    """Zero where the activation peak that is printed holds the estimate already."""
    applied = applied_graphs(run, rank)
    if measured is None or measured.kind != SUMMARY or applied == NOTHING:
        return applied
    held = True if "consumed" in measured.fields else value_since(GRAPHS_COUNTED_TWICE, run.version)
    return NOTHING if held else applied if held is False else None


def _estimate_of(hint: Fact | None, total: Size | None) -> Size | None:
    """From the two utilizations of the hint, each with four decimals: their difference x total."""
    now, without = (hint.number("utilization"), hint.number("equivalent_utilization")) if hint is not None else (None, None)
    if now is None or without is None or total is None:
        return None
    return Size.between(total.low * (now - without - HALF_OF_LAST_DECIMAL), total.high * (now - without + HALF_OF_LAST_DECIMAL))


def _headroom(measured: Fact | None) -> Size | None:
    """0.27.0 -: printed as the peak of activations in the summary, and within the whole in debug output."""
    if measured is None or "consumed" not in measured.fields:
        return None
    if measured.kind == SUMMARY:
        return measured.size("activation_peak")
    whole, consumed = measured.size("non_kv"), measured.size("consumed")
    return whole - consumed if whole is not None and consumed is not None else None


def _free_after_profile(rank: Rank) -> Size | None:
    debug = [size for fact in rank.by_kind.get("free_memory_debug", ()) if (size := fact.size("free")) is not None]
    return debug[-1] if debug else _part(rank.first("memory_profiling_error"), "free")


def _part(fact: Fact | None, name: str) -> Size | None:
    return fact.size(name) if fact is not None else None
