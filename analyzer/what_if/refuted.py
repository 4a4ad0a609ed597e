"""Whether the run of a log did otherwise than a check of its own settings says: then the figures are not all there is."""

from __future__ import annotations

from analyzer.analysis import Phase
from analyzer.cases.model import Run
from analyzer.engines.checks import REQUEST, ROOM, START_UP, Check
from analyzer.engines.phases import order

REFUTED = "by these figures the run of the log itself would have ended otherwise, so something that counts is not among them"

REFUSALS = {
    START_UP: ("free_memory_below_utilization",),
    ROOM: (
        "kv_not_enough",
        "kv_swa_cap_fail",
        "kv_swa_request_fail",
        "kv_weights_leave_none",
        "mamba_not_enough",
        "mamba_too_small",
        "memory_pool_too_small",
        "no_available_cache_blocks",
        "no_tokens_profiled",
    ),
    REQUEST: ("max_len_above_kv_tokens", "one_request_does_not_fit"),
}
"""Messages with which the engines refuse at each check."""
MADE_IN: dict[str, Phase] = {START_UP: "init", ROOM: "kv_alloc", REQUEST: "kv_alloc"}
"""The phase of a start in which each check is made."""


def is_refuted(run: Run, check: Check) -> bool:
    """Whether it says that the run passed where the engine refused, or that it failed where the run came further."""
    if check.name not in REFUSALS or not check.stops:
        return False
    refused = any(kind in run.by_kind for kind in REFUSALS[check.name])
    came_further = run.outcome == "served" or order(run.phase) > order(MADE_IN[check.name])
    return refused if check.outcome == "passes" else check.outcome == "fails" and came_further and not refused
