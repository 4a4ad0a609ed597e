"""vLLM's suggested size of the KV cache, held against the figures it was made from."""

import pytest
import yaml
from packaging.version import Version

from analyzer.engines.release import value_since
from analyzer.engines.vllm_suggestion import GRAPHS_COUNTED_TWICE, LEVEL, audit_suggestion, suggested
from analyzer.units import MIB, Size, parse_size

# basis, non-KV memory, captured graphs, printed number: figures of healthy starts
LEDGERS = {
    "0.18 on Ascend, to what was requested": ("0.18.0", "55.14", ("1.14", "0.22", "0.13"), "0.04", 57_403_864_576),
    "0.28, rank 0, to what was requested": ("0.28.0", "21.67", ("15.25", "1.66"), "0.14", 4_805_904_446),
    "0.28, rank 0, to what was free": ("0.28.0", "23.15", ("15.25", "1.66"), "0.14", 6_390_038_016),
    "0.28, rank 1, to what was requested": ("0.28.0", "21.67", ("15.25", "1.66"), "0.14", 4_803_010_376),
    "0.28, rank 1, to what was free": ("0.28.0", "23.14", ("15.25", "1.66"), "0.14", 6_378_503_680),
    "0.27, one card of 80 GiB, to what was requested": ("0.27.0", "73.6", ("51.66", "2.4"), "0.71", 20_064_085_607),
    "0.27, one card of 80 GiB, to what was free": ("0.27.0", "79.99", ("51.66", "2.4"), "0.71", 26_927_570_944),
}


def gib(amount: str) -> Size:
    return parse_size(f"{amount} GiB", decimals=2)


def summed(amounts: tuple[str, ...]) -> Size:
    return sum((gib(amount) for amount in amounts), Size.exact(0))


@pytest.mark.parametrize("name", LEDGERS)
def test_the_printed_number_follows_from_its_figures(name: str) -> None:
    version, basis, non_kv, graphs, printed = LEDGERS[name]
    assert suggested(gib(basis), summed(non_kv), gib(graphs)).may_equal(printed)
    assert audit_suggestion(Version(version), printed, gib(basis), summed(non_kv), gib(graphs)).agrees


def test_the_figures_are_those_of_the_corpus(fixtures_dir) -> None:
    for name, numbers in {
        "vllm-103-healthy-v1-028-two-kv-suggestions.yaml": (
            "4805904446",
            "6390038016",
            "4803010376",
            "6378503680",
            "15.25 GiB",
            "1.66 GiB",
        ),
        "vllm-105-healthy-ascend-actual-usage.yaml": ("57403864576", "55.14 GiB", "1.14 GiB", "0.22 GiB", "0.13 GiB", "0.04 GiB"),
    }.items():
        log = yaml.safe_load((fixtures_dir / "corpus" / name).read_text(encoding="utf-8"))["log"]
        assert all(number in log for number in numbers)


def test_a_number_that_does_not_follow() -> None:
    audit = audit_suggestion(Version("0.28.0"), 4_905_904_446, gib("21.67"), summed(("15.25", "1.66")), gib("0.14"))
    assert not audit.agrees
    assert "the number does not follow from the figures of its line" in audit.notes


@pytest.mark.parametrize(
    ("version", "twice"), [("0.17.1", False), ("0.18.0", True), ("0.18.1", True), ("0.19.0", False), ("0.26.0", False), ("0.27.0", True)]
)
def test_releases_that_take_graphs_off_twice(version: str, twice: bool) -> None:
    audit = audit_suggestion(Version(version), 4_803_010_376, gib("21.67"), summed(("15.25", "1.66")), gib("0.14"), estimate=gib("0.2"))
    assert value_since(GRAPHS_COUNTED_TWICE, Version(version)) is twice
    assert audit.difference.bytes == (gib("0.2").bytes if twice else 0)
    assert audit.value == 4_803_010_376 + audit.difference
    assert (len(audit.notes) == 2) is twice


def test_the_corrected_number_meets_the_pool_in_use() -> None:
    """Rank 1 of the 0.28 start: the pool in use is what was requested less the estimate, the corrected number the same less the
    captured graphs and the reserve. 4.76 + 0.2 - 0.14 = 4.47 + 0.2 + 0.15."""
    audit = audit_suggestion(Version("0.28.0"), 4_803_010_376, gib("21.67"), summed(("15.25", "1.66")), gib("0.14"), estimate=gib("0.2"))
    in_use = gib("4.76")
    assert (audit.value + audit.reserve).may_equal(in_use + gib("0.2") - gib("0.14"))
    assert audit.reserve.bytes == 150 * MIB


def test_without_a_printed_estimate_nothing_is_put_back() -> None:
    audit = audit_suggestion(Version("0.28.0"), 4_805_904_446, gib("21.67"), summed(("15.25", "1.66")), gib("0.14"))
    assert (audit.value.bytes, audit.difference.bytes) == (4_805_904_446, 0)


def test_the_flag_it_names_is_an_abbreviation() -> None:
    audit = audit_suggestion(Version("0.28.0"), 4_805_904_446, gib("21.67"), summed(("15.25", "1.66")), gib("0.14"))
    assert audit.notes == ("the option is called --kv-cache-memory-bytes; --kv-cache-memory is an abbreviation that files do not take",)


@pytest.mark.parametrize(
    ("version", "level"), [("0.10.1", None), ("0.10.2", "INFO"), ("0.11.0", "DEBUG"), ("0.25.1", "DEBUG"), ("0.26.0", "INFO")]
)
def test_level_of_the_line(version: str, level: str | None) -> None:
    assert value_since(LEVEL, Version(version)) == level
