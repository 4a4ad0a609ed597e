"""The phase that an engine is in after a message."""

import pytest

from analyzer.analysis import Phase
from analyzer.engines.phases import PHASES, PREPARED, SERVING, STARTED, order, phase_after, phase_of_event


@pytest.mark.parametrize(
    ("kind", "method", "phase"),
    [
        ("weights_load_start", None, "load_weights"),
        ("available_kv_memory", None, "kv_alloc"),
        ("worker_exception", None, None),
        ("worker_exception", "determine_num_available_blocks", "profile"),
        ("worker_exception", "load_model", "load_weights"),
        ("worker_exception", "start_worker_execution_loop", "serve"),
        ("worker_exception", "some_other_method", None),
        ("torch_oom", None, None),
        ("offline_progress", None, "serve"),
    ],
)
def test_the_phase_after_a_message(kind: str, method: str | None, phase: str | None) -> None:
    assert phase_after(kind, method) == phase


def test_the_last_step_of_a_start_comes_before_serving() -> None:
    assert {phase_after(kind) for kind in PREPARED} == {"graph_capture"}
    assert {phase_after(kind) for kind in SERVING - {"startup_memory_summary"}} == {"serve"}


def test_the_summary_of_memory_is_the_end_of_a_start_but_for_the_sampler() -> None:
    assert phase_after("startup_memory_summary") == "warmup"
    assert "startup_memory_summary" in SERVING


def test_a_bar_that_is_not_full_is_no_sign_of_life() -> None:
    """It is drawn once more when the program ends, also by an error."""
    assert "offline_done" in STARTED
    assert "offline_progress" not in STARTED


@pytest.mark.parametrize(
    ("kind", "reached", "phase"),
    [
        ("torch_oom", "args", None),
        ("torch_oom", "init", "init"),
        ("torch_oom", None, None),
        ("illegal_memory_access", "args", None),
        ("bfloat16_unsupported", "args", "args"),
    ],
)
def test_arguments_take_no_device_memory(kind: str, reached: Phase | None, phase: Phase | None) -> None:
    assert phase_of_event(kind, reached) == phase


def test_the_order_of_phases() -> None:
    assert [order(phase) for phase in PHASES] == list(range(len(PHASES)))
    assert order(None) == -1
