"""How a process ended, from the messages that report it: exit codes as Python, shells, containers and SGLang print them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzer.facts.fact import Fact

SIGKILL = 9
AS_A_BYTE = {247: 9, 245: 11, 241: 15, 250: 6}
"""Negative codes printed as an unsigned byte (256 - signal): SGLang 0.4.3.post4 - 0.4.9.post6, entrypoints/engine.py."""
HIGHEST_SIGNAL = 64
DEATHS = frozenset(
    {
        "child_exit",
        "dp_controller_exception",
        "engine_core_died",
        "engine_core_fatal",
        "engine_core_init_failed",
        "engine_core_start_failed",
        "engine_dead_error",
        "engine_dead_v0",
        "engine_fatal_signal",
        "engine_process_failed_v0",
        "engine_terminate_v0",
        "executor_failed",
        "frontend_init_failed",
        "omni_scheduler_crash",
        "omni_stage_died",
        "request_failed_engine_dead",
        "scheduler_exception",
        "server_process_died",
        "sigquit",
        "worker_died",
    }
)
"""Messages that only an engine prints whose end has come, or that of a process it cannot do without."""
CODE_FIELDS = ("code", "exit_code", "failed", "failed_frontend")


def exit_codes(fact: Fact) -> list[int]:
    """The exit codes that a message reports, also those of several processes ("Failed core proc(s): {'EngineCore_DP0': -9}")."""
    return [code for name in CODE_FIELDS for code in _integers(fact.fields.get(name))]


def ending_signal(fact: Fact) -> int | None:
    """The signal that ended the process a message reports; None when it ended by itself or the message does not tell.

    Python prints -signal, shells and containers 128 + signal.
    """
    if fact.kind == "shell_killed":
        return SIGKILL
    if (signal := fact.fields.get("signal")) is not None:
        return signal if isinstance(signal, int) else None
    signals = [_signal(code, fact.kind) for code in exit_codes(fact)]
    return next((signal for signal in signals if signal is not None), None)


def _signal(code: int, kind: str) -> int | None:
    if kind == "child_exit" and code in AS_A_BYTE:
        return AS_A_BYTE[code]
    if -HIGHEST_SIGNAL <= code < 0:
        return -code
    return code - 128 if 128 < code <= 128 + HIGHEST_SIGNAL else None


def _integers(value: Any) -> Iterator[int]:
    """The whole numbers in a field, at any depth."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, dict):
        yield from (number for inner in value.values() for number in _integers(inner))
    elif isinstance(value, list):
        yield from (number for inner in value for number in _integers(inner))
