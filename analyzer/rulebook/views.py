"""A case -> the quantities that rules name. All arithmetic is in engines, cases and settings; here they only get their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from analyzer.cases.comparison import arena_for
from analyzer.cases.course import Course
from analyzer.cases.exits import DEATHS, ending_signal, exit_codes
from analyzer.cases.ledger import held_elsewhere, outside_torch, use_at_failure
from analyzer.cases.left_behind import left_behind
from analyzer.cases.model import Event, Rank, Run
from analyzer.facts.fact import Fact
from analyzer.facts.values import is_implausible
from analyzer.figures import sglang_bounds, vllm_bounds, vllm_figures
from analyzer.figures.measured import Measured
from analyzer.figures.omni_figures import omni_event_figures, omni_run_figures
from analyzer.figures.sglang_figures import budget_figures, pool_figures, run_figures, trial_figures
from analyzer.figures.sglang_request_table import request_table_figures
from analyzer.figures.sglang_special_pools import special_pool_figures
from analyzer.figures.vllm_suggestions import suggestion_figures
from analyzer.rulebook.case import Case
from analyzer.rulebook.expressions import View
from analyzer.rulebook.ladder_view import overhead_figures
from analyzer.rulebook.profile_figures import arena_figures, ladder_figures, settings_figures
from analyzer.rulebook.rulebook import JudgedKinds
from analyzer.settings import selection as selector
from analyzer.settings.model import Profile, Settings
from analyzer.units import Size

AGREEING = (
    "kv_cache_memory_bytes",
    "max_model_len",
    "max_num_batched_tokens",
    "max_num_seqs",
    "mem_fraction_static",
    "tp_size",
    "tensor_parallel_size",
)
"""Arguments by which a log and a profile are recognised as belonging together; utilization is not, it is clamped on the way."""


DEPLOYMENT = ("context_length", "max_model_len", "model", "model_path", "quantization", "tensor_parallel_size", "tp_size")
"""Arguments that decide how much the weights take on a card."""


def run_view(run: Run | None) -> View:
    if run is None:
        return View("run", {})
    return View(
        "run",
        {
            "args": View("run.args", run.args),
            "died": any(kind in run.by_kind for kind in DEATHS),
            "engine": run.engine,
            "forced": run.choice.path == "forced",
            "head_cut": run.head_cut,
            "kinds": frozenset(run.by_kind),
            "path": run.choice.path,
            "phase": run.phase,
            "profile": run.choice.profile,
            "served": run.outcome == "served",
            "version": run.version_text,
            "worst_rank": lambda: worst_rank(run).name if run.ranks else None,
            **run_figures(run),
            **vllm_figures.run_figures(run),
            **omni_run_figures(run),
            **bounds_when_asked(run),
        },
    )


def bounds_when_asked(run: Run) -> dict[str, Any]:
    """The intervals that can work, computed when a rule first names one of their figures."""
    figures = cache(lambda: sglang_bounds.bound_figures(run) | vllm_bounds.bound_figures(run))
    return {name: partial(lambda key: figures().get(key), name) for name in (*sglang_bounds.NAMES, *vllm_bounds.NAMES)}


def worst_rank(run: Run) -> Rank:
    """The rank with the least free memory, where several print theirs; else the first with a failure, else the first."""
    with_failure = [rank for rank in run.ranks if "free_at_failure" in rank.ledger]
    candidates = (
        with_failure
        or [rank for rank in run.ranks if "free_after_load" in rank.ledger or "free_at_start" in rank.ledger]
        or list(run.ranks)
    )
    return min(
        candidates,
        key=lambda rank: next(
            (rank.ledger[item].size.bytes for item in ("free_at_failure", "free_after_load", "free_at_start") if item in rank.ledger), 0
        ),
    )


def rank_view(run: Run | None, rank: Rank | None) -> View:
    if run is None:
        return View("rank", {})
    if rank is None:
        return View("rank", budget_figures(run, None))
    measured = Measured(run, rank)
    values: dict[str, Any] = {item: entry.size for item, entry in rank.ledger.items()}
    values |= {"name": rank.name, "device": rank.device}
    values |= {"shortfall": measured.shortfall, "overhead_spent": measured.overhead_spent, "overhead_at_least": measured.overhead_at_least}
    values["smallest_utilization"] = vllm_figures.smallest_utilization(run, rank)
    values |= budget_figures(run, rank)
    return View("rank", values)


def event_view(run: Run, event: Event, course: Course, kinds: JudgedKinds) -> View:
    fact = event.fact
    values: dict[str, Any] = {
        **fact.fields,
        "alive_after": lambda: course.alive_after(fact),
        "count": event.count,
        "cut": fact.cut,
        "ended_by": lambda: ending_signal(fact),
        "ended_with": lambda: next((code for code in exit_codes(fact) if code), None),
        "followed_by": lambda: course.kinds_after(fact),
        "free_beyond_request": lambda: free_beyond_request(fact),
        "implausible_figure": lambda: has_implausible_figure(fact.fields),
        "kind": event.kind,
        "other_failures": lambda: tuple(sorted(course.kinds & kinds.telling - {event.kind})),
        "phase": event.phase,
        "preceded_by": lambda: course.kinds_before(fact),
        "rank": event.rank,
        "reported_in_line": lambda: tuple(sorted(course.kinds_beside(fact) & kinds.reporting)),
        "same_line": lambda: course.kinds_beside(fact),
        "settings_tried": lambda: settings_tried(run, event),
        "site": event.site,
        "sites": tuple(event.sites),
        "went_on": lambda: course.went_on(fact),
    }
    values |= _device_figures(run, event) | pool_figures(run, event)
    values |= special_pool_figures(run, event) | omni_event_figures(run, event) | request_table_figures(run, event)
    return View("event", values)


def free_beyond_request(fact: Fact) -> Size | None:
    """What was free beside a refused amount. None when either is unknown or free memory was not enough."""
    tried, free = fact.fields.get("tried"), fact.fields.get("free")
    return free - tried if isinstance(tried, Size) and isinstance(free, Size) and free.low > tried.high else None


def has_implausible_figure(value: Any) -> bool:
    """Whether a field, at any depth, is a figure that no device can have."""
    if isinstance(value, Mapping):
        return any(map(has_implausible_figure, value.values()))
    return any(map(has_implausible_figure, value)) if isinstance(value, list) else is_implausible(value)


def settings_tried(run: Run, event: Event) -> int:
    """How many different settings people noted between the copies of one error ("with 0.8: ...", "with 0.6: ...")."""
    noted = run.all("setting_noted")
    before = [[note for note in noted if note.line.number <= copy.line.number] for copy in event.repeats]
    return len({repr(sorted(notes[-1].fields.items())) for notes in before if notes})


def _device_figures(run: Run, event: Event) -> dict[str, Any]:
    fact = event.fact
    if fact.kind == "torch_oom":
        use = use_at_failure(fact, frozenset(entry.line.origin.pid for entry in run.facts if entry.line.origin.pid is not None))
        return {"neighbours": use.others, "non_torch": outside_torch(fact, use), "held_elsewhere": held_elsewhere(fact, use)}
    if fact.kind == "startup_memory_summary":
        return suggestion_figures(run, event)
    return vllm_figures.startup_check_figures(run, event) if fact.kind == "free_memory_below_utilization" else {}


def selection_view(case: Case, run: Run | None) -> View:
    choice = run.choice if run is not None else None
    values: dict[str, Any] = {"safety_factor": case.settings.selection.safety_factor if case.settings else None}
    if choice is not None:
        values |= {"available": choice.available, "free": choice.free, "total": choice.total}
    values["replayed"] = replayed(case, run)
    return View("selection", values)


def replayed(case: Case, run: Run | None) -> str | None:
    """The profile that the settings given choose at the free memory the selector of the log saw; None when that memory is unknown."""
    if case.settings is None or run is None or run.choice.free is None or run.choice.total is None:
        return None
    low, high = (selector.select(case.settings, run.choice.total.bytes, end).winner for end in (run.choice.free.low, run.choice.free.high))
    return low or "none of them" if low == high else None


def case_view(case: Case, run: Run | None) -> View:
    missing = cache(lambda: left_behind(case.runs, run) if run is not None else None)
    return View(
        "case",
        {
            "arena_by_other_run": lambda: arena_by_other_run(case, run),
            "has_settings": case.settings is not None,
            "left_out": [f"{run.source}: {run.reason}" for run in case.left_out] if case.compares_runs else [],
            "left_behind": lambda: found.less if (found := missing()) else None,
            "left_behind_by": lambda: found.before if (found := missing()) else None,
            "left_behind_on": lambda: found.rank if (found := missing()) else None,
            "measured": bool(case.runs or case.ladders),
            "runs": len(case.runs),
            "stale_profile": stale_profile(case, run),
            **overhead_figures(case),
            **trial_figures(case.runs),
        },
    )


def arena_by_other_run(case: Case, run: Run | None) -> int | None:
    """The smallest arena that runs of the same settings imply, which served with more free memory; in bytes."""
    if run is None or run.outcome == "served":
        return None
    arenas = [arena_for(other, run) for other in case.runs if other.outcome == "served"]
    return min((arena.low for arena in arenas if arena is not None and arena.low > 0), default=None)


def stale_profile(case: Case, run: Run | None) -> str | None:
    """The run's profile when the file now says something else than the log: other arguments, or a threshold that would not select it."""
    profile = used_profile(case, run)
    if profile is None or run is None:
        return None
    chosen_now = replayed(case, run) if run.choice.path == "selected" else None
    differs = not agrees(profile, run) or (chosen_now is not None and chosen_now != profile.name)
    return profile.name if differs else None


