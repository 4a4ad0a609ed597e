"""Takes the prefixes off a line: containers, launchers, loggers; what they say is kept as the line's Origin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from analyzer.inputs.lines import Line, Origin

MOST_PREFIXES = 12
STREAM_SHARE = 0.6
"""A prefix that looks like ordinary text counts when at least this share of an input's lines has it."""
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]")

Patterns = Mapping[str, re.Pattern[str]]


def without_colours(text: str) -> str:
    """The text without terminal escape sequences."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def usable_prefixes(prefixes: Patterns, lines: Iterable[str]) -> dict[str, re.Pattern[str]]:
    """The prefixes that may be peeled in this input: all LINE_* ones, and the STREAM_* ones that most lines have."""
    sample = [line for line in lines if line.strip()]
    usable = {}
    for name, pattern in prefixes.items():
        if name.startswith("LINE_"):
            usable[name] = pattern
        elif name.startswith("STREAM_") and sample:
            share = sum(pattern.match(line) is not None for line in sample) / len(sample)
            if share >= STREAM_SHARE:
                usable[name] = pattern
    return usable


def split_glued(text: str, prefixes: Patterns) -> Iterator[str]:
    """The records of one physical line: parts of a redrawn progress bar, and records glued without a line break."""
    glued = [pattern for name, pattern in prefixes.items() if name.startswith("GLUED_")]
    for part in text.split("\r"):
        cuts = sorted({0, *(found.start() for pattern in glued for found in pattern.finditer(part))})
        cuts = [cut for cut in cuts if cut == 0 or not _is_head(part[:cut], prefixes)]
        for start, end in zip(cuts, [*cuts[1:], len(part)], strict=True):
            if part[start:end].strip():
                yield part[start:end]


def _is_head(text: str, prefixes: Patterns) -> bool:
    """Whether a text consists of prefixes only, so that what follows it still belongs to the same record."""
    position = 0
    while position < len(text):
        found = next((hit for pattern in prefixes.values() if (hit := pattern.match(text, position)) and hit.end() > position), None)
        if found is None:
            return not text[position:].strip(" >|")
        position = found.end()
    return True


def peel(text: str, usable: Patterns, *, source: str, number: int) -> Line:
    """The line without its prefixes. The innermost prefix wins where two tell the same (a container's clock and the engine's)."""
    position = 0
    told: dict[str, str] = {}
    names: list[str] = []
    for _ in range(MOST_PREFIXES):
        start = position + len(text[position:]) - len(text[position:].lstrip(" ")) if names else position
        for name, pattern in usable.items():
            found = pattern.match(text, start)
            if found is not None and found.end() > start:
                told.update({key: value for key, value in found.groupdict().items() if value})
                names.append(name.partition("_")[2].lower())
                position = found.end()
                break
        else:
            break
    return Line(source, number, text[position:].rstrip(), _origin(told), text, tuple(names))


def _origin(told: dict[str, str]) -> Origin:
    rank = " ".join(part for part in re.split(r"[ _]+", f"{told.get('rank', '')} {told.get('subrank', '')}") if part)
    return Origin(
        process=told.get("process", ""),
        pid=int(told["pid"]) if "pid" in told else None,
        rank="" if rank.isdigit() else rank,
        gpu=int(told["gpu"]) if "gpu" in told else None,
        host=told.get("host", ""),
        time=told.get("time", ""),
        level=told.get("level", ""),
        place=told.get("place", ""),
    )
