"""From one log and changed settings: every later check of the next start."""

from pathlib import Path
from typing import Any

import pytest

from analyzer.cases.model import Run
from analyzer.content import content_folder
from analyzer.pipeline import analyze, run_pipeline
from analyzer.rulebook.prediction import Planned, predict
from analyzer.rulebook.what_if import Question
from analyzer.units import GIB, Size

VLLM = """\
INFO 01-01 10:00:00 [core.py:61] Initializing a V1 LLM engine (v0.11.0) with config: model='/m', max_seq_len=32768
INFO 01-01 10:00:00 [api_server.py:1] non-default args: {'gpu_memory_utilization': 0.85, 'max_model_len': 32768}
DEBUG 01-01 10:00:02 [gpu_worker.py:298] worker init memory snapshot: MemorySnapshot(free_memory=22.00GiB, total_memory=24.00GiB)
INFO 01-01 10:00:09 [gpu_worker.py:1] Available KV cache memory: 3.00 GiB
"""
TOO_LONG = (
    "ValueError: To serve at least one request with the model's max seq len (32768), (4.00 GiB KV cache is needed, which is larger than "
    "the available KV cache memory (3.00 GiB). Based on the available memory, the estimated maximum model length is 24576.\n"
)
SGLANG = """\
[2026-03-02 10:00:00] server_args=ServerArgs(model_path='/m', context_length=8192, mem_fraction_static=0.85, tp_size=1)
[2026-03-02 10:00:13] Load weight begin. avail mem=78.00 GB
[2026-03-02 10:01:02] Load weight end. type=L, dtype=torch.bfloat16, avail mem=18.00 GB, mem usage=60.00 GB.
"""
SGLANG_POOL = """\
[2026-03-02 10:01:03] KV Cache is allocated. #tokens: 103219, K size: 3.15 GB, V size: 3.15 GB
[2026-03-02 10:01:03] Memory pool end. avail mem=11.70 GB
[2026-03-02 10:01:04] Capture cuda graph begin. This can take up to several minutes. avail mem=11.65 GB
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 0.44 GiB is free.
"""
SEEDS = content_folder("fixtures") / "seeds"


@pytest.fixture
def run_of(tmp_path: Path) -> Any:
    def read(text: str) -> Run:
        log = tmp_path / "crash.log"
        log.write_text(text, encoding="utf-8")
        (run,) = run_pipeline([log]).case.runs
        return run

    return read


def outcomes(run: Run, planned: Planned) -> list[str]:
    return [check.outcome for check in predict(run, planned)]


@pytest.mark.parametrize(
    ("planned", "expected"),
    [
        pytest.param(Planned(0.85), ["passes", "passes", "fails"], id="as it was"),
        pytest.param(Planned(0.90), ["passes", "passes", "passes"], id="0.90 gives 3.00 + 24 x 0.05 = 4.20 GiB"),
        pytest.param(Planned(0.93), ["fails", "passes", "passes"], id="0.93 x 24 = 22.32 of 22.00 GiB free"),
        pytest.param(Planned(0.93, more_free=GIB), ["passes", "passes", "passes"], id="with 1 GiB more free"),
        pytest.param(Planned(0.72), ["passes", "fails", "fails"], id="0.72 gives 3.00 - 24 x 0.13 = -0.12 GiB"),
        pytest.param(Planned(0.85, window=24576), ["passes", "passes", "passes"], id="the window that the engine estimates"),
        pytest.param(Planned(0.85, window=65536), ["passes", "passes", "fails"], id="a longer window needs no less"),
        pytest.param(Planned(0.85, window=28000), ["passes", "passes", "fails"], id="in between: at least its proportion, 3.42 GiB"),
        pytest.param(Planned(0.82, window=16384), ["passes", "passes", "cannot tell"], id="2.00 to 3.00 GiB against 2.28 GiB"),
        pytest.param(Planned(0.85, arena=Size.exact(5 * GIB)), ["passes", "passes", "passes"], id="an arena is taken as it is"),
    ],
)
def test_every_check_of_vllm_is_told(run_of: Any, planned: Planned, expected: list[str]) -> None:
    assert outcomes(run_of(VLLM + TOO_LONG), planned) == expected


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        pytest.param(0.85, ["passes", "passes", "fails"], id="as it was"),
        pytest.param(0.82, ["passes", "passes", "passes"], id="0.44 + 78 x 0.03 = 2.78 GiB for 2.00"),
        pytest.param(0.76, ["fails", "fails", "passes"], id="6.30 - 78 x 0.09 = -0.72 GiB of pool"),
        pytest.param(0.773, ["passes", "fails", "passes"], id="0.29 GiB of pool for 0.50"),
    ],
)
def test_every_check_of_sglang_is_told(run_of: Any, share: float, expected: list[str]) -> None:
    assert outcomes(run_of(SGLANG + SGLANG_POOL), Planned(share)) == expected


def test_a_refused_start_tells_the_pool_at_another_fraction(run_of: Any) -> None:
    refused = SGLANG.replace("0.85", "0.7") + "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n"
    (check,) = predict(run_of(refused), Planned(0.85))
    assert str(check) == "room for the KV cache: passes, 6.30 GiB left for it"
    assert outcomes(run_of(refused), Planned(0.75)) == ["fails"]


def test_nothing_is_predicted_without_figures(run_of: Any) -> None:
    assert predict(run_of("INFO 01-01 10:00:09 [gpu_worker.py:1] Starting to load model /m...\n"), Planned(0.9)) == []


def test_a_what_if_tells_every_check() -> None:
    question = Question(("long_393k.kv_cache_memory_bytes=4600000000",))
    found = analyze([SEEDS / "crash.log"], [SEEDS / "profiles.as-found.yaml"], question=question).what_if
    assert found is not None
    assert found.profile == "long_393k"
    told = [reason.partition(", ")[2] for reason in found.reasons if reason.startswith("By the figures of ")]
    assert [reason.partition(",")[0] for reason in told] == [
        "start-up check: passes",
        "room for the KV cache: passes",
        "one request of the full window: fails",
        "graphs",
    ]
    assert "the allocation of 272.00 MiB that was refused would find 718.32 MiB free" in told[-1], "149.06 + 572.20 - 2.94 MiB"
