"""The rows of the settings that size SGLang's hierarchical cache in host memory."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Run
from analyzer.engines.sglang_hicache import DECIMAL_GIGABYTE
from analyzer.figures.sglang_host_cache import (
    AUTOMATIC,
    REFUSED,
    asked_of_host,
    device_pool,
    ranks_on_host,
    ratio_bounds,
    ratio_in_effect,
    size_bounds,
)
from analyzer.figures.sglang_launch_of_run import shows_all_arguments
from analyzer.figures.shown import argument
from analyzer.knobs.shown import Shown
from analyzer.units import Size

KINDS = ("hicache_alloc", AUTOMATIC, "hicache_ratio_assert", REFUSED)
INSTEAD = "give the host or its container more memory, or do without the hierarchical cache"


def host_cache_knobs(run: Run) -> Iterator[Shown]:
    """The row of hicache_size where it is set, else that of hicache_ratio; both where the log does not tell which sized the cache."""
    if run.args.get("enable_hierarchical_cache") is not True and not any(kind in run.by_kind for kind in KINDS):
        return
    size, source = argument(run, "hicache_size")
    if size or not shows_all_arguments(run):
        yield Shown("hicache_size", size or None, source if size else "", size_bounds(run), INSTEAD, _effect(run))
    if not size:
        value, source = ratio_in_effect(run)
        yield Shown("hicache_ratio", value, source, ratio_bounds(run), INSTEAD, _automatic(run) or _effect(run))


def _effect(run: Run) -> str:
    asked, on_device, ranks = asked_of_host(run), device_pool(run), ranks_on_host(run)
    if asked is None:
        return ""
    together = f", {ranks} ranks of a host {_gigabytes(asked * ranks)} together" if ranks is not None and ranks > 1 else ""
    beside = f"; the pool on its device takes {_gigabytes(on_device)}" if on_device is not None else ""
    return f"each rank asks for {_gigabytes(asked)} of host memory{together}{beside}"


def _automatic(run: Run) -> str:
    """What the engine made of its default ratio (0.5.21 -)."""
    reduced = run.first(AUTOMATIC)
    before, budget, pools = (
        reduced.fields.get(name) if reduced is not None else None for name in ("ratio_before", "host_per_rank", "host_pools")
    )
    if not isinstance(budget, Size) or not isinstance(pools, Size):
        return ""
    return f"nobody set it: the engine lowered {before} until the pools, {pools}, fit into {budget} for each rank"


def _gigabytes(size: Size) -> str:
    """As the engine prints host memory: in powers of ten."""
    return f"{size.bytes / DECIMAL_GIGABYTE:.2f} GB"
