"""Pools of an SGLang run that were sized again after graph capture (0.5.16 -, off by default), and what the fraction means then."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.cases.model import Rank, Run
from analyzer.cases.sglang_ledger import pool_size
from analyzer.engines.sglang_post_capture import activation_reserve, headroom
from analyzer.facts.fact import Fact
from analyzer.figures.sglang_figures import least_of, mem_fraction_static
from analyzer.figures.sglang_launch_of_run import cards_of_run, launches
from analyzer.figures.sglang_post_capture import FINAL, FIRST, is_post_capture
from analyzer.knobs.shown import Shown
from analyzer.units import Size, group_digits

KNOB = "SGLANG_ENABLE_POST_CAPTURE_KV_SIZING"


def post_capture_knobs(run: Run) -> Iterator[Shown]:
    """The row of the environment variable that switches it on, in a run where it was."""
    if is_post_capture(run):
        final = run.first(FINAL)
        source = f"shown by the sizes after graph capture, line {final.line.number}" if final is not None else "shown by reserved addresses"
        effect = "; ".join(filter(None, (_resized(run), fraction_after_capture(run))))
        yield Shown(KNOB, 1, source, effect=effect)


def fraction_after_capture(run: Run) -> str:
    """What mem_fraction_static does in such a run: it only says what stays free; empty in any other run."""
    pre, fraction = least_of(run, "free_at_start"), mem_fraction_static(run)
    if not is_post_capture(run):
        return ""
    words = "mem_fraction_static only says what stays free after graph capture"
    if pre is None or fraction is None or pre.bytes <= 0:
        return words
    uncovered = _uncovered(run)
    kept = headroom(pre, fraction, uncovered)
    if uncovered is not None and kept == uncovered:
        return f"{words}, and less than the {kept} that is kept for work outside the graphs"
    return f"{words}: {kept} of {pre}"


def _uncovered(run: Run) -> Size | None:
    """What is kept where graphs do not cover all work; None where they do, or where the log does not tell how much it is."""
    if not any(kind in run.by_kind for kind in ("post_capture_eager_gap", "mamba_alloc")):
        return None
    reserves = {activation_reserve(launch).bytes for launch in launches(run, cards_of_run(run))}
    return Size.exact(reserves.pop()) if len(reserves) == 1 else None


def _resized(run: Run) -> str:
    """From which size to which, of the first rank that prints the final one."""
    for rank in run.ranks:
        final = rank.first(FINAL)
        if final is not None:
            first, left = _pool(_first(rank)), final.size("free")
            shrunk = f"from {first} " if first else ""
            free = f", and {left} stayed free" if left is not None else ""
            return f"the pool was sized {shrunk}to {_pool(final)} once the graphs had been captured{free}"
    return ""


def _first(rank: Rank) -> Fact | None:
    return next((fact for kind in FIRST for fact in rank.by_kind.get(kind, ())), None)


def _pool(fact: Fact | None) -> str:
    """Tokens and size of a pool, as far as its line has them."""
    if fact is None:
        return ""
    tokens = fact.integer("tokens") or fact.integer("full_tokens")
    size = pool_size(fact)
    together = f" ({size})" if size is not None else ""
    return f"{group_digits(tokens)} tokens{together}" if tokens is not None else ""
