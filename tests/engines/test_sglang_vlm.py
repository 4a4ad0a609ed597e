"""What a multimodal model does to SGLang's fraction, by release."""

import pytest
from packaging.version import Version

from analyzer.engines.sglang_vlm import (
    Origin,
    fraction_in_effect,
    fraction_to_ask,
    is_text_only,
    is_vision_factor,
    vision_adjustment,
    vision_factor,
)


@pytest.mark.parametrize(
    ("layers", "hidden_size", "expected"),
    [
        (24, 1024, 0.95),  # the reference: 0.95 x 1
        (48, 1024, 0.95 * 0.9),  # twice as complex
        (12, 1024, 0.95 * 1.05),  # half as complex: 1 + 0.1 x 0.5 = 1.05
        (6, 768, 0.95 * 1.05),  # smaller still: kept at 1.05
        (45, 3200, 0.95 * 0.8),  # 18.3 times: kept at 0.8
    ],
)
def test_factor_by_the_size_of_the_vision_tower(layers: int, hidden_size: int, expected: float) -> None:
    assert vision_factor(layers, hidden_size) == pytest.approx(expected)


def test_a_key_that_is_missing_counts_as_the_reference() -> None:
    assert vision_factor() == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("version", "origin", "expected"),
    [
        ("0.2.14.post1", "asked", 0.88),
        ("0.2.14.post2", "asked", 0.88),  # printed as reduced, not in effect
        ("0.3.4", "automatic", 0.88),
        ("0.3.5", "asked", 0.88 * 0.95),
        ("0.4.4.post3", "asked", 0.88 * 0.95),
        ("0.4.4.post4", "asked", 0.88 * 0.90),
        ("0.4.8.post1", "automatic", 0.88 * 0.90),
        ("0.4.9", "asked", 0.88),
        ("0.4.9", "automatic", 0.88 * 0.90),
        ("0.4.9.post2", "automatic", 0.88 * 0.90),
        ("0.4.9.post3", "automatic", 0.88 * 0.95),
        ("0.5.23", "automatic", 0.88 * 0.95),
        ("0.5.23", "asked", 0.88),
    ],
)
def test_fraction_in_effect(version: str, origin: Origin, expected: float) -> None:
    assert fraction_in_effect(Version(version), 0.88, origin, (24, 1024)) == pytest.approx(expected)


def test_a_vision_tower_of_unknown_size_gives_no_fraction_where_it_matters() -> None:
    assert fraction_in_effect(Version("0.5.3"), 0.88, "automatic", None) is None
    assert fraction_in_effect(Version("0.4.9"), 0.88, "automatic", None) == pytest.approx(0.792)


def test_what_the_arguments_show() -> None:
    eras = {version: vision_adjustment(Version(version)) for version in ("0.2.13", "0.4.8", "0.4.9")}
    assert eras["0.2.13"] is None
    assert eras["0.4.8"] is not None
    assert not eras["0.4.8"].shows_in_arguments
    assert eras["0.4.9"] is not None
    assert eras["0.4.9"].shows_in_arguments


def test_the_flag_for_a_wanted_effect() -> None:
    """A report on a 24 GB card: above 0.838 had to be in effect, so above 0.93 had to be asked for."""
    assert fraction_to_ask(0.838, 0.90) == pytest.approx(0.931, abs=5e-4)


@pytest.mark.parametrize(
    ("architecture", "expected"),
    [
        ("LlamaForCausalLM", True),
        ("LlavaLlamaForCausalLM", False),
        ("Phi4MMForCausalLM", False),
        ("Qwen2VLForConditionalGeneration", None),
        (None, None),
    ],
)
def test_whether_a_model_takes_text_alone(architecture: str | None, expected: bool | None) -> None:
    assert is_text_only(architecture) is expected


TOWERS = [(24, 1024), (32, 1280), (27, 1152), (24, 768), (26, 1408), (6, 768), (45, 3200)]


@pytest.mark.parametrize(("layers", "hidden_size"), TOWERS)
def test_a_factor_is_recognized_without_its_tower(layers: int, hidden_size: int) -> None:
    assert is_vision_factor(0.835 * vision_factor(layers, hidden_size) / 0.835)


@pytest.mark.parametrize("factor", [0.8123 / 0.835, 0.7 / 0.835, 0.94999, 0.75, 0.999, 1.0])
def test_other_factors_are_not(factor: float) -> None:
    assert not is_vision_factor(factor)
