"""What to expect at an amount of free memory: which profile the selector takes, and whether measured runs say that it starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzer.analysis import Expected
from analyzer.engines import vllm
from analyzer.figures.measured import Measured
from analyzer.rulebook.case import Case
from analyzer.settings.model import Profile, Settings
from analyzer.settings.selection import Selection, engine_utilization, exact, select
from analyzer.units import Size, format_bytes, group_digits


@dataclass(frozen=True, slots=True)
class Need:
    """Raw free memory, in bytes, with which a profile starts: more than `low`, at most `high`; None where nothing bounds it.

    `measured` is False for bounds that runs of other profiles give; those show nothing about this one.
    """

    low: int | None
    high: int | None
    basis: str
    measured: bool = True


@dataclass(frozen=True, slots=True)
class Forecast:
    """What to expect with this much free memory. `utilization` is handed to the engine, `need` is of the profile that wins."""

    selection: Selection
    utilization: float | None
    need: Need | None
    expected: Expected
    why: str

    @property
    def free(self) -> int:
        return self.selection.free

    @property
    def profile(self) -> str | None:
        return self.selection.winner

    @property
    def spare(self) -> tuple[int | None, int | None]:
        """Free memory beyond the need, at least and at most, in bytes; negative where it is short."""
        if self.need is None:
            return None, None
        low, high = self.need.low, self.need.high
        return None if high is None else self.free - high, None if low is None else self.free - low


def forecast(case: Case, settings: Settings, total: int, free: int) -> Forecast:
    """The selector's choice on a device of `total` bytes with `free` raw free bytes, held against the start-up check and the ladders."""
    selection = select(settings, total, free)
    if selection.winner is None:
        return Forecast(selection, None, None, "nothing fits", "no profile fits the budget")
    profile = settings.profiles[selection.winner]
    factor = settings.selection.safety_factor
    default = engine_default(case)
    utilization = engine_utilization(profile, total, free, factor, default) if profile.engine == "vllm" else profile.utilization
    need = need_of(case, profile)
    if without_pin := refusal_without_pin(case, profile):
        return Forecast(selection, utilization, need, "fails", without_pin)
    if refused := _refusal(case, profile, utilization, total, free):
        return Forecast(selection, utilization, need, "fails", refused)
    return Forecast(selection, utilization, need, *_against(need, free))


def engine_default(case: Case) -> float:
    """vLLM's utilization when a profile states none: that of the release in the logs, else the least that any release has."""
    defaults = [value for run in case.runs if run.engine == "vllm" and (value := vllm.default_utilization(run.version)) is not None]
    return defaults[-1] if defaults else min(value for _, value in vllm.DEFAULT_UTILIZATION)


def need_of(case: Case, profile: Profile) -> Need:
    """The raw free memory that a profile needs, from its own ladder, else from the overhead common to other profiles.

    need = threshold measured + (arena now - arena then): what else the runs took stays, and the weights cancel.
    """
    ladder = case.ladder_of(profile.name)
    arena = profile.value("kv_cache_memory_bytes")
    then = next((size for rung in (ladder.counted if ladder else ()) if (size := rung.receipt.arena) is not None), None)
    if then is not None and arena is None:
        return Need(None, None, "its runs had a pinned KV arena, and these settings pin none", measured=False)
    if ladder is not None and ladder.threshold is not None:
        shift = Size.exact(arena) - then if then is not None else Size.exact(0)
        low, high = ladder.threshold.low, ladder.threshold.high
        low = max((bound for bound in (low, *_lacked(case, profile)) if bound is not None), default=None)
        moved = (
            "" if shift.bytes == 0 else f", with the arena {format_bytes(abs(shift.bytes))} {'larger' if shift.bytes > 0 else 'smaller'}"
        )
        return Need(
            None if low is None else low + shift.low, None if high is None else high + shift.high, f"measured runs of {profile.name}{moved}"
        )
    return _by_common_overhead(case, arena)


def _lacked(case: Case, profile: Profile) -> Iterator[int]:
    """Lower bounds from logs: what the selector of a failed run saw free, plus what its refused allocation lacked."""
    for run in case.runs:
        if run.choice.profile == profile.name and run.choice.path == "selected" and run.choice.free is not None:
            for rank in run.ranks:
                if (shortfall := Measured(run, rank).shortfall) is not None:
                    yield run.choice.free.low + shortfall.low


