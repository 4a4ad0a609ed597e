"""SGLang's hierarchical cache: the host memory it asks for on each rank, and what it may take.

Its messages print decimal gigabytes (bytes / 1e9), unlike every line about the device. Source: sglang/srt/mem_cache/memory_pool_host.py,
from 0.5.15 pool_host/base.py; up to 0.4.7 memory_pool.py.
"""

from __future__ import annotations

from packaging.version import Version

from analyzer.engines.release import is_within, value_since
from analyzer.units import GIB, Size, format_bytes

DECIMAL_GIGABYTE = 10**9

KEPT_FOR_OTHERS = Size.exact(10 * GIB)
"""Never taken from the host's available memory, 0.4.1.post7 - 0.5.23."""

DEFAULT_RATIO = 2.0
"""--hicache-ratio when neither it nor --hicache-size is set, 0.4.4.post2 - 0.5.22 (server_args.py)."""

DEFAULT_RATIO_BY_RELEASE = (("0.4.4.post2", DEFAULT_RATIO),)
"""From 0.5.19 another one where host memory only stages what is on its way to a storage backend, and on decode servers."""

REFUSED_BELOW_DEVICE_POOL = (("0.4.1.post7", True), ("0.5.15", False))
"""Whether a host pool that is no larger than the pool on the device is refused; later releases only warn (pool_host/base.py)."""

OLD_WORDING_BEFORE = "0.5.17"
"""Earlier releases say of the KV pool that so much is allocated "for hierarchical KV cache", later ones print its tokens too."""

REFUSAL_ERAS = tuple(map(Version, ("0.4.9", "0.5.2", "0.5.19")))
"""A release of each meaning of the "only have" figure of a refusal."""


def host_tokens(device_tokens: int, ratio: float, page_size: int, version: Version) -> int:
    """Tokens of one rank's host pool by --hicache-ratio, in whole pages: rounded down up to 0.5.5.post2, one page more than that later."""
    pages = int(device_tokens * ratio) // page_size
    return (pages + 1 if is_within(version, "0.5.5.post3") else pages) * page_size


def host_tokens_of_size(gigabytes: float, per_token: int, page_size: int, version: Version) -> int:
    """The same by --hicache-size, which is decimal gigabytes for each rank."""
    return host_tokens(int(gigabytes * DECIMAL_GIGABYTE // per_token), 1.0, page_size, version)


def host_pool(tokens: int, per_token: int) -> Size:
    """What a rank asks for."""
    return Size.exact(tokens * per_token)


def is_larger_than_device_pool(host_pool_tokens: int, device_tokens: int) -> bool:
    """Whether the engine accepts the size at all ("The host memory should be larger than the device memory")."""
    return host_pool_tokens > device_tokens


def host_budget(available: Size, ranks_on_host: int, version: Version) -> Size:
    """What the engine allows one rank: available host memory - 10 GiB; from 0.5.19 divided by the ranks on the host.

    Before 0.5.19 each rank compares itself with all of it, so several ranks together can exceed the host: see `largest_host_pool`.
    """
    left = available - KEPT_FOR_OTHERS
    return _divided(left, ranks_on_host) if is_within(version, "0.5.19") else left


def largest_host_pool(available: Size, ranks_on_host: int) -> Size:
    """What each rank may really take, in every release."""
    return _divided(available - KEPT_FOR_OTHERS, ranks_on_host)


def available_from_refusal(printed_free: Size, version: Version, ranks_on_host: int = 1) -> Size:
    """Host memory available when a pool was refused, from the "only have" figure of the message.

    Up to 0.4.9.post2 that is the available memory itself, so a refusal may name more free than was asked; from 0.4.9.post3 the 10 GiB are
    already off, and from 0.5.19 it is the part of one rank.
    """
    if not is_within(version, "0.4.9.post3"):
        return printed_free
    return printed_free * (ranks_on_host if is_within(version, "0.5.19") else 1) + KEPT_FOR_OTHERS


def largest_by_refusal(requested: Size, printed_free: Size, taken_before: Size, ranks_on_host: int, version: Version) -> Size | None:
    """What each rank of a host can have at most: what the refused one was allowed, with what pools had taken before.

    From 0.5.19 the engine gives each rank its part of what is left when it asks, so what had been taken counts in proportion to the
    request. None for a release that refuses no such request or prints no such figure.
    """
    if requested.low <= 0:
        return None
    allowed = host_budget(available_from_refusal(printed_free, version), 1, version)
    if requested.high <= allowed.low:
        return None
    if not is_within(version, "0.5.19"):
        return _divided(allowed + taken_before, ranks_on_host)
    part = _divided(taken_before, ranks_on_host)
    low = (allowed.low + part.low) / (1 + part.high / requested.low)
    high = (allowed.high + part.high) / (1 + part.low / requested.high)
    return Size.between(low, high)


def is_refused_below_device_pool(version: Version | None) -> bool | None:
    """Whether the engine refuses a host pool that `is_larger_than_device_pool` denies; None when the release is unknown."""
    return value_since(REFUSED_BELOW_DEVICE_POOL, version)


def _divided(size: Size, ranks: int) -> Size:
    return Size(size.bytes // ranks, size.low // ranks, size.high // ranks, format_bytes(size.bytes // ranks))
