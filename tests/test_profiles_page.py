"""The worked example of docs/profiles.md, computed again from the receipts."""

import re
from pathlib import Path

import pytest

from analyzer import Analysis, Device, analyze
from analyzer.settings.selection import budget, raw_free_needed
from analyzer.units import group_digits

TOTAL, SAFETY = 34_190_917_632, 0.98


@pytest.fixture(scope="module")
def page(fixtures_dir: Path) -> str:
    return " ".join((fixtures_dir.parent / "docs" / "profiles.md").read_text(encoding="utf-8").split())


@pytest.fixture(scope="module")
def analysis(fixtures_dir: Path) -> Analysis:
    seeds = fixtures_dir / "seeds"
    return analyze([seeds / "receipts"], [seeds / "profiles.as-found.yaml"], device=Device(most_free=33_136_836_608))


def test_the_table_of_ladders(page: str, analysis: Analysis):
    rows = {record.profile: record for record in analysis.ladder}
    for profile in ("long_393k", "long_262k"):
        record = rows[profile]
        assert record.threshold is not None
        assert record.overhead is not None
        assert record.recommended is not None
        figures = (*record.threshold.values(), *record.overhead.values(), record.recommended, raw_free_needed(record.recommended, SAFETY))
        assert f"| {profile} | {' | '.join(map(group_digits, figures))} |" in page


@pytest.mark.parametrize(
    ("free", "utilization"), [(33_568_063_488, 0.95), (34_188_820_480, 0.95), (33_568_063_488, 0.99), (34_188_820_480, 0.99)]
)
def test_the_budgets(page: str, free: int, utilization: float):
    assert group_digits(free) in page
    assert group_digits(budget(TOTAL, free, utilization, SAFETY)) in page


@pytest.mark.parametrize(
    ("rule", "figures"),
    [
        ("profile/constant-overhead", ["126 976 bytes (0.005 %)", "509 734 912"]),
        ("profile/untested-band", ["32 833 306 200", "304 MB"]),
    ],
)
def test_the_figures_of_the_notes(page: str, analysis: Analysis, rule: str, figures: list[str]):
    message = next(entry.message for entry in analysis.findings if entry.rule == rule)
    for figure in figures:
        assert figure in message
        assert figure in page


def test_every_figure_of_the_page_is_one_of_the_programs(page: str, analysis: Analysis):
    told = " ".join([entry.message for entry in analysis.findings] + [note for record in analysis.ladder for note in record.notes])
    told += " ".join(group_digits(value) for record in analysis.ladder for value in (*record.fails_at, *record.passes_at))
    told += " ".join(group_digits(value) for record in analysis.ladder for value in (record.overhead or {}).values())
    told += " ".join(group_digits(record.recommended or 0) for record in analysis.ladder)
    for figure in set(re.findall(r"\d{2} \d{3} \d{3} \d{3}", page)):
        assert figure in told
