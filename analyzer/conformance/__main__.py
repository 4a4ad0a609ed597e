"""python -m analyzer.conformance vllm==0.33.0: the share of a release's memory messages that the grammars read, and which they do not."""

from __future__ import annotations

import tempfile
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from analyzer.conformance.check import Report, check
from analyzer.conformance.ignored import IgnoredError, load_ignored
from analyzer.conformance.index import fetch
from analyzer.conformance.sources import SourceError, read_package
from analyzer.conformance.stored import Messages, messages_of, recall, store
from analyzer.conformance.templates import Template
from analyzer.grammar import GrammarFileError, load_grammars

WRONG_USAGE = 2


def main(
    packages: Annotated[
        list[str], typer.Argument(help="Releases (vllm==0.33.0), or paths: a package's folder, wheel, sdist, or stored list.")
    ],
    keep: Annotated[Path | None, typer.Option("--store", help="Also write each list of messages into this folder.")] = None,
    ignored: Annotated[bool, typer.Option("--ignored", help="Also list what is left out on purpose.")] = False,
) -> None:
    """Collect the messages of a package that speak of memory, and read each with the grammars."""
    try:
        grammars, groups = load_grammars(), load_ignored()
        for given in packages:
            messages = _messages(given)
            if keep is not None:
                typer.echo(f"written: {store(messages, keep)}", err=True)
            report = check(messages.templates, grammars, groups)
            typer.echo(_summary(messages, report))
            typer.echo(_listed("unread", report.unread))
            for reason, templates in report.ignored.items() if ignored else ():
                typer.echo(_listed(f"left out: {reason}", templates))
    except (SourceError, IgnoredError, GrammarFileError) as error:
        typer.echo(f"conformance: {error}", err=True)
        raise typer.Exit(WRONG_USAGE) from error


def _messages(given: str) -> Messages:
    if given.endswith(".json"):
        return recall(Path(given))
    if Path(given).exists() or "==" not in given:
        return messages_of(read_package(Path(given)))
    with tempfile.TemporaryDirectory() as folder:
        return messages_of(read_package(fetch(given, Path(folder))))


def _summary(messages: Messages, report: Report) -> str:
    left_out = sum(map(len, report.ignored.values()))
    lines = [
        f"{messages.package} {messages.version}: {report.count} messages speak of memory",
        f"  read      {len(report.recognised):5}  {len(report.recognised) / max(1, report.count):6.1%}",
        f"  left out  {left_out:5}  {left_out / max(1, report.count):6.1%}  on purpose:",
        *(f"    {len(templates):5}  {reason}" for reason, templates in sorted(report.ignored.items(), key=lambda item: -len(item[1]))),
        f"  unread    {len(report.unread):5}  {len(report.unread) / max(1, report.count):6.1%}",
        f"Of those not left out, {report.read_share:.1%} are read.",
    ]
    return "\n".join(lines)


def _listed(title: str, templates: list[Template]) -> str:
    """Templates by file."""
    lines = [f"\n{title}"]
    for file, group in groupby(templates, key=lambda template: template.file):
        lines += [f"  {file}", *(f"    {template.level}: {template.text!r}" for template in group)]
    return "\n".join(lines)


if __name__ == "__main__":
    typer.run(main)
