"""A rule: one Markdown file, YAML front matter for the machine, the text for the person."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from analyzer.analysis import Direction, Outcome, Role, Safety, Severity
from analyzer.causes import CAUSES

SECTIONS = ("What happened", "Why", "What to do", "How sure", "Sources")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's loader where the package has it."""
_FRONT_MATTER = re.compile(r"\A---\n(?P<matter>.*?\n)---\n(?P<body>.*)\Z", re.DOTALL)


class RuleError(ValueError):
    """A rule file that cannot be used; the message names file, line and what was expected."""


class _Spec(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AdviceSpec(_Spec):
    """One knob. `value`, `low`, `high` and `when` are expressions, `why` is a template."""

    knob: str
    direction: Direction
    value: str | int | float | None = None
    low: str | int | float | None = None
    high: str | int | float | None = None
    when: str | None = None
    why: str


class PatchSpec(_Spec):
    """One change of the profile that a finding is about: `set` an existing key, `add` a missing one (both `to` a value), or `remove` it."""

    set: str | None = None
    add: str | None = None
    remove: str | None = None
    to: str | int | float | None = None
    safety: Safety
    when: str | None = None

    @model_validator(mode="after")
    def _one_change(self) -> PatchSpec:
        if sum(key is not None for key in (self.set, self.add, self.remove)) != 1 or (self.remove is None) != (self.to is not None):
            raise ValueError("expected one of `set: KEY, to: VALUE`, `add: KEY, to: VALUE` and `remove: KEY`")
        return self

    @property
    def op(self) -> Literal["set", "add", "remove"]:
        return "set" if self.set else "add" if self.add else "remove"

    @property
    def key(self) -> str:
        return self.set or self.add or self.remove or ""


class Rule(_Spec):
    """A rule as loaded. Expressions are still text here; the rulebook compiles and checks them."""

    id: str
    file: Path
    title: str
    severity: Severity
    role: Role
    cause: str | None = None
    confidence: str = "likely"
    """certain, likely, possible, or a template that gives one of them."""
    outcome: Outcome | None = None
    """Set where the rule knows better than the log's end how the run stands (a full pool degrades, it does not kill)."""
    for_each: Literal["case", "run", "rank", "profile", "ladder", "event", "problem"]
    messages: list[str] = []
    """For a rule for each event: the messages it judges."""
    when: list[str] = []
    say: str
    evidence: list[str] = []
    advice: list[AdviceSpec] = []
    at: str = ""
    """For a rule for each profile: a template that gives the argument (in snake_case) at whose line the finding stands."""
    patch: list[PatchSpec] = []
    beats: list[str] = []
    """Rules whose finding in the same run is a consequence of, or a coarser word for, this one."""
    not_proven: str = Field(min_length=10)
    how_to_get: dict[str, str] = {}
    sources: list[str] = Field(min_length=1)
    since: str
    body: str
    lines: dict[str, int] = Field(exclude=True, repr=False)

    @field_validator("cause")
    @classmethod
    def _known_cause(cls, cause: str | None) -> str | None:
        if cause is not None and cause not in CAUSES:
            raise ValueError(f"unknown cause {cause!r}; the causes are in analyzer/causes.py")
        return cause

    def line_of(self, key: str) -> int:
        """Line of a front matter entry such as "when.1", for error messages."""
        return self.lines.get(key, self.lines.get(key.partition(".")[0], 1))


def load_rule(folder: Path, file: Path) -> Rule:
    """The rule in a file; its id is the path without suffix, relative to the rules folder. Raises RuleError."""
    identity = file.relative_to(folder).with_suffix("").as_posix()
    try:
        found = _FRONT_MATTER.match(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise RuleError(f"{file}:1: {error}") from error
    if found is None:
        raise RuleError(f"{file}:1: expected front matter between two lines of ---")
    try:
        node = yaml.compose(found["matter"], Loader=LOADER)
        matter = LOADER("").construct_document(node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise RuleError(f"{file}:{mark.line + 2 if mark else 1}: not valid YAML ({getattr(error, 'problem', error)})") from error
    if not isinstance(matter, dict):
        raise RuleError(f"{file}:2: expected a mapping in the front matter")
    if twice := _first_repeated_key(node):
        raise RuleError(f"{file}:{twice.start_mark.line + 2}: {twice.value} is given twice")
    lines = _lines(node, "")
    missing = [section for section in SECTIONS if not re.search(rf"^## {re.escape(section)}$\s+(?!## )\S", found["body"], re.MULTILINE)]
    if missing:
        raise RuleError(
            f"{file}:{found['matter'].count(chr(10)) + 3}: documentation is missing: {', '.join(f'## {name}' for name in missing)}"
        )
    try:
        return Rule(id=identity, file=file, body=found["body"].strip(), lines=lines, **matter)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise RuleError(f"{file}:{_nearest(lines, key)}: {key or 'front matter'}: {first['msg']}") from error
    except TypeError as error:
        raise RuleError(f"{file}:2: {error}") from error


def load_rules(folders: list[Path]) -> list[Rule]:
    """All rules under the folders, in order of their ids; a later folder may add rules but not replace any. Raises RuleError."""
    rules: dict[str, Rule] = {}
    for folder in folders:
        files = sorted(folder.rglob("*.md"))
        if not files:
            raise RuleError(f"{folder}: no rules (*.md) found")
        for file in files:
            rule = load_rule(folder, file)
            if rule.id in rules:
                raise RuleError(f"{file}:1: rule {rule.id} is already defined in {rules[rule.id].file}")
            rules[rule.id] = rule
    return [rules[identity] for identity in sorted(rules)]


def _first_repeated_key(node: Any) -> Any:
    """The first key that stands for a second time in a mapping of the front matter; None when there is none."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                return key
            seen.add(str(key.value))
            if found := _first_repeated_key(value):
                return found
    elif isinstance(node, yaml.SequenceNode):
        return next((found for value in node.value if (found := _first_repeated_key(value))), None)
    return None


def _lines(node: Any, path: str) -> dict[str, int]:
    """Line in the file of every front matter entry; the front matter begins on the second line."""
    lines = {path: node.start_mark.line + 2} if path else {}
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            lines.update(_lines(value, f"{path}.{key.value}" if path else str(key.value)))
            lines[f"{path}.{key.value}" if path else str(key.value)] = key.start_mark.line + 2
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            lines.update(_lines(value, f"{path}.{index}"))
    return lines


def _nearest(lines: dict[str, int], key: str) -> int:
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key, 2)