def _by_common_overhead(case: Case, arena: int | None) -> Need:
    found, weights = case.constancy, case.weights
    if found.verdict != "constant" or found.low is None or found.high is None or weights is None or arena is None:
        return Need(None, None, "no run of it was measured", measured=False)
    loaded = weights.bytes + arena
    return Need(loaded + found.low, loaded + found.high, f"the overhead common to {' and '.join(found.profiles)}", measured=False)


def _against(need: Need, free: int) -> tuple[Expected, str]:
    bounds = f"{need.basis}: it needs {_between(need)}"
    if need.low is None and need.high is None:
        return "cannot tell", need.basis
    if not need.measured:
        return "cannot tell", f"not measured on this profile; by {bounds}"
    if need.low is not None and free <= need.low:
        return "fails", bounds
    if need.high is not None and free >= need.high:
        return "starts", bounds
    known = "no run was made in between" if None not in {need.low, need.high} else "no run tells more"
    return "cannot tell", f"{bounds}, and {known}"


def _between(need: Need) -> str:
    parts = []
    if need.low is not None:
        parts.append(f"more than {group_digits(need.low)}")
    if need.high is not None:
        parts.append(f"at most {group_digits(need.high)}")
    return f"{' and '.join(parts)} bytes free"


def _refusal(case: Case, profile: Profile, utilization: float | None, total: int, free: int) -> str:
    """Why vLLM's start-up check refuses: utilization x total is more than is free. Empty when it does not for certain.

    The engine sees a little less of both than the selector; its total is taken where a log prints it.
    Source: vllm/v1/worker/gpu_worker.py, init_device, 0.9.1 -; a pinned KV arena does not skip it.
    """
    if profile.engine != "vllm" or utilization is None:
        return ""
    card = engine_total(case) or Size.exact(total)
    if card.low * exact(utilization) <= free:
        return ""
    source = "the engine's default, because the profile sets none" if profile.utilization is None else "as clamped"
    return (
        f"at its start-up check the engine wants utilization {utilization:.3g} ({source}) x {card} = {card * utilization} free, "
        f"and {format_bytes(free)} are"
    )


def engine_total(case: Case) -> Size | None:
    """Total memory as the engine of a log counts it, which is less than the selector's."""
    return next((size for run in reversed(case.runs) for rank in run.ranks if (size := rank.size("total")) is not None), None)


def rung_forecasts(case: Case, settings: Settings) -> list[Forecast]:
    """What these settings do at the free memory of every measured run that counts."""
    found = []
    for ladder in case.ladders:
        for rung in ladder.counted:
            total = rung.receipt.total or case.device
            if total is not None:
                found.append(forecast(case, settings, total.bytes, rung.receipt.free.bytes))
    return found


def refuted(forecasts: Sequence[Forecast]) -> list[Forecast]:
    """Those amounts of free memory at which the selector hands out a profile that fails there."""
    return [found for found in forecasts if found.expected == "fails"]


def told(found: Forecast) -> str:
    """One forecast in words: "with 25 229 197 312 bytes free the selector takes long_262k, which fails: ..."."""
    free = f"with {group_digits(found.free)} bytes free the selector takes"
    if found.profile is None:
        return f"{free} no profile"
    return f"{free} {found.profile}, which {found.expected.replace('cannot tell', 'is not shown to start')}: {found.why}"


@dataclass(frozen=True, slots=True)
class Unpinned:
    """What a run without a pinned arena had for the KV cache, and what one request of its window needed."""

    needed: Size
    available: Size

    @property
    def refused(self) -> bool:
        return self.needed.low > self.available.high

    def __str__(self) -> str:
        return (
            f"without a pinned arena the engine's own profiling left {self.available} for the KV cache, and one request needs {self.needed}"
        )


def unpinned(case: Case, profile: Profile) -> Unpinned | None:
    """That of a log whose run had the window of this profile and no pinned arena; None when there is no such log."""
    for run in case.runs:
        window = run.args.get("max_model_len", run.args.get("max_seq_len"))
        pinned = run.args.get("kv_cache_memory_bytes") is not None or any("kv_pinned" in rank.ledger for rank in run.ranks)
        if pinned or window != profile.value("max_model_len"):
            continue
        for rank in run.ranks:
            needed, available = rank.size("kv_needed"), rank.size("kv_cache")
            if needed is not None and available is not None:
                return Unpinned(needed, available)
    return None


def refusal_without_pin(case: Case, profile: Profile) -> str:
    """Why a profile that pins no arena is refused, as a log of such a run shows it; empty when none does."""
    found = unpinned(case, profile) if profile.value("kv_cache_memory_bytes") is None else None
    return str(found) if found is not None and found.refused else ""
