"""Settings as the program uses them: profiles with typed arguments, each of which knows where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from analyzer.settings.amounts import BYTE_ARGUMENTS, Form
from analyzer.settings.arguments import UTILIZATION_ARGUMENTS
from analyzer.settings.errors import Problem
from analyzer.settings.yaml_nodes import Document, EffectiveEntry, MappingNode, Path, ScalarNode, resolve
from analyzer.units import Size

Engine: TypeAlias = Literal["vllm", "sglang"]

# The share of free memory that the selector counts on; the rest may be gone by the time the engine looks (its memory_budget function).
SAFETY_FACTOR = 0.98


@dataclass(frozen=True, slots=True)
class SelectionRule:
    """How a profile is chosen. `order` is None when the file does not state it; `file` and `line` when it states no `selection`."""

    safety_factor: float = SAFETY_FACTOR
    order: tuple[str, ...] | None = None
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """One way to start an engine. `arguments` holds all keys in snake_case, evaluated: known ones typed, others as they are.

    `entries` tells where each of them stands, `path` where the profile itself does.
    """

    name: str
    form: Form
    engine: Engine | None
    arguments: Mapping[str, Any]
    entries: Mapping[str, EffectiveEntry]
    document: Document
    path: Path
    node: MappingNode
    start: int  # offset of the profile's name; of its first argument in an argument file

    @property
    def file(self) -> str:
        return self.document.name

    @property
    def utilization(self) -> float | None:
        """The fraction of device memory the profile asks for, under whichever name its engine gives to it."""
        return next((self.arguments[key] for key in UTILIZATION_ARGUMENTS if self.value(key) is not None), None)

    @property
    def requires_free_bytes(self) -> int | None:
        requires: int | None = self.value("requires_free_bytes")
        return requires

    def value(self, key: str) -> Any:
        """The evaluated value of an argument; None when it is missing or null. Byte amounts are whole bytes."""
        return self.arguments.get(key)

    def size(self, key: str) -> Size | None:
        """A byte amount as a size, in the words of the file when these carry a unit."""
        value = self.value(key)
        if key not in BYTE_ARGUMENTS or value is None:
            return None
        written = self.written(key) or ""
        return Size.exact(value, "" if written.replace("_", "").isdigit() else written)

    def written(self, key: str) -> str | None:
        """How a single value is written in the file, without its quotes: `24_053_735_802`, `24 GiB`, `128k`."""
        found = self.entries.get(key)
        value = resolve(found.entry.value) if found else None
        if not isinstance(value, ScalarNode):
            return None
        return value.text if value.style else value.source

    def line(self, key: str) -> int:
        """The line where the value of an argument stands, which may be in a merged mapping; for a missing one, that of the profile."""
        found = self.entries.get(key)
        return self.document.line(found.entry.key.span.start if found else self.start)

    def place(self, key: str) -> Path:
        """The path of an argument in the file, in the file's spelling; for a missing one, where it would be added."""
        found = self.entries.get(key)
        return (*self.path, found.entry.key.text if found else self._spelled(key))

    def inherits(self, key: str) -> bool:
        """Whether the value comes from a mapping that the profile merges in."""
        found = self.entries.get(key)
        return found is not None and found.inherited

    def _spelled(self, key: str) -> str:
        """SGLang pastes keys behind `--` and takes dashes only; elsewhere the file's own habit counts."""
        spellings = [entry.key.text for entry in self.node.entries]
        dashed, underscored = (sum(mark in spelling for spelling in spellings) for mark in "-_")
        return key.replace("_", "-") if self.form == "sglang-arguments" or dashed > underscored else key


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the given files say. `form` is that of the files; "profiles" when they differ.

    `problems` are the values that cannot be meant; the arguments of the profiles are without them.
    """

    documents: Mapping[str, Document]
    profiles: Mapping[str, Profile]
    selection: SelectionRule
    form: Form
    problems: tuple[Problem, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(self.documents)

    @property
    def order(self) -> tuple[str, ...]:
        """The names of the profiles in the order in which they are tried.

        A stated order leaves out what it does not name. Without one the widest window comes first, as the selector does it;
        profiles without a window come last, and equals stay as in the file.
        """
        if self.selection.order is not None:
            return self.selection.order
        return tuple(sorted(self.profiles, key=lambda name: -_window(self.profiles[name])))


def _window(profile: Profile) -> int:
    windows = (profile.value("max_model_len"), profile.value("context_length"))
    return next((window for window in windows if isinstance(window, int)), 0)
