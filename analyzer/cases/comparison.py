"""Two runs of one engine side by side: which item of the ledger grew, which arguments differ, what the releases do differently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.cases.model import LEDGER_ITEMS, Rank, Run
from analyzer.engines import sglang_arguments, vllm_arguments
from analyzer.engines.vllm_arena import arena_from_two_runs
from analyzer.units import Size

OF_THE_MODEL = (
    "dtype",
    "kv_cache_dtype",
    "model",
    "model_path",
    "page_size",
    "speculative_algorithm",
    "speculative_config",
)
"""Arguments that decide about memory and are in no table of memory arguments."""
WHOLE_DUMPS = ("args_namespace", "command_line", "non_default_args", "server_args")
"""Dumps that show everything of their kind: an argument missing in one of two is a difference."""


COUNTED_DIFFERENTLY = ("free_at_start", "total")
"""Items that selector, engine and allocator count differently: compared only between figures of the same message."""


@dataclass(frozen=True, slots=True)
class Change:
    """One item of the ledger in both runs; `grew` is what the second has more, negative where it has less."""

    rank: str
    item: str
    before: Size
    after: Size

    @property
    def grew(self) -> Size:
        return self.after - self.before

    @property
    def is_certain(self) -> bool:
        """Whether the two differ whatever the printed decimals leave open."""
        return not self.before.may_equal(self.after)


@dataclass(frozen=True, slots=True)
class ArgumentChange:
    """An argument that differs; None for a run in which it is not set."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Comparison:
    """What differs between two runs. `others` are further arguments that differ, by name; `arena` is the pinned size that the failed
    run would have started with, by what it had less free memory than the one that served."""

    before: Run
    after: Run
    changes: Sequence[Change]
    arguments: Sequence[ArgumentChange]
    others: Sequence[str]
    arena: Size | None


def compare(before: Run, after: Run) -> Comparison:
    """The second run against the first, both of one engine; absent figures are compared with nothing."""
    names = _memory_arguments()
    differing = list(_differing(before, after))
    return Comparison(
        before=before,
        after=after,
        changes=tuple(_changes(before, after)),
        arguments=tuple(change for change in differing if change.name in names),
        others=tuple(change.name for change in differing if change.name not in names),
        arena=_arena(before, after),
    )


def pair_of(runs: Sequence[Run]) -> tuple[Run, Run] | None:
    """The two runs of a case that are compared: exactly two, of the same engine."""
    if len(runs) != 2 or runs[0].engine is None or runs[0].engine != runs[1].engine:
        return None
    return runs[0], runs[1]


def _memory_arguments() -> set[str]:
    return {row.name for table in (sglang_arguments.ARGUMENTS, vllm_arguments.ARGUMENTS) for row in table} | set(OF_THE_MODEL)


def _changes(before: Run, after: Run) -> Iterator[Change]:
    for first, second in _same_ranks(before, after):
        for item in LEDGER_ITEMS:
            old, new = first.ledger.get(item), second.ledger.get(item)
            if old is not None and new is not None and (item not in COUNTED_DIFFERENTLY or old.source == new.source):
                yield Change(second.name, item, old.size, new.size)


def _same_ranks(before: Run, after: Run) -> Iterator[tuple[Rank, Rank]]:
    """Ranks of the same name; where each run has one rank only, these two, whatever they are called."""
    if len(before.ranks) == len(after.ranks) == 1:
        yield before.ranks[0], after.ranks[0]
        return
    named = {rank.name: rank for rank in before.ranks}
    yield from ((named[rank.name], rank) for rank in after.ranks if rank.name in named)


def _differing(before: Run, after: Run) -> Iterator[ArgumentChange]:
    whole = any(before.all(kind) and after.all(kind) for kind in WHOLE_DUMPS)
    for name in sorted({*before.args, *after.args}):
        in_both = name in before.args and name in after.args
        if (in_both or whole) and before.args.get(name) != after.args.get(name):
            yield ArgumentChange(name, before.args.get(name), after.args.get(name))


def _arena(before: Run, after: Run) -> Size | None:
    """Of a run that served and one that did not, with the same pinned arena and window, where the second had less free memory."""
    served, failed = (before, after) if before.outcome == "served" else (after, before)
    if served.outcome != "served" or failed.outcome == "served":
        return None
    return arena_for(served, failed)


def arena_for(served: Run, failed: Run) -> Size | None:
    """The arena with which the failed run starts as surely as the other did; None where the two do not allow it."""
    keys = ("kv_cache_memory_bytes", "max_model_len", "max_num_seqs", "max_num_batched_tokens", "model")
    if any(served.args.get(key) != failed.args.get(key) for key in keys):
        return None
    found = [arena for good, bad in _same_ranks(served, failed) if (arena := _arena_of_rank(good, bad, failed)) is not None]
    return min(found, key=lambda arena: arena.low, default=None)


def _arena_of_rank(good: Rank, bad: Rank, failed: Run) -> Size | None:
    before, pinned = good.size("kv_pinned"), bad.size("kv_pinned")
    more, less = good.size("free_at_start"), bad.size("free_at_start")
    if before is None or pinned is None or more is None or less is None:
        return None
    if not before.may_equal(pinned) or more.low <= less.high or not _same_weights(good, bad):
        return None
    exact = failed.args.get("kv_cache_memory_bytes")
    return arena_from_two_runs(Size.exact(exact) if isinstance(exact, int) else pinned, more, less)


def _same_weights(good: Rank, bad: Rank) -> bool:
    first, second = good.size("weights"), bad.size("weights")
    return first is None or second is None or first.may_equal(second)
