"""Checks that the run of the log itself refutes are not made."""

import pytest

from analyzer.what_if.planned import planned_after
from analyzer.what_if.prediction import predict
from analyzer.what_if.refuted import REFUTED
from tests.runs import run_of

LOADED = """\
[2026-03-02 10:00:00] server_args=ServerArgs(model_path='/m', context_length=8192, mem_fraction_static={fraction}, tp_size=1)
[2026-03-02 10:00:13] Load weight begin. avail mem=78.00 GB
[2026-03-02 10:01:02] Load weight end. type=L, dtype=torch.bfloat16, avail mem=18.00 GB, mem usage=60.00 GB.
"""
REFUSED = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n"
STARTED = """\
INFO 01-01 10:00:00 [core.py:61] Initializing a V1 LLM engine (v0.11.0) with config: model='/m', max_seq_len=32768
INFO 01-01 10:00:00 [api_server.py:1] non-default args: {{'gpu_memory_utilization': {utilization}, 'max_model_len': 32768}}
DEBUG 01-01 10:00:02 [gpu_worker.py:298] worker init memory snapshot: MemorySnapshot(free_memory=20.00GiB, total_memory=24.00GiB)
INFO 01-01 10:00:09 [gpu_worker.py:1] Available KV cache memory: 3.00 GiB
"""
AVAILABLE = "INFO 01-01 10:00:09 [gpu_worker.py:1] Available KV cache memory: 3.00 GiB\n"
GATE = (
    "ValueError: Free memory on device (20.00/24.00 GiB) on startup is less than desired GPU memory utilization (0.9, 21.60 GiB). "
    "Decrease GPU memory utilization or reduce GPU memory used by other processes.\n"
)
STOPPED = STARTED.format(utilization=0.9).replace(AVAILABLE, GATE)


@pytest.mark.parametrize(
    ("log", "check", "refuted"),
    [
        pytest.param(LOADED.format(fraction=0.7) + REFUSED, "room for the KV cache", False, id="-5.40 GiB of pool, and it was refused"),
        pytest.param(LOADED.format(fraction=0.85) + REFUSED, "room for the KV cache", True, id="6.30 GiB of pool, and it was refused"),
        pytest.param(STARTED.format(utilization=0.8), "start-up check", False, id="19.20 of 20.00 GiB, and the start went on"),
        pytest.param(STARTED.format(utilization=0.9), "start-up check", True, id="21.60 of 20.00 GiB, and the start went on"),
        pytest.param(
            STARTED.format(utilization=0.9).replace(AVAILABLE, GATE), "start-up check", False, id="21.60 of 20.00 GiB, and it was refused"
        ),
    ],
)
def test_a_check_that_the_run_itself_refutes(log: str, check: str, refuted: bool) -> None:
    run = run_of(log)
    for changed in ({}, {"gpu_memory_utilization": 0.5, "mem_fraction_static": 0.95}):
        found = {entry.name: entry for entry in predict(run, planned_after(run, changed, 0))}[check]
        assert (found.why == REFUTED) is refuted
        assert not refuted or found.outcome == "cannot tell"
