"""The settings of sglang-omni's stages that bear on memory, as one run shows them."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Run
from analyzer.engines.interval import Bounds
from analyzer.engines.omni import LARGEST_SUM, largest_encoder_reserve, least_stage_fraction
from analyzer.facts.fact import Fact
from analyzer.figures.omni_stages import (
    PRINTED_AS,
    Stage,
    all_pools_pinned,
    budget_of_card,
    cap_size,
    excess_in_words,
    held,
    knob,
    largest_cap,
    limit_of,
    pinned_pools,
    profile_of,
    stages,
    totals,
)
from analyzer.knobs.shown import Shown
from analyzer.units import Size

FIXED = "none: kv_cache_bytes gives the size of the pool"
INSTEAD = "move a stage to another card, or make its weights smaller"


def omni_knobs(run: Run) -> Iterator[Shown]:
    """A row for each share of a card and each fraction, then the reserves, the pools of fixed size, and shares that were refused."""
    for stage in stages(run):
        yield _share(run, stage) if stage.share is not None else _static(run, stage)
        if stage.reserve is not None:
            yield _encoder_reserve(run, stage)
    yield from _pinned(run)
    yield from _caps(run)
    yield from _refused_cards(run)


def _share(run: Run, stage: Stage) -> Shown:
    profile = profile_of(run, stage)
    source = f"printed by the engine, line {stage.line}"
    if stage.taken_off:
        source = f"{source}; {stage.effective:g} without what is kept for encoders"
    name = knob(run, stage.name, "stage_fraction", PRINTED_AS)
    return Shown(name, stage.share, source, _share_bounds(run, stage, profile), INSTEAD, _share_effect(run, stage, profile))


def _share_bounds(run: Run, stage: Stage, profile: Fact | None) -> Bounds:
    """Below: the stage's KV pool is empty. Above: what the other stages that print a share leave of the card."""
    bounds, used = Bounds(), held(profile) if profile is not None else None
    total = profile.size("total") if profile is not None else None
    if used is not None and total is not None and total.high > 0:
        because = f"below, the KV pool is empty: the stage holds {used} of {total}"
        bounds = bounds.raised(least_stage_fraction(total, used) + stage.taken_off, because)
    for device in stage.devices:
        others = [other for other in stages(run) if other.name != stage.name and device in other.devices and other.share is not None]
        if others:
            left = limit_of(run, device) - sum(other.share for other in others if other.share is not None)
            bounds = bounds.capped(max(left, 0.0), f"GPU {device} has no more beside {' and '.join(other.name for other in others)}")
    return bounds


def _share_effect(run: Run, stage: Stage, profile: Fact | None) -> str:
    told = []
    pool = profile.size("available_for_kv") if profile is not None else None
    if pool is not None:
        told.append(f"the stage's KV pool gets {pool}")
    for device in stage.devices:
        total, budget = totals(run).get(device), budget_of_card(run, device)
        shares = [other.share for other in stages(run) if device in other.devices and other.share is not None]
        if total is not None:
            told.append(f"0.01 is {total * 0.01}")
        if len(shares) > 1 or largest_cap(run, device) is not None:
            told.append(_together(device, [f"{share:g}" for share in shares], sum(shares), excess_in_words(budget) if budget else ""))
    return "; ".join(told)


def _together(device: int, shares: list[str], total: float, excess: str) -> str:
    added = f"{' + '.join(shares)} = {total:.4g}" if len(shares) > 1 else shares[0]
    return f"the stages on GPU {device} that print a share have {added} of the card{f', {excess}' if excess else ''}"


def _static(run: Run, stage: Stage) -> Shown:
    """A stage that has its card alone: SGLang's own fraction, of what was free before loading."""
    role = "talker_mem_fraction_static" if stage.name.startswith("talker") else "thinker_mem_fraction_static"
    name = knob(run, stage.name, role, "mem_fraction_static")
    source = f"printed by the engine, line {stage.line}"
    if stage.reserve:
        source = f"{source}; automatic, less {stage.reserve:g} for encoders"
    return Shown(name, stage.static, source, effect=FIXED if all_pools_pinned(run) else "")


