"""SGLang's models with two pools, and pools sized after graph capture."""

from typing import Any

import pytest
import yaml
from packaging.version import Version

from analyzer.engines.sglang_launch import Launch
from analyzer.engines.sglang_post_capture import activation_reserve, budget_after_capture, headroom
from analyzer.engines.sglang_two_pools import fixed_states, split_states, split_window, window_is_too_small
from analyzer.units import GIB, MIB, Size, parse_size
from tests.engines.cards import A6000, H100


def gib(amount: float) -> Size:
    return Size.exact(amount * GIB)


def test_states_and_kv_share_by_the_ratio() -> None:
    split = split_states(gib(19), slot=Size.exact(100 * MIB), ratio=0.9)
    # 19 x 0.9 / 1.9 = 9 GiB, in slots of 100 MiB: 92
    assert split.slots == 92
    assert split.states == Size.exact(9200 * MIB)
    assert (split.states + split.kv).gib == pytest.approx(19)


def test_states_of_draft_tokens_come_off_first() -> None:
    with_draft = split_states(gib(21), slot=Size.exact(100 * MIB), ratio=0.9, draft_states=gib(2))
    assert with_draft == split_states(gib(19), slot=Size.exact(100 * MIB), ratio=0.9)


def test_a_fixed_number_of_slots_leaves_the_rest_to_kv() -> None:
    assert fixed_states(gib(19), Size.exact(100 * MIB), 80).kv.bytes == 19 * GIB - 8000 * MIB


def test_the_default_ratio_in_a_healthy_log(fixtures_dir) -> None:
    """States of 24.23 GB beside 26.86 GB of KV: 0.9, as nobody asked for another ratio."""
    case = fixtures_dir / "corpus/sglang-120-healthy-qwen36-27b-hybrid-mtp-fp8.yaml"
    facts = yaml.safe_load(case.read_text(encoding="utf-8"))["expect"]["facts"]
    names = ("mamba_conv_gb", "mamba_ssm_gb", "mamba_intermediate_ssm_gb", "mamba_intermediate_conv_gb")
    states = sum((parse_size(f"{facts[name]:.2f} GiB") for name in names), Size.exact(0))
    kv = parse_size(f"{facts['k_size_gb']} GiB") * 2
    split = split_states(states + kv, slot=Size.exact(MIB))
    assert split.states.bytes == pytest.approx(states.bytes, rel=0.005)
    assert split.kv.bytes == pytest.approx(kv.bytes, rel=0.005)


def test_window_and_full_layers_fill_the_budget() -> None:
    split = split_window(gib(10), full_bytes_per_token=40_000, window_bytes_per_token=80_000, ratio=0.8, page_size=64)
    # 10 GiB / (40 000 + 0.8 x 80 000) = 103 244.3, in pages of 64
    assert (split.full, split.window) == (103_232, 82_560)
    used = split.full * 40_000 + split.window * 80_000
    assert 10 * GIB - 2 * 64 * 120_000 < used <= 10 * GIB


def test_equal_pools_in_a_healthy_log(fixtures_dir) -> None:
    """Both pools of 1 496 958 tokens: ratio 1; the printed sum is that of the two lines."""
    case = fixtures_dir / "corpus/sglang-122-healthy-mimo-swa-two-kv-lines.yaml"
    facts = yaml.safe_load(case.read_text(encoding="utf-8"))["expect"]["facts"]
    tokens = facts["kv_tokens"]
    window, full = (parse_size(f"{k} GiB") + parse_size(f"{v} GiB") for k, v in zip(facts["k_size_gb"], facts["v_size_gb"], strict=True))
    assert (window + full).may_equal(parse_size(f"{facts['swa_pool_total_gb']} GiB"))
    split = split_window(window + full, round(full.bytes / tokens), round(window.bytes / tokens), ratio=1.0)
    assert split.full == split.window == pytest.approx(tokens, rel=1e-4)


@pytest.mark.parametrize(("tokens", "too_small"), [(4096 + 64, True), (4096 + 65, False)])
def test_a_window_pool_that_can_never_admit_a_request(tokens: int, too_small: bool) -> None:
    assert window_is_too_small(tokens, window_size=4096, page_size=64) is too_small


@pytest.mark.parametrize(
    ("card", "rest", "mib"),
    [
        (A6000, {}, 512 + 1.5 * 4096 + 128),
        (H100, {}, 512 + 1.5 * 8192 + 128),
        (H100, {"chunked_prefill_size": 2048}, 10 * 1024),
        (H100, {"tp": 8, "role": "decode", "max_running_requests": 4096, "draft_tokens": 4}, 512 + 1.5 * 16384 + 1024),
    ],
)
def test_what_is_kept_for_work_outside_graphs(card: int, rest: dict[str, Any], mib: float) -> None:
    assert activation_reserve(Launch(release=Version("0.5.18"), card_mib=card, **rest)).bytes == mib * MIB


def test_second_sizing() -> None:
    assert headroom(gib(78), 0.9).gib == pytest.approx(7.8)
    assert headroom(gib(78), 0.9, uncovered=gib(10)).gib == 10
    assert headroom(gib(78), 0.8, uncovered=gib(10)).gib == pytest.approx(15.6)
    assert budget_after_capture(gib(12), gib(7.8), backed=gib(2)).gib == pytest.approx(6.2)
    assert budget_after_capture(gib(12), gib(7.8), backed=gib(2), multimodal=gib(1)).gib == pytest.approx(5.2)
    assert budget_after_capture(gib(5), gib(7.8), backed=gib(2)).gib == 2
