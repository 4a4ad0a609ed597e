"""From facts to runs: which engine, with which arguments, chosen how, and how far it came."""

from dataclasses import replace

import pytest

from analyzer.analysis import Outcome, Phase
from analyzer.cases.build import arguments, build_runs, choice_of, engine_of, reached
from analyzer.facts.fact import Fact
from analyzer.inputs.lines import Origin
from tests.cases.making import API_SERVER, engine_core, frame, gib, made, vllm_worker

FAILING = frozenset({"torch_oom"})


def record(wrapper: str, rank: str = "") -> Fact:
    """An allocator's message in the record of a logger."""
    fact = made("torch_oom", family="allocator", origin=Origin(rank=rank))
    return replace(fact, line=replace(fact.line, wrappers=(wrapper,)))


@pytest.mark.parametrize(
    ("facts", "engine"),
    [
        ([], None),
        ([made("torch_oom", family="allocator")], None),
        ([made("weights_memory", family="vllm")], "vllm"),
        ([made("load_weight_end", family="sglang")], "sglang"),
        ([made("load_weight_end", family="sglang"), made("weights_memory", family="vllm"), made("server_args", family="sglang")], "sglang"),
        ([frame(1, "/usr/lib/python3/site-packages/vllm/v1/engine/core.py", "run")], "vllm"),
        ([frame(1, "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", "run")], "sglang"),
        ([frame(1, "/usr/lib/python3/site-packages/torch/nn/modules/module.py", "forward")], None),
        (
            [
                frame(1, "/opt/venv/lib/python3.10/site-packages/sglang/srt/models/llama2.py", "__init__"),
                frame(3, "/opt/venv/lib/python3.10/site-packages/vllm/model_executor/layers/linear.py", "__init__"),
                frame(5, "/opt/venv/lib/python3.10/site-packages/vllm/model_executor/layers/linear.py", "create_weights"),
            ],
            "sglang",
        ),
        ([frame(1, "/opt/envs/sglang/lib/python3.12/site-packages/vllm/v1/engine/core.py", "run")], "vllm"),
        ([made("command_line", engine="sglang")], "sglang"),
        ([made("torch_oom", origin=engine_core())], "vllm"),
        ([made("selector_choice", profile="long")], "vllm"),
        ([record("vllm_record")], "vllm"),
        ([record("sglang", rank="TP0")], "sglang"),
        ([record("sglang")], None),
        ([record("vllm_record"), made("load_weight_end", family="sglang")], "sglang"),
    ],
)
def test_the_engine(facts: list[Fact], engine: str | None):
    assert engine_of(facts) == engine


def test_arguments_of_all_dumps_the_best_one_last():
    facts = [
        made("non_default_args", 3, args={"max-model-len": 4096, "--gpu-memory-utilization": 0.9, "model": "m"}),
        made("engine_config", 1, args={"max_seq_len": 131072, "dtype": "torch.bfloat16"}),
        made("weights_memory", 4, args={"model": "not a dump"}),
    ]
    assert arguments(facts) == {"max_model_len": 4096, "gpu_memory_utilization": 0.9, "model": "m", "dtype": "torch.bfloat16"}
    assert arguments([]) == {}
    assert arguments([made("engine_config")]) == {}
    assert arguments([made("command_line", args={"--device-memory-utilization": 0.8})]) == {"gpu_memory_utilization": 0.8}


def test_a_selected_profile():
    choice = choice_of(
        [
            made("selector_choice", profile="long_393k", rejected="raw_1010k", available="23.03 GiB", window=393_216),
            made("selector_clamp", profile="long_393k", asked=0.95, free="23.50 GiB", total="31.84 GiB", clamped=0.723),
        ]
    )
    assert (choice.path, choice.profile, choice.rejected) == ("selected", "long_393k", ("raw_1010k",))
    assert (choice.available, choice.free, choice.total) == (gib("23.03"), gib("23.50"), gib("31.84"))
    assert (choice.utilization_asked, choice.utilization_clamped) == (0.95, 0.723)


def test_of_several_rejections_the_last_budget_counts():
    choice = choice_of([made("selector_choice", profile="c", rejected=["a", "b"], available=[gib("23.04"), gib("23.03")])])
    assert choice.rejected == ("a", "b")
    assert choice.available == gib("23.03")


@pytest.mark.parametrize(
    ("facts", "path", "profile"),
    [
        ([made("selector_forced", profile="long_262k"), made("selector_choice", profile="other")], "forced", "long_262k"),
        ([made("non_default_args", args={})], "flags", None),
        ([made("server_args", args={})], "flags", None),
        ([made("engine_config", args={})], "unknown", None),
        ([], "unknown", None),
    ],
)
def test_other_ways_to_settings(facts: list[Fact], path: str, profile: str | None):
    assert (choice_of(facts).path, choice_of(facts).profile) == (path, profile)


@pytest.mark.parametrize(
    ("kinds", "phase"),
    [
        ([], None),
        (["torch_oom"], None),
        (["non_default_args"], "args"),
        (["non_default_args", "engine_config", "weights_load_start"], "load_weights"),
        (["weights_load_start", "engine_config"], "load_weights"),
        (["weights_memory", "available_kv_memory", "graph_captured", "server_ready"], "serve"),
    ],
)
def test_how_far_it_came(kinds: list[str], phase: Phase | None):
    assert reached([made(kind, number) for number, kind in enumerate(kinds)]) == phase


