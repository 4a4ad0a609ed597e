"""Arguments of the engines by release, so that nothing is suggested which a release does not know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from packaging.version import Version

from analyzer.engines.release import is_within


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its name in Python and in a report, its flag, and the releases that take it ("before" is the first that does not).

    An argument whose flag changed has one row for each flag. `flag` is empty for what is set through the environment only.
    """

    name: str
    flag: str
    since: str
    before: str | None = None
    note: str = ""


def is_known(argument: Argument, version: Version | None) -> bool | None:
    """Whether a release takes this argument; None when the release is unknown."""
    if version is None:
        return None
    return is_within(version, argument.since, argument.before)


def argument_of(table: Sequence[Argument], name: str, version: Version | None) -> Argument | None:
    """The row of an argument that a release takes, the newest flag where it takes several; None when it takes none.

    With the release unknown, the row is given only where the name has one row that reaches from the first release of the table
    to the last.
    """
    rows = [row for row in table if row.name == name]
    if version is None:
        first = min(Version(row.since) for row in table)
        return rows[0] if len(rows) == 1 and rows[0].before is None and Version(rows[0].since) == first else None
    known = [row for row in rows if is_known(row, version)]
    return max(known, key=lambda row: Version(row.since)) if known else None


def flag_of(table: Sequence[Argument], name: str, version: Version | None) -> str | None:
    """The flag of an argument in a release; None when the release does not take it or cannot be told."""
    row = argument_of(table, name, version)
    return row.flag if row is not None else None
