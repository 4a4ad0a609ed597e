"""Which release an SGLang dump of arguments is from."""

from __future__ import annotations

from itertools import pairwise

import pytest

from analyzer.engines.sglang_release import ADDED, IN_EVERY_RELEASE, REMOVED, releases_of
from tests.sglang_dumps import RELEASES, names_of

SAME_AS_THE_ONE_BEFORE = {"0.2.0": "0.1.26", "0.3.0": "0.2.15", "0.4.6.post1": "0.4.6"}
"""No argument came or went, as far as the table goes."""


@pytest.mark.parametrize("release", RELEASES)
def test_a_whole_dump_tells_its_release(release: str) -> None:
    found = releases_of(names_of(release))
    assert found is not None
    assert found.since == SAME_AS_THE_ONE_BEFORE.get(release, release)
    assert [str(version) for version in found.sampled] == [found.since]


@pytest.mark.parametrize(("earlier", "later"), [pair for pair in pairwise(RELEASES) if pair[1] not in SAME_AS_THE_ONE_BEFORE])
def test_each_release_ends_where_the_next_one_starts(earlier: str, later: str) -> None:
    found = releases_of(names_of(earlier))
    assert found is not None
    assert found.before == later


def test_the_newest_release_has_no_end() -> None:
    found = releases_of(names_of("0.5.23"))
    assert found is not None
    assert (found.before, str(found)) == (None, "0.5.23 or later")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"tp_size"}, "0.1.26 or later"),
        ({"hybrid_kvcache_ratio"}, "0.1.26 to 0.5.7"),
        ({"mm_enable_dp_encoder", "hybrid_kvcache_ratio"}, "0.5.6 to 0.5.7"),
        ({"mm_enable_dp_encoder", "hybrid_kvcache_ratio", "load_watch_interval"}, "0.5.6"),
    ],
    ids=["nothing telling", "gone later", "both ends", "one release"],
)
def test_a_shortened_dump_leaves_releases_open(names: set[str], expected: str) -> None:
    assert str(releases_of(names)) == expected


def test_a_build_between_two_releases_is_neither() -> None:
    later = names_of("0.5.10")
    assert releases_of(names_of("0.5.9") | {"enable_fused_moe_sum_all_reduce"}) is None
    assert releases_of(later | {"enable_piecewise_cuda_graph"}) is None


def test_every_name_of_the_tables_came_or_went_with_its_release() -> None:
    for table, shift in ((ADDED, 0), (REMOVED, -1)):
        for release, names in table:
            if release in RELEASES:
                own, other = names_of(release), names_of(RELEASES[RELEASES.index(release) - 1])
                with_them, without_them = (own, other) if shift == 0 else (other, own)
                assert set(names.split()) <= with_them
                assert not set(names.split()) & without_them
    assert all(names_of(release) >= IN_EVERY_RELEASE for release in RELEASES)
