"""Which settings of an SGLang run are the engine's own defaults for its release and card, and which values those are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import isclose

from analyzer.cases.model import Run
from analyzer.engines.sglang_default_fraction import default_fraction
from analyzer.engines.sglang_launch import Launch, default_chunk, default_graph_batch
from analyzer.engines.sglang_vlm import is_text_only, is_vision_factor
from analyzer.figures.argument_source import SET_BY_SOMEBODY
from analyzer.figures.sglang_launch_of_run import cards_of_run, launches, likely_cards, whole_command_lines

DECIMALS = 3
FLAGS = {
    "cuda_graph_max_bs": ("cuda_graph_max_bs", "cuda_graph_max_bs_decode", "cuda_graph_bs", "cuda_graph_bs_decode", "cuda_graph_config")
}
"""Arguments that set the same thing."""


def was_asked(run: Run, name: str) -> bool | None:
    """Whether somebody set an argument; None where the log shows its value alone, or nothing."""
    flags = FLAGS.get(name, (name,))
    named = {key.lstrip("-").replace("-", "_") for kind in SET_BY_SOMEBODY for fact in run.all(kind) for key in fact.mapping("args")}
    if any(flag.startswith(key) for key in named for flag in flags):  # the command line takes shortened flags too
        return True
    nothing = name in run.args and run.args[name] is None
    return False if whole_command_lines(run) or nothing else None


def fraction_is_default(run: Run, value: float) -> str:
    """In words that a mem_fraction_static of the arguments is the engine's own default; empty where that cannot be told.

    A value of two decimals may have been asked for, unless a command line shows that it was not.
    """
    asked = was_asked(run, "mem_fraction_static")
    if asked or (asked is None and isclose(value, round(value, 2), abs_tol=1e-9)):
        return ""
    candidates = launches(run, likely_cards(run))
    plain = [launch for launch in candidates if (own := default_fraction(launch)) is not None and isclose(own, value, abs_tol=1e-6)]
    if plain:
        return f"automatic: the default of {_described(plain)}"
    reduced = [launch for launch in candidates if _reduced_for_vision(launch, value)]
    return f"automatic: the default of {_described(reduced)}, reduced for a multimodal model" if reduced else ""


def _reduced_for_vision(launch: Launch, value: float) -> bool:
    """Whether the value is the default times the factor of a vision tower, with more decimals than anybody types."""
    own = default_fraction(launch)
    if own is None or not launch.is_within("0.4.9.post3") or isclose(value, round(value, DECIMALS), abs_tol=1e-6):
        return False
    return is_vision_factor(value / own)


def default_fraction_of(run: Run) -> tuple[float | str, str] | None:
    """The mem_fraction_static of a run that shows none, where it was not asked for and release, card and model are known.

    With several cards or kinds of attention possible, the range of their defaults.
    """
    architectures = {fact.text("type") for fact in run.all("load_weight_end")}
    if was_asked(run, "mem_fraction_static") is not False or not architectures or not all(is_text_only(name) for name in architectures):
        return None
    candidates = [variant for launch in launches(run, cards_of_run(run)) for variant in _undecided(launch)]
    values = {round(own, DECIMALS) if (own := default_fraction(launch)) is not None else None for launch in candidates}
    known = [value for value in values if value is not None]
    if not known or None in values:
        return None
    value = known[0] if len(known) == 1 else f"{min(known)} to {max(known)}"
    return value, f"default of {_described(candidates)}"


def _undecided(launch: Launch) -> Iterator[Launch]:
    """The launch with and without prefill graphs, where only the model decides whether they are captured (0.5.10 -)."""
    yield launch
    if launch.prefill_graphs is None and launch.is_within("0.5.10"):
        yield replace(launch, prefill_graphs=False)
        yield replace(launch, prefill_graphs=True)
        yield replace(launch, prefill_graphs=True, mla=True)


def chunk_is_default(run: Run, value: float | None) -> tuple[float | None, str]:
    """A chunked_prefill_size that nobody asked for, with the words that say so: the one shown, else the one the engine fills in."""
    return _count_is_default(run, "chunked_prefill_size", value, default_chunk, lambda launch: launch.chunked_prefill_size)


def graph_batch_is_default(run: Run, value: float | None) -> tuple[float | None, str]:
    """The same of cuda_graph_max_bs (0.5.3 -)."""
    return _count_is_default(run, "cuda_graph_max_bs", value, default_graph_batch, lambda launch: launch.graph_max_batch_size)


def _count_is_default(
    run: Run, name: str, value: float | None, default: Callable[[Launch], int | None], shown: Callable[[Launch], int | None]
) -> tuple[float | None, str]:
    if was_asked(run, name) is not False:
        return value, ""
    candidates = launches(run, cards_of_run(run))
    found = {default(launch) for launch in candidates}
    own = found.pop() if len(found) == 1 else None
    if own is None or (value is not None and any(shown(launch) != own for launch in candidates)):
        return value, ""
    return own if value is None else value, f"default of {_described(candidates)}"


def _described(launches_: Sequence[Launch]) -> str:
    """ "SGLang 0.5.9 for a card of 81559 MiB, tp 1"."""
    releases = sorted({launch.release for launch in launches_ if launch.release is not None})
    cards = " or ".join(str(card) for card in sorted({round(launch.card_mib) for launch in launches_ if launch.card_mib is not None}))
    names = f"{releases[0]}" if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"
    stages = f", pp {launches_[0].pp}" if launches_[0].pp > 1 else ""
    return f"SGLang {names} for a card of {cards} MiB, tp {launches_[0].tp}{stages}"
