"""Quantities of sglang-omni runs under the names that rules use."""

from __future__ import annotations

from typing import Any

from analyzer.cases.model import Event, Run
from analyzer.engines.interval import rounded_down, rounded_up
from analyzer.engines.omni import largest_encoder_reserve, least_stage_fraction
from analyzer.facts.fact import Fact
from analyzer.figures.omni_stages import PRINTED_AS, all_pools_pinned, held, stages


def omni_run_figures(run: Run) -> dict[str, Any]:
    """Whether fractions and the encoders' reserve have any effect in this run."""
    pinned = all_pools_pinned(run)
    return {"encoder_reserve_ignored": pinned or bool(run.all("omni_encoder_reserve_skip")), "stage_pools_pinned": pinned}


def omni_event_figures(run: Run, event: Event) -> dict[str, Any]:
    """What a refused share or reserve would have to be."""
    fact = event.fact
    if fact.kind == "omni_kv_none":
        return {"least_stage_share": _least_share(run, fact)}
    if fact.kind == "omni_gpu_overcommit":
        return _promised_too_much(fact)
    return {"largest_encoder_reserve": _largest_reserve(fact)} if fact.kind == "omni_encoder_reserve_fail" else {}


def _least_share(run: Run, refused: Fact) -> float | None:
    """The share at which the KV pool is still empty, with what is taken off the share for encoders; None where that is not clear."""
    total, used, share = refused.size("total"), held(refused), refused.number(PRINTED_AS)
    if total is None or used is None or share is None or total.high <= 0:
        return None
    taken_off = {stage.taken_off for stage in stages(run) if round((stage.share or 0.0) - stage.taken_off, 3) == round(share, 3)}
    least = least_stage_fraction(total, used) + (taken_off.pop() if len(taken_off) == 1 else 0.0)
    return rounded_up(least) if least < 1 else None


def _promised_too_much(refused: Fact) -> dict[str, Any]:
    total, declared = refused.size("total"), refused.size("declared")
    share, limit = refused.number(PRINTED_AS), refused.number("limit")
    return {
        "promised_bytes_too_much": declared - total if declared is not None and total is not None else None,
        "promised_share_too_much": round(share - limit, 3) if share is not None and limit is not None else None,
    }


def _largest_reserve(refused: Fact) -> float | None:
    fractions = (refused.number(name) for name in ("mem_fraction_static", PRINTED_AS))
    fraction = next((value for value in fractions if value is not None), None)
    return rounded_down(largest_encoder_reserve(fraction)) if fraction is not None else None
