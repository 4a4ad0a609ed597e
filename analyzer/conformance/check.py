"""Which templates the grammars read, which are left out on purpose, and which are neither."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analyzer.conformance.ignored import Ignored, reason_for
from analyzer.conformance.rendering import log_line
from analyzer.conformance.templates import Template
from analyzer.facts.extract import extract_facts
from analyzer.grammar import Grammars
from analyzer.inputs.document import Document

OTHER_FAMILIES = frozenset({"command", "selector", "traceback"})
"""Grammars of what stands around an engine's messages; a fact of theirs says nothing about the message."""


@dataclass(frozen=True)
class Report:
    """The templates of one package, sorted by what becomes of them."""

    recognised: list[Template]
    ignored: dict[str, list[Template]]
    """By reason."""
    unread: list[Template]

    @property
    def count(self) -> int:
        return len(self.recognised) + len(self.unread) + sum(map(len, self.ignored.values()))

    @property
    def read_share(self) -> float:
        """The share that is read of what is not left out."""
        wanted = len(self.recognised) + len(self.unread)
        return len(self.recognised) / wanted if wanted else 1.0

    @property
    def accounted(self) -> float:
        """The share that is read or left out on purpose."""
        return (self.count - len(self.unread)) / self.count if self.count else 1.0


def check(templates: Iterable[Template], grammars: Grammars, ignored: list[Ignored]) -> Report:
    """Render each template and read it again."""
    report = Report([], {}, [])
    for template in sorted(templates):
        if kinds_of(template, grammars):
            report.recognised.append(template)
        elif reason := reason_for(template, ignored):
            report.ignored.setdefault(reason, []).append(template)
        else:
            report.unread.append(template)
    return report


def kinds_of(template: Template, grammars: Grammars) -> set[str]:
    """The kinds of facts that the rendered template becomes."""
    facts = extract_facts(Document(template.file, log_line(template).encode(), grammars.prefixes), grammars).facts
    return {fact.kind for fact in facts if fact.family not in OTHER_FAMILIES}
