"""Which of vLLM's two engines ran, from what its log shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from packaging.version import Version

from analyzer.engines.vllm_generation import (
    OF_FIELD,
    Generation,
    generation_of_frame,
    generation_of_process,
    generation_of_record,
    generation_of_release,
)
from analyzer.facts.fact import Fact

BANNERS = ("engine_config", "crash_config_dump")
"""Messages that spell the generation out, "V1 LLM engine", from 0.7.1 on."""
FRAME = "traceback_frame"


def generation_of(facts: Sequence[Fact], version: Version | None) -> Generation | None:
    """By the release where it has one engine only, then by the banner, then by messages, processes and source files of one of them.

    None when nothing tells, or when those contradict each other.
    """
    alone = generation_of_release(version)
    if alone is not None:
        return alone
    spelled = {fact.text("generation") for fact in facts if fact.kind in BANNERS} & {"V0", "V1"}
    told = spelled or set(_hints(facts))
    return cast(Generation, told.pop()) if len(told) == 1 else None


def _hints(facts: Sequence[Fact]) -> Iterator[Generation]:
    processes = {fact.line.origin.process for fact in facts}
    records = {(fact.kind, fact.line.origin.place) for fact in facts}
    fields = {(fact.kind, name) for fact in facts for name in fact.fields} & OF_FIELD.keys()
    files = {str(fact.fields.get("file", "")) for fact in facts if fact.kind == FRAME}
    found = [
        *map(generation_of_process, processes),
        *(generation_of_record(kind, place) for kind, place in records),
        *(OF_FIELD[part] for part in fields),
        *map(generation_of_frame, files),
    ]
    yield from (generation for generation in found if generation is not None)
