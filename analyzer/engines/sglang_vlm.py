"""How SGLang changes mem_fraction_static for a multimodal model, by release, and where that can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose
from typing import Literal

from packaging.version import Version

from analyzer.engines.release import is_within

Origin = Literal["asked", "automatic"]
"""Whether a fraction was asked for by the user or worked out by the engine."""


@dataclass(frozen=True, slots=True)
class VisionAdjustment:
    """One era. `factor` is None where it depends on the size of the vision tower (`vision_factor`).

    `applies_to` are the origins it changes, `shows_in_arguments` whether the printed server arguments hold the changed value.
    """

    since: str
    before: str | None
    factor: float | None
    applies_to: tuple[Origin, ...]
    shows_in_arguments: bool
    note: str = ""


BOTH: tuple[Origin, ...] = ("asked", "automatic")

ADJUSTMENTS = (
    # sglang/srt/model_executor/model_runner.py up to 0.4.8, server_args.py from 0.4.9
    VisionAdjustment("0.2.14.post2", "0.3.5", 1.0, BOTH, True, "the reduction is printed but comes too late: the runner has its own copy"),
    VisionAdjustment("0.3.5", "0.4.4.post4", 0.95, BOTH, False),
    VisionAdjustment("0.4.4.post4", "0.4.9", 0.90, BOTH, False),
    VisionAdjustment("0.4.9", "0.4.9.post3", 0.90, ("automatic",), True),
    VisionAdjustment("0.4.9.post3", None, None, ("automatic",), True, "not with --language-only, nor (0.5.17 -) on a decode server"),
)

REFERENCE_LAYERS, REFERENCE_HIDDEN_SIZE = 24, 1024  # ViT-L/14, to which the engine compares the vision tower

SMALLEST_SCALE, LARGEST_SCALE = 0.8, 1.05
BASE_FACTOR = 0.95

SCALE_PER_COMPLEXITY = 0.1

HIDDEN_SIZE_STEP = 64
"""Hidden sizes of vision towers are multiples of this."""

MULTIMODAL_DECODERS = frozenset({
    "DeepseekOCRForCausalLM", "DeepseekVL2ForCausalLM", "DotsOCRForCausalLM", "DotsVLMForCausalLM", "Dots3NoteForCausalLM",
    "Grok1AForCausalLM", "Grok1VForCausalLM", "LlavaLlamaForCausalLM", "LlavaMistralForCausalLM", "LlavaQwenForCausalLM",
    "LlavaVidForCausalLM", "MiMoV2ASRForCausalLM", "Phi4MMForCausalLM", "Sarashina2VisionForCausalLM", "UnlimitedOCRForCausalLM",
})  # fmt: skip
"""Multimodal although named like a text model: configs/model_config.py, multimodal_model_archs, 0.3.5 - 0.5.23."""

POST_CAPTURE_RESERVE_MIB = 8192
"""0.5.20 -, with post-capture sizing: taken off the automatic fraction in place of the factor (memory_hook.py)."""


def vision_adjustment(version: Version) -> VisionAdjustment | None:
    """The era of a release; None before multimodal models changed anything."""
    return next((row for row in ADJUSTMENTS if is_within(version, row.since, row.before)), None)


def vision_factor(layers: int = REFERENCE_LAYERS, hidden_size: int = REFERENCE_HIDDEN_SIZE) -> float:
    """0.95 x (1 - 0.1 x (complexity - 1)), the second factor kept between 0.8 and 1.05; complexity = layers x hidden size squared,
    over that of ViT-L/14.

    Source: SGLang 0.4.9.post3 - 0.5.23, server_args.py and memory_hook.py, adjust_mem_fraction_for_vlm. A key that the vision
    configuration lacks counts as the reference's.
    """
    complexity = layers * hidden_size**2 / (REFERENCE_LAYERS * REFERENCE_HIDDEN_SIZE**2)
    return BASE_FACTOR * max(SMALLEST_SCALE, min(LARGEST_SCALE, 1 - SCALE_PER_COMPLEXITY * (complexity - 1)))


def is_vision_factor(factor: float) -> bool:
    """Whether `vision_factor` of some tower is this, told by its many decimals: layers x hidden size squared has to be a whole number."""
    scale = factor / BASE_FACTOR
    if any(isclose(scale, end, abs_tol=1e-9) for end in (SMALLEST_SCALE, LARGEST_SCALE)):
        return True
    weights = (1 + (1 - scale) / SCALE_PER_COMPLEXITY) * REFERENCE_LAYERS * REFERENCE_HIDDEN_SIZE**2
    layers = weights / HIDDEN_SIZE_STEP**2
    return SMALLEST_SCALE < scale < LARGEST_SCALE and isclose(layers, round(layers), abs_tol=1e-4)


def is_text_only(architecture: str | None) -> bool | None:
    """Whether a model of this class takes text alone; None where its name does not tell."""
    if architecture in MULTIMODAL_DECODERS:
        return False
    return True if architecture is not None and architecture.endswith("ForCausalLM") else None


def fraction_in_effect(version: Version, fraction: float, origin: Origin, vision: tuple[int, int] | None) -> float | None:
    """The fraction that the KV budget of a multimodal model is worked out with; `vision` is (layers, hidden size).

    None where the factor depends on a vision tower that is not known. Not rounded, as in the engine.
    """
    row = vision_adjustment(version)
    if row is None or origin not in row.applies_to:
        return fraction
    if row.factor is not None:
        return fraction * row.factor
    return fraction * vision_factor(*vision) if vision is not None else None


def fraction_to_ask(effective: float, factor: float) -> float:
    """What has to be asked for so that `effective` comes out of a factor."""
    return effective / factor
