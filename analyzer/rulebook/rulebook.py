"""Rules, checked and compiled: every name is looked up when the rules are loaded, so that a typo is an error with file and line."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import pydantic
from jinja2.sandbox import ImmutableSandboxedEnvironment

from analyzer.cache import cache_folder, recall, remember
from analyzer.cases.events import CUT_TRACEBACK
from analyzer.content import content_folder
from analyzer.engines.phases import ORDINARY
from analyzer.grammar import Grammars
from analyzer.rulebook.expressions import NameProblem, check_template, compile_expression, compile_template, environment
from analyzer.rulebook.rule import AdviceSpec, PatchSpec, Rule, RuleError, load_rules
from analyzer.rulebook.vocabulary import unknown_kinds, vocabulary_for

Expression = Callable[[Mapping[str, Any]], Any]
RECEIPT, RECEIPT_ASIDE = "receipt", "receipt_aside"
"""Kinds of evidence that are no messages of a log: the receipts of the runs that count, and of those that do not."""
DERIVED_KINDS = frozenset({CUT_TRACEBACK, RECEIPT, RECEIPT_ASIDE})
OF_SETTINGS = ("case", "ladder", "profile")
CONFIDENCES = ("certain", "likely", "possible")


@dataclass(frozen=True)
class CompiledAdvice:
    spec: AdviceSpec
    when: Expression | None
    figures: Mapping[str, Expression]
    why: Expression


@dataclass(frozen=True)
class CompiledPatch:
    spec: PatchSpec
    when: Expression | None
    to: Expression | None


@dataclass(frozen=True)
class CompiledRule:
    rule: Rule
    when: tuple[Expression, ...]
    say: Expression
    title: Expression
    confidence: Expression
    at: Expression
    advice: tuple[CompiledAdvice, ...]
    patches: tuple[CompiledPatch, ...]


class JudgedKinds(NamedTuple):
    """Kinds of messages that report a failure."""

    reporting: frozenset[str] = frozenset()
    """All that root or cascade rules judge."""
    telling: frozenset[str] = frozenset()
    """Those that tell a cause by themselves: root rules judge them, no cascade rule does, and no ordinary start prints them."""


@dataclass(frozen=True)
class Rulebook:
    rules: tuple[CompiledRule, ...]

    @property
    def of_settings(self) -> Rulebook:
        """The rules that judge settings and ladders, by which changed settings are judged again."""
        return Rulebook(tuple(entry for entry in self.rules if entry.rule.for_each in OF_SETTINGS))

    @property
    def of_runs(self) -> Rulebook:
        """All other rules."""
        return Rulebook(tuple(entry for entry in self.rules if entry.rule.for_each not in OF_SETTINGS))

    @property
    def failing_kinds(self) -> frozenset[str]:
        """The messages after which an engine does not go on: those that rules of severity error judge."""
        return frozenset(
            kind for entry in self.rules if entry.rule.severity == "error" and entry.rule.outcome is None for kind in entry.rule.messages
        )

    @property
    def judged_kinds(self) -> JudgedKinds:
        """The messages that rules of severity error judge."""
        failures = [entry.rule for entry in self.rules if entry.rule.severity == "error"]
        by_role = {role: {kind for rule in failures if rule.role == role for kind in rule.messages} for role in ("root", "cascade")}
        return JudgedKinds(frozenset(by_role["root"] | by_role["cascade"]), frozenset(by_role["root"] - by_role["cascade"]) - ORDINARY)


def load_rulebook(grammars: Grammars, extra: list[Path] | None = None, cache: Path | None = None) -> Rulebook:
    """The rules that travel with the program and those of further folders. Raises RuleError, naming file and line.

    Rules that were checked before against the same grammars and by the same program are taken from the `cache` folder.
    """
    folders = [content_folder("rules"), *(extra or [])]
    place = cache or cache_folder()
    stored = place / f"rules-{_fingerprint(folders, grammars)}" if place else None
    rules: list[Rule] | None = recall(stored) if stored else None
    if rules is None:
        rules = load_rules(folders)
        check_rules(rules, grammars)
        if stored:
            remember(stored, rules)
    env = environment()
    return Rulebook(tuple(_compile(rule, env) for rule in rules))


def _fingerprint(folders: list[Path], grammars: Grammars) -> str:
    """What the checked rules depend on: their texts, the fields of all messages, and the code that checks them."""
    key = hashlib.sha256(f"{jinja2.__version__}\0{pydantic.VERSION}\0{platform.python_version()}\0".encode())
    for file in [file for folder in folders for file in sorted(folder.rglob("*.md"))] + sorted(Path(__file__).parent.glob("*.py")):
        key.update(f"{file}\0".encode())
        key.update(file.read_bytes() if file.is_file() else b"")
    for message in grammars.messages.values():
        key.update(f"{message.kind}:{','.join(sorted(message.fields))}\0".encode())
    return key.hexdigest()[:32]


def check_rules(rules: list[Rule], grammars: Grammars) -> None:
    """Every name of every rule. Raises RuleError for the first that does not exist, with file and line."""
    env = environment()
    known = {rule.id for rule in rules}
    for rule in rules:
        for index, other in enumerate(rule.beats):
            if other not in known:
                raise RuleError(f"{rule.file}:{rule.line_of(f'beats.{index}')}: unknown rule {other!r}")
        _check(rule, env, grammars)


def _check(rule: Rule, env: ImmutableSandboxedEnvironment, grammars: Grammars) -> None:
    if unknown := unknown_kinds(rule, grammars, DERIVED_KINDS):
        place = "messages" if unknown[0] in rule.messages else "evidence"
        raise RuleError(f"{rule.file}:{rule.line_of(place)}: no grammar defines {', '.join(unknown)}")
    if (rule.for_each == "event") != bool(rule.messages):
        raise RuleError(f"{rule.file}:{rule.line_of('for_each')}: a rule for each event, and only such a rule, lists its `messages`")
    if rule.role == "root" and rule.cause is None:
        raise RuleError(f"{rule.file}:{rule.line_of('role')}: a root rule names its cause")
    if rule.confidence not in CONFIDENCES and "{{" not in rule.confidence:
        raise RuleError(f"{rule.file}:{rule.line_of('confidence')}: expected one of {', '.join(CONFIDENCES)}")
    names = vocabulary_for(rule, grammars)
    for key, source in (*_expressions(rule), *_templates(rule)):
        try:
            check_template(env, source, names)
        except NameProblem as problem:
            raise RuleError(f"{rule.file}:{rule.line_of(key)}: {key}: {problem}") from problem


def _expressions(rule: Rule) -> Iterator[tuple[str, str]]:
    """The expressions of a rule as templates, with the place in its front matter."""
    sources: list[tuple[str, str | int | float | None]] = [(f"when.{index}", source) for index, source in enumerate(rule.when)]
    for index, advice in enumerate(rule.advice):
        sources += [(f"advice.{index}.{name}", getattr(advice, name)) for name in ("when", "value", "low", "high")]
    for index, patch in enumerate(rule.patch):
        sources += [(f"patch.{index}.{name}", getattr(patch, name)) for name in ("when", "to")]
    yield from ((key, f"{{{{ {source} }}}}") for key, source in sources if source is not None)


def _templates(rule: Rule) -> Iterator[tuple[str, str]]:
    """The texts of a rule that hold expressions, with the place in its front matter."""
    yield from (("say", rule.say), ("title", rule.title), ("confidence", rule.confidence), ("at", rule.at))
    yield from ((f"advice.{index}.why", advice.why) for index, advice in enumerate(rule.advice))


def _compile(rule: Rule, env: ImmutableSandboxedEnvironment) -> CompiledRule:
    def expression(source: str | int | float | None) -> Expression | None:
        return None if source is None else compile_expression(env, str(source))

    return CompiledRule(
        rule=rule,
        when=tuple(compile_expression(env, source) for source in rule.when),
        say=compile_template(env, rule.say),
        title=compile_template(env, rule.title),
        confidence=compile_template(env, rule.confidence),
        at=compile_template(env, rule.at),
        advice=tuple(
            CompiledAdvice(
                spec=spec,
                when=expression(spec.when),
                figures={name: compiled for name in ("value", "low", "high") if (compiled := expression(getattr(spec, name))) is not None},
                why=compile_template(env, spec.why),
            )
            for spec in rule.advice
        ),
        patches=tuple(CompiledPatch(spec=spec, when=expression(spec.when), to=expression(spec.to)) for spec in rule.patch),
    )