@pytest.mark.parametrize(
    ("facts", "outcome"),
    [
        ([made("weights_memory")], "unknown"),
        ([made("weights_memory"), made("server_ready", 2)], "served"),
        ([made("http_access", 2, status=200)], "served"),
        ([made("http_access", 2, status=500)], "unknown"),
        ([made("http_access", 2, status=500), made("http_access", 3, status=200)], "served"),
        ([made("preemption", 2)], "unknown"),
        ([made("capture_graph_begin", 1), made("capture_graph_end", 2)], "served"),
        ([made("capture_graph_begin", 1), made("capture_graph_end", 2), made("capture_graph_begin", 3)], "unknown"),
    ],
)
def test_whether_it_served(facts: list[Fact], outcome: Outcome):
    (run,) = build_runs("log", facts, FAILING)
    assert run.outcome == outcome


def test_a_run_of_two_workers():
    facts = [
        made("engine_version", 1, family="vllm", origin=API_SERVER, version="0.11.0"),
        made("non_default_args", 2, family="vllm", origin=API_SERVER, args={"gpu_memory_utilization": 0.9, "tensor_parallel_size": 2}),
        made("engine_config", 3, family="vllm", origin=engine_core(), args={"max_seq_len": 4096}),
        made("weights_memory", 4, family="vllm", origin=vllm_worker("TP0", 100), weights="8.00 GiB"),
        made("weights_memory", 5, family="vllm", origin=vllm_worker("TP1", 101), weights="9.00 GiB"),
        made(
            "torch_oom", 6, family="allocator", origin=vllm_worker("TP1", 101), gpu=1, total="31.36 GiB", free="1.00 GiB", tried="2.00 GiB"
        ),
        made("engine_failed", 7, family="vllm", origin=engine_core()),
    ]
    (run,) = build_runs("crash.log", facts, FAILING)
    assert (run.id, run.engine, str(run.version), run.phase, run.head_cut) == ("crash.log#1", "vllm", "0.11.0", "profile", False)
    assert run.args["max_model_len"] == 4096
    assert {rank.name: (rank.pid, rank.device, sorted(rank.ledger)) for rank in run.ranks} == {
        "TP0": (100, None, ["weights"]),
        "TP1": (101, "GPU 1", ["allocation_refused", "budget", "free_at_failure", "total", "unaccounted", "weights"]),
    }
    assert {rank.name: str(rank.size("weights")) for rank in run.ranks} == {"TP0": "8.00 GiB", "TP1": "9.00 GiB"}
    assert run.ranks[0].size("total") is None
    oom = run.first("torch_oom")
    assert oom is not None
    assert run.all("torch_oom") == [oom]
    assert run.first("preemption") is None


def test_runs_are_numbered():
    def life(first: int) -> list[Fact]:
        return [
            made("server_args", first, family="sglang"),
            made("load_weight_begin", first + 1, family="sglang"),
            made("torch_oom", first + 2),
        ]

    runs = build_runs("sglang.log", [*life(1), *life(10)], FAILING)
    assert [(run.id, run.source, len(run.facts)) for run in runs] == [("sglang.log#1", "sglang.log", 3), ("sglang.log#2", "sglang.log", 3)]


def test_a_log_without_its_head_is_known_as_such():
    (run,) = build_runs("log", [made("weights_memory", family="vllm", weights="8.00 GiB")], FAILING)
    assert run.head_cut
    (nothing,) = build_runs("log", [made("torch_oom", family="allocator")], FAILING)
    assert not nothing.head_cut


@pytest.mark.parametrize(
    ("field", "device"),
    [({"gpu": 3}, "GPU 3"), ({"device": "cuda:1"}, "cuda:1"), ({"device": "2"}, "GPU 2"), ({"device": "NVIDIA H200"}, None), ({}, None)],
)
def test_the_device_of_a_rank(field: dict[str, object], device: str | None):
    weights = made("weights_memory", origin=Origin(rank="TP0"))
    (run,) = build_runs("log", [replace(weights, fields={"weights": gib("8.00"), **field})], FAILING)
    assert run.ranks[0].device == device


@pytest.mark.parametrize(
    ("family", "generation"),
    [pytest.param("vllm", "V1", id="vLLM"), pytest.param("sglang", None, id="SGLang knows no generations")],
)
def test_the_generation_of_a_run(family: str, generation: str | None):
    (run,) = build_runs("log", [made("kv_cache_tokens", family=family, tokens=32768)], frozenset())
    assert (run.engine, run.generation) == (family, generation)


def test_a_command_without_its_beginning_gives_arguments_and_a_note_does_not() -> None:
    flags = {"args": {"gpu-memory-utilization": 0.97}}
    command = Fact("flags", made("flags", 3).line, flags, last_line=5)
    assert arguments([command]) == {"gpu_memory_utilization": 0.97}
    assert arguments([Fact("flags", made("flags", 3).line, flags, last_line=3)]) == {}
    assert arguments([command, made("non_default_args", 9, args={"gpu_memory_utilization": 0.9})]) == {"gpu_memory_utilization": 0.9}
