"""The result: everything an output may print, in the shape of the JSON contract (version 1)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from analyzer.units import Size

Outcome = Literal["served", "degraded", "failed", "unknown"]
Confidence = Literal["certain", "likely", "possible"]
Severity = Literal["error", "warning", "note"]
Role = Literal["root", "contributing", "cascade", "hygiene"]
Direction = Literal["raise", "lower", "set", "remove", "none"]
Safety = Literal["safe", "review", "display"]
Phase = Literal["args", "init", "load_weights", "profile", "kv_alloc", "warmup", "graph_capture", "serve", "shutdown"]
Path = Literal["selected", "forced", "flags", "unknown"]

ENGINE_NAMES = {"sglang": "SGLang", "vllm": "vLLM"}
"""As the engines write themselves."""


class Record(BaseModel):
    """Base of all records: immutable, and closed against misspelt fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)


class SizeRecord(Record):
    """An amount of memory: bytes, and the interval low..high that the printed decimals leave open."""

    bytes: int
    low: int
    high: int
    text: str

    @classmethod
    def of(cls, size: Size) -> SizeRecord:
        return cls(bytes=size.bytes, low=size.low, high=size.high, text=size.text)


class InputRecord(Record):
    name: str
    bytes: int
    lines: int
    sha256: str
    engine: Literal["vllm", "sglang"] | None = None
    engine_version: str | None = None
    wrappers: list[str] = []


class Advice(Record):
    """One knob and which way to turn it; direction "none" means that touching it is useless here."""

    knob: str
    direction: Direction
    value: int | float | str | None = None
    low: int | float | None = None
    high: int | float | None = None
    why: str


class Verdict(Record):
    outcome: Outcome
    cause: str
    phase: Phase | None
    confidence: Confidence
    summary: str
    advice: list[Advice] = []
    subject: Literal["run", "settings", "ladder"] = Field(default="run", exclude=True)
    """What was judged: a run, settings without a log, or the measured runs of a ladder."""


class RankRecord(Record):
    rank: str
    pid: int | None = None
    device: str | None = None
    ledger: dict[str, SizeRecord] = {}
    basis: dict[str, str] = Field(default={}, exclude=True)
    """For each ledger item whether it was measured, computed or assumed, and from which lines; for the reader."""


class KnobRecord(Record):
    """An argument that bears on memory: its value in effect and where that comes from, which values can work, what a change does."""

    knob: str
    value: int | float | str | None = None
    """None where the log does not show it."""
    source: str = ""
    low: int | float | None = None
    high: int | float | None = None
    works: str = ""
    """The interval in words, with what sets its ends; where it is empty, what else to change."""
    effect: str = ""


class RunRecord(Record):
    id: str
    input: str
    engine: Literal["vllm", "sglang"] | None
    engine_version: str | None
    outcome: Outcome
    phase: Phase | None
    args: dict[str, Any] = {}
    profile: str | None = None
    path: Path = "unknown"
    ranks: list[RankRecord] = []
    knobs: list[KnobRecord] = Field(default=[], exclude=True)
    """The settings that bear on memory, as far as the log shows anything of them."""
    release: str = Field(default="", exclude=True)
    """The engine's release for the reader: as printed, else those whose arguments the log shows; empty when nothing tells."""


class Evidence(Record):
    input: str
    line: int
    text: str


class Finding(Record):
    rule: str
    severity: Severity
    role: Role
    confidence: Confidence
    title: str
    message: str
    evidence: list[Evidence] = []
    patches: list[int] = []
    cause: str | None = Field(default=None, exclude=True)
    advice: list[Advice] = Field(default=[], exclude=True)
    not_proven: str = Field(default="", exclude=True)


class Proof(Record):
    holds: bool
    before: str
    after: str


class Patch(Record):
    file: str
    line: int
    path: list[str | int]
    op: Literal["set", "add", "remove"]
    old: Any
    new: Any
    safety: Safety
    proof: Proof
    diff: str


Expected = Literal["starts", "fails", "cannot tell", "nothing fits"]


class RungRecord(Record):
    """One run on a ladder, in bytes; `counts` is False for one that took another path, and `aside` says which."""

    free: int
    outcome: Literal["pass", "fail"]
    counts: bool
    path: Path = "unknown"
    overhead_low: int | None = None
    overhead_high: int | None = None
    """free - weights - arena, as far as the decimals of the weights leave it open."""
    aside: str = ""
    source: str = ""


