"""A line of a log: where it stands, its text without wrappers, and what the wrappers told about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """Who wrote a line, as far as its prefixes tell. Unknown is empty (or None), never a default."""

    process: str = ""
    pid: int | None = None
    rank: str = ""
    """Parallel position as the engine names it: "TP0", "DP1 TP3", "PP0 TP2"."""
    gpu: int | None = None
    """Number of the rank where only a number is printed ("rank=1", "[rank1]:", "[gpu=1]")."""
    host: str = ""
    time: str = ""
    level: str = ""
    place: str = ""
    """Source file and line of the program that logged, "gpu_worker.py:412"."""

    @property
    def stream(self) -> tuple[str, str, int | None, str, int | None]:
        """Lines with the same stream were written one after the other by one process."""
        return self.host, self.process, self.pid, self.rank, self.gpu


@dataclass(frozen=True, slots=True)
class Line:
    """One line (or one of several records glued into a physical line) of an input."""

    source: str
    number: int
    text: str
    """Without prefixes, colours and carriage returns."""
    origin: Origin = Origin()
    raw: str = ""
    wrappers: tuple[str, ...] = ()

    def lacks_head_of(self, head: Line) -> bool:
        """Whether this line has outer prefixes of another one (of a container, of a quotation) and none of its inner ones.

        So the further lines of a record look whose process wrote its head on the first one only.
        """
        return self.wrappers != head.wrappers and self.wrappers == head.wrappers[: len(self.wrappers)]
