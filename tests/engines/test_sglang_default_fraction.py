"""SGLang's automatic mem_fraction_static, worked out by hand from the rule of each era.

`left(card, ...)` is the last rule in words: the card less the reserve's summands (MiB), of the card, to three decimals.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from packaging.version import Version

from analyzer.engines.sglang_default_fraction import ERAS, default_fraction
from analyzer.engines.sglang_launch import Launch
from tests.engines.cards import A100, A6000, B200, H20, H100, H200, L40S, MI300X, RTX_4090, RTX_5090, T4

DP8 = {"tp": 8, "dp": 8, "dp_attention": True}
EAGLE, STANDALONE, NGRAM = ({"speculative_algorithm": name} for name in ("EAGLE", "STANDALONE", "NGRAM"))


def left(card: int, *summands: float) -> float:
    return round((card - sum(summands)) / card, 3)


def rank_share(ranks: int) -> float:
    return ranks / 8 * 1024


ROWS: list[tuple[str, int | None, dict[str, Any], float, float]] = [
    # release, card, launch, arithmetic, the same as a number
    # ---- by tensor-parallel size alone
    ("0.1.26", RTX_4090, {}, 0.89, 0.89),
    ("0.2.0", H100, {"tp": 8}, 0.84, 0.84),
    ("0.2.9", H100, {"tp": 8}, 0.83, 0.83),
    ("0.3.5", A100, {"tp": 16}, 0.79, 0.79),
    ("0.3.6", H100, {"tp": 8}, 0.82, 0.82),
    ("0.4.0", H200, {"tp": 8}, 0.81, 0.81),
    ("0.4.5", MI300X, {"tp": 4}, 0.85, 0.85),
    ("0.4.5", None, {"tp": 2}, 0.87, 0.87),
    # ---- up to 80 GiB the table, above it the card less 13 GiB, not rounded
    ("0.4.5.post3", A100, {"tp": 8}, 0.81, 0.81),
    ("0.4.5.post3", H20, {"tp": 8}, (H20 - 13 * 1024) / H20, 0.86398),
    ("0.4.6.post1", H200, {"tp": 8}, (H200 - 13 * 1024) / H200, 0.90741),
    # ---- tp x pp; above 96 GiB the smaller of 0.88 raised by 48 GiB and the card less 18 GiB
    ("0.4.6.post3", H100, {"tp": 4, "pp": 2}, 0.81, 0.81),
    ("0.4.6.post3", H20, {"tp": 8}, 0.88, 0.88),
    ("0.4.6.post5", H200, {}, min(0.88 + 48 * 1024 * 0.12 / H200, (H200 - 18 * 1024) / H200), 0.87180),
    ("0.4.6.post5", MI300X, {}, min(0.88 + 48 * 1024 * 0.12 / MI300X, (MI300X - 18 * 1024) / MI300X), 0.90624),
    ("0.4.6.post5", 120_000, {"tp": 8}, min(0.88 + 48 * 1024 * 0.12 / 120_000, (120_000 - 18 * 1024) / 120_000), 0.84640),
    # ---- speculation for the first time
    ("0.4.7", B200, {}, 0.79, 0.79),
    ("0.4.7", MI300X, {"platform": "rocm"}, (MI300X - 18 * 1024) / MI300X, 0.90624),
    ("0.4.7", H200, {"tp": 8, **EAGLE}, (H200 - 20 * 1024) / H200, 0.85755),
    ("0.4.7", H100, EAGLE, 0.88 * 0.95, 0.836),
    ("0.4.7", None, {}, 0.88, 0.88),
    # ---- one reserve for each class of cards
    ("0.4.7.post1", T4, {}, left(T4, (2.8 + 1 / 10) * 1024), 0.807),
    ("0.4.7.post1", RTX_4090, {}, left(RTX_4090, (2.8 + 1 / 10) * 1024), 0.879),
    ("0.4.9", RTX_4090, {"tp": 4}, left(RTX_4090, (2.8 + 4 / 10) * 1024), 0.867),
    ("0.4.9", L40S, {}, left(L40S, (9.5 + 1 / 2) * 1024), 0.778),
    ("0.5.0", H100, {"tp": 8}, left(H100, (9.5 + 8 / 2) * 1024), 0.831),
    ("0.5.1", H20, {"tp": 8}, left(H20, (12 + 8 / 2) * 1024), 0.833),
    ("0.5.2", H200, {"tp": 8, **EAGLE}, left(H200, (12 + 8 / 2) * 1024, 2048), 0.872),
    ("0.5.2", H200, {"tp": 8, **STANDALONE}, left(H200, (12 + 8 / 2) * 1024, 6144), 0.843),
    ("0.4.8.post1", MI300X, {**DP8, "platform": "rocm"}, left(MI300X, 32 * 1024, 4096), 0.812),
    ("0.4.7.post1", None, {"tp": 8}, 0.88, 0.88),
    ("0.4.7.post1", H200, {"tp": 8, **EAGLE}, left(H200, (12 + 8 / 2) * 1024, 2048), 0.872),
    # ---- summands: constant, 1.5 x chunk, ranks, 2 x graph batch, ...
    ("0.5.3", T4, {}, left(T4, 512, 1.5 * 2048, rank_share(1), 2 * 8), 0.757),
    ("0.5.3", RTX_4090, {}, left(RTX_4090, 512, 1.5 * 2048, rank_share(1), 2 * 16), 0.848),
    ("0.5.3", RTX_4090, {"tp": 4}, left(RTX_4090, 512, 1.5 * 2048, rank_share(4), 2 * 80), 0.827),
    ("0.5.3", A6000, {}, left(A6000, 512, 1.5 * 4096, rank_share(1), 2 * 32), 0.861),
    ("0.5.3", A6000, {"tp": 8}, left(A6000, 512, 1.5 * 4096, rank_share(8), 2 * 160), 0.837),
    ("0.5.3", H100, {}, left(H100, 512, 1.5 * 8192, rank_share(1), 2 * 256), 0.835),
    ("0.5.3", H100, {"tp": 8}, left(H100, 512, 1.5 * 8192, rank_share(8), 2 * 512), 0.818),
    ("0.5.3", H20, DP8, left(H20, 512, 1.5 * 8192, rank_share(8), 2 * 512, 3 * 512 * 8, 1.5 * 512 * 8), 0.660),
    ("0.5.3", H200, {**DP8, "graph_max_batch_size": 256}, left(H200, 512, 1.5 * 8192, rank_share(8), 2 * 256, 3 * 256 * 8), 0.858),
    ("0.5.3", H200, {"tp": 8, **EAGLE}, left(H200, 512, 1.5 * 8192, rank_share(8), 2 * 512, 2048), 0.882),
    ("0.5.3", H200, {"tp": 8, **NGRAM}, left(H200, 512, 1.5 * 8192, rank_share(8), 2 * 512), 0.897),
    ("0.5.3", H200, {"tp": 8, **STANDALONE}, left(H200, 512, 1.5 * 8192, rank_share(8), 2 * 512, 6144), 0.854),
    ("0.5.3", B200, {"tp": 8}, left(B200, 512, 1.5 * 16384, rank_share(8), 2 * 512), 0.852),
    ("0.5.3", H100, {"chunked_prefill_size": -1}, left(H100, 512, 1.5 * 16384, rank_share(1), 2 * 256), 0.685),
    ("0.5.3", H100, {"chunked_prefill_size": 512, "graph_max_batch_size": 8}, left(H100, 10 * 1024), 0.874),
    ("0.5.3", A6000, {"chunked_prefill_size": 512, "graph_max_batch_size": 8}, left(A6000, 512, 1.5 * 2048, rank_share(1), 2 * 8), 0.924),
    ("0.5.3", H200, {"tp": 8, "sparse_attention": True}, 0.8, 0.8),
    ("0.5.5", RTX_4090, {}, left(RTX_4090, 512, 1.5 * 2048, rank_share(1), 2 * 24), 0.847),
    # ---- prefill graphs, asked for
    ("0.5.6", RTX_4090, {"prefill_graphs": True}, left(RTX_4090, 512, 1.5 * 2048, rank_share(1), 2 * 24, 4096 // 4), 0.805),
    ("0.5.6", H100, {"prefill_graphs": True, "graph_max_batch_size": 8, "chunked_prefill_size": 512}, left(H100, 10240, 4096 // 4), 0.862),
    ("0.5.7", RTX_4090, {"prefill_graphs": True}, left(RTX_4090, 512, 1.5 * 2048, rank_share(1), 2 * 24, 2048 // 8), 0.837),
    # up to 2048 tokens: 4..32 by 4, 48..256 by 16, 288..512 by 32, 640..1024 by 64, 1280..2048 by 256
    ("0.5.8", RTX_4090, {"prefill_graphs": True}, left(RTX_4090, 3760, 8 * (8 + 14 + 8 + 7 + 4)), 0.834),
    ("0.5.9", RTX_4090, {"prefill_graphs": True}, left(RTX_4090, 3760, 8 * (8 + 14 + 8 + 8 + 4)), 0.833),
    # ---- on by default
    ("0.5.10", RTX_4090, {}, left(RTX_4090, 3760, 8 * 42), 0.833),
    ("0.5.10", RTX_4090, EAGLE, left(RTX_4090, 3760, 4096), 0.680),
    ("0.5.10", H200, {"tp": 8, **EAGLE}, left(H200, 14848, 4096), 0.868),
    ("0.5.10", H100, {"tp": 8, "mla": True}, left(H100, 14848, 1536), 0.799),
    # up to 8192 tokens: 42 as above, 2304..4096 by 256, 4608..8192 by 512
    ("0.5.14", H200, {"tp": 8, **EAGLE}, left(H200, 14848, 8 * (42 + 8 + 8)), 0.893),
    # ---- by the server's role
    ("0.5.15", H100, {"decode_graphs": False}, left(H100, 512, 1.5 * 8192, rank_share(1), 8 * 58), 0.836),
    ("0.5.15", H100, {"role": "prefill"}, left(H100, 512, 1.5 * 8192, rank_share(1), 8 * 58), 0.836),
    ("0.5.15", A6000, {"role": "decode", "max_running_requests": 1024, "draft_tokens": 4, **EAGLE},
     left(A6000, 512, 1.5 * 1024 * 4, rank_share(1), 2 * 32), 0.861),
    ("0.5.15", H200, {"tp": 8, "deepep": True}, left(H200, 14848, 2048), 0.882),
    # ---- pools sized after capture
    ("0.5.16", H100, {"post_capture_sizing": True}, left(H100, 512, rank_share(1)), 0.992),
    ("0.5.18", H100, {"post_capture_sizing": True}, left(H100, 1536, rank_share(1)), 0.980),
    ("0.5.17", H200, {"tp": 8, "deepep": True}, left(H200, 14848, 8 * 58 + 1024, 2048), 0.872),
    ("0.5.19", H200, {"tp": 4, "pp": 2}, left(H200, 14848), 0.897),
    # up to 4096 tokens: 42 as above, 2304..4096 by 256
    ("0.5.20", RTX_5090, {}, left(RTX_5090, 512, 1.5 * 4096, rank_share(1), 2 * 48, 8 * 50), 0.777),
    ("0.5.20", A6000, {"platform": "xpu"}, left(A6000, 512, 1.5 * 4096, rank_share(1), 2 * 32, 2048), 0.819),
    ("0.5.20", None, {}, 0.95, 0.95),
    ("0.5.22", H20, {"tp": 8, "dp": 8, "dp_attention": True, "attention_dp": 2, "max_running_requests": 64},
     left(H20, 512, 1.5 * 8192, rank_share(8), 2 * 64, 3 * 64 * 2, 8 * 58), 0.849),
    ("0.5.23", H100, {}, left(H100, 512, 1.5 * 8192, rank_share(1), 2 * 256, 8 * 58), 0.830),
    # ---- multimodal: 0.90, later by the vision tower; from 0.5.20 with post-capture sizing 8 GiB
    ("0.4.8", H100, {"multimodal": True}, left(H100, (9.5 + 1 / 2) * 1024), 0.874),
    ("0.4.9", H100, {"multimodal": True}, left(H100, (9.5 + 1 / 2) * 1024) * 0.90, 0.7866),
    ("0.5.3", H100, {"multimodal": True, "vision": (24, 1024)}, 0.835 * 0.95, 0.79325),
    ("0.5.3", H100, {"multimodal": True, "vision": (32, 1280)}, 0.835 * 0.95 * (1 - 0.1 * (32 * 1280**2 / (24 * 1024**2) - 1)), 0.70731),
    ("0.5.3", H100, {"multimodal": True, "vision": (45, 3200)}, 0.835 * 0.95 * 0.8, 0.63460),
    ("0.5.17", H100, {"multimodal": True, "vision": (24, 1024), "role": "decode"}, left(H100, 10240), 0.874),
    ("0.5.20", H100, {"multimodal": True, "post_capture_sizing": True}, left(H100, 1536, 128) - 8192 / H100, 0.87956),
    # ---- aiter attention with a long context
    ("0.5.4", MI300X, {"attention_backend": "aiter", "context_length": 32768}, left(MI300X, 512, 1.5 * 16384, 128, 1024), 0.867),
    ("0.5.5", MI300X, {"attention_backend": "aiter", "context_length": 32768}, left(MI300X, 512, 1.5 * 16384, 128, 1024) * 0.85, 0.73695),
    ("0.5.5", MI300X, {"attention_backend": "aiter", "context_length": 8192}, left(MI300X, 512, 1.5 * 16384, 128, 1024), 0.867),
]  # fmt: skip


@pytest.mark.parametrize(
    ("version", "card", "launch", "arithmetic", "number"),
    [pytest.param(*row, id=f"{index}-{row[0]}-{row[1]}") for index, row in enumerate(ROWS)],
)
def test_by_hand(version: str, card: int | None, launch: dict[str, Any], arithmetic: float, number: float) -> None:
    assert arithmetic == pytest.approx(number, abs=1e-5)
    assert default_fraction(Launch(release=Version(version), card_mib=card, **launch)) == pytest.approx(arithmetic, abs=1e-9)


BOUNDARIES: list[tuple[str, str, int | None, dict[str, Any]]] = [
    # the last release of a rule, the first of the next, and a launch that tells them apart
    ("0.2.6", "0.2.7", H100, {}),
    ("0.3.5.post2", "0.3.6", H100, {"tp": 8}),
    ("0.3.6", "0.4.0", H100, {"tp": 8}),
    ("0.4.5", "0.4.5.post3", H20, {}),
    ("0.4.6.post1", "0.4.6.post2", H100, {"tp": 4, "pp": 2}),
    ("0.4.6.post5", "0.4.7", H100, EAGLE),
    ("0.4.7", "0.4.7.post1", H100, {}),
    ("0.5.2", "0.5.3", H100, {}),
    ("0.5.3", "0.5.3.post1", H100, {"sparse_attention": True}),
    ("0.5.4", "0.5.4.post1", RTX_4090, {}),
    ("0.5.5", "0.5.5.post1", H100, {"prefill_graphs": True}),
    ("0.5.6", "0.5.7", H100, {"prefill_graphs": True, "prefill_graph_max_tokens": 4096}),
    ("0.5.7", "0.5.8", RTX_4090, {"prefill_graphs": True}),
    ("0.5.8", "0.5.9", RTX_4090, {"prefill_graphs": True}),
    ("0.5.9", "0.5.10", H100, EAGLE),
    ("0.5.13", "0.5.14", H100, EAGLE),
    ("0.5.14", "0.5.15", H100, {"deepep": True}),
    ("0.5.15", "0.5.16", H100, {"post_capture_sizing": True}),
    ("0.5.16", "0.5.17", H100, {"mla": False, "deepep": True, "prefill_graphs": True}),
    ("0.5.17", "0.5.18", H100, {"post_capture_sizing": True}),
    ("0.5.18", "0.5.19", H100, {"pp": 2}),
    ("0.5.19", "0.5.20", RTX_5090, {}),
    ("0.5.19", "0.5.20", None, {}),
    ("0.5.21", "0.5.22", H100, {"max_running_requests": 8}),
]


@pytest.mark.parametrize(("last", "first", "card", "launch"), [pytest.param(*row, id=f"{row[1]}-{row[2]}") for row in BOUNDARIES])
def test_a_rule_starts_with_its_release(last: str, first: str, card: int | None, launch: dict[str, Any]) -> None:
    before = Launch(release=Version(last), card_mib=card, **launch)
    assert default_fraction(before) != default_fraction(replace(before, release=Version(first)))


@pytest.mark.parametrize(("card", "expected"), [(H100, 0.874), (H20, 0.895), (H200, 0.929)])
def test_the_floor_gives_the_defaults_reported_for_a_small_chunk(card: int, expected: float) -> None:
    """A public report of sglang-omni gives these automatic values for H100, H20 and H200 (corpus case sglang-005)."""
    assert default_fraction(Launch(release=Version("0.5.10"), card_mib=card, chunked_prefill_size=2048)) == expected


def test_an_unknown_release_has_no_default_because_the_eras_disagree() -> None:
    assert default_fraction(Launch(release=None, card_mib=H100)) is None
    assert len(ERAS) > 10


@pytest.mark.parametrize(
    "launch",
    [
        Launch(release=Version("0.1.25"), card_mib=H100),
        Launch(release=Version("0.4.5.post3"), card_mib=None),
        Launch(release=Version("0.5.3"), card_mib=H100, multimodal=True),
    ],
    ids=["before the first release", "a rule by the card, without a card", "a vision tower of unknown size"],
)
def test_no_default_without_the_inputs_of_the_rule(launch: Launch) -> None:
    assert default_fraction(launch) is None
