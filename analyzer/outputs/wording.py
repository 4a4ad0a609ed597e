"""The contract's vocabulary in words: what the pages people read say for each outcome, cause, phase, item and direction."""

from __future__ import annotations

import re
from collections.abc import Mapping

from analyzer.analysis import Advice, ComparisonRecord, Expected, ItemChange, KnobRecord, LadderRecord, Patch, SizeRecord, Verdict, WhatIf
from analyzer.causes import CAUSES
from analyzer.units import GIB, KIB, MIB, TIB, format_bytes, group_digits

OUTCOMES = {
    "degraded": "serves badly",
    "failed": "failed",
    "served": "served",
    "unknown": "outcome not shown",
}

CONFIDENCES = {"certain": "certain", "likely": "likely", "possible": "only possible"}

PHASES = {
    "args": "reading its arguments",
    "graph_capture": "capturing graphs",
    "init": "initializing",
    "kv_alloc": "allocating the KV cache",
    "load_weights": "loading weights",
    "profile": "profiling memory",
    "serve": "serving requests",
    "shutdown": "shutting down",
    "warmup": "warming up",
}


PATHS = {
    "flags": "parameters passed by hand",
    "forced": "profile forced by name",
    "selected": "profile chosen by the selector",
    "unknown": "not logged",
}

ROLES = {
    "root": "The cause",
    "contributing": "What contributed",
    "cascade": "What merely followed",
    "hygiene": "Worth fixing anyway",
}

SAFETIES = {
    "safe": "proven",
    "review": "direction certain, value estimated: review it",
    "display": "cannot be edited here: shown only",
}

# In the order in which a ledger is read: the card, what is taken, what is left, what went wrong.
LEDGER_ITEMS = {
    "total": "total",
    "free_at_start": "free at start",
    "budget": "budget of the engine",
    "other_processes": "other processes",
    "weights": "weights",
    "free_after_load": "free after loading",
    "non_torch": "outside PyTorch",
    "activation_peak": "activation peak",
    "kv_cache": "KV cache",
    "kv_pinned": "KV cache, pinned",
    "kv_needed": "KV cache needed",
    "cuda_graphs": "CUDA graphs",
    "allocated": "allocated by PyTorch",
    "reserved_unallocated": "reserved, unallocated",
    "allocation_refused": "allocation refused",
    "free_at_failure": "free at the failure",
    "unaccounted": "unaccounted",
}

