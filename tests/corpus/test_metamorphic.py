"""What must not matter: a right verdict on a real report stays right when the log arrives in another shape.

What is drawn at random is drawn by the report's name, so that each run tries the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from analyzer.analysis import Verdict
from analyzer.pipeline import Result, run_pipeline
from analyzer.rulebook.verdict import CONFIDENCES
from tests.corpus.score import cases, judge

pytestmark = pytest.mark.xdist_group("metamorphic")

RANK = re.compile(r"\b(TP|rank=|gpu_id=|gpu=)(\d+)|\[(rank)(\d+)\]:")
PID = re.compile(r"\bpid=(\d+)")
START_UP_CHECK = re.compile(
    r"(?P<before>Free memory on device[^(]*\()(?P<free>[\d.]+)(?P<between>/[\d.]+ GiB\).*?, )(?P<asked>[\d.]+)(?= GiB\))"
)
REFUSED = re.compile(r"(?P<before>Tried to allocate (?P<tried>[\d.]+) (?P<unit>[GM]iB).*?of which )(?P<free>[\d.]+)(?= (?P=unit) is free)")
AVAILABLE = re.compile(r"(?P<before>avail(?:able)?[ _](?:gpu_)?mem=)(?P<free>\d+\.\d\d)(?= ?GB)")


@dataclass(frozen=True)
class Report:
    """A report of the corpus and what the analyzer makes of it."""

    case: dict[str, Any]
    result: Result

    @property
    def name(self) -> str:
        return str(self.case["id"])

    @property
    def lines(self) -> list[str]:
        return str(self.case["log"]).split("\n")


def is_right(case: dict[str, Any], result: Result) -> bool:
    """Whether an accepted cause is named and no advice goes in the wrong direction."""
    row = judge(case, result.analysis)
    return bool(row["right"] and not row["harmful"])


def analysed(log: str, folder: Path) -> Result:
    file = folder / "crash.log"
    file.write_bytes(log.encode() + b"\n")
    return run_pipeline([file])


# --- changes ---------------------------------------------------------------------------------------------------------


def without_an_unrelated_line(report: Report, random: Random) -> str | None:
    """One line fewer, among those that no message stands in."""
    told = {number for run in report.result.case.runs for fact in run.facts for number in range(fact.line.number, fact.last_line + 1)}
    unrelated = [index for index in range(len(report.lines)) if index + 1 not in told]
    if not unrelated:
        return None
    gone = random.choice(unrelated)
    return "\n".join(line for index, line in enumerate(report.lines) if index != gone)


def behind_a_compose_prefix(report: Report, random: Random) -> str:
    return "\n".join(f"vllm-1  | {line}" for line in report.lines)


def behind_kubectl_timestamps(report: Report, random: Random) -> str:
    seconds = sorted(random.randrange(3600) for _ in report.lines)
    return "\n".join(
        f"2026-03-01T08:{second // 60:02}:{second % 60:02}.{random.randrange(10**9):09}Z {line}"
        for second, line in zip(seconds, report.lines, strict=True)
    )


def with_windows_line_ends(report: Report, random: Random) -> str:
    return "\r\n".join(report.lines)


def quoted_in_a_mail(report: Report, random: Random) -> str:
    return "\n".join(f"> {line}" for line in report.lines)


def with_the_error_repeated(report: Report, random: Random) -> str | None:
    """The first line that the verdict rests on, once more: right behind itself, or at the end."""
    numbers = decisive_lines(report.result)
    if not numbers:
        return None
    index = numbers[0] - 1
    lines = report.lines
    lines.insert(random.choice([index + 1, len(lines)]), lines[index])
    return "\n".join(lines)


def interleaved_with_another_rank(report: Report, random: Random) -> str | None:
    """Each record of a rank followed by the same record of another rank."""
    records = list(records_of(report.lines))
    copied = [(record, other_rank(record)) for record in records]
    if all(copy is None for _, copy in copied):
        return None
    return "\n".join(part for record, copy in copied for part in (record, copy) if part is not None)


def with_more_free_memory(report: Report, random: Random) -> str | None:
    """Every printed amount of free memory raised, but not so far that the failure beside it becomes impossible."""
    log = str(report.case["log"])
    more = START_UP_CHECK.sub(
        lambda found: f"{found['before']}{between(found['free'], found['asked'])}{found['between']}{found['asked']}", log
    )
    more = REFUSED.sub(lambda found: f"{found['before']}{between(found['free'], found['tried'])}", more)
    more = AVAILABLE.sub(lambda found: f"{found['before']}{float(found['free']) * 1.02:.2f}", more)
    return more if more != log else None


def between(free: str, asked: str) -> str:
    """Halfway from what was free to what was asked for; unchanged where enough was free."""
    return f"{(float(free) + float(asked)) / 2:.2f}" if float(free) < float(asked) - 0.05 else free


def records_of(lines: list[str]) -> Iterator[str]:
    """Lines that name a rank, each with the lines behind it that name none."""
    record: list[str] = []
    for line in lines:
        if record and RANK.search(line[:120]):
            yield "\n".join(record)
            record = []
        record.append(line)
    yield "\n".join(record)


def other_rank(record: str) -> str | None:
    """The record as another rank would write it; None when its head names no rank."""
    head, rest = record[:120], record[120:]
    if not RANK.search(head):
        return None
    renamed = RANK.sub(lambda found: f"[rank{int(found[4]) + 8}]:" if found[3] else f"{found[1]}{int(found[2]) + 8}", head)
    return PID.sub(lambda found: f"pid={int(found[1]) + 5000}", renamed) + rest


def decisive_lines(result: Result) -> list[int]:
    """The lines that the root finding rests on."""
    verdict = result.analysis.verdict
    roots = [finding for finding in result.analysis.findings if finding.role == "root" and finding.cause == verdict.cause]
    return sorted({entry.line for finding in roots for entry in finding.evidence})


Change = Callable[[Report, Random], str | None]
CHANGES: dict[Change, int] = {
    without_an_unrelated_line: 60,
    behind_a_compose_prefix: 100,
    behind_kubectl_timestamps: 100,
    with_windows_line_ends: 100,
    quoted_in_a_mail: 100,
    with_the_error_repeated: 70,
    interleaved_with_another_rank: 20,
    with_more_free_memory: 20,
}
"""The changes, and to how many reports each applies at least."""


# --- tests -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[Report]:
    """The reports with a right verdict."""
    folder = tmp_path_factory.mktemp("corpus")
    all_of_them = [Report(case, analysed(case["log"], folder)) for case in cases()]
    return [report for report in all_of_them if is_right(report.case, report.result)]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_right_verdict_stays_right(change: Change, reports: list[Report], tmp_path: Path) -> None:
    changed = [(report, log) for report in reports if (log := change(report, Random(report.name))) is not None]
    wrong = [
        f"{report.name}: {after.analysis.verdict}" for report, log in changed if not is_right(report.case, after := analysed(log, tmp_path))
    ]
    assert wrong == []
    assert len(changed) >= CHANGES[change]


def test_without_the_decisive_lines_nothing_else_becomes_certain(reports: list[Report], tmp_path: Path) -> None:
    surer = []
    for report in reports:
        gone = decisive_lines(report.result)
        left = "\n".join(line for number, line in enumerate(report.lines, 1) if number not in gone)
        before, after = report.result.analysis.verdict, analysed(left, tmp_path)
        if gone and (not is_weaker(after.analysis.verdict, before) or judge(report.case, after.analysis)["harmful"]):
            surer.append(f"{report.name}: {after.analysis.verdict}")
    assert surer == []


def is_weaker(after: Verdict, before: Verdict) -> bool:
    """Whether a verdict claims no more than the one before: the same cause, none, or one that is not surer and not certain."""
    surer = CONFIDENCES.index(after.confidence) < CONFIDENCES.index(before.confidence)
    return after.cause in (before.cause, "unknown", "none") or (after.confidence != "certain" and not surer)
