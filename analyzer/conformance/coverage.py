"""The lines of docs/coverage.md: how much is read, release by release, and what is left out on purpose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import shorten

from packaging.version import Version

from analyzer.conformance.check import Report
from analyzer.conformance.stored import Messages
from analyzer.conformance.templates import Template
from analyzer.facts.extract import extract_facts
from analyzer.grammar import Grammars
from analyzer.inputs.document import Document

LONGEST = 110
"""Of a message, so much is listed."""


@dataclass(frozen=True)
class Wording:
    """One wording of a catalogue: the engine, the releases that print it (`until` None: to this day), and whether every example is read."""

    engine: str
    since: Version
    until: Version | None
    read: bool


def wordings(engine: str, entries: Iterable[Mapping[str, object]], grammars: Grammars) -> list[Wording]:
    """The entries of a catalogue, read. A release with a name in front ("omni-0.1.1") is one of another engine.

    Entries without a release are those of libraries that both engines call.
    """
    found = []
    for entry in entries:
        if entry["since"] is None:
            continue
        since, until = str(entry["since"]), entry["until"]
        name, _, first = since.rpartition("-")
        last = None if until is None else Version(str(until).rpartition("-")[2])
        examples = entry["examples"]
        read = isinstance(examples, Sequence) and all(_is_read(str(example), grammars) for example in examples)
        found.append(Wording(f"{engine}-{name}" if name else engine, Version(first), last, read))
    return found


def _is_read(text: str, grammars: Grammars) -> bool:
    return bool(extract_facts(Document("example", text.encode(), grammars.prefixes), grammars).facts)


def releases_table(found: Sequence[Wording]) -> Iterator[str]:
    """A row for each release in which some wording begins or ends."""
    yield "| engine | release | wordings | read |"
    yield "|---|---|---:|---:|"
    for engine in sorted({wording.engine for wording in found}):
        own = [wording for wording in found if wording.engine == engine]
        for release in sorted({release for wording in own for release in (wording.since, wording.until) if release is not None}):
            printed = [wording for wording in own if wording.since <= release and (wording.until is None or release <= wording.until)]
            yield f"| {engine} | {release} | {len(printed)} | {_share(sum(wording.read for wording in printed), len(printed))} |"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def packages_table(reports: Sequence[tuple[Messages, Report]]) -> Iterator[str]:
    """A row for each package that was checked."""
    yield "| package | messages | left out on purpose | worth reading | read | unread | read of those worth it | read or left out |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for messages, report in reports:
        read, unread = len(report.recognised), len(report.unread)
        left_out = report.count - read - unread
        yield (
            f"| {messages.package} {messages.version} | {report.count} | {left_out} | {read + unread} | {read} | {unread} "
            f"| {100 * report.read_share:.1f} % | {100 * report.accounted:.1f} % |"
        )


def reasons_table(reports: Sequence[tuple[Messages, Report]]) -> Iterator[str]:
    """A row for each reason to leave messages out, the most frequent first."""
    yield f"| left out because it ... | {' | '.join(messages.package for messages, _ in reports)} |"
    yield f"|---|{'---:|' * len(reports)}"
    counts: dict[str, list[int]] = {}
    for index, (_, report) in enumerate(reports):
        for reason, templates in report.ignored.items():
            counts.setdefault(reason, [0] * len(reports))[index] = len(templates)
    for reason, numbers in sorted(counts.items(), key=lambda item: (-sum(item[1]), item[0])):
        yield f"| {reason} | {' | '.join(map(str, numbers))} |"


def listed(title: str, templates: Sequence[Template]) -> Iterator[str]:
    """A list that opens on demand: the messages by file."""
    yield f"<details><summary>{title}: {len(templates)}</summary>"
    yield ""
    for file, group in groupby(sorted(templates), key=lambda template: template.file):
        yield f"- {file}"
        yield from (f"    - {_code(template.text)}" for template in group)
    yield ""
    yield "</details>"
    yield ""


def _code(text: str) -> str:
    """A message as code in one line."""
    return f"`` {shorten(text, LONGEST, placeholder=' ...')} ``"


def page(found: Sequence[Wording], allocators: int, reports: Sequence[tuple[Messages, Report]]) -> Iterator[str]:
    """The whole page; `allocators` is how many families of allocator messages are read."""
    yield "## Whole releases"
    yield ""
    yield "Every log call, print, warning, exception and assertion of these releases whose words speak of memory"
    yield "(`analyzer/conformance/words.py`), taken from their source, filled with plausible values, and read again."
    yield "`make conformance` makes the lists anew; the reasons to leave a message out are in `grammars/ignored.yaml`."
    yield ""
    yield from packages_table(reports)
    yield ""
    yield from reasons_table(reports)
    yield ""
    yield "Messages that are neither read nor left out on purpose:"
    yield ""
    for messages, report in reports:
        yield from listed(f"{messages.package} {messages.version}, unread", report.unread)
    yield "## Release by release"
    yield ""
    yield "Wordings of the catalogues in `fixtures/catalogues/` that a release prints, and the share of which every example is read."
    yield "A row for each release in which a wording begins or ends. Besides them there are"
    yield f"{allocators} families of messages of allocators, drivers and kernels."
    yield ""
    yield from releases_table(found)
    yield ""
    yield "## Left out on purpose"
    yield ""
    for reason in sorted({reason for _, report in reports for reason in report.ignored}):
        yield f"### {reason}"
        yield ""
        for messages, report in reports:
            if reason in report.ignored:
                yield from listed(f"{messages.package} {messages.version}", report.ignored[reason])
