"""One document, one or several lives of an engine."""

import pytest

from analyzer.cases.runs import split_runs
from analyzer.facts.fact import Fact
from analyzer.inputs.lines import Origin
from tests.cases.making import API_SERVER, engine_core, made, sglang, vllm_worker

FAILING = frozenset({"torch_oom", "kv_not_enough", "free_memory_below_utilization"})


def kinds(runs: list[list[Fact]]) -> list[list[str]]:
    return [[fact.kind for fact in run] for run in runs]


def life(first: int = 1, *, oom: bool = False) -> list[Fact]:
    """A vLLM server from its arguments on."""
    told = [
        ("engine_version", API_SERVER),
        ("non_default_args", API_SERVER),
        ("engine_config", engine_core()),
        ("weights_load_start", engine_core()),
        ("weights_memory", engine_core()),
        ("torch_oom", engine_core()) if oom else ("available_kv_memory", engine_core()),
    ]
    return [made(kind, number, family="vllm", origin=origin) for number, (kind, origin) in enumerate(told, first)]


def test_nothing_is_no_run():
    assert split_runs([], FAILING) == []


def test_one_life_is_one_run():
    assert kinds(split_runs(life(), FAILING)) == [[fact.kind for fact in life()]]


@pytest.mark.parametrize("oom", [True, False], ids=["after a failure", "after an end that the log does not show"])
def test_a_restart_begins_with_its_banner(oom: bool):
    first, second = life(1, oom=oom), life(10)
    assert split_runs([*first, *second], FAILING) == [first, second]


def test_a_restart_after_a_life_that_lost_its_start():
    first = [made("torch_oom", 1)]
    assert split_runs([*first, *life(2)], FAILING) == [first, life(2)]


def test_a_command_quoted_below_a_failure_is_no_restart():
    facts = [made("torch_oom", 1), made("command_line", 2)]
    assert split_runs(facts, FAILING) == [facts]


def test_a_crash_loop():
    lives = [life(10 * number, oom=True) for number in range(5)]
    assert split_runs([fact for run in lives for fact in run], FAILING) == lives


def test_a_restart_after_a_failure_before_anything_was_loaded():
    first = [made("server_args", 1, family="sglang"), made("torch_oom", 2)]
    second = [made("server_args", 3, family="sglang"), made("load_weight_begin", 4, family="sglang")]
    assert split_runs([*first, *second], FAILING) == [first, second]


def test_arguments_printed_twice_before_anything_was_loaded_are_one_life():
    facts = [
        made("non_default_args", 1, family="vllm"),
        made("engine_config", 2, family="vllm"),
        made("non_default_args", 3, family="vllm"),
    ]
    assert split_runs(facts, FAILING) == [facts]


def test_data_parallel_engines_are_one_run():
    facts = [made("non_default_args", 1, family="vllm", origin=API_SERVER)]
    facts += [
        made("engine_config", 2, family="vllm", origin=engine_core("DP0", 90)),
        made("weights_memory", 3, family="vllm", origin=engine_core("DP0", 90)),
    ]
    facts += [
        made("engine_config", 4, family="vllm", origin=engine_core("DP1", 91)),
        made("weights_memory", 5, family="vllm", origin=engine_core("DP1", 91)),
    ]
    assert split_runs(facts, FAILING) == [facts]


def test_failures_of_several_ranks_are_one_run():
    facts = life()
    facts += [made("torch_oom", number, origin=vllm_worker(f"TP{number - 20}", number)) for number in range(20, 24)]
    assert split_runs(facts, FAILING) == [facts]


def test_another_engine_is_another_run():
    first = life(oom=True)
    second = [made("server_args", 20, family="sglang"), made("load_weight_begin", 21, family="sglang", origin=sglang("TP0"))]
    assert split_runs([*first, *second], FAILING) == [first, second]
    healthy = life()
    assert split_runs([*healthy, *second], FAILING) == [healthy, second]


def test_messages_that_no_engine_owns_stay_where_they_are():
    facts = [*life(), made("oom_kill", 20, family="system"), made("torch_oom", 21, family="allocator", origin=engine_core())]
    assert split_runs(facts, FAILING) == [facts]


def test_an_earlier_failure_after_a_later_one_is_another_life():
    first = [made("kv_not_enough", 1, family="sglang")]
    second = [made("free_memory_below_utilization", 2)]
    assert split_runs([*first, *second], FAILING) == [first, second]


def test_no_fact_is_lost():
    facts = [fact for number in range(3) for fact in life(10 * number, oom=True)] + [made("exception", 99, origin=Origin(gpu=3))]
    assert [fact for run in split_runs(facts, FAILING) for fact in run] == facts
