"""SGLang's hierarchical cache: the host memory it asks for on each rank, and what it may take.

Its messages print decimal gigabytes (bytes / 1e9), unlike every line about the device. Source: sglang/srt/mem_cache/memory_pool_host.py,
from 0.5.15 pool_host/base.py; up to 0.4.7 memory_pool.py.
"""

from __future__ import annotations

from packaging.version import Version

from analyzer.engines.release import is_within
from analyzer.units import GIB, Size

DECIMAL_GIGABYTE = 10**9

KEPT_FOR_OTHERS = Size.exact(10 * GIB)
"""Never taken from the host's available memory, 0.4.1.post7 - 0.5.23."""

DEFAULT_RATIO = 2.0
"""--hicache-ratio when neither it nor --hicache-size is set, 0.4.5 - 0.5.22 (server_args.py)."""


def host_tokens(device_tokens: int, ratio: float, page_size: int, version: Version) -> int:
    """Tokens of one rank's host pool by --hicache-ratio, in whole pages: rounded down up to 0.5.3, one page more than that later.

    0.5.4 and 0.5.5 were not read; they are taken as the later ones.
    """
    pages = int(device_tokens * ratio) // page_size
    return (pages if is_within(version, "0.1.26", "0.5.4") else pages + 1) * page_size


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


def available_from_refusal(printed_free: Size, version: Version) -> Size | None:
    """Host memory available when a pool was refused, from the "only have" figure of the message.

    Up to 0.4.9 that is the available memory itself, so a refusal may name more free than was asked; from 0.5.2 the 10 GiB are already
    off. None for the releases between, which were not read.
    """
    if is_within(version, "0.1.26", "0.4.9.post1"):
        return printed_free
    return printed_free + KEPT_FOR_OTHERS if is_within(version, "0.5.2") else None


def _divided(size: Size, ranks: int) -> Size:
    return Size(size.bytes // ranks, size.low // ranks, size.high // ranks)
