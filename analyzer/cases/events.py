"""Facts of a run -> events: repeats counted once, each with the rank, the phase and the code it came from."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.analysis import Phase
from analyzer.cases.model import Event
from analyzer.cases.ranks import has_workers, rank_name
from analyzer.cases.tracebacks import FRAME, MOST_LINES_BETWEEN_FRAMES, Traceback, frames_around, tracebacks
from analyzer.engines.phases import FAILED_SERVING, order, phase_after, phase_of_event
from analyzer.engines.sites import Frame, phase_of, site_of, sites_of
from analyzer.facts.fact import Fact

NUMEROUS = frozenset(
    {FRAME, "decode_batch", "http_access", "prefill_batch", "request_logged", "shards_progress", "stats", "stats_iteration"}
)
"""Messages that come by the thousand and are no events by themselves."""
MOST_LINES_TO_PROGRESS = 20
LOADING = "load_weight_begin"
"""SGLang prints it once for each model that a worker loads."""
QUOTED = frozenset({"command_line", "flags", "setting_noted"})
"""What people quote of their settings, often right below the log."""
CUT_TRACEBACK = "traceback"
"""Kind of the event made from a traceback whose last line, the exception, is not in the log."""
FAILED_WORKER = "worker_exception"
NOTEBOOK_HEAD = "notebook_oom"
"""A notebook names the exception above its traceback also."""


def build_events(facts: Sequence[Fact]) -> list[Event]:
    """The events of one run, in order of lines."""
    traces = tracebacks(facts)
    workers = has_workers(facts)
    phases = _phase_at_each(facts, workers)
    groups: dict[tuple[object, ...], list[Fact]] = {}
    for fact in facts:
        if fact.kind not in NUMEROUS:
            groups.setdefault((fact.kind, _signature(fact)), []).append(fact)
    events = [
        _event(repeats[0], repeats, rank_name(repeats[0], workers), phases[id(repeats[0])], frames_around(repeats[0], traces))
        for repeats in groups.values()
    ]
    heads = [fact for fact in facts if fact.kind == NOTEBOOK_HEAD]
    for trace in _cut_traces(facts, traces):
        cut = _cut(trace, heads)
        # where only a traceback is left, what the run had reached does not tell what the code was doing
        reached = phases[id(trace.first)] if phase_of(trace.frames) else None
        events.append(_event(cut, [cut], rank_name(trace.last, workers), reached, trace.frames))
    return sorted(events, key=lambda event: (event.fact.line.source, event.fact.line.number))


def _event(fact: Fact, repeats: Sequence[Fact], rank: str | None, reached: Phase | None, frames: Sequence[Frame]) -> Event:
    phase = phase_of_event(fact.kind, _phase(frames, reached))
    return Event(fact.kind, fact, tuple(repeats), rank, phase, tuple(frames), site_of(frames), tuple(sites_of(frames)))


def _phase(frames: Sequence[Frame], reached: Phase | None) -> Phase | None:
    """The phase of the code, else the one reached. vLLM's warm-up function also captures graphs: there the messages know better."""
    from_code = phase_of(frames)
    return "graph_capture" if from_code == "warmup" and reached == "graph_capture" else from_code or reached


IDENTITY = {"torch_oom": ("gpu", "tried", "free", "allocated", "reserved_unallocated")}
"""The fields by which copies of a message are told from another event of its kind; all of them, unless stated."""


def _signature(fact: Fact) -> str:
    names = IDENTITY.get(fact.kind, tuple(fact.fields))
    return repr(sorted((name, str(fact.fields.get(name))) for name in names))


def _phase_at_each(facts: Sequence[Fact], workers: bool) -> dict[int, Phase | None]:
    """The phase that the run had reached when each fact was printed. Loading once more before it serves is the draft model."""
    reached = _phase_at_beginning(facts)
    phases: dict[int, Phase | None] = {}
    loading: set[str | None] = set()
    for position, fact in enumerate(facts):
        phase = phase_after(fact.kind, fact.fields.get("method"))
        name = rank_name(fact, workers) if fact.kind == LOADING else None
        again = fact.kind == LOADING and name in loading and order(reached) < order("serve")
        if phase is not None and (order(phase) > order(reached) or again):
            reached = phase
        if fact.kind == LOADING:
            loading.add(name)
        phases[id(fact)] = "load_weights" if order(reached) < order("load_weights") and _still_loading(fact, facts[position:]) else reached
    return phases


def _phase_at_beginning(facts: Sequence[Fact]) -> Phase | None:
    """The phase of a log without its beginning, where the first message that tells one is of a death: clients hear only of a server's,
    and a worker names the method in which it failed, as all ranks did."""
    telling = (fact for fact in facts if fact.kind in FAILED_SERVING or phase_after(fact.kind, fact.fields.get("method")) is not None)
    first = next(telling, None)
    if first is not None and first.kind == FAILED_WORKER:
        return phase_after(first.kind, first.fields.get("method"))
    return "serve" if first is not None and first.kind in FAILED_SERVING else None


def _still_loading(fact: Fact, later: Sequence[Fact]) -> bool:
    """Whether an unfinished progress bar of the weights follows closely: bars are flushed after what happened under them."""
    near = (entry for entry in later if entry.line.number - fact.line.number <= MOST_LINES_TO_PROGRESS)
    return any(entry.kind == "shards_progress" and entry.fields.get("done", 0) < entry.fields.get("total", 0) for entry in near)


def _cut(trace: Traceback, heads: Sequence[Fact]) -> Fact:
    first = trace.first.line
    named = any(
        head.line.origin.stream == first.origin.stream and 0 < first.number - head.line.number <= MOST_LINES_BETWEEN_FRAMES
        for head in heads
    )
    fields = {"functions": [frame.function for frame in trace.frames], **({"out_of_memory": True} if named else {})}
    return Fact(CUT_TRACEBACK, trace.last.line, fields, cut=True, last_line=trace.last.last_line)


def _cut_traces(facts: Sequence[Fact], traces: Sequence[Traceback]) -> list[Traceback]:
    """Tracebacks that no message of their own process follows or precedes closely. A quoted command is none."""
    messages = [fact for fact in facts if fact.kind != FRAME and fact.kind not in QUOTED]

    def has_message(trace: Traceback) -> bool:
        return any(
            fact.line.origin.stream == trace.last.line.origin.stream
            and 0 <= fact.line.number - trace.last.line.number <= MOST_LINES_BETWEEN_FRAMES
            for fact in messages
        )

    return [trace for trace in traces if not has_message(trace)]
