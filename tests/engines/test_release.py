"""Releases and tables by release."""

import pytest
from packaging.version import Version

from analyzer.engines.release import is_within, published, release, value_since


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("v0.24.0", "0.24.0"),
        ("0.5.6.post1", "0.5.6.post1"),
        ("0.11.1rc6.dev35", "0.11.1"),
        ("0.4.2.post2+rocm630", "0.4.2.post2"),
    ],
)
def test_the_release_a_build_belongs_to(printed: str, expected: str) -> None:
    version = release(printed)
    assert version is not None
    assert published(version) == Version(expected)


@pytest.mark.parametrize("text", [None, "", "main", "image of June"])
def test_no_release_to_read(text: str | None) -> None:
    assert release(text) is None


@pytest.mark.parametrize(
    ("version", "expected"),
    [("0.4.4", False), ("0.4.4.post3", False), ("0.4.4.post4", True), ("0.4.8.post1", True), ("0.4.9", False), ("0.4.9rc1", False)],
)
def test_a_range_ends_before_its_second_release(version: str, expected: bool) -> None:
    assert is_within(Version(version), "0.4.4.post4", "0.4.9") is expected


@pytest.mark.parametrize(
    ("version", "expected"), [("0.4.5", None), ("0.4.6", "old"), ("0.4.7", "old"), ("0.4.7.post1", "new"), ("0.5.0", "new")]
)
def test_post_releases_start_a_row_of_their_own(version: str, expected: str | None) -> None:
    assert value_since((("0.4.6", "old"), ("0.4.7.post1", "new")), Version(version)) == expected


def test_an_unknown_release_gets_a_value_only_where_all_agree() -> None:
    assert value_since((("0.1", 0.9), ("0.2", 0.92)), None) is None
    assert value_since((("0.1", 0.9), ("0.2", 0.9)), None) == 0.9
