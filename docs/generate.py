"""Write the pages of docs/ that are made from the sources of the program: rules, vocabulary, facts, causes, coverage.

usage: python docs/generate.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from analyzer.causes import CAUSES
from analyzer.conformance import coverage
from analyzer.conformance.check import check
from analyzer.conformance.ignored import load_ignored
from analyzer.conformance.stored import recall
from analyzer.content import content_folder
from analyzer.grammar import load_grammars
from analyzer.rulebook.rule import Rule, load_rules
from analyzer.rulebook.vocabulary import SCOPES

DOCS = Path(__file__).resolve().parent
FIXTURES = DOCS.parent / "fixtures"
MADE = "<!-- made by docs/generate.py from the sources of the program; edit those -->"


def pages() -> dict[str, str]:
    """The text of each generated page, by its path below docs/."""
    rules = load_rules([content_folder("rules")])
    return {
        "causes.md": _page("Causes", "The verdict names the root cause, by one vocabulary for both engines.", _causes(rules)),
        "coverage.md": _page("Coverage", "How much of what engines print about memory is read.", _coverage()),
        "facts.md": _page("Facts", "What the grammars read: the kinds of messages, and the fields each may have.", _facts()),
        "rules.md": _page("Rules", "`analyze --explain RULE` prints the page of a rule; the files are in `rules/`.", _rules(rules)),
        "vocabulary.md": _page("Names for rules", "What rules may use. Any other name is an error when they are loaded.", _vocabulary()),
    }


def _page(title: str, lead: str, lines: Iterator[str]) -> str:
    return "\n".join([MADE, f"# {title}", "", lead, "", *lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _causes(rules: list[Rule]) -> Iterator[str]:
    yield "| cause | meaning | rules |"
    yield "|---|---|---|"
    for cause, meaning in CAUSES.items():
        told = ", ".join(f"[{rule.id}](../rules/{rule.id}.md)" for rule in rules if rule.cause == cause)
        yield f"| `{cause}` | {meaning} | {told} |"


def _coverage() -> Iterator[str]:
    grammars, ignored = load_grammars(), load_ignored()
    names = ("vllm", "sglang", "allocators")
    catalogues = {name: json.loads((FIXTURES / "catalogues" / f"{name}.json").read_text(encoding="utf-8")) for name in names}
    wordings = [wording for engine in ("vllm", "sglang") for wording in coverage.wordings(engine, catalogues[engine], grammars)]
    stored = [recall(file) for file in sorted((FIXTURES / "conformance").glob("*.json"), reverse=True)]
    reports = [(messages, check(messages.templates, grammars, ignored)) for messages in stored]
    return coverage.page(wordings, len(catalogues["allocators"]), reports)


def _facts() -> Iterator[str]:
    messages = load_grammars().messages
    for family in sorted({message.family for message in messages.values()}):
        yield f"## {family}"
        yield ""
        yield "| kind | fields |"
        yield "|---|---|"
        for message in messages.values():
            if message.family == family:
                yield f"| `{message.kind}` | {', '.join(f'`{name}`' for name in sorted(message.fields))} |"
        yield ""


def _rules(rules: list[Rule]) -> Iterator[str]:
    yield "| rule | severity | role | cause | what it says |"
    yield "|---|---|---|---|---|"
    for rule in rules:
        title = re.sub(r"\{\{\s*[\w.]+\.name\s*\}\}", "a profile", rule.title)
        cause = f"`{rule.cause}`" if rule.cause else ""
        yield f"| [{rule.id}](../rules/{rule.id}.md) | {rule.severity} | {rule.role} | {cause} | {_cell(title)} |"


def _vocabulary() -> Iterator[str]:
    for scope, names in SCOPES.items():
        yield f"## {scope}"
        yield ""
        yield "| name | meaning |"
        yield "|---|---|"
        for name, meaning in names.items():
            yield f"| `{scope}.{name}` | {_cell(meaning)} |"
        yield ""


def main() -> None:
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
