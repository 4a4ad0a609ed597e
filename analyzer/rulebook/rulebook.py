"""Rules, compiled: every expression parsed and every name checked, so that a typo is an error with file and line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.cases.events import CUT_TRACEBACK
from analyzer.content import content_folder
from analyzer.grammar import Grammars
from analyzer.rulebook.expressions import NameProblem, compile_expression, compile_template, environment
from analyzer.rulebook.rule import AdviceSpec, PatchSpec, Rule, RuleError, load_rules
from analyzer.rulebook.vocabulary import unknown_kinds, vocabulary_for

Expression = Callable[[Mapping[str, Any]], Any]
RECEIPT, RECEIPT_ASIDE = "receipt", "receipt_aside"
"""Kinds of evidence that are no messages of a log: the receipts of the runs that count, and of those that do not."""
DERIVED_KINDS = frozenset({CUT_TRACEBACK, RECEIPT, RECEIPT_ASIDE})
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
    advice: tuple[CompiledAdvice, ...]
    patches: tuple[CompiledPatch, ...]


class JudgedKinds(NamedTuple):
    """Kinds of messages that report a failure."""

    reporting: frozenset[str] = frozenset()
    """All that root or cascade rules judge."""
    telling: frozenset[str] = frozenset()
    """Those that tell a cause by themselves: root rules judge them, and no cascade rule does."""


@dataclass(frozen=True)
class Rulebook:
    rules: tuple[CompiledRule, ...]

    @property
    def of_settings(self) -> Rulebook:
        """The rules that judge settings, for which changed settings are judged again."""
        return Rulebook(tuple(entry for entry in self.rules if entry.rule.for_each in ("case", "profile", "ladder")))

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
        return JudgedKinds(frozenset(by_role["root"] | by_role["cascade"]), frozenset(by_role["root"] - by_role["cascade"]))


def load_rulebook(grammars: Grammars, extra: list[Path] | None = None) -> Rulebook:
    """The rules that travel with the program and those of further folders. Raises RuleError, naming file and line."""
    rules = load_rules([content_folder("rules"), *(extra or [])])
    known = {rule.id for rule in rules}
    for rule in rules:
        for index, other in enumerate(rule.beats):
            if other not in known:
                raise RuleError(f"{rule.file}:{rule.line_of(f'beats.{index}')}: unknown rule {other!r}")
    return Rulebook(tuple(_compile(rule, grammars) for rule in rules))


def _compile(rule: Rule, grammars: Grammars) -> CompiledRule:
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
    env = environment()

    def expression(source: str | int | float, key: str) -> Expression:
        return _checked(rule, key, lambda: compile_expression(env, str(source), names))

    def template(source: str, key: str) -> Expression:
        return _checked(rule, key, lambda: compile_template(env, source, names))

    return CompiledRule(
        rule=rule,
        when=tuple(expression(source, f"when.{index}") for index, source in enumerate(rule.when)),
        say=template(rule.say, "say"),
        title=template(rule.title, "title"),
        confidence=template(rule.confidence, "confidence"),
        advice=tuple(
            CompiledAdvice(
                spec=spec,
                when=expression(spec.when, f"advice.{index}.when") if spec.when else None,
                figures={
                    name: expression(source, f"advice.{index}.{name}")
                    for name in ("value", "low", "high")
                    if (source := getattr(spec, name)) is not None
                },
                why=template(spec.why, f"advice.{index}.why"),
            )
            for index, spec in enumerate(rule.advice)
        ),
        patches=tuple(
            CompiledPatch(
                spec=spec,
                when=expression(spec.when, f"patch.{index}.when") if spec.when else None,
                to=expression(spec.to, f"patch.{index}.to") if spec.to is not None else None,
            )
            for index, spec in enumerate(rule.patch)
        ),
    )


def _checked(rule: Rule, key: str, build: Callable[[], Expression]) -> Expression:
    try:
        return build()
    except NameProblem as problem:
        raise RuleError(f"{rule.file}:{rule.line_of(key)}: {key}: {problem}") from problem
