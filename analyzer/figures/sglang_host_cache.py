"""SGLang's hierarchical cache in a run: the host memory that each rank asked for, and what the host could give it."""

from __future__ import annotations

from typing import Any

from packaging.version import Version

from analyzer.cases.model import Event, Run
from analyzer.cases.sglang_ledger import pool_size
from analyzer.engines.interval import Bounds, rounded_down
from analyzer.engines.release import is_within
from analyzer.engines.sglang_hicache import (
    DECIMAL_GIGABYTE,
    DEFAULT_RATIO_BY_RELEASE,
    OLD_WORDING_BEFORE,
    REFUSAL_ERAS,
    is_refused_below_device_pool,
    largest_by_refusal,
    largest_host_pool,
)
from analyzer.facts.fact import Fact
from analyzer.figures.sglang_default import default_source, possible_releases, value_of_releases
from analyzer.figures.sglang_launch_of_run import shows_all_arguments
from analyzer.figures.shown import argument
from analyzer.units import Size

REFUSED = "hicache_host_not_enough"
AUTOMATIC = "hicache_auto_size"


def ratio_in_effect(run: Run) -> tuple[float | None, str]:
    """hicache_ratio and where it comes from: what the engine made of it, as asked for, or the release's default."""
    reduced = run.first(AUTOMATIC)
    if reduced is not None and (ratio := reduced.number("ratio")) is not None:
        return ratio, f"printed by the engine, line {reduced.line.number}"
    asked, source = argument(run, "hicache_ratio")
    if asked is not None:
        return float(asked), source
    if shows_all_arguments(run):
        default = value_of_releases(run, DEFAULT_RATIO_BY_RELEASE)
        return (default, default_source(run, DEFAULT_RATIO_BY_RELEASE[0][0])) if default is not None else (None, "")
    asked_for, on_device = asked_of_host(run), device_pool(run)
    if asked_for is None or on_device is None or on_device.bytes <= 0:
        return None, ""
    return round(asked_for / on_device, 2), "by the printed sizes of both pools; the log does not show whether hicache_size gave it"


def asked_of_host(run: Run) -> Size | None:
    """What one rank asks for, for its KV pool: as it was allocated, else as it was refused."""
    allocated = [size for fact in run.all("hicache_alloc") if _is_kv_pool(fact) and (size := fact.size("host_size")) is not None]
    refused = [size for fact in run.all(REFUSED) if _is_kv_pool(fact) and (size := fact.size("host_requested")) is not None]
    return next(iter((*allocated, *refused)), None)


def _is_kv_pool(fact: Fact) -> bool:
    """Not a pool for states or an index beside it, which the message names (0.5.10 -)."""
    name = fact.text("host_pool")
    return name is None or name in ("kv", "hierarchical KV cache")


def device_pool(run: Run) -> Size | None:
    """The pool on the device of the first rank that printed a single one."""
    for rank in run.ranks:
        pools = rank.by_kind.get("kv_cache_allocated", ())
        if len(pools) == 1 and "virtual" not in pools[0].fields:
            size = pool_size(pools[0])
            if size is not None:
                return size
    return None


