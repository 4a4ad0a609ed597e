"""Which worker a figure belongs to."""

import pytest

from analyzer.cases.ranks import by_rank, has_workers, rank_name
from analyzer.inputs.lines import Origin
from tests.cases.making import API_SERVER, engine_core, made, sglang, vllm_worker


@pytest.mark.parametrize(
    ("origin", "workers", "name"),
    [
        (Origin(), False, "TP0"),
        (sglang("TP3"), False, "TP3"),
        (sglang("DP1 TP3 EP3"), False, "DP1 TP3 EP3"),
        (Origin(gpu=2), False, "TP2"),
        (engine_core(), False, "TP0"),
        (engine_core("DP0"), False, "TP0"),
        (engine_core("DP1"), False, "DP1"),
        (engine_core(), True, None),
        (engine_core("DP1"), True, None),
        (API_SERVER, False, None),
        (API_SERVER, True, None),
        (Origin(process="ApiServer", pid=1), False, None),
        (Origin(process="TaskRunner", pid=1), False, None),
        (vllm_worker("TP3"), True, "TP3"),
        (vllm_worker("DP1 TP3"), True, "DP1 TP3"),
        (vllm_worker("", 555), True, "pid 555"),
        (Origin(process="VllmWorker", pid=5, gpu=4), True, "TP4"),
        (Origin(process="VllmWorkerProcess", pid=5), True, "pid 5"),
        (Origin(process="RayWorkerWrapper", pid=650, host="10.0.0.1"), True, "pid 650"),
        (Origin(process="WorkerDict", pid=650), True, "pid 650"),
        (Origin(pid=4182), False, "pid 4182"),
        (Origin(), True, None),
    ],
)
def test_the_name_of_a_rank(origin: Origin, workers: bool, name: str | None):
    assert rank_name(made("weights_memory", origin=origin), workers) == name


def test_the_lines_of_a_worker_without_a_head_are_known_by_their_device():
    assert rank_name(made("torch_oom", gpu=3), workers=True) == "TP3"
    assert rank_name(made("torch_oom", gpu=3), workers=False) == "TP0"


def test_an_engine_has_workers_when_one_of_them_prints():
    assert has_workers([made("a", origin=engine_core()), made("b", origin=vllm_worker("TP0"))])
    assert not has_workers([made("a", origin=engine_core()), made("b", origin=API_SERVER), made("c", origin=sglang("TP0"))])


def test_figures_of_different_ranks_are_never_mixed():
    facts = [
        made("engine_config", 1, origin=engine_core()),
        made("weights_memory", 2, origin=vllm_worker("TP0", 100)),
        made("weights_memory", 3, origin=vllm_worker("TP1", 101)),
        made("available_kv_memory", 4, origin=vllm_worker("TP1", 101)),
        made("torch_oom", 5, gpu=1),
        made("engine_failed", 6, origin=engine_core()),
        made("server_died", 7, origin=API_SERVER),
        made("exception", 8),
    ]
    found = {name: [fact.line.number for fact in own] for name, own in by_rank(facts).items()}
    assert found == {"TP0": [2], "TP1": [3, 4, 5]}


def test_one_worker_is_one_rank():
    facts = [made("weights_memory", 1, origin=engine_core("DP0")), made("torch_oom", 2, origin=engine_core("DP0")), made("exception", 3)]
    assert {name: len(own) for name, own in by_rank(facts).items()} == {"TP0": 3}


def test_the_engine_process_of_v0_is_the_first_rank():
    worker = Origin(process="VllmWorkerProcess", pid=90)
    facts = [made("profiling_result_v0", 1), made("graph_captured", 2, origin=worker), made("torch_oom", 3, gpu=2)]
    assert {name: [fact.line.number for fact in own] for name, own in by_rank(facts).items()} == {"TP0": [1], "pid 90": [2], "TP2": [3]}


def test_beside_workers_of_v1_a_line_without_a_head_is_nobodys():
    facts = [made("graph_captured", 1), made("graph_captured", 2, origin=vllm_worker("TP0"))]
    assert {name: [fact.line.number for fact in own] for name, own in by_rank(facts).items()} == {"TP0": [2]}
