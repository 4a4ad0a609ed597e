"""Rule files: what a whole one looks like, and that everything wrong with one is an error with file and line."""

import re
import shutil
from pathlib import Path

import pytest

from analyzer.content import content_folder
from analyzer.grammar import Grammars, load_grammars
from analyzer.rulebook import rulebook
from analyzer.rulebook.rule import Rule, RuleError, load_rule, load_rules
from analyzer.rulebook.rulebook import load_rulebook

CONFIDENCE = "\"{{ 'certain' if rank.kv_pinned is known else 'likely' }}\""
RULE = """\
---
title: "The arena does not fit"
severity: error
role: root
cause: pinned-kv-arena
confidence: "{{ 'certain' if rank.kv_pinned is known else 'likely' }}"
for_each: event
messages: [allocation]
when:
  - event.tried is known
  - rank.weights + event.tried > rank.free_at_start
say: >-
  An allocation of {{ event.tried }} failed.
evidence: [kv_memory]
advice:
  - knob: kv_cache_memory_bytes
    direction: lower
    high: rank.kv_pinned.bytes
    when: rank.kv_pinned is known
    why: "by more than {{ rank.shortfall }}"
patch:
  - {set: kv_cache_memory_bytes, to: rank.kv_pinned.bytes, safety: review, when: rank.kv_pinned is known}
  - {remove: gpu_memory_utilization, safety: safe}
not_proven: Who holds the rest of the memory.
how_to_get:
  rank.weights: printed at level INFO
sources: [the engine's source]
since: "0.1"
---

## What happened

It ran out.

## Why

It was too large.

## What to do

Make it smaller.

## How sure

Certain.

## Sources

The source.
"""


