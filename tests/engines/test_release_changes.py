"""What two releases do differently; each boundary is one that moves by one release when the table moves."""

import pytest
from packaging.version import Version

from analyzer.engines.release_changes import release_changes


def changes(engine: str, before: str, after: str) -> list[str]:
    return release_changes(engine, Version(before), Version(after))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("0.19.1", "0.20.0", "gpu_memory_utilization, when nobody sets it: 0.9 in 0.19.1, 0.92 in 0.20.0"),
        ("0.19.1", "0.20.0", "CUDA graphs live in what the utilization leaves free in 0.19.1, come off the KV budget in 0.20.0"),
        ("0.20.0", "0.19.1", "gpu_memory_utilization, when nobody sets it: 0.92 in 0.20.0, 0.9 in 0.19.1"),
        ("0.26.0", "0.27.0", "the KV budget is computed as ledger and graphs in 0.26.0, consumed and headroom in 0.27.0"),
        (
            "0.26.0",
            "0.27.0",
            "memory of other processes is not taken off the KV cache in 0.26.0, shrinks the KV cache by what it takes while the engine "
            "starts in 0.27.0",
        ),
    ],
)
def test_what_vllm_changed(before: str, after: str, text: str) -> None:
    assert text in changes("vllm", before, after)


@pytest.mark.parametrize(("before", "after"), [("0.20.0", "0.26.0"), ("0.11.0", "0.17.1"), ("0.24.0", "0.24.0"), ("0.24.0rc1", "0.24.0")])
def test_releases_of_vllm_that_do_the_same(before: str, after: str) -> None:
    assert changes("vllm", before, after) == []


def test_what_sglang_changed() -> None:
    draft = "a draft model's weights are beside the pools in 0.5.13, inside the static share, before the pools are sized in 0.5.14"
    assert draft in changes("sglang", "0.5.13", "0.5.14")
    assert "the rule for mem_fraction_static, when nobody sets it, changed in 0.4.7" in changes("sglang", "0.4.6.post5", "0.4.7")
    assert changes("sglang", "0.4.7", "0.4.6.post5") == changes("sglang", "0.4.6.post5", "0.4.7")


def test_nothing_is_said_of_an_unknown_release() -> None:
    assert release_changes("vllm", None, Version("0.20.0")) == []
    assert release_changes("sglang", Version("0.5.3"), None) == []
