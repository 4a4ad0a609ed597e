"""What settings alone, and the ladders of measured runs, say about one profile."""

from __future__ import annotations

from typing import Any

from analyzer.cases.model import Rank, Run
from analyzer.engines.tokens import bytes_per_token, pool_for
from analyzer.rulebook.case import Case
from analyzer.rulebook.forecast import unpinned
from analyzer.settings.amounts import BYTE_ARGUMENTS
from analyzer.settings.model import Profile, Settings
from analyzer.settings.selection import least_free, raw_free_needed
from analyzer.settings.selection_map import selection_map
from analyzer.settings.separation import (
    FitCondition,
    MeasuredRuns,
    compare_repairs,
    following_utilization,
    replay,
    separation,
)
from analyzer.settings.thresholds import BALLAST_FOOTPRINT, in_both_units, untested_band
from analyzer.units import MIB, Size

SMALLEST_PLAUSIBLE = 64 * MIB
"""No arena and no threshold of a served model is as small as this; such a number is one of MiB or GiB."""


def settings_figures(case: Case, settings: Settings, profile: Profile) -> dict[str, Any]:
    """What the file says, and what follows for the device, as far as its size is known."""
    requires = profile.requires_free_bytes
    factor = settings.selection.safety_factor
    amounts = {other.requires_free_bytes for other in settings.profiles.values() if other.requires_free_bytes is not None}
    device = case.device
    small = [key for key in sorted(BYTE_ARGUMENTS) if (value := profile.value(key)) is not None and 0 < value < SMALLEST_PLAUSIBLE]
    suffixed = [
        key for key in profile.entries if isinstance(profile.value(key), int) and (profile.written(key) or "")[-1:] in tuple("KMGT")
    ]
    return {
        "asks_for_most": requires is not None and requires == max(amounts),
        "device": device,
        "highest_budget": None if device is None else device * min(profile.utilization or 1.0, factor),
        "in_order": profile.name in settings.order,
        "never_selected": None if not amounts else requires is None,
        "raw_free_needed": None if requires is None else Size.exact(least_free(requires, factor)),
        "shadowed_by": _shadowed_by(case, settings, profile),
        "small_amounts": [f"{key}: {profile.written(key)}" for key in small],
        "small_keys": small,
        "suffixed": [f"{key}: {profile.written(key)} is {profile.value(key)}" for key in suffixed],
        "suffixed_keys": suffixed,
        "unusable": [key for key in profile.entries if key not in profile.arguments],
    }


def _shadowed_by(case: Case, settings: Settings, profile: Profile) -> str | None:
    """An earlier profile that fits whenever this one does: it asks for no more, and its budget is no smaller on any device."""
    if case.device is not None:
        unreachable = selection_map(settings, case.device.bytes).unreachable
        return next((entry.by for entry in unreachable if entry.profile == profile.name and entry.obstacle == "shadowed"), None)
    requires = profile.requires_free_bytes
    if requires is None or profile.name not in settings.order:
        return None
    for name in settings.order[: settings.order.index(profile.name)]:
        earlier = settings.profiles[name]
        asks_no_more = earlier.requires_free_bytes is not None and earlier.requires_free_bytes <= requires
        wider = earlier.utilization is None or (profile.utilization is not None and earlier.utilization >= profile.utilization)
        if asks_no_more and wider:
            return name
    return None