@pytest.fixture(scope="module")
def grammars(tmp_path_factory: pytest.TempPathFactory, fixtures_dir: Path) -> Grammars:
    folder = tmp_path_factory.mktemp("grammars")
    shutil.copy(content_folder("grammars") / "common.lark", folder)
    shutil.copy(fixtures_dir / "grammar" / "messages.lark", folder)
    return load_grammars(folder, cache=folder)


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the rules that travel with the program, here with one rule."""
    folder = tmp_path / "rules"
    write(folder, "vllm/arena.md", RULE)
    monkeypatch.setattr(rulebook, "content_folder", lambda _: folder)
    return folder


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_a_whole_rule(rules: Path):
    rule = load_rule(rules, rules / "vllm" / "arena.md")
    assert (rule.id, rule.severity, rule.role, rule.cause) == ("vllm/arena", "error", "root", "pinned-kv-arena")
    assert rule.say == "An allocation of {{ event.tried }} failed."
    assert [(patch.op, patch.key, patch.to) for patch in rule.patch] == [
        ("set", "kv_cache_memory_bytes", "rank.kv_pinned.bytes"),
        ("remove", "gpu_memory_utilization", None),
    ]
    assert rule.body.startswith("## What happened\n\nIt ran out.")
    assert rule.line_of("when.1") == line_of(RULE, "- rank.weights +")
    assert rule.line_of("advice.0.why") == line_of(RULE, "why:")
    assert rule.line_of("outcome") == 1


def test_a_whole_rulebook(rules: Path, grammars: Grammars):
    (compiled,) = load_rulebook(grammars).rules
    assert (len(compiled.when), len(compiled.advice), len(compiled.patches)) == (2, 1, 2)
    assert set(compiled.advice[0].figures) == {"high"}
    assert compiled.patches[1].to is None


def test_the_kinds_after_which_an_engine_does_not_go_on(rules: Path, grammars: Grammars):
    write(
        rules,
        "vllm/slow.md",
        RULE.replace("role: root", "outcome: degraded\nrole: root")
        .replace("[allocation]", "[weights_memory]")
        .replace("event.tried", "event.weights"),
    )
    write(
        rules,
        "vllm/note.md",
        RULE.replace("severity: error", "severity: note").replace("[allocation]", "[blocks]").replace("event.tried", "event.cpu_blocks"),
    )
    assert load_rulebook(grammars).failing_kinds == {"allocation"}


def test_rules_of_other_folders_come_in_order_of_their_ids(rules: Path, grammars: Grammars, tmp_path: Path):
    own = tmp_path / "own"
    write(own, "site/ours.md", RULE)
    write(own, "a/first.md", RULE)
    assert [compiled.rule.id for compiled in load_rulebook(grammars, [own]).rules] == ["a/first", "site/ours", "vllm/arena"]


def test_an_id_is_used_once(rules: Path, grammars: Grammars, tmp_path: Path):
    again = write(tmp_path / "own", "vllm/arena.md", RULE)
    with pytest.raises(RuleError, match=rf"^{re.escape(str(again))}:1: rule vllm/arena is already defined in {re.escape(str(rules))}"):
        load_rulebook(grammars, [tmp_path / "own"])


def test_a_folder_without_rules(rules: Path, grammars: Grammars, tmp_path: Path):
    with pytest.raises(RuleError, match=r"nowhere: no rules"):
        load_rulebook(grammars, [tmp_path / "nowhere"])


# what is broken, how, at which place it is found, and what is said
FILES = [
    ("no front matter", RULE, "# A rule", "# A rule", "front matter between two lines of ---"),
    ("front matter without end", "---\n\n## What h", "## What h", "---", "front matter between two lines of ---"),
    ("a list as front matter", RULE, "---\n- a\n---\n", "- a", "expected a mapping"),
    ("broken YAML", "severity: error", "severity: [error", "role: root", "not valid YAML"),
    ("a key given twice", "since: ", "severity: note\nsince: ", "severity: note", "severity is given twice"),
    ("a nested key given twice", "    high: ", "    knob: x\n    high: ", "    knob: x", "knob is given twice"),
    ("an unknown key", "since: ", "sinse: 1\nsince: ", "sinse", "sinse"),
    ("an unknown key of an advice", "    high: ", "    hihg: ", "    hihg", "advice.0.hihg"),
    ("a missing key", "severity: error\n", "", "title", "severity"),
    ("an unknown severity", "severity: error", "severity: fatal", "severity: fatal", "severity"),
    ("an unknown direction", "direction: lower", "direction: down", "    direction: down", "advice.0.direction"),
    ("an unknown cause", "cause: pinned-kv-arena", "cause: bad-luck", "cause: bad-luck", "unknown cause 'bad-luck'"),
    ("a patch of nothing", "remove: gpu_memory_utilization, ", "", "  - {safety: safe}", "expected one of"),
    ("a patch of two things", "{remove: gpu", "{add: x, remove: gpu", "  - {add: x", "expected one of"),
    ("a patch without value", "{remove: gpu", "{set: gpu", "  - {set: gpu", "expected one of"),
    ("a patch that removes to a value", "{remove: gpu", "{to: 1, remove: gpu", "  - {to: 1", "expected one of"),
    ("nothing said of what is not proven", "Who holds the rest of the memory.", "''", "not_proven", "not_proven"),
    ("no sources", "sources: [the engine's source]", "sources: []", "sources: []", "sources"),
    ("a missing section", "## Why\n\nIt was too large.\n", "", "\n## What happened", "documentation is missing: ## Why"),
    ("an empty section", "Make it smaller.\n", "", "\n## What happened", "documentation is missing: ## What to do"),
]


def broken(old: str, new: str) -> str:
    assert RULE.count(old) == 1, old
    return RULE.replace(old, new)


@pytest.mark.parametrize(("old", "new", "place", "complaint"), [case[1:] for case in FILES], ids=[case[0] for case in FILES])
def test_a_broken_file(rules: Path, old: str, new: str, place: str, complaint: str):
    text = broken(old, new)
    file = write(rules, "vllm/arena.md", text)
    with pytest.raises(RuleError) as raised:
        load_rules([rules])
    assert str(raised.value).startswith(f"{file}:{line_of(text, place)}: ")
    assert complaint in str(raised.value)


def test_a_file_in_another_encoding(rules: Path):
    (rules / "vllm" / "arena.md").write_bytes(RULE.replace("It ran out.", "Café").encode("latin-1"))
    with pytest.raises(RuleError, match=r"arena\.md:1: .*utf-8"):
        load_rules([rules])


NAMES = [
    ("an unknown quantity in a condition", "event.tried is", "event.tired is", "  - event.tired", "when.0: unknown name event.tired"),
    ("an unknown scope", "event.tried is", "evnet.tried is", "  - evnet", "when.0: unknown name 'evnet'"),
    ("a scope of other rules", "event.tried is", "profile.name is", "  - profile", "when.0: unknown name 'profile'"),
    ("a field of another message", "event.tried is", "event.kv_cache is", "  - event.kv", "when.0: unknown name event.kv_cache"),
    ("an unknown filter", "event.tried }}", "event.tried | gbi }}", "say:", "say: unknown filter 'gbi'"),
    ("an unknown test", "event.tried is known", "event.tried is konwn", "  - event.tried", "when.0: unknown test 'konwn'"),
    ("an expression that does not end", "> rank.free_at_start", ">", "  - rank.weights", "when.1:"),
    ("an unknown quantity in a title", "The arena does", "The {{ rank.arena }} does", "title:", "title: unknown name rank.arena"),
    ("an unknown quantity in a confidence", "if rank.kv_pinned", "if rank.pinned", "confidence:", "confidence: unknown name"),
    ("an unknown confidence", CONFIDENCE, "sure", "confidence:", "expected one of certain, likely, possible"),
    ("an empty confidence", CONFIDENCE, '"{{ }}"', "confidence:", "confidence: "),
    ("an unknown quantity in an advice", "high: rank.kv_pinned", "high: rank.pinned", "    high:", "advice.0.high: unknown name"),
    ("... in its condition", "    when: rank.kv_pinned", "    when: rank.pinned", "    when:", "advice.0.when: unknown name"),
    ("... in its reason", "rank.shortfall", "rank.shortfal", "    why:", "advice.0.why: unknown name"),
    ("an unknown quantity in a patch", "to: rank.kv_pinned", "to: rank.pinned", "  - {set", "patch.0.to: unknown name"),
    ("... in the condition of a patch", ", when: rank.kv_pinned", ", when: rank.pinned", "  - {set", "patch.0.when: unknown name"),
    ("an unknown message", "[allocation]", "[alocation]", "messages:", "no grammar defines alocation"),
    ("an unknown message as evidence", "[kv_memory]", "[kv_memroy]", "evidence:", "no grammar defines kv_memroy"),
    ("an event rule without messages", "messages: [allocation]\n", "", "for_each:", "lists its `messages`"),
    ("messages of a rule for ranks", "for_each: event", "for_each: rank", "for_each:", "lists its `messages`"),
    ("a root rule without cause", "cause: pinned-kv-arena\n", "", "role: root", "a root rule names its cause"),
    ("a rule that beats an unknown one", "since: ", "beats: [vllm/nothing]\nsince: ", "beats:", "unknown rule 'vllm/nothing'"),
]


@pytest.mark.parametrize(("old", "new", "place", "complaint"), [case[1:] for case in NAMES], ids=[case[0] for case in NAMES])
def test_a_broken_name(rules: Path, grammars: Grammars, old: str, new: str, place: str, complaint: str):
    text = broken(old, new)
    file = write(rules, "vllm/arena.md", text)
    with pytest.raises(RuleError) as raised:
        load_rulebook(grammars)
    assert str(raised.value).startswith(f"{file}:{line_of(text, place)}: ")
    assert complaint in str(raised.value)


def test_rules_are_frozen(rules: Path):
    rule: Rule = load_rule(rules, rules / "vllm" / "arena.md")
    with pytest.raises(ValueError, match="frozen"):
        rule.severity = "note"
