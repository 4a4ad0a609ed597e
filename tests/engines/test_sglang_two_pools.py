"""SGLang's models with two pools, and pools sized after graph capture."""

from typing import Any

import pytest
import yaml
from packaging.version import Version

from analyzer.engines.release import value_since
from analyzer.engines.sglang_launch import Launch
from analyzer.engines.sglang_post_capture import activation_reserve, budget_after_capture, headroom
from analyzer.engines.sglang_two_pools import (
    MAMBA_RATIO_BY_RELEASE,
    SLIDING_WINDOW_RATIO_BY_RELEASE,
    SLOTS_AS_ASKED,
    WINDOW_SIZED_BY_REQUESTS,
    WindowSplit,
    fixed_states,
    full_tokens_at,
    full_tokens_at_most,
    implied_ratio,
    implied_window_ratio,
    largest_state_ratio,
    largest_window_requests,
    least_window_ratio,
    ratio_for_slots,
    rest_for_slots,
    slot_bytes,
    split_states,
    split_window,
    tokens_beside_states,
    window_is_too_small,
)
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


@pytest.mark.parametrize(
    ("table", "version", "value"),
    [
        (MAMBA_RATIO_BY_RELEASE, "0.5.3.post1", None),
        (MAMBA_RATIO_BY_RELEASE, "0.5.3.post2", 0.9),
        (SLIDING_WINDOW_RATIO_BY_RELEASE, "0.4.9.post2", None),
        (SLIDING_WINDOW_RATIO_BY_RELEASE, "0.4.9.post3", 0.8),
        (SLOTS_AS_ASKED, "0.5.3.post1", True),
        (SLOTS_AS_ASKED, "0.5.3.post2", False),
        (SLOTS_AS_ASKED, "0.5.6.post2", False),
        (SLOTS_AS_ASKED, "0.5.7", True),
        (WINDOW_SIZED_BY_REQUESTS, "0.5.13.post1", False),
        (WINDOW_SIZED_BY_REQUESTS, "0.5.14", True),
    ],
)
def test_by_release(table: Any, version: str, value: Any) -> None:
    assert value_since(table, Version(version)) == value


@pytest.mark.parametrize("ratio", [0.1, 0.5, 0.9, 2.0])
@pytest.mark.parametrize("padding_inside", [False, True], ids=["up to 0.5.16", "from 0.5.17"])
def test_the_ratio_is_among_those_that_the_sizes_imply(ratio: float, padding_inside: bool) -> None:
    budget, slot = 40 * GIB, 100 * MIB
    share = budget * ratio / (1 + ratio)
    slots = int(share // slot) - padding_inside
    kv = budget - (slots + padding_inside) * slot
    low, high = implied_ratio(Size.exact((slots + 1) * slot), slots, Size.exact(kv))
    assert low <= ratio <= high
    assert high - low < 0.02 * (1 + ratio) ** 2


def test_a_slot_is_a_part_of_one_more_than_are_used() -> None:
    """80 slots of a healthy log: 0.22 + 11.39 GiB in 81."""
    assert slot_bytes(parse_size("0.22 GiB") + parse_size("11.39 GiB"), 80).gib == pytest.approx(11.61 / 81)


@pytest.mark.parametrize(("ratio", "slots", "wanted", "expected"), [(1.0, 100, 150, 3.0), (1.0, 100, 200, None), (0.9, 204, 204, 0.9)])
def test_a_ratio_that_gives_so_many_slots(ratio: float, slots: int, wanted: int, expected: float | None) -> None:
    found = ratio_for_slots(ratio, slots, wanted)
    assert found == (pytest.approx(expected) if expected is not None else None)


@pytest.mark.parametrize("wanted", range(93, 180, 7))
def test_that_ratio_is_enough(wanted: int) -> None:
    slot = Size.exact(100 * MIB)
    slots = split_states(gib(19), slot, 0.9).slots
    found = ratio_for_slots(0.9, slots, wanted)
    assert found is not None
    assert split_states(gib(19), slot, found + 1e-9).slots >= wanted


def test_the_least_budget_for_a_slot() -> None:
    slot = Size.exact(100 * MIB)
    least = rest_for_slots(slot, 1, 0.9)
    assert split_states(least + 1, slot, 0.9).slots == 1
    assert split_states(least - 1024, slot, 0.9).slots == 0


def test_tokens_beside_the_states_follow_the_ratio() -> None:
    assert tokens_beside_states(100_000, 1.0, 3.0) == 50_000


def test_the_largest_ratio_leaves_what_one_request_takes() -> None:
    kv, slot = gib(10), Size.exact(64 * MIB)
    high = largest_state_ratio(163_840, kv, slot, 1.0, 32_768)
    assert high is not None
    # 20 GiB in all, of which a slot may be left over: 32 768 tokens are 2 GiB
    assert high == pytest.approx(20 / (2 - 1 / 16) - 1)
    assert split_states(gib(20), slot, high * 1.01).kv < gib(2)
    assert largest_state_ratio(163_840, kv, slot, 1.0, 1_000) is None, "less than a slot is no bound"


def test_the_least_window_ratio_is_too_small_or_just_enough() -> None:
    full_bytes, window_bytes, window, page = 40_000, 10_000, 4096, 64
    budget = gib(1.0)
    tokens = split_window(budget, full_bytes, window_bytes, 0.1, page).window
    least = least_window_ratio(0.1, tokens, window, page)
    assert window_is_too_small(split_window(budget, full_bytes, window_bytes, least * 0.999, page).window, window, page)
    works = next(step / 1000 for step in range(1, 1000) if not _too_small(budget, full_bytes, window_bytes, step / 1000, window, page))
    assert least <= works
    assert split_window(budget, full_bytes, window_bytes, works, page).full <= full_tokens_at_most(least, window, page)


def _too_small(budget: Size, full_bytes: int, window_bytes: int, ratio: float, window: int, page: int) -> bool:
    return window_is_too_small(split_window(budget, full_bytes, window_bytes, ratio, page).window, window, page)


def test_the_window_ratio_is_among_those_that_the_pools_imply() -> None:
    split = split_window(gib(10), 40_000, 80_000, 0.8, 64)
    low, high = implied_window_ratio(split.full, split.window, 64)
    assert low <= 0.8 < high


def test_full_tokens_at_another_ratio() -> None:
    split = WindowSplit(full=100_000, window=80_000)
    assert full_tokens_at(split, gib(4), gib(16), 0.8) == pytest.approx(100_000, abs=1)
    assert full_tokens_at(split, gib(4), gib(16), 0.4) == pytest.approx(20 / 12 * 100_000, abs=1)


@pytest.mark.parametrize(
    ("requests", "workers", "available", "expected"),
    [(128, 1, 10.5, 112), (128, 1, 12.0, 128), (128, 2, 10.5, 113), (1, 1, 10.5, 0)],
)
def test_requests_beyond_which_windows_take_all(requests: int, workers: int, available: float, expected: int) -> None:
    assert largest_window_requests(requests, workers, gib(12), gib(available)) == expected


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
