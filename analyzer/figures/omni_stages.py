"""The stages of an sglang-omni run as they print themselves: their shares of which card, and what they hold of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from analyzer.cases.model import Run
from analyzer.engines.argument import flag_of
from analyzer.engines.omni import ARGUMENTS, LARGEST_SUM, CardBudget, card_budget, omni_release
from analyzer.facts.fact import Fact
from analyzer.units import Size, format_bytes

PRINTED_AS = "total_gpu_memory_fraction"
"""What every release calls a stage's share of its card in the log."""
OLD_ROLES = {"talker_ar": "talker"}
"""Stage -> the role that the flags up to 0.1.3 name."""


@dataclass(frozen=True, slots=True)
class Stage:
    """`share` is of the card and None where the stage has its card alone; `static` is the mem_fraction_static in effect.

    `effective` is the share less the encoders' reserve, where one was taken off.
    """

    name: str
    devices: tuple[int, ...]
    share: float | None
    effective: float | None
    static: float | None
    reserve: float | None
    line: int

    @property
    def taken_off(self) -> float:
        """What was taken off the share for encoders."""
        return self.share - self.effective if self.share is not None and self.effective is not None else 0.0


def stages(run: Run) -> list[Stage]:
    """The stages with an engine, in order of their first line; of a stage that was started again, the last start."""
    found: dict[str, Stage] = {}
    for fact in (*run.all("omni_ar_startup"), *run.all("omni_ar_started")):
        name, device = fact.text("stage"), fact.integer("device")
        if name is None:
            continue
        before = found.get(name)
        devices = dict.fromkeys((*(before.devices if before is not None else ()), *((device,) if device is not None else ())))
        reserve = fact.number("encoder_mem_reserve")
        found[name] = Stage(
            name=name,
            devices=tuple(devices),
            share=fact.number(PRINTED_AS),
            effective=fact.number("effective_total_gpu_memory_fraction"),
            static=fact.number("mem_fraction_static"),
            reserve=reserve if reserve is not None or before is None else before.reserve,
            line=before.line if before is not None and fact.kind == "omni_ar_started" else fact.line.number,
        )
    return list(found.values())


def release_of_omni(run: Run) -> Version | None:
    """A release of sglang-omni with the same arguments as the run's; None when the log does not tell."""
    return omni_release(run.version, run.by_kind)


def knob(run: Run, stage: str, argument: str, printed: str) -> str:
    """What the run's release calls an argument of a stage; `printed` with the stage before it, where the release is unknown."""
    path = (flag_of(ARGUMENTS, argument, release_of_omni(run)) or "").removeprefix("--")
    if "." in path:
        return f"{stage}.{path.partition('.')[2]}"
    role, of_role = OLD_ROLES.get(stage, stage), argument.endswith("_mem_fraction_static")
    return path.replace("-", "_") if path and (path.startswith(f"{role}-") or not of_role) else f"{stage}.{printed}"


def totals(run: Run) -> Mapping[int, Size]:
    """Memory of each card, as stages or a refused placement print it."""
    facts = (*run.all("omni_memory_profile"), *run.all("omni_gpu_overcommit"))
    sizes = ((fact.integer("device"), fact.size("total")) for fact in facts)
    return {device: total for device, total in sizes if device is not None and total is not None}


def largest_cap(run: Run, device: int) -> Fact | None:
    """The line of the largest byte limit of a process on this card (total_reserve_bytes); stages of one process print their sum so far."""
    found = [fact for fact in run.all("omni_torch_cap") if fact.integer("device") == device and fact.size("allocator_cap") is not None]
    return max(found, key=lambda fact: cap_size(fact).bytes, default=None)


def cap_size(cap: Fact) -> Size:
    return cap.size("allocator_cap") or Size.exact(0)


def budget_of_card(run: Run, device: int) -> CardBudget | None:
    """What the stages that print a share of this card are promised together; None where the card's size is unknown, or no share is."""
    total, cap = totals(run).get(device), largest_cap(run, device)
    shares = {stage.name: stage.share for stage in stages(run) if device in stage.devices and stage.share is not None}
    reserved = {"reserve": cap_size(cap).bytes} if cap is not None else {}
    return card_budget(total, shares, reserved, limit_of(run, device)) if total is not None and shares else None


def limit_of(run: Run, device: int) -> float:
    """The largest sum of shares of a card: as a refusal prints it, else the whole card."""
    printed = (fact.number("limit") for fact in run.all("omni_gpu_overcommit") if fact.integer("device") == device)
    return next((limit for limit in printed if limit is not None), LARGEST_SUM)


def profile_of(run: Run, stage: Stage) -> Fact | None:
    """The line in which a stage accounts for its share, or is refused for it; None where it is not the only one of that share.

    These lines name no stage: the share, less the reserve, tells them apart.
    """
    share = stage.effective if stage.effective is not None else stage.share
    if share is None:
        return None
    same = [other for other in stages(run) if _to_three_decimals(other) == round(share, 3)]
    facts = [*run.all("omni_memory_profile"), *run.all("omni_kv_none")]
    own = [fact for fact in facts if fact.number(PRINTED_AS) == round(share, 3)]
    return own[-1] if len(same) == 1 and own else None


def _to_three_decimals(stage: Stage) -> float | None:
    share = stage.effective if stage.effective is not None else stage.share
    return round(share, 3) if share is not None else None


def held(profile: Fact) -> Size | None:
    """What a stage's process holds beside its pools after loading."""
    return profile.size("process_used") or profile.size("stage_load_used")


def pinned_pools(run: Run) -> Sequence[Fact]:
    """The lines of KV pools that kv_cache_bytes gives (0.1.5 -)."""
    return [fact for fact in run.all("omni_memory_profile") if fact.size("kv_pinned") is not None]


def all_pools_pinned(run: Run) -> bool:
    """Whether every stage with an engine that prints its start has such a pool, so that no fraction has any effect."""
    engines = {(fact.text("stage"), fact.integer("tp_rank")) for fact in run.all("omni_ar_startup")}
    return 0 < len(engines) <= len(pinned_pools(run))


def excess_in_words(budget: CardBudget) -> str:
    """How much more than the card was promised, or how much of it was not. Stages that print no share take their part besides."""
    excess = budget.excess
    return f"{format_bytes(excess.bytes)} too much at least" if excess.bytes > 0 else f"{format_bytes(-excess.bytes)} left at most"
