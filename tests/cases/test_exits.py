"""Exit codes as Python, shells, containers and SGLang print them -> the signal that ended a process."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.cases.exits import DEATHS, ending_signal, exit_codes
from analyzer.facts.fact import Fact
from analyzer.grammar import load_grammars
from analyzer.inputs.lines import Line


def _fact(kind: str, **fields: Any) -> Fact:
    return Fact(kind, Line("crash.log", 1, ""), fields)


@pytest.mark.parametrize(
    ("fact", "signal"),
    [
        (_fact("exit_code", code=-9), 9),
        (_fact("exit_code", code=137), 9),
        (_fact("exit_code", code=143), 15),
        (_fact("exit_code", signal=11), 11),
        (_fact("exit_code", code=0), None),
        (_fact("exit_code", code=1), None),
        (_fact("exit_code", code=247), None),
        (_fact("exit_code", code=255), None),
        (_fact("child_exit", exit_code=247), 9),
        (_fact("child_exit", rank=0), None),
        (_fact("shell_killed", pid=4711), 9),
        (_fact("engine_core_init_failed", failed={"EngineCore_DP0": 1, "EngineCore_DP1": -9}), 9),
        (_fact("engine_core_init_failed", failed={}), None),
    ],
    ids=str,
)
def test_the_signal_that_ended_a_process(fact: Fact, signal: int | None) -> None:
    assert ending_signal(fact) == signal


def test_codes_of_several_processes() -> None:
    assert exit_codes(_fact("frontend_init_failed", failed={"a": 0}, failed_frontend=[{"b": 1}, {"c": -6}])) == [0, 1, -6]


def test_a_pid_or_a_word_is_no_exit_code() -> None:
    assert exit_codes(_fact("child_exit", pid=137, rank=9, exit_code=None)) == []


def test_every_death_is_a_message() -> None:
    assert load_grammars().messages.keys() >= DEATHS
