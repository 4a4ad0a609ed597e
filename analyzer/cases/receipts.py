"""Receipts: what one probe run was given, which path it took, and how it ended."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeAlias, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from analyzer.analysis import Outcome, Path
from analyzer.cases.model import Run
from analyzer.units import Size, size_of

Ending: TypeAlias = Literal["pass", "fail"]

ENDINGS: Mapping[Outcome, Ending] = {"served": "pass", "failed": "fail"}
WEIGHTS_DECIMALS = 2
"""vLLM prints the weights as "%.2f GiB" (gpu_model_runner.py); JSON drops a trailing zero of that."""


class ReceiptError(ValueError):
    """A receipt that cannot be meant; the message names the file, the key and what was expected."""


@dataclass(frozen=True)
class Place:
    """Where a receipt tells its outcome: a line of an input."""

    input: str
    line: int
    text: str


@dataclass(frozen=True)
class Receipt:
    """One probe run. Sizes are exact where the source gives bytes, intervals where it prints decimals; None is not known."""

    source: str
    profile: str
    path: Path
    free: Size
    """Raw free memory that the selector saw, as torch.cuda.mem_get_info gives it: before the safety factor."""
    outcome: Ending
    total: Size | None = None
    weights: Size | None = None
    """As the engine counts them once they are loaded; files on disk and model cards say less."""
    arena: Size | None = None
    """The pinned KV arena."""
    window: int | None = None
    utilization_clamped: float | None = None
    free_after_load: Size | None = None
    free_without_ballast: Size | None = None
    """The most that the probing instrument could leave free: raw free memory with its ballast let go."""
    load_seconds: float | None = None
    log: str = field(default="", repr=False)
    other: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Keys this program does not know, as they were."""
    place: Place | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class NotARung:
    """A run that cannot stand on a ladder, and what is missing."""

    source: str
    reason: str


def is_receipt(data: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether JSON data is meant as a receipt, well formed or not."""
    return isinstance(data, dict) and ("free_bytes_at_selection" in data or {"receipt", "profile"} <= data.keys())


def parse_receipt(data: Mapping[str, Any], source: str) -> Receipt:
    """A receipt from its JSON keys. Raises ReceiptError naming each key that is missing or of another type than expected."""
    try:
        keys = _Keys.model_validate(data)
    except ValidationError as error:
        raise ReceiptError("; ".join(_problem(source, problem) for problem in error.errors())) from error
    if keys.total_bytes is not None and keys.free_bytes_at_selection > keys.total_bytes:
        raise ReceiptError(f"{source}: free_bytes_at_selection: expected at most total_bytes, {keys.total_bytes}")
    return Receipt(
        source=source,
        profile=keys.profile,
        path=keys.path,
        free=Size.exact(keys.free_bytes_at_selection),
        outcome=keys.outcome,
        total=_bytes(keys.total_bytes),
        weights=_weights(keys.weights_gib),
        arena=_bytes(keys.kv_cache_memory_bytes),
        window=keys.window,
        utilization_clamped=keys.gpu_memory_utilization_clamped,
        free_after_load=_bytes(keys.free_bytes_after_load),
        free_without_ballast=_bytes(keys.free_bytes_without_ballast),
        load_seconds=keys.load_seconds,
        log=keys.log or "",
        other=keys.model_extra or {},
    )


def receipt_from_run(run: Run, outcome: Outcome | None = None) -> Receipt | NotARung:
    """A receipt from a log, where the selector logged its choice and the free memory (two decimals of GiB leave 5.4 MB open either way).

    `outcome` is what the rules found, where that is finer than the run's own.
    """
    choice = run.choice
    told = run.first("selector_clamp") or run.first("selector_choice")
    return receipt_from_figures(
        source=run.id,
        profile=choice.profile,
        path=choice.path,
        outcome=outcome or run.outcome,
        free=choice.free,
        total=choice.total,
        ledgers=[{item: entry.size for item, entry in rank.ledger.items()} for rank in run.ranks],
        args=run.args,
        utilization_clamped=choice.utilization_clamped,
        place=None if told is None else Place(told.line.source, told.line.number, told.line.text),
    )


def receipt_from_figures(
    *,
    source: str,
    profile: str | None,
    path: Path,
    outcome: Outcome,
    free: Size | None,
    total: Size | None,
    ledgers: Sequence[Mapping[str, Size]],
    args: Mapping[str, Any],
    utilization_clamped: float | None,
    place: Place | None = None,
) -> Receipt | NotARung:
    """A receipt from the figures of a run; of several ranks the one with the most weights counts, since it needs the most.

    A degraded run is no rung: it started, and yet did not do what it should.
    """
    if profile is None:
        return NotARung(source, "it does not say which profile it ran")
    if free is None:
        return NotARung(source, "the free memory that the selector saw is not logged")
    if outcome not in ENDINGS:
        return NotARung(source, f"it neither served nor failed (outcome {outcome})")
    window, asked = args.get("max_model_len"), args.get("kv_cache_memory_bytes")
    return Receipt(
        source=source,
        profile=profile,
        path=path,
        free=free,
        outcome=ENDINGS[outcome],
        total=total,
        weights=_largest("weights", ledgers),
        arena=Size.exact(asked) if isinstance(asked, int) else _largest("kv_pinned", ledgers),
        window=window if isinstance(window, int) else None,
        utilization_clamped=utilization_clamped,
        place=place,
    )


MostBytes = 2**60  # more than any device has; keeps hostile figures within the reach of tables and plots
Bytes = Annotated[int, Field(ge=0, le=MostBytes)]
Positive = Annotated[float, Field(gt=0, lt=1e6, allow_inf_nan=False)]


class _Keys(BaseModel):
    """The keys of a receipt. Types are strict: a number in quotes or a fraction of a byte is a mistake."""

    model_config = ConfigDict(strict=True, extra="allow")

    receipt: Literal[1] = 1
    profile: Annotated[str, Field(min_length=1)]
    path: Path = "unknown"
    outcome: Ending
    free_bytes_at_selection: Bytes
    total_bytes: Bytes | None = None
    weights_gib: Positive | None = None
    kv_cache_memory_bytes: Bytes | None = None
    window: Annotated[int, Field(gt=0)] | None = None
    gpu_memory_utilization_clamped: Annotated[float, Field(ge=0, le=1)] | None = None
    free_bytes_after_load: Bytes | None = None
    free_bytes_without_ballast: Bytes | None = None
    load_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    log: str | None = None


def _problem(source: str, problem: Mapping[str, Any]) -> str:
    key = ".".join(map(str, problem["loc"]))
    if problem["type"] == "missing":
        return f"{source}: {key}: expected, but missing"
    expected = problem["msg"].replace("Input should be", "expected")
    return f"{source}: {key}: {expected}, found {reprlib.repr(problem['input'])}"


def _bytes(value: int | None) -> Size | None:
    return None if value is None else Size.exact(value)


def _weights(gib: float | None) -> Size | None:
    return None if gib is None else size_of(format(Decimal(repr(gib)), "f"), "GiB", decimals=WEIGHTS_DECIMALS)


def _largest(item: str, ledgers: Sequence[Mapping[str, Size]]) -> Size | None:
    return max((ledger[item] for ledger in ledgers if item in ledger), key=lambda size: size.bytes, default=None)