_SCALES = (("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB))


_PLAIN_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*(?=[\s,;:.]|$)")


def sentence(text: str) -> str:
    """The text beginning with a capital, unless it begins with a name such as kv_cache_memory_bytes or vLLM."""
    return text[:1].upper() + text[1:] if _PLAIN_WORD.match(text) else text


def item_words(item: str) -> str:
    """The words for a ledger item; any other text as it is."""
    return LEDGER_ITEMS.get(item, item)


SUBJECTS = {"settings": ("settings checked", "no log was given"), "ladder": ("runs compared", "where each profile starts to work")}
"""What stands in place of an outcome and a cause where no run was judged."""


def outcome_words(verdict: Verdict) -> str:
    """How it ended, or, without a run, what was done."""
    return SUBJECTS[verdict.subject][0] if verdict.subject in SUBJECTS else OUTCOMES[verdict.outcome]


def verdict_headline(verdict: Verdict) -> str:
    """What happened, in words, "perhaps" where it is only possible; a cause outside the vocabulary stands as it is."""
    if verdict.subject in SUBJECTS:
        return SUBJECTS[verdict.subject][1]
    if verdict.outcome == "degraded" and verdict.cause == "none":
        return "it serves, but badly"
    words = CAUSES.get(verdict.cause, verdict.cause)
    return f"perhaps {words}" if verdict.confidence == "possible" and verdict.cause not in ("none", "unknown") else words


def ordered_ledger(ledger: dict[str, SizeRecord]) -> list[tuple[str, str, SizeRecord]]:
    """(item, its words, amount) in reading order; items outside the vocabulary come last, in their own order."""
    known = [name for name in LEDGER_ITEMS if name in ledger]
    others = [name for name in ledger if name not in LEDGER_ITEMS]
    return [(name, item_words(name), ledger[name]) for name in known + others]


def amount(size: SizeRecord) -> str:
    """As the log printed it, or, where it was computed, in two binary decimals."""
    return size.text or format_bytes(size.bytes)


def interval(size: SizeRecord) -> str:
    """What the printed decimals leave open: "16.435 to 16.445 GiB", or "exact"."""
    if size.low == size.high:
        return "exact"
    widest = max(abs(size.low), abs(size.high))
    unit, scale = next(((unit, scale) for unit, scale in _SCALES if widest >= scale), ("B", 1))
    decimals = 3 if scale > 1 else 0
    return f"{size.low / scale:.{decimals}f} to {size.high / scale:.{decimals}f} {unit}"


def advice_headline(advice: Advice) -> str:
    """ "lower kv_cache_memory_bytes to 3600000000 (3.35 GiB)"; "leave gpu_memory_utilization alone" where it is useless."""
    if advice.direction == "none":
        return f"leave {advice.knob} alone"
    target = "" if advice.value is None else f" to {knob_value(advice.knob, advice.value)}"
    return f"{advice.direction} {advice.knob}{target}"


def advice_interval(advice: Advice) -> str:
    """ "between 0.8 and 0.9", "at least ...", "at most ...", or "" where no bound is known."""
    low = None if advice.low is None else knob_value(advice.knob, advice.low)
    high = None if advice.high is None else knob_value(advice.knob, advice.high)
    if low and high:
        return f"between {low} and {high}"
    if low:
        return f"at least {low}"
    return f"at most {high}" if high else ""


def knob_value(knob: str, value: int | float | str) -> str:
    """The value as it is typed into settings; an amount of memory also in binary units."""
    if isinstance(value, int) and knob.endswith("_bytes"):
        return f"{value} ({format_bytes(value)})"
    return str(value)


def change_line(change: ItemChange) -> str:
    """ "weights 16.44 GiB -> 17.10 GiB: 675.84 MiB more (0.650 to 0.670 GiB)"."""
    grew = change.grew
    less = grew.bytes < 0
    more = SizeRecord(bytes=abs(grew.bytes), low=min(abs(grew.low), abs(grew.high)), high=max(abs(grew.low), abs(grew.high)), text="")
    exact = "" if more.low == more.high else f" ({interval(more)})"
    return (
        f"{item_words(change.item)} {amount(change.before)} -> {amount(change.after)}: {amount(more)} {'less' if less else 'more'}{exact}"
    )


def comparison_lines(found: ComparisonRecord) -> list[str]:
    """What differs between two runs, a sentence each: ledger, arguments, releases, and the arena that follows."""
    several = len({change.rank for change in found.items}) > 1
    lines = [f"{f'rank {change.rank}: ' if several else ''}{change_line(change)}" for change in found.items]
    if found.same:
        lines.append(f"{found.same} item{'' if found.same == 1 else 's'} the same within their rounding")
    lines += [f"{argument.name}: {argument.before} -> {argument.after}" for argument in found.arguments]
    if found.others:
        lines.append(f"other arguments that differ: {', '.join(found.others)}")
    lines += found.releases
    if found.arena is not None:
        arena = knob_value("kv_cache_memory_bytes", found.arena)
        lines.append(f"with kv_cache_memory_bytes = {arena} the run that failed has left what the other had")
    return lines


def comparison_title(found: ComparisonRecord) -> str:
    """ "good.log#1 against bad.log#1"."""
    return f"{found.before} against {found.after}"


def knob_line(row: KnobRecord) -> str:
    """ "mem_fraction_static = 0.88: at least 0.912 (below, the weights leave no KV pool)"."""
    value = "" if row.value is None else f" = {knob_value(row.knob, row.value)}"
    return f"{row.knob}{value}: {row.works}"


def patch_change(patch: Patch) -> str:
    """ "24053735802 -> 25572315586", "add 0.95", "remove 5200000000"."""
    if patch.op == "set":
        return f"{patch.old} -> {patch.new}"
    return f"add {patch.new}" if patch.op == "add" else f"remove {patch.old}"


def dotted(path: list[str | int]) -> str:
    """ "profiles.long_393k.requires_free_bytes"."""
    return ".".join(map(str, path))


def ladder_summary(record: LadderRecord) -> str:
    """ "long_393k: fails up to 25 371 803 648 bytes free, passes from 25 571 033 088; overhead 2 519 488 061 to 2 718 717 501"."""
    parts = []
    if record.fails_at:
        parts.append(f"fails up to {group_digits(max(record.fails_at))} bytes free")
    if record.passes_at:
        parts.append(f"passes from {group_digits(min(record.passes_at))}")
    summary = f"{record.profile}: {', '.join(parts) or 'no run measured'}"
    if record.overhead:
        summary += f"; overhead {' to '.join(map(group_digits, record.overhead.values()))} bytes"
    return summary


def what_if_title(asked: WhatIf) -> str:
    """ "What if long_393k.kv_cache_memory_bytes=4600000000, with 25 200 000 000 of 34 190 917 632 bytes free: it starts"."""
    of_total = f" of {group_digits(asked.total)}" if asked.total is not None else ""
    free = f"with {group_digits(asked.free)}{of_total} bytes free" if asked.free is not None else ""
    return f"What if {', '.join(filter(None, (*asked.changes, free)))}: {ANSWERS[asked.expected]}"


def checks_title(asked: WhatIf) -> str:
    """What the table of checks is made with."""
    return f"The checks of the next start in their order, by the figures of {asked.checked_by}:"


ANSWERS: Mapping[Expected, str] = {
    "starts": "it starts",
    "fails": "it fails",
    "cannot tell": "cannot tell",
    "nothing fits": "no profile fits",
}
