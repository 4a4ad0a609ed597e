"""The whole range of free memory: which profile the selector takes where, and what measured runs say of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

from analyzer.analysis import BandRecord, MapRecord
from analyzer.rulebook.case import Case
from analyzer.rulebook.forecast import engine_default, engine_total, forecast, need_of
from analyzer.settings.model import Settings
from analyzer.settings.selection import exact
from analyzer.settings.selection_map import Band, Unreachable, selection_map
from analyzer.units import Size, group_digits

OBSTACLES = {
    "not in the order": "is not named in selection.order",
    "no requires_free_bytes": "states no requires_free_bytes",
    "above total x utilization": "asks for more than total x utilization",
    "above the device": "asks for more than this device has",
    "shadowed": "comes after a profile that always fits when it does",
}


def outlook(case: Case) -> MapRecord | None:
    """The map for the device of the case; None without thresholds, or when the size of the device is not known."""
    settings, device = case.settings, case.device
    if settings is None or device is None or not any(profile.requires_free_bytes for profile in settings.profiles.values()):
        return None
    found = selection_map(settings, device.bytes)
    pieces = (piece for band in found.bands for piece in _pieces(case, settings, device.bytes, band))
    return MapRecord(
        total=device.bytes,
        bands=list(_with_breaks(_joined(pieces))),
        unreachable=[_why_never(entry) for entry in found.unreachable],
        saturated=[
            f"{entry.profile}: from {group_digits(entry.low)} bytes on the budget stays at {group_digits(entry.budget)}"
            for entry in found.saturated
        ],
    )


def _pieces(case: Case, settings: Settings, total: int, band: Band) -> Iterator[BandRecord]:
    """A band, cut where what is known of its profile changes."""
    cuts = {band.low, band.high + 1, *(cut for cut in _cuts(case, settings, total, band) if band.low < cut <= band.high)}
    for low, following in pairwise(sorted(cuts)):
        found = forecast(case, settings, total, low)
        yield BandRecord(low=low, high=following - 1, profile=band.profile, expected=found.expected, why=found.why)


def _cuts(case: Case, settings: Settings, total: int, band: Band) -> Iterator[int]:
    if band.profile is None:
        return
    profile = settings.profiles[band.profile]
    need = need_of(case, profile)
    if need.low is not None:
        yield need.low + 1
    if need.high is not None:
        yield need.high
    if profile.utilization is None:  # the start-up check lets it pass from the engine's default share on
        card = engine_total(case) or Size.exact(total)
        yield -int(-card.low * exact(engine_default(case)) // 1)


def _joined(pieces: Iterable[BandRecord]) -> Iterator[BandRecord]:
    """Neighbours with the same profile and the same expectation as one band, with the reason that holds at its lower end."""
    for _, same in groupby(pieces, key=lambda piece: (piece.profile, piece.expected)):
        first, *others = same
        yield first.model_copy(update={"high": others[-1].high}) if others else first


def _with_breaks(bands: Iterable[BandRecord]) -> Iterator[BandRecord]:
    started = False
    for band in bands:
        yield band.model_copy(update={"breaks": started and band.expected == "fails"})
        started = started or band.expected == "starts"


def _why_never(entry: Unreachable) -> str:
    by = f" ({entry.by})" if entry.by else ""
    return f"{entry.profile} {OBSTACLES[entry.obstacle]}{by}"
