"""Which of vLLM's engines ran, from facts."""

import pytest
from packaging.version import Version

from analyzer.cases.generation import generation_of
from analyzer.engines.vllm_generation import Generation
from analyzer.facts.fact import Fact
from analyzer.inputs.lines import Origin
from tests.cases.making import engine_core, frame, made

V0_BANNER = made("engine_config", generation="V0")
V1_BANNER = made("engine_config", generation="V1")
V0_PROFILE = made("profiling_result_v0", activation_peak="2.53 GiB")
V1_RECORD = made("weights_memory", origin=Origin(place="gpu_model_runner.py:12"))


@pytest.mark.parametrize(
    ("facts", "version", "generation"),
    [
        pytest.param([V0_BANNER], "0.8.5", "V0", id="the banner"),
        pytest.param([V1_BANNER], "0.8.5", "V1", id="the other banner"),
        pytest.param([V1_BANNER, V0_PROFILE], "0.8.5", "V1", id="the banner before messages"),
        pytest.param([V0_PROFILE], "0.11.0", "V1", id="the release before all"),
        pytest.param([V0_PROFILE], None, "V0", id="a part of a message"),
        pytest.param([made("profiling_result_v0", seconds=3.0)], None, None, id="a message without that part"),
        pytest.param([made("num_blocks", gpu_blocks=12, cpu_blocks=4)], None, "V0", id="blocks of the host"),
        pytest.param([made("num_blocks", gpu_blocks=12)], None, None, id="none of the host"),
        pytest.param([made("weights_memory", origin=engine_core())], None, "V1", id="a process"),
        pytest.param([V1_RECORD], None, "V1", id="a source file"),
        pytest.param([frame(1, "/opt/vllm/v1/worker/gpu_worker.py", "load_model")], None, "V1", id="a traceback"),
        pytest.param([frame(1, "/opt/vllm/worker/worker.py", "load_model")], None, "V0", id="the other's traceback"),
        pytest.param([V0_PROFILE, V1_RECORD], None, None, id="a contradiction"),
        pytest.param([V0_BANNER, V1_BANNER], None, None, id="two banners"),
        pytest.param([made("weights_memory")], "0.9.0", None, id="nothing tells"),
        pytest.param([], None, None, id="no facts"),
    ],
)
def test_the_generation(facts: list[Fact], version: str | None, generation: Generation | None) -> None:
    assert generation_of(facts, Version(version) if version is not None else None) == generation
