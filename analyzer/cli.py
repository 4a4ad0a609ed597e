"""The command line: arguments, files to write, exit codes. The work is done in pipeline.py."""

from __future__ import annotations

import re
import sys
from decimal import Decimal
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from analyzer.analysis import Analysis
from analyzer.cases.receipts import ReceiptError
from analyzer.content import content_folder
from analyzer.grammar import GrammarFileError, load_grammars
from analyzer.inputs.reader import STANDARD_INPUT, InputError
from analyzer.outputs import json_schema, print_summary, render
from analyzer.pipeline import TOOL, Device, Result, run_pipeline, tool
from analyzer.requirements import RequirementError, holds
from analyzer.rulebook.rule import Rule, RuleError, load_rules
from analyzer.rulebook.rulebook import load_rulebook
from analyzer.settings.errors import SettingsError
from analyzer.settings.writing import write_edits
from analyzer.units import parse_size
from analyzer.what_if.question import Question, QuestionError

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


class Exit(IntEnum):
    """What the exit code says."""

    FINE = 0
    FINDINGS = 1
    UNUSABLE = 2
    NOT_UNDERSTOOD = 3


class Format(StrEnum):
    html = "html"
    json = "json"
    markdown = "markdown"
    sarif = "sarif"
    junit = "junit"
    github = "github"
    text = "text"


class FailOn(StrEnum):
    error = "error"
    warning = "warning"
    note = "note"
    never = "never"


SUFFIXES = {
    Format.html: "html",
    Format.json: "json",
    Format.markdown: "md",
    Format.sarif: "sarif",
    Format.junit: "xml",
    Format.github: "txt",
    Format.text: "txt",
}
LEVELS = ("error", "warning", "note")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{TOOL} {tool().version}")
        raise typer.Exit


def _show_schema(wanted: bool) -> None:
    if wanted:
        typer.echo(json_schema(), nl=False)
        raise typer.Exit


