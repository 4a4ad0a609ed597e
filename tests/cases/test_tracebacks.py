"""Traceback frames become tracebacks, and each message finds the one it belongs to, also in a paste that cut or reversed it."""

import pytest

from analyzer.cases.events import CUT_TRACEBACK, build_events
from analyzer.cases.tracebacks import MOST_LINES_BETWEEN_FRAMES, frames_around, tracebacks
from analyzer.engines.sites import Frame
from analyzer.facts.fact import Fact
from analyzer.inputs.lines import Origin
from tests.cases.making import frame, made, vllm_worker

CORE, RUNNER, SAMPLER = (
    ("vllm/v1/engine/core.py", "_initialize_kv_caches"),
    ("vllm/v1/worker/gpu_model_runner.py", "_dummy_sampler_run"),
    ("vllm/v1/sample/sampler.py", "forward"),
)


def trace(first: int, *frames: tuple[str, str], origin: Origin | None = None) -> list[Fact]:
    """Frames on every second line, source lines between them."""
    return [frame(first + 2 * index, file, function, origin) for index, (file, function) in enumerate(frames)]


def as_frames(*frames: tuple[str, str]) -> tuple[Frame, ...]:
    return tuple(Frame(file, function) for file, function in frames)


def test_frames_one_after_the_other_are_one_traceback():
    facts = trace(10, CORE, RUNNER, SAMPLER)
    (found,) = tracebacks(facts)
    assert found.frames == as_frames(CORE, RUNNER, SAMPLER)
    assert (found.first.line.number, found.last.line.number) == (10, 14)


def test_a_notebook_names_the_class_before_the_function():
    (found,) = tracebacks([frame(10, "vllm/v1/worker/gpu_model_runner.py", "GPUModelRunner.profile_run")])
    assert found.frames == (Frame("vllm/v1/worker/gpu_model_runner.py", "profile_run"),)


@pytest.mark.parametrize("kind", ["exception", "during_handling", "direct_cause", "traceback_start"])
def test_what_ends_a_traceback(kind: str):
    facts = [*trace(10, CORE), made(kind, 12), *trace(14, RUNNER)]
    assert [found.frames for found in tracebacks(facts)] == [as_frames(CORE), as_frames(RUNNER)]


def test_a_gap_ends_a_traceback():
    near, far = trace(10, CORE, RUNNER), trace(12 + MOST_LINES_BETWEEN_FRAMES + 1, SAMPLER)
    assert [found.frames for found in tracebacks([*near, *far])] == [as_frames(CORE, RUNNER), as_frames(SAMPLER)]


def test_tracebacks_of_two_workers_that_print_at_once():
    one, other = vllm_worker("TP0", 100), vllm_worker("TP1", 101)
    facts = sorted([*trace(10, CORE, RUNNER, origin=one), *trace(11, CORE, SAMPLER, origin=other)], key=lambda fact: fact.line.number)
    facts.insert(2, made("exception", 12, origin=Origin(process="APIServer")))
    assert [found.frames for found in tracebacks(facts)] == [as_frames(CORE, RUNNER), as_frames(CORE, SAMPLER)]


def test_a_message_takes_the_traceback_that_ends_before_it():
    oom = made("torch_oom", 16)
    facts = [*trace(10, CORE, RUNNER, SAMPLER), oom, made("traceback_start", 18), *trace(20, CORE)]
    assert frames_around(oom, tracebacks(facts)) == as_frames(CORE, RUNNER, SAMPLER)


def test_a_message_in_a_record_of_its_own_process_only():
    oom = made("torch_oom", 16, origin=vllm_worker("TP1", 101))
    facts = [*trace(10, CORE, origin=vllm_worker("TP0", 100)), oom]
    assert frames_around(oom, tracebacks(facts)) == ()


def test_in_a_reversed_paste_the_traceback_follows():
    oom = made("torch_oom", 10)
    facts = [oom, *trace(12, CORE, RUNNER)]
    assert frames_around(oom, tracebacks(facts)) == as_frames(CORE, RUNNER)
    far = [oom, *trace(100, CORE, RUNNER)]
    assert frames_around(oom, tracebacks(far)) == ()