def ranks_on_host(run: Run) -> int | None:
    """Ranks of the engine on one host: as the engine prints it, else by the parallel sizes; None where they are not shown."""
    printed = next((ranks for fact in run.all(AUTOMATIC) if (ranks := fact.integer("ranks"))), None)
    if printed is not None:
        return printed
    if not shows_all_arguments(run):
        return None
    copies = _size(run, "dp_size", "dp", "data_parallel_size") if run.args.get("enable_dp_attention") is not True else 1
    ranks = _size(run, "tp_size", "tp", "tensor_parallel_size") * _size(run, "pp_size", "pp", "pipeline_parallel_size") * copies
    return max(1, ranks // _size(run, "nnodes"))


def _size(run: Run, *names: str) -> int:
    """A parallel size by any of its names; 1 when nobody sets it."""
    values = (run.args.get(name) for name in names)
    return next((value for value in values if isinstance(value, int) and value > 0), 1)


def largest_pool(run: Run, refused: Fact) -> Size | None:
    """An upper bound of what each rank can have, from a refusal; the widest of the releases that the log leaves open."""
    requested, free = refused.size("host_requested"), refused.size("host_free")
    if requested is None or free is None or not _is_kv_pool(refused):
        return None
    ranks, taken = ranks_on_host(run) or 1, _taken_before(run, refused)
    found = [largest_by_refusal(requested, free, taken, ranks, release) for release in _releases(run)]
    return max((size for size in found if size is not None), key=lambda size: size.high, default=None)


def _releases(run: Run) -> list[Version]:
    """The releases that the log leaves open, by its arguments and by how it words the allocation; one of each era where it tells none."""
    known = [release for release in possible_releases(run) if release is not None] or list(REFUSAL_ERAS)
    allocated = next((fact for fact in run.all("hicache_alloc") if _is_kv_pool(fact)), None)
    if allocated is None:
        return known
    since, before = (OLD_WORDING_BEFORE, None) if "tokens" in allocated.fields else ("0.1.26", OLD_WORDING_BEFORE)
    return [release for release in known if is_within(release, since, before)]


def _taken_before(run: Run, message: Fact) -> Size:
    """What host pools had been given before, of every rank."""
    before = [fact for fact in run.all("hicache_alloc") if fact.line.number < message.line.number]
    return sum((size for fact in before if (size := fact.size("host_size")) is not None), Size.exact(0))


def _largest(run: Run) -> tuple[Size | None, Size | None]:
    """(the least upper bound of what each rank can have, what was asked for there), of all refusals, else by what the engine measured."""
    found = [(largest, fact.size("host_requested")) for fact in run.all(REFUSED) if (largest := largest_pool(run, fact)) is not None]
    measured = run.first("hicache_headroom")
    names = ("host_free", "cgroup_free") if measured is not None and not found else ()
    limits = [size for name in names if measured is not None and (size := measured.size(name)) is not None]
    if measured is not None and limits:
        room = min(limits, key=lambda size: size.bytes) + _taken_before(run, measured)
        found = [(largest_host_pool(room, ranks_on_host(run) or 1), asked_of_host(run))]
    return min(found, key=lambda pair: pair[0].high, default=(None, None))


def size_bounds(run: Run) -> Bounds:
    """hicache_size in its decimal gigabytes for each rank: more than the pool on the device, where the release insists, and what fits."""
    largest, _ = _largest(run)
    on_device, bounds = device_pool(run), Bounds()
    if on_device is not None and must_exceed_device_pool(run):
        bounds = bounds.raised(on_device.low / DECIMAL_GIGABYTE, f"it has to be larger than the pool on the device, {on_device}")
    return bounds.capped(largest.high / DECIMAL_GIGABYTE, _because(run)) if largest is not None else bounds


def ratio_bounds(run: Run) -> Bounds:
    """hicache_ratio: what fits is in proportion to what was refused."""
    ratio, _ = ratio_in_effect(run)
    largest, asked = _largest(run)
    bounds = Bounds().raised(1.0, "the host pool has to be larger than that on the device") if must_exceed_device_pool(run) else Bounds()
    if ratio is None or largest is None or asked is None or asked.low <= 0:
        return bounds
    return bounds.capped(ratio * largest.high / asked.low, _because(run))


def must_exceed_device_pool(run: Run) -> bool:
    """Whether the release is known to refuse a host pool that is not larger than the one on the device."""
    answers = {is_refused_below_device_pool(release) for release in _releases(run)}
    return "hicache_ratio_assert" in run.by_kind or answers == {True}


def _because(run: Run) -> str:
    ranks = ranks_on_host(run)
    return f"the host has no more for each of its {ranks} ranks" if ranks and ranks > 1 else "the host has no more for one rank"


def host_figures(run: Run, event: Event) -> dict[str, Any]:
    """Of a refused host pool: the largest hicache_size (GB) and hicache_ratio that the figures leave, and whether none does."""
    if event.kind != REFUSED:
        return {}
    if not _is_kv_pool(event.fact):
        return {"no_host_size_works": False}
    size, ratio = size_bounds(run), ratio_bounds(run)
    (largest, asked), (set_to, _) = _largest(run), ratio_in_effect(run)
    if largest is None or asked is None or largest.low <= 0:
        return {"no_host_size_works": largest is not None and largest.high <= 0}
    return {
        "largest_host_ratio": rounded_down(set_to * largest.low / asked.high, 2) if set_to is not None and not ratio.is_empty else None,
        "largest_host_size": rounded_down(largest.low / DECIMAL_GIGABYTE, 2) if not size.is_empty else None,
        "no_host_size_works": size.is_empty or ratio.is_empty,
    }