def same_deployment(profile: Profile, run: Run) -> bool:
    """Whether the profile and the log speak of the same model served in the same way, whatever share of memory it gets."""
    shared = [key for key in DEPLOYMENT if key in run.args and profile.value(key) is not None]
    return bool(shared) and all(run.args[key] == profile.value(key) for key in shared)


def agrees(profile: Profile, run: Run) -> bool:
    """Whether the arguments of the log are those of the profile, as far as both state them."""
    return all(run.args[key] == profile.value(key) for key in AGREEING if key in run.args and profile.value(key) is not None)


def used_profile(case: Case, run: Run | None) -> Profile | None:
    """The profile of the settings that the run used: named by the selector, or the only one that agrees with its arguments."""
    if case.settings is None or run is None:
        return None
    if run.choice.profile is not None:
        return case.settings.profiles.get(run.choice.profile)
    shared = [
        profile
        for profile in case.settings.profiles.values()
        if any(key in run.args and profile.value(key) is not None for key in AGREEING)
    ]
    agreeing = [profile for profile in shared if agrees(profile, run)]
    return agreeing[0] if len(agreeing) == 1 else None


def profile_view(case: Case, settings: Settings, profile: Profile, run: Run | None, rank: Rank | None) -> View:
    measured = Measured(run, rank) if run is not None and rank is not None else None
    used = used_profile(case, run) is profile
    total = case.device or (rank.size("total") if rank is not None else None)
    utilization = profile.utilization
    arena = profile.size("kv_cache_memory_bytes")
    requires = profile.size("requires_free_bytes")
    weights = (rank.size("weights") if rank is not None else None) or case.weights
    both = weights + arena if weights is not None and arena is not None else None
    siblings = Counter(other.utilization for other in settings.profiles.values() if other.utilization is not None and other is not profile)
    overhead = measured.selector_overhead_at_least if measured is not None else None
    values: dict[str, Any] = {
        "arena_and_weights": both,
        "ceiling": total * utilization if total is not None and utilization is not None else None,
        "chosen_at_this_free": (chosen == profile.name) if (chosen := replayed(case, run)) is not None else None,
        "declared_overhead": requires - both if requires is not None and both is not None else None,
        "engine": profile.engine or (run.engine if run is not None else None),
        "form": profile.form,
        "gpu_memory_utilization": profile.value("gpu_memory_utilization"),
        "kv_cache_memory_bytes": arena,
        "max_model_len": profile.value("max_model_len"),
        "mem_fraction_static": profile.value("mem_fraction_static"),
        "name": profile.name,
        "need_at_least": measured.need_at_least if measured is not None and used else None,
        "need_by_overhead": both + overhead if both is not None and overhead is not None and not used else None,
        "requires_free_bytes": requires,
        "same_deployment_as_log": same_deployment(profile, run) if run is not None else None,
        "same_settings_as_log": agrees(profile, run) if run is not None else None,
        "saturation": total * (utilization / settings.selection.safety_factor) if total is not None and utilization is not None else None,
        "siblings_utilization": siblings.most_common(1)[0][0] if siblings else None,
        "utilization": utilization,
        "used": used,
        "loaded_at_least": both or arena,
        **settings_figures(case, settings, profile),
        **arena_figures(case, profile, run, rank, measured.arena if measured is not None else None),
        **ladder_figures(case, settings, profile),
    }
    return View("profile", values)