def arena_figures(case: Case, profile: Profile, run: Run | None, rank: Rank | None, arena_of_run: Size | None) -> dict[str, Any]:
    """How many tokens the pinned arena holds, by the bytes per token that the run shows; the same model and KV data type are assumed."""
    found: dict[str, Any] = {}
    window, arena = profile.value("max_model_len"), profile.value("kv_cache_memory_bytes")
    refused = unpinned(case, profile) if arena is not None else None
    if refused is not None:
        found |= {"unpinned_needed": refused.needed, "unpinned_available": refused.available}
    counted = run.first("kv_cache_tokens") if run is not None else None
    tokens = counted.fields.get("tokens") if counted is not None else None
    pool = arena_of_run or (rank.size("kv_cache") if rank is not None else None)
    if run is None or not isinstance(tokens, int) or tokens <= 0 or pool is None or arena is None or not isinstance(window, int):
        return found
    types = (profile.value("kv_cache_dtype"), run.args.get("kv_cache_dtype"))
    if None not in types and types[0] != types[1]:
        return found
    per_token = bytes_per_token(pool, tokens)
    held = arena * tokens // pool.bytes
    spare = Size.exact(arena) - pool_for(window, per_token)
    return found | {
        "arena_tokens": held,
        "bytes_per_token": per_token.bytes,
        "slack": spare,
        "slack_percent": round(100 * (held / window - 1), 1),
    }


def ladder_figures(case: Case, settings: Settings, profile: Profile) -> dict[str, Any]:
    """The profile held against the runs that were measured of it. All amounts of free memory are raw."""
    ladder, requires = case.ladder_of(profile.name), profile.requires_free_bytes
    device = (ladder.device if ladder is not None else None) or case.device
    if ladder is None or ladder.contradictions or device is None or requires is None:
        return {"measured": False}
    factor = settings.selection.safety_factor
    measured = MeasuredRuns(device.bytes, ladder.fails_at, ladder.passes_at)
    separates = separation(measured, profile.utilization, factor)
    return {
        "measured": separates is not None,
        "selected_failures": list(replay(measured, FitCondition(profile.utilization, requires), factor).selected_failures),
        "separable": None if separates is None else separates.exists,
        "highest_failure": max(measured.fails_at, default=None),
        "lowest_pass": min(measured.passes_at, default=None),
        "recommendation": case.recommendations[profile.name].reason,
        **_repair(case, profile, measured, factor),
        **(_band(case, requires, measured, factor) if len(ladder.rungs) > 1 else {}),
    }


def _repair(case: Case, profile: Profile, measured: MeasuredRuns, factor: float) -> dict[str, Any]:
    """A threshold, and a utilization where the present one saturates the budget, with which no run that failed is selected."""
    present = separation(measured, profile.utilization, factor)
    if present is None:
        return {}
    utilization = profile.utilization if present.exists else following_utilization(factor)
    after = separation(measured, utilization, factor)
    if after is None or not after.exists:
        return {}
    recommended = case.recommendations[profile.name].threshold
    by_ladder = recommended is not None and replay(measured, FitCondition(utilization, recommended), factor).enough
    threshold = recommended if by_ladder else after.proposed
    if threshold is None:
        return {}
    before = FitCondition(profile.utilization, profile.requires_free_bytes or 0)
    repairs = compare_repairs(measured, before, FitCondition(utilization, threshold), factor)
    units = in_both_units(threshold, min(measured.passes_at), measured.total, utilization, factor)
    return {
        "proposed_threshold": threshold,
        "proposed_utilization": utilization,
        "proposed_by_ladder": by_ladder,
        "proposed_raw_free": raw_free_needed(threshold, factor),
        "proposed_in_both_units": str(units),
        "both_needed": repairs.both_needed,
        "utilization_alone": str(repairs.utilization_alone),
        "threshold_alone": str(repairs.threshold_alone),
        "budget_at_failure": present.low,
        "budget_at_pass": present.high,
        "repaired_budget_at_failure": after.low,
        "repaired_budget_at_pass": after.high,
    }


def _band(case: Case, requires: int, measured: MeasuredRuns, factor: float) -> dict[str, Any]:
    """The lower edge of what the selector offers, where nobody has tried the profile."""
    most_free = case.instrument_reach
    band = untested_band(requires, factor, most_free or measured.total, measured.fails_at, measured.passes_at)
    if band is None:
        return {}
    return {
        "untested_low": band.low,
        "untested_high": band.high,
        "untested_width": Size.exact(band.width),
        "untested_implied": band.implied,
        "untested_reachable": None if most_free is None else band.reachable(most_free),
        "footprint": Size.exact(BALLAST_FOOTPRINT),
    }
