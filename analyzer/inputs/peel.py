"""Takes the prefixes off a line: containers, launchers, loggers; what they say is kept as the line's Origin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from sys import intern

from analyzer.inputs.lines import Line, Origin

MOST_PREFIXES = 12
MOST_DIGITS = 18
"""A process or rank number of more digits is none."""
STREAM_SHARE = 0.6
"""A prefix that looks like ordinary text counts when at least this share of an input's lines has it."""
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[()][0-9A-Z]|\x1b[@-_]")
_SPELLED_OUT = re.compile(r"(?:\^\[|\\x1b|\\u001b|\\033|#033)?\[(?:\d{1,3};)*\d{1,3}m(?!\])")
_RESETS = ("[0m", "[0;0m")
_BETWEEN_RANKS = re.compile(r"\s+|(?<=\d)_")

Patterns = Mapping[str, re.Pattern[str]]


def without_colours(text: str) -> str:
    """The text without terminal escape sequences, also those whose escape character was lost or spelled out on the way."""
    text = _ANSI.sub("", text) if "\x1b" in text else text
    return _SPELLED_OUT.sub("", text) if any(reset in text for reset in _RESETS) else text


def usable_prefixes(prefixes: Patterns, lines: Iterable[str]) -> dict[str, re.Pattern[str]]:
    """The prefixes that may be peeled in this input: all LINE_* ones, and the STREAM_* ones that most lines have."""
    sample = [line for line in lines if line.strip()]
    usable = {}
    for name, pattern in prefixes.items():
        if name.startswith("LINE_"):
            usable[name] = pattern
        elif name.startswith("STREAM_") and sample:
            matches = [pattern.match(line) for line in sample]
            if sum(found is not None for found in matches) >= STREAM_SHARE * len(sample):
                usable[name] = pattern
                sample = [line[found.end() :] if found else line for line, found in zip(sample, matches, strict=True)]
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
    while found := _prefix_at(text, position, prefixes):
        position = found[1].end()
    return not text[position:].strip(" >|")


def _prefix_at(text: str, position: int, prefixes: Patterns) -> tuple[str, re.Match[str]] | None:
    """The first prefix, by name, that stands at a position or behind blanks there."""
    while text[position : position + 1] == " ":
        position += 1
    for name, pattern in prefixes.items():
        found = pattern.match(text, position)
        if found is not None and found.end() > position:
            return name, found
    return None


def peel(text: str, usable: Patterns, *, source: str, number: int) -> Line:
    """The line without its prefixes. The innermost prefix wins where two tell the same (a container's clock and the engine's)."""
    position = 0
    told: dict[str, str] = {}
    names: list[str] = []
    for _ in range(MOST_PREFIXES):
        prefix = _prefix_at(text, position, usable)
        if prefix is None:
            break
        name, found = prefix
        told.update({key: value for key, value in found.groupdict().items() if value})
        names.append(_wrapper(name))
        position = found.end()
    return Line(source, number, text[position:].rstrip(), _origin(told), text, tuple(names))


@cache
def _wrapper(prefix: str) -> str:
    """What a prefix is called in a Line, one text for all lines."""
    return prefix.partition("_")[2].lower()


def _origin(told: Mapping[str, str]) -> Origin:
    """What prefixes told, with one text for what a log repeats on every line."""
    return Origin(
        process=intern(told.get("process", "")),
        pid=_integer(told.get("pid", "")),
        rank=f"DP{told['dp']}" if "dp" in told else " ".join(_BETWEEN_RANKS.split(told.get("rank", "").strip())),
        gpu=_integer(told.get("gpu", "")),
        host=told.get("host", ""),
        time=told.get("time", ""),
        level=intern(told.get("level", "")),
        place=intern(told.get("place", "")),
    )


def _integer(digits: str) -> int | None:
    return int(digits) if 0 < len(digits) <= MOST_DIGITS else None
