"""The reserve behind the automatic fraction, term by term, and what the engine fills in by the card."""

from typing import Any

import pytest
from packaging.version import Version

from analyzer.engines.sglang_launch import Launch, default_chunk, default_graph_batch, filled
from analyzer.engines.sglang_prefill_graphs import captured_token_counts, captures_prefill_graphs, maximum_tokens
from analyzer.engines.sglang_reserve import activation_tokens, reserve
from tests.engines.cards import B200, H20, H100, H200, MI300X, RTX_4090, RTX_5090, T4


def launch(version: str, card: int | None = H100, **rest: Any) -> Launch:
    return Launch(release=Version(version), card_mib=card, **rest)


def terms(which: Launch) -> dict[str, float]:
    found = reserve(which)
    assert found is not None
    assert found.mib == sum(term.mib for term in found.terms)
    return {term.name: term.mib for term in found.terms}


def test_terms_of_an_h100() -> None:
    assert terms(launch("0.5.3")) == {"base": 512, "activations": 12288, "parallel size": 128, "decode graphs": 512}


def test_every_term_says_how_it_was_worked_out() -> None:
    found = reserve(launch("0.5.3", H20, tp=8, dp=8, dp_attention=True))
    assert found is not None
    assert {term.name: term.because for term in found.terms} == {
        "base": "constant",
        "activations": "1.5 x 8192 tokens",
        "parallel size": "tp 8 x pp 1 / 8 GiB",
        "decode graphs": "2 x batch 512",
        "data-parallel attention": "4.5 x batch 512 x 8 ranks",
    }


def test_the_floor_comes_after_the_graphs_and_before_speculation() -> None:
    small: dict[str, Any] = {"chunked_prefill_size": 2048, "graph_max_batch_size": 8, "speculative_algorithm": "EAGLE"}
    found = terms(launch("0.5.3", **small))
    assert list(found) == ["base", "activations", "parallel size", "decode graphs", "floor", "speculative decoding"]
    assert sum(found.values()) == 10 * 1024 + 2048
    assert "floor" not in terms(launch("0.5.3", RTX_4090, **small))


@pytest.mark.parametrize(
    ("last", "first", "rest", "name", "before", "after"),
    [
        ("0.5.2", "0.5.3", {"speculative_algorithm": "NGRAM"}, "speculative decoding", 2048, None),
        ("0.5.9", "0.5.10", {"speculative_algorithm": "EAGLE"}, "speculative decoding", 2048, 4096),
        ("0.5.13", "0.5.14", {"speculative_algorithm": "STANDALONE"}, "speculative decoding", 6144, None),
        ("0.5.9", "0.5.10", {}, "prefill graphs", None, 8 * 58),
        ("0.5.9", "0.5.10", {"mla": True, "prefill_graphs": True}, "prefill graphs", 8 * 42, 1536),
        ("0.5.14", "0.5.15", {"deepep": True}, "expert all-to-all", None, 2048),
        ("0.5.14", "0.5.15", {"decode_graphs": False}, "decode graphs", 512, None),
        ("0.5.14", "0.5.15", {"role": "prefill"}, "decode graphs", 512, None),
        ("0.5.14", "0.5.15", {"role": "decode", "prefill_graphs": True}, "prefill graphs", 8 * 58, None),
        ("0.5.16", "0.5.17", {"deepep": True, "prefill_graphs": True}, "prefill graphs", 8 * 58, 8 * 58 + 1024),
        ("0.5.19", "0.5.20", {"platform": "xpu"}, "matrix scratch", None, 2048),
        ("0.5.21", "0.5.22", {"max_running_requests": 16}, "decode graphs", 512, 32),
    ],
)
def test_a_term_starts_and_ends_with_its_release(
    last: str, first: str, rest: dict[str, Any], name: str, before: float | None, after: float | None
) -> None:
    assert terms(launch(last, **rest)).get(name) == before
    assert terms(launch(first, **rest)).get(name) == after


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (launch("0.5.3"), 8192),
        (launch("0.5.3", chunked_prefill_size=512), 2048),
        (launch("0.5.3", chunked_prefill_size=-1), 16384),
        (launch("0.5.14", role="decode"), 8192),
        (launch("0.5.15", role="decode"), 2048),  # graph batch of 256 x 1
        (launch("0.5.15", role="decode", max_running_requests=1000, draft_tokens=4), 4000),
    ],
)
def test_tokens_of_the_activation_term(which: Launch, expected: int) -> None:
    assert activation_tokens(which) == expected


@pytest.mark.parametrize("which", [launch("0.4.7"), Launch(release=None, card_mib=H100), launch("0.5.2", None)])
def test_no_reserve(which: Launch) -> None:
    assert reserve(which) is None


