"""SGLang's rules on both sides of the release that changed them: the last release with the old value, the first with the new one.

Figures are worked out by hand, in MiB, from the rule of each side.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from packaging.version import Version

from analyzer.engines.release import value_since
from analyzer.engines.sglang_default_fraction import default_fraction
from analyzer.engines.sglang_effective import explanations
from analyzer.engines.sglang_headroom import direction_for_draft_weights, draft_weights_in_static_share
from analyzer.engines.sglang_hicache import DEFAULT_RATIO_BY_RELEASE, REFUSAL_ERAS, available_from_refusal
from analyzer.engines.sglang_launch import Launch, Role, default_chunk
from analyzer.engines.sglang_prefill_graphs import captured_token_counts, maximum_tokens
from analyzer.engines.sglang_reserve import reserve
from analyzer.engines.sglang_two_pools import SLOTS_AS_ASKED, WINDOW_SIZED_BY_REQUESTS
from analyzer.engines.sglang_vlm import ADJUSTMENTS, fraction_in_effect, vision_adjustment
from analyzer.units import GIB, Size
from tests.engines.cards import A6000, B200, H20, H100, H200, MI300X, RTX_4090, RTX_5090

DP8 = {"tp": 8, "dp": 8, "dp_attention": True}
AITER = {"attention_backend": "aiter", "context_length": 32768}
VISION = {"multimodal": True, "vision": (24, 1024)}  # the reference tower: x 0.95


def left(card: int, *summands: float) -> float:
    return round((card - sum(summands)) / card, 3)


FRACTIONS: list[tuple[str, float, str, float, int, dict[str, Any]]] = [
    # last release, its value, first release, its value, card, launch
    ("0.2.6", 0.84, "0.2.7", 0.83, H100, {"tp": 8}),
    ("0.3.5.post2", 0.83, "0.3.6", 0.82, H100, {"tp": 8}),
    ("0.3.6.post3", 0.82, "0.4.0", 0.81, H100, {"tp": 8}),
    ("0.4.5.post2", 0.81, "0.4.5.post3", (H20 - 13 * 1024) / H20, H20, {"tp": 8}),
    ("0.4.6.post1", 0.85, "0.4.6.post2", 0.81, H100, {"tp": 4, "pp": 2}),
    ("0.4.6.post5", 0.88, "0.4.7", 0.88 * 0.95, H100, {"speculative_algorithm": "EAGLE"}),
    ("0.4.8.post1", left(H100, 10 * 1024), "0.4.9", left(H100, 10 * 1024) * 0.90, H100, VISION),
    ("0.4.9.post2", left(H100, 10 * 1024) * 0.90, "0.4.9.post3", left(H100, 10 * 1024) * 0.95, H100, VISION),
    ("0.5.2", left(H200, 16 * 1024), "0.5.3", 0.8, H200, {"tp": 8, "sparse_attention": True}),
    ("0.5.3", 0.8, "0.5.3.post1", left(H200, 14848), H200, {"tp": 8, "sparse_attention": True}),
    # 512 + 1.5 x 2048 + 128 = 3 712, and 2 x 16, then 2 x 24
    ("0.5.4", left(RTX_4090, 3712, 32), "0.5.4.post1", left(RTX_4090, 3712, 48), RTX_4090, {}),
    # 512 + 1.5 x 16384 + 128 + 2 x 512 = 26 240
    ("0.5.4", left(MI300X, 26240), "0.5.4.post1", left(MI300X, 26240) * 0.90, MI300X, AITER),
    ("0.5.4.post1", left(MI300X, 26240) * 0.90, "0.5.4.post2", left(MI300X, 26240) * 0.85, MI300X, AITER),
    # 512 + 1.5 x 8192 + 128 + 2 x 256 = 13 440
    ("0.5.5", left(H100, 13440), "0.5.5.post1", left(H100, 13440, 4096 / 4), H100, {"prefill_graphs": True}),
    ("0.5.6.post2", left(H100, 13440, 4096 / 4), "0.5.7", left(H100, 13440, 4096 / 8), H100,
     {"prefill_graphs": True, "prefill_graph_max_tokens": 4096}),
    # 512 + 1.5 x 8192 + 1024 + 2 x 512 = 14 848
    ("0.5.13.post1", left(H200, 14848, 4096), "0.5.14", left(H200, 14848), H200,
     {"tp": 8, "speculative_algorithm": "EAGLE", "prefill_graphs": False}),
    ("0.5.15.post1", left(H100, 13440), "0.5.16", left(H100, 512, 128), H100, {"post_capture_sizing": True, "prefill_graphs": False}),
    # a decode server: the floor of 10 GiB
    ("0.5.16", left(H100, 10240) * 0.95, "0.5.17", left(H100, 10240), H100, {**VISION, "role": "decode"}),
    ("0.5.19", left(H100, 1536, 128) * 0.95, "0.5.20", left(H100, 1536, 128) - 8192 / H100, H100, {**VISION, "post_capture_sizing": True}),
    # 512 + 1.5 x 8192 + 1024 + 2 x 64, and the padding of 8 ranks, then of the 2 that share attention
    ("0.5.21", left(H20, 13952, 3 * 64 * 8), "0.5.22", left(H20, 13952, 3 * 64 * 2), H20,
     {**DP8, "attention_dp": 2, "graph_max_batch_size": 64, "prefill_graphs": False}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("last", "old", "first", "new", "card", "launch"), [pytest.param(*row, id=f"{row[0]} to {row[2]}, {row[4]}") for row in FRACTIONS]
)
def test_the_automatic_fraction(last: str, old: float, first: str, new: float, card: int, launch: dict[str, Any]) -> None:
    found = [default_fraction(Launch(release=Version(release), card_mib=card, **launch)) for release in (last, first)]
    assert found == [pytest.approx(old, abs=1e-9), pytest.approx(new, abs=1e-9)]


@pytest.mark.parametrize(
    ("last", "old", "first", "new", "card"),
    [
        ("0.2.12", None, "0.2.13", 8192, H100),
        ("0.3.5.post1", 8192, "0.3.5.post2", 2048, RTX_4090),
        ("0.4.6.post5", 8192, "0.4.7", 16384, B200),
        ("0.4.7", 8192, "0.4.7.post1", 2048, RTX_5090),
        ("0.5.2", 8192, "0.5.3", 4096, A6000),
        ("0.5.19", 2048, "0.5.20", 4096, RTX_5090),
    ],
)
def test_the_chunk_that_the_engine_fills_in(last: str, old: int | None, first: str, new: int, card: int) -> None:
    assert [default_chunk(Launch(release=Version(release), card_mib=card)) for release in (last, first)] == [old, new]


@pytest.mark.parametrize(
    ("last", "old", "first", "new", "rest"),
    [
        ("0.5.3.post1", 8192, "0.5.3.post2", 4096, {}),
        ("0.5.6.post2", 4096, "0.5.7", 8192, {}),
        ("0.5.12.post1", 8192, "0.5.13", 2048, {"context_length": 2048}),
        ("0.5.16", 2048, "0.5.17", 8192, {"context_length": 2048}),
        ("0.5.22", 2048, "0.5.23", 1024, {"mla": True, "chunked_prefill_size": 1024}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_largest_prefill_graph(last: str, old: int, first: str, new: int, rest: dict[str, Any]) -> None:
    asked = {"chunked_prefill_size": 8192, **rest}
    assert [maximum_tokens(Launch(release=Version(release), card_mib=H100, **asked)) for release in (last, first)] == [old, new]


@pytest.mark.parametrize(
    ("role", "last", "old", "first", "new"),
    [("prefill", "0.4.6.post1", 8192, "0.4.6.post2", 16384), ("prefill", "0.4.7", 16384, "0.4.7.post1", 8192)],
)
def test_the_chunk_of_a_disaggregated_server(role: Role, last: str, old: int, first: str, new: int) -> None:
    assert [default_chunk(Launch(release=Version(release), card_mib=H100, role=role)) for release in (last, first)] == [old, new]


def test_the_first_release_with_prefill_graphs() -> None:
    counts = [
        captured_token_counts(Launch(release=Version(release), card_mib=H100, chunked_prefill_size=64))
        for release in ("0.5.3.post1", "0.5.3.post2")
    ]
    assert [len(found) for found in counts] == [0, 58]


@pytest.mark.parametrize(("release", "step"), [("0.5.7", 128), ("0.5.8", 64), ("0.5.8.post1", 64), ("0.5.9", 64)])
def test_token_counts_between_512_and_1024(release: str, step: int) -> None:
    """From 640 on by the step; from 0.5.9 also 576."""
    counts = captured_token_counts(Launch(release=Version(release), card_mib=H100, chunked_prefill_size=1024))
    first = 576 if release == "0.5.9" else 640
    assert [count for count in counts if count > 512] == list(range(first, 1025, step))


def test_there_is_no_reserve_before_0_4_7_post1() -> None:
    assert reserve(Launch(release=Version("0.4.7"), card_mib=H100)) is None
    found = reserve(Launch(release=Version("0.4.7.post1"), card_mib=H100, speculative_algorithm="EAGLE"))
    assert found is not None
    assert found.mib == (9.5 + 1 / 2) * 1024 + 2048


# ---- multimodal models


@pytest.mark.parametrize(
    ("release", "asked", "automatic", "shown"),
    [
        # fractions in effect of 0.88 asked for, and of 0.88 as the automatic value; whether the arguments show them
        ("0.2.14.post1", 0.88, 0.88, None),
        ("0.2.14.post2", 0.88, 0.88, True),
        ("0.3.4.post2", 0.88, 0.88, True),
        ("0.3.5", 0.88 * 0.95, 0.88 * 0.95, False),
        ("0.4.4.post3", 0.88 * 0.95, 0.88 * 0.95, False),
        ("0.4.4.post4", 0.88 * 0.90, 0.88 * 0.90, False),
        ("0.4.8.post1", 0.88 * 0.90, 0.88 * 0.90, False),
        ("0.4.9", 0.88, 0.88 * 0.90, True),
        ("0.4.9.post2", 0.88, 0.88 * 0.90, True),
        ("0.4.9.post3", 0.88, 0.88 * 0.95, True),
    ],
)
def test_the_fraction_of_a_multimodal_model(release: str, asked: float, automatic: float, shown: bool | None) -> None:
    version = Version(release)
    assert fraction_in_effect(version, 0.88, "asked", (24, 1024)) == pytest.approx(asked)
    assert fraction_in_effect(version, 0.88, "automatic", (24, 1024)) == pytest.approx(automatic)
    row = vision_adjustment(version)
    assert (row.shows_in_arguments if row is not None else None) is shown


def test_the_eras_of_multimodal_models_follow_each_other() -> None:
    assert [earlier.before for earlier, _ in pairwise(ADJUSTMENTS)] == [later.since for _, later in pairwise(ADJUSTMENTS)]


# ---- draft models, and why a fraction may not be the printed one


@pytest.mark.parametrize(
    ("release", "inside", "direction"),
    [("0.1.25", None, None), ("0.1.26", False, "lower"), ("0.5.13.post1", False, "lower"), ("0.5.14", True, "raise")],
)
def test_where_a_draft_models_weights_go(release: str, inside: bool | None, direction: str | None) -> None:
    assert draft_weights_in_static_share(Version(release)) is inside
    assert direction_for_draft_weights(Version(release)) == direction


@pytest.mark.parametrize(
    ("last", "first", "text", "starts"),
    [
        ("0.3.4.post2", "0.3.5", "a reduction for multimodal models is printed, but is not in effect", False),
        ("0.3.4.post2", "0.3.5", "a multimodal model: the runner scales even an explicit value, unseen in the arguments", True),
        ("0.5.13.post1", "0.5.14", "the draft model's weights count as static and are not in these figures", True),
        ("0.5.15.post1", "0.5.16", "pools were sized again after graph capture, which only shrinks them", True),
    ],
)
def test_a_reason_starts_or_ends(last: str, first: str, text: str, starts: bool) -> None:
    before, after = ({found.text for implied in (0.7, 0.9) for found in explanations(0.8, implied, Version(it))} for it in (last, first))
    assert (text in before, text in after) == (not starts, starts)


# ---- host memory, and models with two pools


@pytest.mark.parametrize(("release", "ratio"), [("0.4.4.post1", None), ("0.4.4.post2", 2.0)])
def test_the_ratio_of_the_host_pool_when_nobody_sets_it(release: str, ratio: float | None) -> None:
    assert value_since(DEFAULT_RATIO_BY_RELEASE, Version(release)) == ratio


def test_every_meaning_of_a_refusals_figure_has_a_release() -> None:
    """40 GiB printed: all that was available, less the 10 that are kept, and one of five parts of that."""
    found = [available_from_refusal(Size.exact(40 * GIB), release, ranks_on_host=5) for release in REFUSAL_ERAS]
    assert found == [Size.exact(gibibytes * GIB) for gibibytes in (40, 50, 210)]


@pytest.mark.parametrize(
    ("release", "as_asked", "by_requests"),
    [
        # whether --max-mamba-cache-size gives the slots, whether --max-running-requests sizes the window pool
        ("0.4.9.post2", None, None),
        ("0.4.9.post3", None, False),
        ("0.5.1.post3", None, False),
        ("0.5.2", True, False),
        ("0.5.3.post1", True, False),
        ("0.5.3.post2", False, False),
        ("0.5.6.post2", False, False),
        ("0.5.7", True, False),
        ("0.5.13.post1", True, False),
        ("0.5.14", True, True),
    ],
)
def test_how_the_two_pools_are_sized(release: str, as_asked: bool | None, by_requests: bool | None) -> None:
    assert value_since(SLOTS_AS_ASKED, Version(release)) is as_asked
    assert value_since(WINDOW_SIZED_BY_REQUESTS, Version(release)) is by_requests