def _encoder_reserve(run: Run, stage: Stage) -> Shown:
    """It is only taken off a fraction that nobody set; where 0 is printed, the log does not tell whether it was set to 0."""
    name, source = knob(run, stage.name, "encoder_mem_reserve", "encoder_mem_reserve"), f"printed by the engine, line {stage.line}"
    before = stage.share if stage.share is not None else stage.static
    if any(fact.text("stage") in (stage.name, None) for fact in run.all("omni_encoder_reserve_skip")):
        return Shown(name, stage.reserve, source, effect=FIXED)
    if not stage.reserve or before is None:
        return Shown(name, stage.reserve, source, effect="nothing is kept for encoders: it is 0, or the stage's fraction was set by hand")
    automatic = before if stage.share is not None else before + stage.reserve
    bounds = Bounds().capped(largest_encoder_reserve(automatic), f"more leaves less than 0.1 of {automatic:g}, which is refused")
    total = next((totals(run)[device] for device in stage.devices if device in totals(run)), None)
    size = f", {total * stage.reserve} of the card" if total is not None else ""
    return Shown(name, stage.reserve, source, bounds, effect=f"taken off the fraction of the {stage.name} for encoders{size}")


def _pinned(run: Run) -> Iterator[Shown]:
    """Pools of fixed size: what was asked for, and what was free."""
    for refused in run.all("omni_kv_bytes_fail"):
        asked, free = refused.size("kv_pinned"), refused.size("free")
        if asked is not None:
            yield _fixed_pool(asked, refused, free, "so much was free after loading")
    for refused in run.all("omni_kv_bytes_postcapture_fail"):
        asked, tokens, backed = refused.size("kv_pinned"), refused.integer("tokens"), refused.integer("backed_tokens")
        if asked is not None and tokens and backed is not None:
            yield _fixed_pool(asked, refused, asked * (backed / tokens), "what was free after graph capture backs no more")
    for profile in () if run.all("omni_kv_bytes_fail") or run.all("omni_kv_bytes_postcapture_fail") else pinned_pools(run):
        asked = profile.size("kv_pinned")
        if asked is not None:
            yield _fixed_pool(asked, profile, profile.size("free"), "so much was free after loading")


def _fixed_pool(asked: Size, fact: Fact, high: Size | None, because: str) -> Shown:
    device = fact.integer("device")
    bounds = Bounds().capped(high.high, because) if high is not None else Bounds()
    effect = f"gives the size of the pool{f' on GPU {device}' if device is not None else ''}; no fraction and no reserve is looked at"
    return Shown("kv_cache_bytes", asked.bytes, f"printed by the engine, line {fact.line.number}", bounds, effect=effect)


def _caps(run: Run) -> Iterator[Shown]:
    """Byte limits of the allocators, of the stages of a process together."""
    for device in dict.fromkeys(device for fact in run.all("omni_torch_cap") if (device := fact.integer("device")) is not None):
        cap = largest_cap(run, device)
        if cap is not None:
            total, budget = totals(run).get(device), budget_of_card(run, device)
            left = total * max(0.0, LARGEST_SUM - (budget.fraction if budget is not None else 0.0)) if total is not None else None
            bounds = (
                Bounds().capped(left.high, f"GPU {device} has no more beside the shares of its stages") if left is not None else Bounds()
            )
            source = f"printed by the engine, line {cap.line.number}"
            effect = f"the process of the {cap.text('stage')} is refused what exceeds it, whatever is free on GPU {device}"
            yield Shown("total_reserve_bytes", cap_size(cap).bytes, source, bounds, effect=effect)


def _refused_cards(run: Run) -> Iterator[Shown]:
    """Cards that were promised more than they have, before anything was loaded."""
    for refused in run.all("omni_gpu_overcommit"):
        device, share = refused.integer("device"), refused.number(PRINTED_AS)
        total, reserved, declared = (refused.size(name) for name in ("total", "reserved", "declared"))
        if device is None or share is None:
            continue
        name, source = f"{PRINTED_AS} of GPU {device}", f"sum of its stages, line {refused.line.number}"
        if total is not None and reserved is not None and declared is not None:
            high = max(0.0, 1 - reserved.low / total.high)
            bounds = Bounds().capped(high, f"total_reserve_bytes take {reserved} of {total}")
            yield Shown(name, share, source, bounds, INSTEAD, f"{declared - total} too much")
        else:
            limit = limit_of(run, device)
            yield Shown(
                name, share, source, Bounds().capped(limit, "the limit of a card"), INSTEAD, f"{share - limit:.3f} of the card too much"
            )
