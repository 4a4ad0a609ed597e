"""SGLang's table of token positions: one row for each request at once, as long as the context, beside the KV pool.

SGLang sglang/srt/mem_cache/memory_pool.py, ReqToTokenPool, 0.4.5.post3 - 0.5.23: whole numbers of four bytes, requests x context;
the context gets a few tokens more, the rows one more in some releases. Without max_running_requests there are 2048 to 4096 rows.
"""

from __future__ import annotations

from typing import Any

from analyzer.cases.model import Event, Run
from analyzer.figures.sglang_figures import budget_figures, context_length
from analyzer.units import Size

BYTES_PER_POSITION = 4
SPARE_TOKENS = 64
"""At most so many are added to the context: 4 or 8, and the draft tokens."""
SPARE_ROWS = 1
DEFAULT_ROWS = range(2048, 4096 + 1)
LAYERS_AT_LEAST = 8
"""The KV pool is one buffer for each layer or more, so that one of them is never as large as this part of the pool."""


def request_table_figures(run: Run, event: Event) -> dict[str, Any]:
    """The rows of the table that a refused allocation was, when it was for the table; else None."""
    return {"request_table_rows": _rows(run, event)}


def _rows(run: Run, event: Event) -> int | None:
    tried, context = event.fact.fields.get("tried"), context_length(run)
    if run.engine != "sglang" or event.site != "kv_cache" or not isinstance(tried, Size) or not context:
        return None
    fewest, most = tried.low / ((context + SPARE_TOKENS) * BYTES_PER_POSITION), tried.high / (context * BYTES_PER_POSITION)
    asked = run.args.get("max_running_requests")
    if isinstance(asked, int):
        return asked if fewest - SPARE_ROWS <= asked <= most else None
    budget = budget_figures(run, None).get("kv_budget")
    a_layer = isinstance(budget, Size) and tried.low <= budget.high / LAYERS_AT_LEAST
    plausible = most >= DEFAULT_ROWS.start and fewest <= DEFAULT_ROWS.stop
    return round((fewest + most) / 2) if plausible and isinstance(budget, Size) and not a_layer else None
