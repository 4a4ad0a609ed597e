"""Which worker process a fact belongs to. Figures of different ranks are never mixed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analyzer.facts.fact import Fact

ONLY_RANK = "TP0"
"""Name of the rank of an engine that runs in one worker and therefore prints none."""
FRONT_END = re.compile(r"^(APIServer|ApiServer|DPSupervisor|MainProcess|TaskRunner|main_task)")
WORKER = re.compile(r"^(Worker|VllmWorker|Ray|SGLangHttpServer|.*Worker\w*$)")

BESIDE_DRIVER = "VllmWorkerProcess"
"""Workers of vLLM's V0 (0.4.2 - 0.10.2): its engine process, which names itself nowhere, is the first rank itself."""


def has_workers(facts: Sequence[Fact]) -> bool:
    """Whether worker processes of their own print in this run; then the engine core holds no device memory itself."""
    return any(WORKER.match(fact.line.origin.process) for fact in facts)


def rank_name(fact: Fact, workers: bool) -> str | None:
    """The rank a fact belongs to; None for facts of the whole run (front end, engine core beside workers).

    Beside workers a line without any head may be anybody's (vLLM from 0.31.0 on puts none before a raw traceback); only the device that
    its text names tells.
    """
    origin = fact.line.origin
    if FRONT_END.match(origin.process):
        return None
    if WORKER.match(origin.process):
        return origin.rank or (f"TP{origin.gpu}" if origin.gpu is not None else f"pid {origin.pid}")
    if origin.process:
        return None if workers else _single(origin.rank)
    if origin.rank:
        return origin.rank
    device = fact.fields.get("gpu") if workers and origin.gpu is None else origin.gpu
    if isinstance(device, int):
        return f"TP{device}"
    return f"pid {origin.pid}" if origin.pid is not None else None if workers else ONLY_RANK


def _single(rank: str) -> str:
    """vLLM 0.10.2 - 0.17.1 calls a lone engine core DP0."""
    return ONLY_RANK if rank in ("", "DP0") else rank


def by_rank(facts: Sequence[Fact]) -> dict[str, list[Fact]]:
    """The facts of each rank, in order of lines; facts of the whole run are in none of them."""
    workers = has_workers(facts)
    of_workers = {process for process in {fact.line.origin.process for fact in facts} if WORKER.match(process)}
    nameless = ONLY_RANK if of_workers == {BESIDE_DRIVER} else None
    found: dict[str, list[Fact]] = {}
    for fact in facts:
        name = rank_name(fact, workers) or (nameless if not fact.line.origin.process else None)
        if name is not None:
            found.setdefault(name, []).append(fact)
    return found
