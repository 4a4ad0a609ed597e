"""What an SGLang argument is when nobody sets it, by the releases that the log leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from packaging.version import Version

from analyzer.cases.model import Run
from analyzer.engines.release import value_since
from analyzer.engines.sglang_release import Releases
from analyzer.figures.sglang_launch_of_run import releases_of_run

T = TypeVar("T")


def possible_releases(run: Run) -> tuple[Version | None, ...]:
    """The releases that the log leaves open, as far as they were read; only None where it tells nothing."""
    releases = releases_of_run(run)
    return releases.sampled if isinstance(releases, Releases) else (releases,)


def value_of_releases(run: Run, table: Sequence[tuple[str, T]]) -> T | None:
    """The value of a table of (first release, value) for the run's releases; None where they have none or disagree.

    Where the log tells no release, the value is given if all rows agree.
    """
    values = [value_since(table, release) for release in possible_releases(run)]
    return values[0] if all(value == values[0] for value in values) else None


def default_source(run: Run, since: str) -> str:
    """In words, whose default it is: "default of SGLang 0.5.14"."""
    releases = releases_of_run(run)
    return f"default of SGLang {releases}" if releases is not None else f"default of SGLang since {since}"
