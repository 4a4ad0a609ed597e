"""An input as text, its lines peeled when asked for."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from analyzer.inputs.lines import Line
from analyzer.inputs.peel import Patterns, peel, split_glued, usable_prefixes, without_colours

SAMPLE_LINES = 2000
"""So many lines decide which ambiguous prefixes an input has."""
KEPT_LINES = 1000


@dataclass(frozen=True)
class Document:
    """One log: a file, a member of an archive, or standard input."""

    name: str
    data: bytes = field(repr=False)
    prefixes: Patterns = field(repr=False, default_factory=dict)
    _peeled: dict[int, list[Line]] = field(init=False, repr=False, compare=False, default_factory=dict)
    """The lines peeled last. A line is asked for again when messages before it may go on in it."""

    @cached_property
    def text(self) -> str:
        """Decoded, line ends as \\n, without colours. A lone carriage return stays: it separates redraws of one line."""
        encoding = "utf-16" if self.data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        return without_colours(self.data.decode(encoding, errors="replace").replace("\r\n", "\n"))

    @cached_property
    def physical_lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def usable(self) -> Patterns:
        return usable_prefixes(self.prefixes, self.physical_lines[:SAMPLE_LINES])

    @property
    def line_count(self) -> int:
        lines = self.physical_lines
        return len(lines) - (not lines[-1])

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def records(self, index: int) -> list[Line]:
        """The records of one physical line (index from 0), peeled."""
        if index not in self._peeled:
            if len(self._peeled) >= KEPT_LINES:
                self._peeled.clear()
            parts = split_glued(self.physical_lines[index], self.prefixes)
            self._peeled[index] = [peel(part, self.usable, source=self.name, number=index + 1) for part in parts]
        return self._peeled[index]

    def following(self, index: int, first: Line, limit: int) -> Iterator[Line]:
        """Lines after this one that the same process wrote, at most `limit` physical lines away."""
        for later in range(index + 1, min(index + 1 + limit, len(self.physical_lines))):
            for line in self.records(later):
                if line.origin.stream == first.origin.stream or not line.wrappers or line.lacks_head_of(first):
                    yield line

    @cached_property
    def wrappers(self) -> list[str]:
        """Names of the prefixes found on a sample of the lines, the most frequent first."""
        counts = Counter(
            name for index in range(min(SAMPLE_LINES, len(self.physical_lines))) for line in self.records(index) for name in line.wrappers
        )
        return [name for name, _ in counts.most_common()]
