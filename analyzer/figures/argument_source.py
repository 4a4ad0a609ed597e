"""Where the value of an engine argument stands in the log."""

from __future__ import annotations

from collections.abc import Mapping

from analyzer.cases.build import ARGUMENT_DUMPS, RENAMED
from analyzer.cases.model import Run

WORDS = {
    "args_namespace": "in the arguments, which show defaults too",
    "command_line": "on the command line",
    "engine_config": "in the engine's configuration, which shows defaults too",
    "non_default_args": "among the arguments that are not the default",
    "selector_args": "passed by the profile selector",
    "server_args": "in the server arguments, which show defaults too",
    "server_args_fragment": "in the server arguments, which show defaults too",
}
SET_BY_SOMEBODY = ("command_line", "non_default_args", "selector_args")


def argument_source(run: Run, name: str) -> str | None:
    """The surest place that says who set an argument, with its line; None when no dump of arguments has it."""
    holding = {kind: fact.line.number for kind in ARGUMENT_DUMPS for fact in run.all(kind) if name in _names(fact.mapping("args"))}
    telling = [kind for kind in SET_BY_SOMEBODY if kind in holding] or [kind for kind in reversed(ARGUMENT_DUMPS) if kind in holding]
    if not telling:
        return None
    profile = f" (profile {run.choice.profile})" if run.choice.profile is not None and telling[0] in SET_BY_SOMEBODY else ""
    unset = " and not on the command line" if telling[0] not in SET_BY_SOMEBODY and _whole_command_line(run) else ""
    return f"{WORDS[telling[0]]}{unset}{profile}, line {holding[telling[0]]}"


def _whole_command_line(run: Run) -> bool:
    """Whether a command line is shown that reads no further arguments from a file."""
    lines = [fact for fact in run.all("command_line") if fact.mapping("args") and not fact.cut]
    return bool(lines) and not any("config" in _names(fact.mapping("args")) for fact in lines)


def _names(dump: Mapping[str, object]) -> set[str]:
    names = (key.lstrip("-").replace("-", "_") for key in dump)
    return {RENAMED.get(name, name) for name in names}
