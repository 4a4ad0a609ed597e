"""A question about the next start: changed settings, another amount of free memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.settings.errors import SettingsError
from analyzer.settings.yaml_document import read_document
from analyzer.settings.yaml_nodes import ScalarValue, plain


class QuestionError(ValueError):
    """A question that cannot be put to these settings or this log; the message says what was expected."""


@dataclass(frozen=True)
class Question:
    """`changes` are as typed; `free` is raw free memory in bytes, None for that of the log.

    A change is `profile.argument=value` where there are settings, `argument=value` where the log alone is asked.
    """

    changes: Sequence[str] = ()
    free: int | None = None

    @property
    def is_about_the_log(self) -> bool:
        """Whether its changes name no profile."""
        return bool(self.changes) and all("." not in change.partition("=")[0] for change in self.changes)


def value_of(change: str, written: str) -> ScalarValue:
    """A value as YAML reads it. Raises QuestionError for anything but a single one."""
    try:
        value = plain(read_document("--set", written).root)
    except SettingsError as error:
        raise QuestionError(f"--set {change}: {error.problems[0].message}") from error
    if isinstance(value, (dict, list)):
        raise QuestionError(f"--set {change}: expected a single value")
    return value  # type: ignore[no-any-return]
