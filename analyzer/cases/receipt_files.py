"""Texts that hold receipts: one JSON receipt, a list or lines of them, or this program's own JSON output."""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from pydantic import BaseModel, ValidationError

from analyzer.analysis import Outcome, Path, SizeRecord
from analyzer.cases.receipts import ENDINGS, NotARung, Place, Receipt, ReceiptError, is_receipt, parse_receipt, receipt_from_figures
from analyzer.units import Size

OUTPUT_VERSION = "1"
MOST_QUOTED = 500
"""Characters of a line that are quoted; a file of receipts may be a single line."""

_BEGINS_AS_RECORDS = re.compile(r'\s*(?:\[\s*)?\{\s*"')
_MARK = re.compile(r'"(?:free_bytes_at_selection|receipt|schema_version)"\s*:')
_NOT_SPACE = re.compile(r"\S")
_FREE = re.compile(r'"free_bytes_at_selection"\s*:\s*(\d+)')


@dataclass(frozen=True)
class Reading:
    """The receipts of one text, and its runs that cannot stand on a ladder."""

    receipts: Sequence[Receipt]
    left_out: Sequence[NotARung] = ()


def read_receipts(text: str, source: str) -> Reading | None:
    """The receipts in a text, from one JSON value, a list of them or several in a row; None when it is something else, such as a log.

    Raises ReceiptError for receipts that cannot be meant, naming the file and the key, or the line that is no JSON.
    """
    if not (_BEGINS_AS_RECORDS.match(text) and _MARK.search(text)):
        return None
    records = _records(text, source)
    place, first = next(records)
    opening = [(f"{source}[{index}]", value) for index, value in enumerate(first)] if isinstance(first, list) else [(place, first)]
    if not any(known(opening[0][1]) for known in (is_receipt, is_output)):
        return None
    readings = [_reading(value, place) for place, value in (*opening, *records)]
    receipts = [receipt for part in readings for receipt in part.receipts]
    return Reading(_placed(receipts, text, source), [run for part in readings for run in part.left_out])


def is_output(data: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether JSON data is this program's own output, of any version."""
    return isinstance(data, dict) and {"schema_version", "tool", "runs"} <= data.keys()


def receipts_from_output(data: Mapping[str, Any], source: str) -> Reading:
    """The runs of an earlier analysis as receipts, and of its ladder those profiles for which no run gives one.

    The ladder's figures are bounds: it fails at the one for certain and passes at the other.
    Raises ReceiptError for another version of the output, or one that does not keep to the contract.
    """
    if data["schema_version"] != OUTPUT_VERSION:
        raise ReceiptError(f'{source}: schema_version: expected "{OUTPUT_VERSION}", found {data["schema_version"]!r}')
    try:
        output = _Output.model_validate(data)
    except ValidationError as error:
        problem = error.errors()[0]
        raise ReceiptError(f"{source}: {'.'.join(map(str, problem['loc']))}: {problem['msg']}") from error
    found = [_of_run(run, output.facts, source) for run in output.runs]
    receipts = [receipt for receipt in found if isinstance(receipt, Receipt)]
    known = {receipt.profile for receipt in receipts}
    receipts += [receipt for ladder in output.ladder if ladder.profile not in known for receipt in _of_ladder(ladder, source)]
    return Reading(receipts, [receipt for receipt in found if isinstance(receipt, NotARung)])


class _Rank(BaseModel):
    ledger: dict[str, SizeRecord] = {}


class _Run(BaseModel):
    id: str
    outcome: Outcome
    args: dict[str, Any] = {}
    profile: str | None = None
    path: Path = "unknown"
    ranks: list[_Rank] = []


class _Fact(BaseModel):
    kind: str
    run: str | None = None
    fields: dict[str, Any] = {}


class _Ladder(BaseModel):
    profile: str
    fails_at: list[int] = []
    passes_at: list[int] = []


class _Output(BaseModel):
    """What of the output makes receipts; later releases may add keys."""

    runs: list[_Run]
    facts: list[_Fact] = []
    ladder: list[_Ladder] = []


def _of_run(run: _Run, facts: Sequence[_Fact], source: str) -> Receipt | NotARung:
    seen = next((fact.fields for fact in facts if fact.kind == "selector_clamp" and fact.run == run.id), {})
    clamped = seen.get("clamped")
    return receipt_from_figures(
        source=f"{source}: {run.id}",
        profile=run.profile,
        path=run.path,
        outcome=run.outcome,
        free=_size(seen.get("free"), source),
        total=_size(seen.get("total"), source),
        ledgers=[{item: _of_record(record) for item, record in rank.ledger.items()} for rank in run.ranks],
        args=run.args,
        utilization_clamped=clamped if isinstance(clamped, float) else None,
    )


def _of_ladder(ladder: _Ladder, source: str) -> list[Receipt]:
    ends = zip(ENDINGS.values(), (ladder.passes_at, ladder.fails_at), strict=True)
    return [
        Receipt(f"{source}: ladder of {ladder.profile}", ladder.profile, "selected", Size.exact(free), ending)
        for ending, amounts in ends
        for free in amounts
    ]


def _placed(receipts: Sequence[Receipt], text: str, source: str) -> list[Receipt]:
    """Each receipt with the line that states its free memory; those of an earlier analysis with the first line."""
    lines = text.split("\n")
    stated: dict[int, list[int]] = {}
    for number, line in enumerate(lines, 1):
        for found in _FREE.finditer(line):
            stated.setdefault(int(found[1]), []).append(number)
    placed = []
    for receipt in receipts:
        own = stated.get(receipt.free.bytes, [])
        at = own.pop(0) if own else 1
        placed.append(replace(receipt, place=Place(source, at, lines[at - 1].strip()[:MOST_QUOTED])))
    return placed


def _size(value: Any, source: str) -> Size | None:
    try:
        return None if value is None else _of_record(SizeRecord.model_validate(value))
    except ValidationError as error:
        raise ReceiptError(f"{source}: facts: expected a size with bytes, low, high and text") from error


def _of_record(record: SizeRecord) -> Size:
    return Size(record.bytes, record.low, record.high, record.text)


def _reading(value: Any, place: str) -> Reading:
    if is_output(value):
        return receipts_from_output(value, place)
    if is_receipt(value):
        return Reading([parse_receipt(value, place)])
    raise ReceiptError(f"{place}: expected a receipt like the first, found {reprlib.repr(value)}")


def _records(text: str, source: str) -> Iterator[tuple[str, Any]]:
    """The JSON values that follow one another in a text, with their places."""
    decoder = json.JSONDecoder()
    line, read = 1, 0
    while found := _NOT_SPACE.search(text, read):
        line += text.count("\n", read, found.start())
        place = source if line == 1 else f"{source}, line {line}"
        try:
            value, end = decoder.raw_decode(text, found.start())
        except json.JSONDecodeError as error:
            raise ReceiptError(f"{source}, line {error.lineno}: expected JSON ({error.msg})") from error
        except (ValueError, RecursionError) as error:
            raise ReceiptError(f"{place}: JSON beyond measure ({error})") from error
        yield place, value
        line += text.count("\n", found.start(), end)
        read = end
