"""What refused slots for recurrent states need, under the names that rules use."""

from __future__ import annotations

from typing import Any

from analyzer.cases.model import Event, Run
from analyzer.engines.interval import rounded_up
from analyzer.engines.sglang import fraction_for_more
from analyzer.engines.sglang_two_pools import ratio_for_slots, rest_for_slots
from analyzer.facts.fact import Fact
from analyzer.figures.sglang_figures import least_of, mem_fraction_static
from analyzer.figures.sglang_launch_of_run import shows_all_arguments
from analyzer.figures.sglang_post_capture import is_post_capture
from analyzer.figures.sglang_states import attention_workers, fixed_by, ratio_in_effect, slots_needed


def state_figures(run: Run, event: Event) -> dict[str, Any]:
    """The fraction below which no slot fits; the slots that the requests asked for take, and the ratio that gives them."""
    if event.kind == "mamba_not_enough":
        return {"fraction_for_states": _fraction(run, event.fact)}
    needed = slots_needed(run) if event.kind == "mamba_too_small" else None
    if needed is None:
        return {}
    slots, _, wanted = needed
    ratio, _ = ratio_in_effect(run)
    larger = ratio_for_slots(ratio, slots, wanted) if ratio is not None and slots > 0 and fixed_by(run) is None else None
    return {
        "state_ratio_needed": rounded_up(larger) if larger is not None else None,
        "state_slots_needed": wanted * attention_workers(run),
    }


def _fraction(run: Run, refused: Fact) -> float | None:
    """Only without draft states, which the printed remainder counts in another way, and without pools that graphs come before."""
    plain = shows_all_arguments(run) and run.args.get("speculative_algorithm") is None and not is_post_capture(run)
    rest, slot, (ratio, _) = refused.size("rest"), refused.size("per_request"), ratio_in_effect(run)
    pre, fraction = least_of(run, "free_at_start"), mem_fraction_static(run)
    if not plain or rest is None or slot is None or ratio is None or pre is None or fraction is None or fixed_by(run) is not None:
        return None
    needed = fraction_for_more(fraction, rest_for_slots(slot, 1, ratio) - rest, pre)
    return rounded_up(needed) if needed < 1 else None
