"""sglang-omni: several stages of one model on shared cards, each with a fraction of its own.

Sources: sglang_omni/scheduling/sglang_backend/server_args_builder.py, models/qwen3_omni/stages.py, utils/gpu_memory.py,
config/placement.py and model_runner/sglang_model_runner.py of 0.1.1 - 0.1.9.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from packaging.version import Version

from analyzer.engines.argument import Argument
from analyzer.units import Size, as_size

ENCODER_RESERVE = 0.05
"""encoder_mem_reserve of the Qwen3-Omni thinker when nobody sets it: a share of the card."""

FIRST_SGLANG = "0.1.26"
"""No log of an earlier SGLang is known, and no sglang-omni has come so far."""

SMALLEST_FRACTION = 0.1
"""A fraction that falls below this by the reserve is refused."""

LARGEST_SUM = 1.0
"""placement.max_total_gpu_memory_fraction_per_gpu when nobody sets it."""

SGLANG_INSIDE = {
    "0.1.1": "0.5.16",
    "0.1.2": "0.5.16",
    "0.1.3": "0.5.16",
    "0.1.5": "0.5.19",
    "0.1.7": "0.5.20",
    "0.1.9": "0.5.22",
}
"""The SGLang release that a release requires exactly; 0.1.4, 0.1.6 and 0.1.8 were not read."""

ARGUMENTS = (
    # command line up to 0.1.3, dotted paths of the stage configuration from 0.1.4
    Argument("encoder_mem_reserve", "--encoder-mem-reserve", "0.1.1", "0.1.4", "not together with a static fraction"),
    Argument("encoder_mem_reserve", "--thinker.factory.encoder_mem_reserve", "0.1.4"),
    Argument("kv_cache_bytes", "--thinker.engine.kv_cache_bytes", "0.1.5", None, "not together with a static fraction"),
    Argument("mem_fraction_static", "--mem-fraction-static", "0.1.1", None, "all autoregressive stages"),
    Argument("stage_fraction", "--thinker.gpu_memory_fraction", "0.1.4"),
    Argument("talker_mem_fraction_static", "--talker-mem-fraction-static", "0.1.1", "0.1.4"),
    Argument("talker_mem_fraction_static", "--talker.engine.mem_fraction_static", "0.1.4", None, "Qwen3-Omni calls the stage talker_ar"),
    Argument("thinker_mem_fraction_static", "--thinker-mem-fraction-static", "0.1.1", "0.1.4"),
    Argument("thinker_mem_fraction_static", "--thinker.engine.mem_fraction_static", "0.1.4", None, "a hint at run time keeps the old flag"),
    Argument("total_reserve_bytes", "--thinker.total_reserve_bytes", "0.1.5"),
)


FIRST_RELEASE_OF_MESSAGE = {
    "omni_encoder_reserve_skip": "0.1.5",
    "omni_kv_bytes_fail": "0.1.5",
    "omni_kv_bytes_postcapture_fail": "0.1.5",
    "omni_torch_cap": "0.1.5",
}
"""Messages that earlier releases do not have."""


def is_release_of_omni(version: Version) -> bool:
    """Whether this is a release of sglang-omni, and not of SGLang."""
    return version < Version(FIRST_SGLANG)


def omni_release(version: Version | None, messages: Collection[str]) -> Version | None:
    """A release with the arguments that the run's release has; None when it cannot be told.

    `version` may be that of sglang-omni (0.1.1 -) or of the SGLang inside it (0.5.16 -).
    """
    if version is not None and is_release_of_omni(version):
        return version
    inside = [omni for omni, sglang in SGLANG_INSIDE.items() if version is not None and Version(sglang) == version]
    shown = [since for kind, since in FIRST_RELEASE_OF_MESSAGE.items() if kind in messages]
    return next((Version(release) for release in (*inside, *shown)), None)


def sglang_release(omni: Version | None) -> Version | None:
    """The SGLang inside a release of sglang-omni; None when it is not known."""
    inside = SGLANG_INSIDE.get(omni.base_version) if omni is not None else None
    return Version(inside) if inside is not None else None


def less_encoder_reserve(fraction: float, reserve: float = ENCODER_RESERVE) -> float | None:
    """A fraction that was not asked for, less the encoders' reserve, to three decimals; None where the engine refuses the result.

    It holds for SGLang's automatic mem_fraction_static of a stage that has its card alone, and for the stage fraction of one that
    shares it. An explicit mem_fraction_static is not reduced.
    """
    left = fraction - reserve
    if reserve == 0:
        return fraction
    return round(left, 3) if left >= SMALLEST_FRACTION else None


def largest_encoder_reserve(fraction: float) -> float:
    """The largest reserve that the engine takes off this fraction."""
    return max(0.0, fraction - SMALLEST_FRACTION)


def least_stage_fraction(total: Size, used_by_stage: Size) -> float:
    """The stage fraction at which its KV pool is certainly still empty: used / total, by `stage_budget`."""
    return used_by_stage.low / total.high


def stage_budget(total: Size, fraction: float, used_by_stage: Size) -> Size:
    """The KV pool of a stage that shares its card: total card memory x fraction - what the stage's process uses.

    Unlike SGLang's own budget it starts from the whole card, not from what was free before loading.
    """
    return total * fraction - used_by_stage


@dataclass(frozen=True, slots=True)
class CardBudget:
    """What the stages on one card are promised together. `excess` is what exceeds the card (or its limit); negative is room left."""

    fraction: float
    declared: Size
    excess: Size


def card_budget(
    total: Size, fractions: Mapping[str, float], reserved_bytes: Mapping[str, int] | None = None, limit: float = LARGEST_SUM
) -> CardBudget:
    """The sum over the stages of one card: fractions x total, plus byte reserves (0.1.5 -), against limit x total.

    The engine checks the fractions against the limit and, from 0.1.5, the sum in bytes against the card.
    """
    fraction = sum(fractions.values())
    promised = total * round(fraction, 9)
    declared = promised + as_size(sum((reserved_bytes or {}).values()))
    beyond_card, beyond_limit = declared - total, promised - total * limit
    return CardBudget(fraction, declared, max(beyond_card, beyond_limit, key=lambda size: size.bytes))


def pinned_pool_shortfall(kv_cache_bytes: int, free_after_load: Size) -> Size:
    """engine.kv_cache_bytes - free after loading: positive where the engine refuses the pinned pool (0.1.5 -).

    With it, fractions and the encoders' reserve are not looked at, so nothing is kept for encoders and graphs.
    """
    return as_size(kv_cache_bytes) - free_after_load
