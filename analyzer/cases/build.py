"""Facts -> runs with their arguments, ranks, ledgers and events."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from analyzer.analysis import Outcome, Phase
from analyzer.cases.events import build_events
from analyzer.cases.generation import generation_of
from analyzer.cases.ledger import build_ledger
from analyzer.cases.model import Choice, Engine, Rank, Run
from analyzer.cases.ranks import by_rank
from analyzer.cases.records import HEAD, with_ranks
from analyzer.cases.runs import ENGINES, split_runs
from analyzer.engines.phases import PHASE_AFTER, SERVING, STARTED, order
from analyzer.engines.release import release
from analyzer.engines.sites import engine_of_file
from analyzer.facts.fact import Fact
from analyzer.units import Size

LOOSE_FLAGS = "flags"
"""Flags without a command. Over several lines, continued by backslashes, they are a command whose beginning was not pasted; else a note."""
ARGUMENT_DUMPS = (
    "engine_config",
    "command_line",
    "selector_args",
    "args_namespace",
    "non_default_args",
    "server_args_fragment",
    "server_args",
)
"""Where arguments are printed; a later entry knows better than an earlier one."""
RENAMED = {
    "device_memory_utilization": "gpu_memory_utilization",  # vLLM 0.31.0 -, on the command line
    "max_seq_len": "max_model_len",  # in the engine's own configuration dump
}
"""Other names of arguments."""
VLLM_PROCESS = re.compile(r"(APIServer|ApiServer|DPCoordinator|EngineCore|VllmWorker|RayWorkerVllm)")
"""Names of processes that only vLLM prints."""
SGLANG_PROCESS = re.compile(r"SGLang")
"""Names of processes in which Ray runs SGLang; torch_memory_saver is SGLang's way of releasing memory, too."""
VLLM_RECORD = "vllm_record"
"""The prefix of vLLM's logger, with level, day, time and source file."""
VERSIONS = ("engine_config", "engine_version", "api_server_version", "api_server_logo")


def build_runs(source: str, facts: Sequence[Fact], failing: frozenset[str]) -> list[Run]:
    """The runs of one document."""
    return [_run(f"{source}#{number}", source, part) for number, part in enumerate(split_runs(list(with_ranks(facts)), failing), 1)]


def _run(identity: str, source: str, facts: Sequence[Fact]) -> Run:
    engine = engine_of(facts)
    args = arguments(facts)
    utilization = args.get("gpu_memory_utilization")
    version_text = next((text for kind in VERSIONS for fact in facts if fact.kind == kind and (text := fact.text("version"))), None)
    own_pids = frozenset(fact.line.origin.pid for fact in facts if fact.line.origin.pid is not None)
    ranks = []
    for name, own in by_rank(facts).items():
        ledger = build_ledger(own, engine, float(utilization) if isinstance(utilization, (int, float)) else None, own_pids)
        if ledger:
            ranks.append(Rank(name, _pid(own), _device(own), ledger, own))
    return Run(
        id=identity,
        source=source,
        engine=engine,
        version_text=version_text,
        args=args,
        choice=choice_of(facts),
        ranks=tuple(ranks),
        events=tuple(build_events(facts)),
        facts=tuple(facts),
        phase=reached(facts),
        outcome=_outcome(facts),
        head_cut=engine is not None and not any(fact.kind in ARGUMENT_DUMPS for fact in facts),
        generation=generation_of(facts, release(version_text)) if engine == "vllm" else None,
    )


def engine_of(facts: Sequence[Fact]) -> Engine | None:
    """The engine whose messages are the most; also told by paths in tracebacks and names of processes. None when nothing tells.

    SGLang calls vLLM's code in many releases (layers, custom operators), vLLM never calls SGLang's: beside a frame of SGLang, one of vLLM
    tells nothing.
    """
    votes = dict.fromkeys(ENGINES, 0)
    frames = [engine_of_file(str(fact.fields.get("file", ""))) for fact in facts if fact.kind == "traceback_frame"]
    votes["sglang"] += frames.count("sglang")
    votes["vllm"] += frames.count("vllm") if "sglang" not in frames else 0
    for fact in facts:
        if fact.family in votes:
            votes[fact.family] += 2
        elif fact.kind == "command_line" and fact.fields.get("engine") in votes:
            votes[str(fact.fields["engine"])] += 2
        elif VLLM_PROCESS.match(fact.line.origin.process) or fact.kind.startswith("selector_"):
            votes["vllm"] += 1
        elif SGLANG_PROCESS.match(fact.line.origin.process) or fact.kind.startswith("memory_saver_"):
            votes["sglang"] += 1
    best = max(votes, key=lambda engine: votes[engine])
    return cast(Engine, best) if votes[best] else _engine_of_records(facts)


