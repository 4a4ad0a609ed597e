"""What came before, beside and after a message."""

from __future__ import annotations

from analyzer.cases.course import course_of
from analyzer.facts.extract import extract_facts
from analyzer.facts.fact import Fact
from analyzer.grammar import load_grammars
from analyzer.inputs.document import Document

LOADED = "INFO 07-01 10:00:02 [gpu_model_runner.py:4118] Model loading took 16.44 GiB memory and 10.1 seconds"
READY = "INFO:     Application startup complete."
ERROR = "RuntimeError: CUDA error: an illegal memory access was encountered"
FAILED_REQUEST = 'INFO:     10.0.0.2:48276 - "POST /v1/completions HTTP/1.1" 500 Internal Server Error'


def _facts(*lines: str) -> list[Fact]:
    grammars = load_grammars()
    return extract_facts(Document("crash.log", "\n".join(lines).encode(), grammars.prefixes), grammars).facts


def _access(facts: list[Fact]) -> Fact:
    return next(fact for fact in facts if fact.kind == "illegal_memory_access")


def test_what_clients_hear_of_a_death_is_no_progress() -> None:
    facts = _facts(LOADED, ERROR, "Request r-1 failed (engine dead)")
    assert [fact.kind for fact in facts][-1] == "request_failed_engine_dead"
    assert not course_of(facts).went_on(_access(facts))


def test_kinds_before_after_and_beside() -> None:
    facts = _facts(LOADED, ERROR, READY)
    course = course_of(facts)
    error = _access(facts)
    assert course.kinds_before(error) == {"weights_memory"}
    assert course.kinds_beside(error) == {"exception"}
    assert course.kinds_after(error) == {"application_ready"}


def test_a_message_that_takes_in_further_lines_is_beside_what_stands_there() -> None:
    facts = _facts("torch.OutOfMemoryError: CUDA out of memory.", "Tried to allocate 3.48 GiB. GPU 0 has a total capacity of 95.59 GiB")
    oom = next(fact for fact in facts if fact.kind == "torch_oom")
    assert oom.last_line == 2
    assert course_of(facts).kinds_beside(oom) == {"exception"}


def test_serving_afterwards_is_going_on() -> None:
    facts = _facts(LOADED, ERROR, READY)
    assert course_of(facts).alive_after(_access(facts))
    assert course_of(facts).went_on(_access(facts))


def test_a_later_phase_is_going_on_but_not_serving() -> None:
    facts = _facts(ERROR, LOADED)
    assert course_of(facts).went_on(_access(facts))
    assert not course_of(facts).alive_after(_access(facts))


def test_a_command_quoted_below_the_log_is_not_going_on() -> None:
    facts = _facts(ERROR, "", "### Reproduction", "python3 -m sglang.launch_server --model-path /models/served --tp 8 --port 30000")
    assert "command_line" in {fact.kind for fact in facts}
    assert not course_of(facts).went_on(_access(facts))


def test_nothing_after_it_is_not_going_on() -> None:
    facts = _facts(LOADED, READY, ERROR)
    assert not course_of(facts).went_on(_access(facts))


def test_a_server_error_is_no_sign_of_life() -> None:
    facts = _facts(LOADED, ERROR, FAILED_REQUEST)
    assert not course_of(facts).went_on(_access(facts))


def test_the_same_phase_again_is_not_going_on() -> None:
    facts = _facts(LOADED, ERROR, LOADED)
    assert not course_of(facts).went_on(_access(facts))


def test_a_bar_that_is_flushed_below_a_death_is_no_progress() -> None:
    died = ("[2025-01-20 19:10:07 TP0] Scheduler hit an exception: Traceback (most recent call last):", ERROR)
    unfinished, finished = (
        f"Loading pt checkpoint shards: {percent}% Completed | {done}/2 [00:01<00:01,  1.10s/it]" for percent, done in ((50, 1), (100, 2))
    )
    for bar, expected in ((unfinished, False), (finished, True)):
        facts = _facts(*died, bar)
        assert course_of(facts).went_on(_access(facts)) is expected