@app.command()
def analyze(
    logs: Annotated[
        list[str] | None, typer.Argument(metavar="LOG...", help="Log files, folders, archives, or - for standard input.")
    ] = None,
    config: Annotated[list[Path] | None, typer.Option(help="profiles.yaml, or an argument file of an engine. Repeatable.")] = None,
    profile: Annotated[str | None, typer.Option(help="The profile the logs ran with, where they do not say it.")] = None,
    formats: Annotated[list[Format] | None, typer.Option("--format", help="Output format. Repeatable.")] = None,
    output: Annotated[
        str | None, typer.Option(help="Where to write; - is standard output, and then nothing else is written there.")
    ] = None,
    fail_on: Annotated[FailOn, typer.Option(help="Exit with 1 when there is a finding of this severity or above.")] = FailOn.error,
    require: Annotated[
        list[str] | None, typer.Option(help="Exit with 1 unless this expression holds, e.g. \"verdict.outcome == 'served'\". Repeatable.")
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="Print the patches as a unified diff and nothing else.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Write the patches into the settings files.")] = False,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="[PROFILE.]ARGUMENT=VALUE", help="Ask what this setting would do; null removes one. Repeatable."),
    ] = None,
    free: Annotated[str | None, typer.Option(metavar="SIZE", help="Ask what happens with this much raw free memory.")] = None,
    total: Annotated[str | None, typer.Option(metavar="SIZE", help="Total memory of the device, where nothing given tells it.")] = None,
    most_free: Annotated[
        str | None, typer.Option(metavar="SIZE", help="The most free memory while probing, with the ballast let go.")
    ] = None,
    rules: Annotated[list[Path] | None, typer.Option(help="A folder of further rules. Repeatable.")] = None,
    explain: Annotated[str | None, typer.Option(metavar="RULE", help="Print the documentation of a rule.")] = None,
    list_rules: Annotated[bool, typer.Option("--list-rules", help="List all rules.")] = False,
    schema: Annotated[  # noqa: ARG001 - answered by its callback
        bool,
        typer.Option("--schema", callback=_show_schema, is_eager=True, help="Print the JSON Schema of the JSON output."),
    ] = False,
    version: Annotated[  # noqa: ARG001 - answered by its callback
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Tell why a vLLM or SGLang server died for lack of GPU memory, and what to change.

    Exit codes: 0 analysed; 1 findings at or above --fail-on, or a --require that is false; 2 wrong usage or unreadable input;
    3 not enough evidence: nothing of an engine was recognised in the input.
    """
    try:
        if explain is not None or list_rules:
            _print_rules(_all_rules(rules or []), explain)
            return
        if not logs and not config:
            raise typer.BadParameter("give a log, or a --config to check without one (see --help)")
        device = Device(_bytes("--total", total), _bytes("--most-free", most_free))
        question = Question(tuple(changes or ()), _bytes("--free", free)) if changes or free else None
        result = run_pipeline(logs or [], config or [], profile=profile, rules=rules or [], device=device, question=question)
        _write(result, logs or [], config or [], formats or [], output, diff=diff)
        if apply:
            _apply(result, quiet=output == STANDARD_INPUT or diff)
        raise typer.Exit(_exit_code(result, fail_on, require or []))
    except (InputError, ReceiptError, SettingsError, RuleError, RequirementError, QuestionError, GrammarFileError) as error:
        typer.echo(f"{TOOL}: {error}", err=True)
        raise typer.Exit(Exit.UNUSABLE) from error


def main() -> None:
    """Entry point of both console scripts."""
    app()


def _bytes(option: str, written: str | None) -> int | None:
    """An amount as it is typed: 25229197312, 25_229_197_312, 25.2e9, "23.5 GiB"."""
    if written is None:
        return None
    try:
        return int(Decimal(written)) if re.fullmatch(r"[\d_]+(\.\d+)?([eE]\d{1,2})?", written) else parse_size(written).bytes
    except (ArithmeticError, ValueError) as error:
        message = f"expected an amount such as 25229197312, 25.2e9 or 23.5GiB, found {written!r}"
        raise typer.BadParameter(message, param_hint=option) from error


def _exit_code(result: Result, fail_on: FailOn, require: list[str]) -> Exit:
    analysis = result.analysis
    if not analysis.understood:
        return Exit.NOT_UNDERSTOOD
    failed = [expression for expression in require if not holds(expression, result)]
    for expression in failed:
        typer.echo(f"{TOOL}: required, but not so: {expression}", err=True)
    counted = LEVELS[: LEVELS.index(fail_on.value) + 1] if fail_on is not FailOn.never else ()
    return Exit.FINDINGS if failed or any(finding.severity in counted for finding in analysis.findings) else Exit.FINE


def _write(result: Result, logs: list[str], config: list[Path], formats: list[Format], output: str | None, *, diff: bool) -> None:
    analysis = result.analysis
    if diff:
        _emit(render(analysis, "diff"), output or STANDARD_INPUT)
        return
    if not formats:
        target = output or f"{_report_name(logs, config)}.html"
        _emit(render(analysis, "html"), target)  # before the summary, which a reader may cut off (`analyze ... | head`)
        if target != STANDARD_INPUT:
            print_summary(analysis, Console())
            typer.echo(f"report: {target}")
        return
    if len(formats) == 1 and (output is not None or formats[0] is not Format.html):
        _emit(render(analysis, formats[0].value), output or STANDARD_INPUT)
        return
    if output is not None:
        raise typer.BadParameter("--output takes one --format only")
    for wanted in formats:
        _emit(render(analysis, wanted.value), f"{_report_name(logs, config)}.{SUFFIXES[wanted]}", announce=True)


def _report_name(logs: list[str], config: list[Path]) -> str:
    """`<log name>.report`, in the working directory."""
    first = logs[0] if logs else str(config[0])
    return f"{'stdin' if first == STANDARD_INPUT else Path(first).resolve().name}.report"


def _emit(text: str, target: str, *, announce: bool = False) -> None:
    if target == STANDARD_INPUT:
        sys.stdout.write(text)
        return
    try:
        Path(target).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}") from error
    if announce:
        typer.echo(f"report: {target}")


def _apply(result: Result, *, quiet: bool) -> None:
    write_edits(result.file_patches)
    if not quiet:
        for patch in result.file_patches:
            typer.echo(f"patched: {patch.file}")
        if not result.file_patches:
            typer.echo("nothing to patch")


def _all_rules(folders: list[Path]) -> list[Rule]:
    load_rulebook(load_grammars(), folders)
    return load_rules([content_folder("rules"), *folders])


def _print_rules(rules: list[Rule], explain: str | None) -> None:
    if explain is None:
        width = max(len(rule.id) for rule in rules)
        for rule in rules:
            typer.echo(f"{rule.id:{width}}  {rule.severity:7}  {rule.title}")
        return
    found = next((rule for rule in rules if rule.id == explain), None)
    if found is None:
        raise RuleError(f"no rule {explain!r}; --list-rules names them")
    typer.echo(f"# {found.id}\n\n{found.title}\n\n{found.body}\n\nWhat a match does not prove: {found.not_proven}")


__all__ = ["Analysis", "app", "main"]