def _engine_of_records(facts: Sequence[Fact]) -> Engine | None:
    """The engine in whose format the loggers wrote: weaker than any message, since old SGLang also logs through vLLM's modules."""
    for fact in facts:
        if VLLM_RECORD in fact.line.wrappers:
            return "vllm"
        if fact.line.origin.rank and any(name.startswith(HEAD) for name in fact.line.wrappers):
            return "sglang"
    return None


def arguments(facts: Sequence[Fact]) -> dict[str, Any]:
    """The engine arguments that the log shows, in snake_case."""
    merged: dict[str, Any] = {}
    rest_of_command = [fact for fact in facts if fact.kind == LOOSE_FLAGS and fact.last_line > fact.line.number]
    for fact in [*rest_of_command, *(fact for kind in ARGUMENT_DUMPS for fact in facts if fact.kind == kind)]:
        dump: Mapping[str, Any] = fact.mapping("args")
        merged.update({RENAMED.get(name := key.lstrip("-").replace("-", "_"), name): value for key, value in dump.items()})
    return merged


def choice_of(facts: Sequence[Fact]) -> Choice:
    """What the profile selector said."""
    forced = next((fact for fact in facts if fact.kind == "selector_forced"), None)
    chosen = next((fact for fact in facts if fact.kind == "selector_choice"), None)
    clamp = next((fact for fact in facts if fact.kind == "selector_clamp"), None)
    dumped = any(fact.kind in ("command_line", "non_default_args", "args_namespace", "server_args") for fact in facts)
    if forced is not None:
        return Choice(profile=forced.text("profile"), path="forced")
    if chosen is None:
        return Choice(path="flags" if dumped else "unknown")
    available = chosen.fields.get("available")
    sizes = [size for size in (available if isinstance(available, list) else [available]) if isinstance(size, Size)]
    return Choice(
        profile=chosen.text("profile"),
        path="selected",
        rejected=tuple(str(name) for name in chosen.many("rejected")),
        available=sizes[-1] if sizes else None,
        free=clamp.size("free") if clamp else None,
        total=clamp.size("total") if clamp else None,
        utilization_asked=clamp.number("asked") if clamp else None,
        utilization_clamped=clamp.number("clamped") if clamp else None,
    )


def reached(facts: Sequence[Fact]) -> Phase | None:
    """The furthest phase of a run."""
    phases = [phase for fact in facts if (phase := PHASE_AFTER.get(fact.kind))]
    return max(phases, key=order) if phases else None


def _outcome(facts: Sequence[Fact]) -> Outcome:
    """Served, if a message tells so or the last of the graphs are captured."""
    last_begun = max((fact.line.number for fact in facts if fact.kind == "capture_graph_begin"), default=0)
    started = (
        fact.kind in SERVING or (fact.kind in STARTED and fact.line.number >= last_begun) for fact in facts if not is_server_error(fact)
    )
    return "served" if any(started) else "unknown"


FRONT_END = frozenset(
    {
        "/get_model_info",
        "/get_server_info",
        "/metrics",
        "/metrics/",
        "/model_info",
        "/openapi.json",
        "/server_info",
        "/v1/models",
        "/version",
    }
)
"""What the HTTP server answers by itself: it outlives the processes that compute (SGLang sglang/srt/entrypoints/http_server.py)."""


def is_front_end(fact: Fact) -> bool:
    """An access line that proves nothing of the engine behind the HTTP server."""
    return fact.kind == "http_access" and str(fact.fields.get("path", "")).partition("?")[0] in FRONT_END


def is_server_error(fact: Fact) -> bool:
    """An access line with a 5xx status: the front end lives, the request failed."""
    status = fact.fields.get("status")
    return fact.kind == "http_access" and isinstance(status, int) and status >= 500


def _pid(facts: Sequence[Fact]) -> int | None:
    return next((fact.line.origin.pid for fact in facts if fact.line.origin.pid is not None), None)


def _device(facts: Sequence[Fact]) -> str | None:
    for fact in facts:
        gpu = fact.fields.get("gpu", fact.fields.get("device"))
        if isinstance(gpu, int):
            return f"GPU {gpu}"
        if isinstance(gpu, str) and (":" in gpu or gpu.isdigit()):
            return gpu if ":" in gpu else f"GPU {gpu}"
    return None
