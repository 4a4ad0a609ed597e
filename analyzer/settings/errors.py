"""What is wrong in a settings file, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: the file, the line (from 1; None for the file as a whole), the key, and what was expected."""

    file: str
    line: int | None
    key: str
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"


class SettingsError(ValueError):
    """Settings that cannot be used. `problems` is never empty; the text lists all of them, one a line."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @classmethod
    def at(cls, file: str, line: int | None, message: str, key: str = "") -> SettingsError:
        """An error that consists of one problem."""
        return cls([Problem(file, line, key, message)])


class EditError(SettingsError):
    """An edit that cannot be made in this file without changing something else."""