def test_a_message_far_behind_a_traceback_has_none():
    oom = made("torch_oom", 14 + MOST_LINES_BETWEEN_FRAMES + 1)
    assert frames_around(oom, tracebacks([*trace(10, CORE, RUNNER, SAMPLER), oom])) == ()


def test_an_event_knows_the_code_it_came_from():
    oom = made("torch_oom", 16, gpu=0)
    (event,) = [event for event in build_events([*trace(10, CORE, RUNNER, SAMPLER), oom]) if event.kind == "torch_oom"]
    assert event.frames == as_frames(CORE, RUNNER, SAMPLER)
    assert event.site == "sampler"
    assert event.sites == ("sampler",)


def test_copies_of_a_message_are_one_event():
    copies = [made("torch_oom", number, gpu=0, tried="2.00 GiB", free="1.00 GiB") for number in (10, 20, 30)]
    others = [
        made("torch_oom", 40, gpu=1, tried="2.00 GiB", free="1.00 GiB"),
        made("torch_oom", 50, gpu=0, tried="3.00 GiB", free="1.00 GiB"),
    ]
    events = build_events([*copies, *others])
    assert [(event.fact.line.number, event.count) for event in events] == [(10, 3), (40, 1), (50, 1)]


def test_a_traceback_cut_before_its_message_is_an_event_of_its_own():
    facts = trace(10, CORE, RUNNER, SAMPLER)
    (event,) = build_events(facts)
    assert (event.kind, event.fact.cut, event.site) == (CUT_TRACEBACK, True, "sampler")
    assert event.fact.fields == {"functions": [function for _, function in (CORE, RUNNER, SAMPLER)]}
    assert event.fact.line.number == 14


@pytest.mark.parametrize(("head", "named"), [(8, True), (11, False), (10 - MOST_LINES_BETWEEN_FRAMES - 1, False)])
def test_a_notebook_names_the_exception_above_its_traceback(head: int, named: bool):
    facts = sorted([made("notebook_oom", head), *trace(10, RUNNER, SAMPLER)], key=lambda fact: fact.line.number)
    cut = [event for event in build_events(facts) if event.kind == CUT_TRACEBACK]
    assert all(event.fact.fields.get("out_of_memory", False) is named for event in cut)


@pytest.mark.parametrize(
    ("first", "method", "phase"),
    [
        ("worker_exception", "load_model", "load_weights"),
        ("worker_exception", "start_worker_execution_loop", "serve"),
        ("worker_exception", "some_other_method", None),
        ("worker_call_timed_out", "execute_model", None),
        ("serving_task_failed", None, "serve"),
    ],
)
def test_the_phase_of_what_a_log_without_its_beginning_starts_with(first: str, method: str | None, phase: str | None):
    oom = made("torch_oom", 10, gpu=0)
    told = made(first, 11, method=method)
    assert build_events([oom, told])[0].phase == phase
    assert build_events([made("weights_memory", 9), oom, told])[1].phase == "profile"


def test_a_command_quoted_below_a_traceback_is_not_its_message():
    facts = [*trace(10, CORE, RUNNER), made("command_line", 16, args={"tp": 8}), made("flags", 17), made("setting_noted", 18)]
    assert [event.kind for event in build_events(facts)] == [CUT_TRACEBACK, "command_line", "flags", "setting_noted"]


def test_a_traceback_with_its_message_is_not():
    facts = [*trace(10, CORE, RUNNER), made("exception", 14)]
    assert [event.kind for event in build_events(facts)] == ["exception"]


def test_messages_by_the_thousand_are_no_events():
    assert build_events([made("stats", number) for number in range(100)] + [made("decode_batch", 200)]) == []


def test_an_event_has_the_phase_the_run_had_reached():
    facts = [
        made("non_default_args", 1),
        made("torch_oom", 2, gpu=0),
        made("weights_load_start", 3),
        made("torch_oom", 4, gpu=1),
        made("server_ready", 5),
    ]
    assert [(event.kind, event.phase) for event in build_events(facts)] == [
        ("non_default_args", "args"),
        ("torch_oom", None),
        ("weights_load_start", "load_weights"),
        ("torch_oom", "load_weights"),
        ("server_ready", "serve"),
    ]
