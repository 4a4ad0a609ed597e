"""Facts, made without a log."""

from typing import Any

from analyzer.facts.fact import Fact
from analyzer.inputs.lines import Line, Origin
from analyzer.units import Size, parse_size


def made(kind: str, number: int = 1, *, family: str = "", origin: Origin | None = None, **fields: Any) -> Fact:
    """A fact on a line; texts that end in a unit become sizes."""
    values = {name: _value(value) for name, value in fields.items()}
    return Fact(kind, Line("log", number, kind, origin or Origin()), values, last_line=number, family=family)


def _value(value: Any) -> Any:
    return parse_size(value) if isinstance(value, str) and value.endswith("iB") else value


def gib(text: str) -> Size:
    return parse_size(f"{text} GiB")


def frame(number: int, file: str, function: str, origin: Origin | None = None) -> Fact:
    return made("traceback_frame", number, origin=origin, file=file, function=function)


def vllm_worker(rank: str = "", pid: int = 100) -> Origin:
    return Origin(process="Worker", pid=pid, rank=rank)


def engine_core(rank: str = "", pid: int = 90) -> Origin:
    return Origin(process="EngineCore", pid=pid, rank=rank)


API_SERVER = Origin(process="APIServer", pid=1)


def sglang(rank: str = "") -> Origin:
    return Origin(rank=rank)