class BandRecord(Record):
    """From `low` to `high` raw free bytes, both included: who is selected, and what measured runs say of it."""

    low: int
    high: int
    profile: str | None
    expected: Expected
    why: str
    breaks: bool = False
    """Whether it fails although a profile that starts is selected with less free memory."""


class MapRecord(Record):
    """Which profile the selector takes at which free memory of a device of `total` bytes."""

    total: int
    bands: list[BandRecord]
    unreachable: list[str] = []
    saturated: list[str] = []


class LadderRecord(Record):
    """What several runs of one profile measured: where it fails, where it passes, and the overhead that follows."""

    profile: str
    fails_at: list[int] = []
    passes_at: list[int] = []
    threshold: dict[str, int] | None = None
    overhead: dict[str, int] | None = None
    recommended: int | None = None
    """requires_free_bytes that the runs recommend."""
    next_probe: int | None = None
    """Raw free memory at which one more run would tell most."""
    notes: list[str] = []
    rungs: list[RungRecord] = Field(default=[], exclude=True)
    """All runs, for the picture; the JSON output has the two lists above."""


class CheckRecord(Record):
    """One check of the next start, in the engine's order."""

    name: str
    outcome: Literal["passes", "fails", "cannot tell"]
    why: str


class WhatIf(Record):
    """The answer to a question about changed settings or another amount of free memory; amounts are bytes, `free` is raw.

    `free` and `total` are None where a log alone is asked, and its own figures hold.
    """

    changes: list[str] = []
    free: int | None = None
    total: int | None = None
    profile: str | None = None
    budget: int | None = None
    utilization: float | None = None
    expected: Expected
    spare_at_least: int | None = None
    spare_at_most: int | None = None
    reasons: list[str] = []
    checks: list[CheckRecord] = []
    checked_by: str = ""
    """The run whose figures the checks are made with."""


class ItemChange(Record):
    """One item of the ledger in two runs; `grew` is what the second has more."""

    rank: str
    item: str
    before: SizeRecord
    after: SizeRecord
    grew: SizeRecord


class ArgumentDifference(Record):
    """An argument in two runs, as written; "not set" where a run does not have it."""

    name: str
    before: str
    after: str


class ComparisonRecord(Record):
    """Two runs of one engine, named by their ids: what differs for certain, and how many items are the same within their rounding."""

    before: str
    after: str
    items: list[ItemChange] = []
    same: int = 0
    arguments: list[ArgumentDifference] = []
    others: list[str] = []
    """Names of further arguments that differ."""
    releases: list[str] = []
    """What the two releases do differently."""
    arena: int | None = None
    """The pinned KV arena, in bytes, with which the run that failed starts as surely as the other."""


class FactRecord(Record):
    kind: str
    input: str
    line: int
    run: str | None
    rank: str | None
    fields: dict[str, Any]


class UnknownLine(Record):
    line: int
    text: str


class Tool(Record):
    name: str
    version: str


class Abstention(Record):
    """A rule that could not be judged, what it lacked, and how to have it logged."""

    rule: str
    missing: list[str]
    how_to_get: str = ""


class Analysis(Record):
    """The whole result. `model_dump_json()` is the JSON output; excluded fields serve the pages people read."""

    schema_version: Literal["1"] = "1"
    tool: Tool
    inputs: list[InputRecord]
    verdict: Verdict
    runs: list[RunRecord] = []
    findings: list[Finding] = []
    patches: list[Patch] = []
    ladder: list[LadderRecord] = []
    facts: list[FactRecord] = []
    unknown_lines: list[UnknownLine] = []
    file_diffs: list[str] = Field(default=[], exclude=True)
    """One diff for each settings file, with all its patches together."""
    abstentions: list[Abstention] = Field(default=[], exclude=True)
    what_if: WhatIf | None = Field(default=None, exclude=True)
    selection_map: MapRecord | None = Field(default=None, exclude=True)
    comparison: ComparisonRecord | None = Field(default=None, exclude=True)
    """Of exactly two runs of one engine."""
    not_logged: list[str] = Field(default=[], exclude=True)
    understood: bool = Field(default=True, exclude=True)
    """False when no engine start, failure or serving was recognised in any input (exit code 3)."""
