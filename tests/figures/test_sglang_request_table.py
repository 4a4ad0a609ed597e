"""Which refused allocations were for SGLang's table of token positions."""

from __future__ import annotations

import pytest

from analyzer.figures.sglang_request_table import request_table_figures
from tests.runs import runs_of

LOADED = """\
[2025-05-29 14:58:00] server_args=ServerArgs(mem_fraction_static=0.9, context_length={context}, max_running_requests={asked})
[2025-05-29 14:58:10 TP0] Load weight begin. avail mem=80.00 GB
[2025-05-29 14:59:10 TP0] Load weight end. type=L, avail mem=60.00 GB, mem usage=20.00 GB.
  File "/opt/sglang/python/sglang/srt/mem_cache/memory_pool.py", line 70, in __init__
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried}. GPU 0 has a total capacity of 80.00 GiB of which 1.00 GiB is free.
"""


@pytest.mark.parametrize(
    ("context", "asked", "tried", "rows"),
    [
        pytest.param(2_000_000, 1024, "7.63 GiB", 1024, id="as many rows as asked for"),
        pytest.param(2_000_000, 1024, "8.63 GiB", None, id="another size"),
        pytest.param(2_000_000, None, "15.26 GiB", 2048, id="the default number"),
        pytest.param(2_000_000, None, "7.63 GiB", None, id="fewer rows than the default"),
        pytest.param(131_072, None, "1.50 GiB", None, id="may be a layer of the pool"),
    ],
)
def test_rows_of_the_table(context: int, asked: int | None, tried: str, rows: int | None) -> None:
    (run,) = runs_of(LOADED.format(context=context, asked=asked, tried=tried))
    event = next(event for event in run.events if event.kind == "torch_oom")
    assert request_table_figures(run, event)["request_table_rows"] == rows
