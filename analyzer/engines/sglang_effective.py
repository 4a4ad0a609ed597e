"""The mem_fraction_static that SGLang's figures imply, where it is not the printed one, and why the two may differ.

The printed value is the server arguments' or the command line's; what a pool was sized with is not printed. Sources stand at the
rows of the tables; all are SGLang files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from packaging.version import Version

from analyzer.engines.release import is_within
from analyzer.units import Size

TOLERANCE = 0.02
"""A difference above this is reported. Page rounding and the pools' small tables stay far below it on cards of 16 GiB and more."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One cause of a difference: the releases that have it, and which way it moves the fraction in effect.

    `factor` is what it multiplies the fraction by, None where the size of the effect depends on the run.
    """

    text: str
    since: str
    before: str | None
    moves: Literal["down", "up", "either"]
    factor: float | None = None


REASONS = (
    # model_runner.py; the printed line comes after the runner has taken its copy
    Reason("a reduction for multimodal models is printed, but is not in effect", "0.2.14.post2", "0.3.5", "up", 1 / 0.95),
    # model_runner.py
    Reason("a multimodal model: the runner scales even an explicit value, unseen in the arguments", "0.3.5", "0.4.4.post4", "down", 0.95),
    Reason("a multimodal model: the runner scales even an explicit value, unseen in the arguments", "0.4.4.post4", "0.4.9", "down", 0.90),
    # model_runner.py up to 0.5.4; from 0.5.4.post1 server_args.py does it, and the arguments show it
    Reason("aiter attention with a context above 8192 tokens, unseen in the arguments", "0.4.7", "0.5.4.post1", "down", 0.85),
    Reason("aiter attention with a context above 8192 tokens scales what was asked for", "0.5.4.post1", "0.5.4.post2", "down", 0.90),
    Reason("aiter attention with a context above 8192 tokens scales what was asked for", "0.5.4.post2", None, "down", 0.85),
    # model_runner.py, init_memory_pool
    Reason("the draft model's tokens were added to the pool after it was sized", "0.4.3.post3", "0.5.7", "up"),
    Reason("max_total_tokens caps the pool", "0.2.8", None, "down"),
    # model_runner.py: free memory is the minimum over the ranks
    Reason("another rank had less free memory: the smallest one sizes the pool of all", "0.1.26", None, "down"),
    Reason("something else took memory while the weights were loaded", "0.1.26", None, "down"),
    # model_runner_kv_cache_mixin.py, kv_cache_configurator.py
    Reason("loading left temporary tensors behind when the pool was sized", "0.1.26", "0.5.19", "down"),
    Reason("the draft model's weights count as static and are not in these figures", "0.5.14", None, "down"),
    Reason("pools were sized again after graph capture, which only shrinks them", "0.5.16", None, "down"),
    Reason("caches of a multimodal model were taken off the pool", "0.5.18", None, "down"),
    # outside the engine
    Reason("the wrapper that starts the engine passes another value than it shows", "0.1.26", None, "either"),
)  # fmt: skip

FORCED = (("0.5.3", "0.5.3.post1", 0.8, "DeepSeek sparse attention sets 0.8, whatever is asked"),)
"""(since, before, value, text): server_args.py, _handle_model_specific_adjustments."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A reason that this release and this direction allow. `expected` is the fraction it would put in effect, None when not computable.

    `fits` is whether that is the one the figures imply, within `TOLERANCE`.
    """

    text: str
    expected: float | None
    fits: bool


@dataclass(frozen=True, slots=True)
class EffectiveFraction:
    """`implied` is the fraction in effect, known to lie between `low` and `high`; the explanations that fit come first."""

    printed: float
    implied: float
    low: float
    high: float
    explanations: tuple[Explanation, ...]

    @property
    def differs(self) -> bool:
        """Whether even the end of the interval nearest to the printed value is further away than `TOLERANCE`."""
        return self.printed < self.low - TOLERANCE or self.printed > self.high + TOLERANCE


def implied_fraction(pre: Size, post: Size, pools: Size) -> tuple[float, float, float]:
    """(pre - post + pools) / pre, nominal, lowest and highest; `pools` is all that was sized from the budget, state pools included.

    Source: the budget of `analyzer.engines.sglang`, solved for the fraction; SGLang 0.1.26 - 0.5.23. A negative `pools`
    (tokens x bytes per token of a negative profiled number) is as good as a positive one.
    """
    nominal = (pre.bytes - post.bytes + pools.bytes) / pre.bytes
    # pre stands above and below the line, so an end of the result belongs to one end of pre
    lows = [1 - (post.high - pools.low) / end for end in (pre.low, pre.high)]
    highs = [1 - (post.low - pools.high) / end for end in (pre.low, pre.high)]
    return nominal, min(lows), max(highs)


def effective_fraction(
    printed: float, pre: Size, post: Size, pools: Size, version: Version | None, automatic: float | None = None
) -> EffectiveFraction:
    """The fraction in effect against the printed one, with what may explain a difference.

    `automatic` is the engine's own default, where it is known: a wrapper may have dropped the value that it shows.
    """
    nominal, low, high = implied_fraction(pre, post, pools)
    found = EffectiveFraction(printed, nominal, low, high, ())
    return replace(found, explanations=explanations(printed, nominal, version, automatic)) if found.differs else found


def explanations(printed: float, implied: float, version: Version | None, automatic: float | None = None) -> tuple[Explanation, ...]:
    """What may put `implied` in effect where `printed` is shown; those whose value fits first. Empty for an unknown release."""
    if version is None:
        return ()
    direction = "down" if implied < printed else "up"
    reasons = [reason for reason in REASONS if is_within(version, reason.since, reason.before)]
    found = [
        _explanation(reason.text, printed * reason.factor if reason.factor is not None else None, implied)
        for reason in reasons
        if reason.moves in (direction, "either")
    ]
    found += [_explanation(text, value, implied) for since, before, value, text in FORCED if is_within(version, since, before)]
    if automatic is not None:
        found.append(_explanation("the engine's own default was in effect", automatic, implied))
        found += [
            _explanation(f"the engine's own default was in effect; {reason.text}", automatic * reason.factor, implied)
            for reason in reasons
            if reason.factor is not None
        ]
    return tuple(sorted(found, key=lambda explanation: not explanation.fits))


def _explanation(text: str, expected: float | None, implied: float) -> Explanation:
    return Explanation(text, expected, expected is not None and abs(expected - implied) <= TOLERANCE)