@pytest.mark.parametrize(
    ("version", "card", "chunk", "small_tp", "large_tp"),
    [
        ("0.2.12", RTX_4090, None, None, None),
        ("0.2.13", RTX_4090, 8192, None, None),
        ("0.3.5", RTX_4090, 8192, None, None),
        ("0.3.6", RTX_4090, 2048, None, None),
        ("0.4.6", RTX_5090, 8192, None, None),
        ("0.4.6", B200, 8192, None, None),
        ("0.4.7", B200, 16384, None, None),
        ("0.4.7.post1", RTX_5090, 2048, None, None),
        ("0.2.12", None, None, None, None),
        ("0.2.13", None, 8192, None, None),
        ("0.4.7", None, 8192, None, None),
        ("0.4.7.post1", None, 4096, None, None),
        ("0.5.3", T4, 2048, 8, 8),
        ("0.5.3", RTX_4090, 2048, 16, 80),
        ("0.5.4", RTX_4090, 2048, 16, 80),
        ("0.5.5", RTX_4090, 2048, 24, 80),
        ("0.5.19", RTX_4090, 2048, 24, 80),
        ("0.5.20", RTX_4090, 4096, 48, 160),
        ("0.5.20", T4, 2048, 8, 8),
        ("0.5.3", 46_068, 4096, 32, 160),
        ("0.5.3", H100, 8192, 256, 512),
        ("0.5.3", H200, 8192, 256, 512),
        ("0.5.3", MI300X, 16384, 512, 512),
        ("0.5.3", None, 4096, 160, 160),
    ],
)
def test_what_the_card_decides(version: str, card: int | None, chunk: int | None, small_tp: int | None, large_tp: int | None) -> None:
    assert default_chunk(launch(version, card)) == chunk
    assert default_graph_batch(launch(version, card)) == small_tp
    assert default_graph_batch(launch(version, card, tp=4)) == large_tp


def test_a_disaggregated_server_of_0_4_7_has_larger_chunks() -> None:
    assert default_chunk(launch("0.4.7", H100, role="prefill")) == 16384
    assert default_chunk(launch("0.4.7", RTX_4090, role="prefill")) == 2048
    assert default_chunk(launch("0.4.7.post1", H100, role="prefill")) == 8192


def test_what_was_asked_for_stays() -> None:
    asked = filled(launch("0.5.3", chunked_prefill_size=-1))
    assert (asked.chunked_prefill_size, asked.graph_max_batch_size) == (-1, 256)
    assert default_chunk(Launch(release=None, card_mib=H100)) is None


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (launch("0.5.9"), False),
        (launch("0.5.10"), True),
        (launch("0.5.10", speculative_algorithm="EAGLE"), False),
        (launch("0.5.10.post1", speculative_algorithm="EAGLE"), False),
        (launch("0.5.11", speculative_algorithm="EAGLE"), True),
        (launch("0.5.14", pp=2), False),
        (launch("0.5.15", pp=2), True),
        (launch("0.5.14", mla=True), True),
        (launch("0.5.16", mla=True), False),
        (launch("0.5.17", mla=True), False),
        (launch("0.5.18", mla=True), True),
        (launch("0.5.16", dp_attention=True), False),
        (launch("0.5.17", dp_attention=True), True),
        (launch("0.5.18", pp=2), True),
        (launch("0.5.19", pp=2), False),
        (launch("0.5.23", multimodal=True), False),
        (launch("0.5.23", role="decode"), False),
        (launch("0.5.23", role="prefill"), True),
        (launch("0.5.23", platform="rocm"), False),
        (launch("0.5.10", prefill_graphs=False), False),
        (launch("0.5.6", prefill_graphs=True), True),
    ],
)
def test_whether_prefill_graphs_are_captured(which: Launch, expected: bool) -> None:
    assert captures_prefill_graphs(which) is expected


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (launch("0.5.3", chunked_prefill_size=8192), 8192),
        (launch("0.5.4", chunked_prefill_size=8192), 4096),
        (launch("0.5.6", chunked_prefill_size=8192), 4096),
        (launch("0.5.7", chunked_prefill_size=8192), 8192),
        (launch("0.5.7", chunked_prefill_size=8192, mla=True), 8192),
        (launch("0.5.8", chunked_prefill_size=8192, mla=True), 2048),
        (launch("0.5.22", chunked_prefill_size=16384, mla=True), 2048),
        (launch("0.5.23", chunked_prefill_size=16384, mla=True), 8192),
        (launch("0.5.23", chunked_prefill_size=4096, mla=True), 4096),
        (launch("0.5.9", chunked_prefill_size=8192, max_total_tokens=1000), 8192),
        (launch("0.5.10", chunked_prefill_size=8192, max_total_tokens=1000), 1000),
        (launch("0.5.12", chunked_prefill_size=8192, context_length=4096), 8192),
        (launch("0.5.13", chunked_prefill_size=8192, context_length=4096), 4096),
        (launch("0.5.16", chunked_prefill_size=8192, context_length=4096), 4096),
        (launch("0.5.17", chunked_prefill_size=8192, context_length=4096), 8192),
        (launch("0.5.10", chunked_prefill_size=8192, prefill_graph_max_tokens=100), 100),
    ],
)
def test_the_largest_prefill_graph(which: Launch, expected: int) -> None:
    assert maximum_tokens(which) == expected


def test_token_counts_of_prefill_graphs() -> None:
    assert captured_token_counts(launch("0.5.10", chunked_prefill_size=64)) == (4, 8, 12, 16, 20, 24, 28, 32, 48, 64)
    assert [len(captured_token_counts(launch(version, chunked_prefill_size=2048))) for version in ("0.5.7", "0.5.8", "0.5.9")] == [
        42,
        41,
        42,
    ]
    assert captured_token_counts(launch("0.5.3", chunked_prefill_size=2048)) == ()
    assert len(captured_token_counts(launch("0.5.4", chunked_prefill_size=2048))) == 8 + 14 + 8 + 28  # 640..4096 by 128
    assert 576 not in captured_token_counts(launch("0.5.8", chunked_prefill_size=2048))
    assert 576 in captured_token_counts(launch("0.5.9", chunked_prefill_size=2048))


def test_prefill_graphs_of_an_unknown_release_cannot_be_told() -> None:
    with pytest.raises(ValueError, match="release and the chunk size"):
        maximum_tokens(Launch(release=None, card_mib=H100))
