"""The names rules may use, scope by scope. A rule with any other name is refused when the rulebook is loaded."""

from __future__ import annotations

from collections.abc import Mapping

from analyzer.cases.model import LEDGER_ITEMS
from analyzer.grammar import Grammars
from analyzer.rulebook.rule import Rule

RUN: dict[str, str] = {
    "fraction_to_try": "SGLang: the largest two-decimal fraction that leaves a place for what was refused and a pool for one request",
    "largest_utilization": "vLLM: the largest utilization by the start-up check and by what was taken or refused beside the KV cache",
    "least_fraction": "SGLang: the fraction whose pool holds one request, or is empty where the size of a request is not known",
    "least_utilization": "vLLM: the utilization whose KV cache holds one request, or is just empty where it came out negative",
    "lower_fraction": "SGLang: the largest fraction that leaves a place for what was refused, where it is below the one asked for",
    "lower_utilization": "vLLM: largest_utilization where it is below the value in effect",
    "no_fraction_because": "SGLang: the two bounds that leave no fraction, in words",
    "no_fraction_works": "SGLang: whether the figures show that no fraction works",
    "no_utilization_because": "vLLM: the two bounds that leave no utilization, in words",
    "no_utilization_works": "vLLM: whether the figures show that no utilization works",
    "utilization_to_try": "vLLM: the largest two-decimal utilization below the value in effect that may work",
    "arena_pinned": "vLLM: whether the KV arena has a fixed size, by the engine's own message or by its arguments",
    "args": "engine arguments that the log shows, in snake_case; `run.args.max_model_len`",
    "asked_fraction": "mem_fraction_static as the arguments show it",
    "context_length": "SGLang: the context length in tokens, as asked for or as printed",
    "default_utilization": "gpu_memory_utilization of this vLLM release when nobody sets it",
    "draft_in_static_share": "SGLang: whether a draft model's weights are loaded before the pools are sized, by the release",
    "died": "whether a message of the run says that the engine, or a process it cannot do without, came to its end",
    "engine": "vllm or sglang",
    "forced": "whether the profile was forced by name",
    "head_cut": "whether the log begins after the engine had printed its arguments",
    "waiting_at_full_cache": "vLLM: the most requests that waited while the KV cache was 95 % full or fuller",
    "kv_cache_usage": "vLLM: the highest KV cache usage in the statistics, in per cent",
    "kinds": 'the kinds of facts that this run printed, for `"stats" in run.kinds`',
    "mem_fraction_static": "SGLang's static fraction in effect: from a message that prints it, else from its arguments",
    "least_free": "free memory at the start of the rank that has the least, of several that print it",
    "least_free_rank": "name of that rank",
    "omni": "whether it is sglang-omni, SGLang as a pipeline of stages",
    "most_free": "free memory at the start of the rank that has the most, of several that print it",
    "path": "how the run came to its settings: selected, forced, flags, unknown",
    "phase": "the furthest phase reached",
    "pool_tokens": "SGLang: tokens that the KV pool holds",
    "profile": "the profile that was chosen or forced",
    "served": "whether it came so far that it served",
    "utilization": "vLLM's gpu_memory_utilization in effect",
    "utilization_source": "where that value comes from, in words",
    "version": "the engine's release, as printed",
    "worst_rank": "name of the rank with the least free memory",
}
RANK: dict[str, str] = {
    **dict.fromkeys(LEDGER_ITEMS, "ledger item, an amount of memory"),
    "device": "device of the rank, as printed",
    "fraction_for_one_request": "the SGLang fraction whose pool holds one request of the full context length",
    "implied_at_most": "SGLang: the largest fraction that the printed figures allow, (pre - post + pools) / pre with their rounding",
    "implied_fraction": "SGLang: the fraction that was in effect by the size of the pools, (pre - post + pools) / pre",
    "kv_budget": "SGLang: what the fraction leaves for the KV pool, post - pre x (1 - fraction)",
    "name": "name of the rank",
    "overhead_at_least": "free at start - weights - KV arena of a run that failed, plus what it lacked: the true overhead is larger",
    "overhead_spent": "free at start - weights - KV arena: what this run had for everything else",
    "post": "SGLang: free memory after the weights, the least of all ranks, as the KV budget is computed from it",
    "pre": "SGLang: free memory before the weights, the least of all ranks",
    "shortfall": "what the refused allocation lacked: tried - free at failure",
    "smallest_fraction": "SGLang: the fraction at which the KV budget is zero, as the engine prints it, else 1 - post / pre",
    "smallest_utilization": "vLLM: the utilization whose KV cache holds one request, or is just empty where it came out negative",
    "suggested_fraction": "SGLang: a fraction with some room above the smallest one; absent when there is none below 0.99",
}
EVENT: dict[str, str] = {
    "corrected_arena": "vLLM: the suggested size of the KV cache with what was taken off twice put back, rounded down",
    "graph_estimate": "vLLM: the estimate of CUDA graphs that was taken off the KV budget",
    "graphs_counted_twice": "vLLM: whether the suggested size leaves room for the graphs twice, by the release and the estimate applied",
    "suggestion_agrees": "vLLM: whether the suggested size follows from the figures of its own line",
    "alive_after": "whether the engine went on serving after it",
    "count": "how many copies of it the log holds",
    "cut": "whether the log ends inside it",
    "ended_by": "number of the signal that ended the process it reports, 9 for SIGKILL",
    "ended_with": "the exit code it reports, the first one that is not 0",
    "followed_by": "kinds of the facts after it in the same run",
    "free_beyond_request": "free - tried, at an out-of-memory error: what was free beside the refused amount",
    "functions": "functions of a cut traceback, outermost first",
    "held_elsewhere": "total - free - what this process holds, at an out-of-memory error",
    "implausible_figure": "whether it holds a figure that no device can have (an underflow of the printer)",
    "kind": "kind of the fact",
    "largest_passing_utilization": "vLLM start-up check: the largest utilization that every rank which refused would pass",
    "neighbours": "memory of processes that are not of this engine, at an out-of-memory error",
    "non_torch": "memory of this process outside PyTorch's allocator, at an out-of-memory error",
    "other_failures": "kinds of other messages of the run that tell a cause by themselves",
    "phase": "phase of the code it came from, else the phase the run had reached",
    "pool_available": "SGLang: tokens of the KV pool that were free or could be evicted; of a hybrid pool, in the scarcer part",
    "pool_limits": "SGLang: whether the longest input allowed is what the pool holds, and not the context length",
    "pool_needed_at_most": "SGLang: what an allocation takes from the pool at most, in tokens, since it takes whole pages",
    "preceded_by": "kinds of the facts before it in the same run",
    "rank": "name of its rank",
    "reported_in_line": "kinds of the other facts in its lines that report a failure",
    "same_line": "kinds of the other facts that stand in its lines",
    "settings_tried": "at so many different utilizations or fractions, noted in the log, it happened with the same figures",
    "site": "the innermost known place in the code: load, repack, profile, sampler, graph, encoder, forward, ...",
    "sites": "all known places on its traceback",
    "state_slots_available": "SGLang: state (mamba) slots of a hybrid pool that were free or could be evicted",
    "taken_elsewhere": "vLLM start-up check: total - free, what was in use before the engine took anything",
    "went_on": "whether the engine came further after it: a message of a later phase or of serving follows",
}
PROFILE: dict[str, str] = {
    "arena_tokens": "tokens that the pinned arena holds, by the bytes per token of the log's run",
    "asks_for_most": "whether no other profile states a higher requires_free_bytes",
    "both_needed": "whether it takes a new utilization and a new threshold, and either alone is not enough",
    "budget_at_failure": "the selector's budget with the most free memory at which a run failed",
    "budget_at_pass": "the selector's budget with the least free memory at which a run passed",
    "bytes_per_token": "KV cache bytes of one token, by the log's run",
    "device": "total memory of the device, as the selector counts it",
    "footprint": "what a process that only holds ballast is assumed to take itself",
    "highest_budget": "the largest budget that any free memory of this device gives",
    "highest_failure": "the most raw free memory with which a run of it that counts failed",
    "in_order": "whether the selection order names it",
    "loaded_at_least": "weights, where they are known, + the pinned arena",
    "lowest_pass": "the least raw free memory with which a run of it that counts passed",
    "measured": "whether a run of it that counts failed and one passed",
    "never_selected": "whether it lacks the requires_free_bytes that other profiles state",
    "proposed_by_ladder": "whether the proposed threshold stands just above a measured run; else it is a point between measured ones",
    "proposed_in_both_units": "the proposed threshold in discounted and in raw free bytes, in words",
    "proposed_raw_free": "raw free bytes that the proposed threshold asks for",
    "proposed_threshold": "a threshold with which no run that failed is selected",
    "proposed_utilization": "the utilization with which that threshold works",
    "raw_free_needed": "the least raw free memory that reaches the threshold: requires_free_bytes / safety factor",
    "recommendation": "why the ladder recommends its threshold, or none",
    "repaired_budget_at_failure": "budget_at_failure with the proposed utilization",
    "repaired_budget_at_pass": "budget_at_pass with the proposed utilization",
    "selected_failures": "raw free bytes with which it was measured to fail and these settings select it",
    "separable": "whether any threshold tells the runs that failed from those that passed, at the present utilization",
    "shadowed_by": "an earlier profile that fits whenever this one does",
    "slack": "what the arena holds beyond one request of the full window",
    "slack_percent": "the same in per cent of the window",
    "small_amounts": "byte amounts that are too small to be meant in bytes",
    "small_keys": "the arguments that state them",
    "suffixed": "values with an upper-case suffix, and how the engine reads them",
    "suffixed_keys": "the arguments that have them",
    "threshold_alone": "what the selector does with the new threshold alone",
    "unpinned_available": "KV cache that a run of this window without a pinned arena was given",
    "unpinned_needed": "KV cache that one request of this window needs, by that run",
    "untested_high": "upper end of the free memory where it is offered and no run was made",
    "untested_implied": "what runs elsewhere imply for that band: pass or fail",
    "untested_low": "lower end of that band",
    "untested_reachable": "whether a ballast process can set free memory within that band",
    "untested_width": "width of that band",
    "unusable": "keys whose value cannot be meant",
    "utilization_alone": "what the selector does with the new utilization alone",
    "arena_and_weights": "measured weights + the KV arena of this profile",
    "ceiling": "total x utilization: no threshold above it can ever be met",
    "chosen_at_this_free": "whether the selector, with these settings and the free memory of the log, would choose this profile",
    "declared_overhead": "requires_free_bytes - weights - arena: what the profile reserves beyond them",
    "engine": "vllm or sglang",
    "form": "profiles, vllm-arguments or sglang-arguments",
    "gpu_memory_utilization": "as in the file",
    "kv_cache_memory_bytes": "the pinned KV arena, as in the file",
    "max_model_len": "as in the file",
    "mem_fraction_static": "as in the file",
    "name": "name of the profile",
    "need_at_least": "what the selector would have had to see for this profile's failed run, as a lower bound",
    "need_by_overhead": "weights + this profile's arena + the overhead another profile's failed run proved to be too small",
    "requires_free_bytes": "the threshold, as in the file",
    "saturation": "free memory above which the budget no longer grows",
    "siblings_utilization": "the utilization that the other profiles of the file agree on",
    "same_deployment_as_log": "whether model, parallelism and context length are those of the log, of which at least one must be in both",
    "same_settings_as_log": "whether the log's arguments agree with this profile",
    "utilization": "gpu_memory_utilization or mem_fraction_static, as in the file",
    "used": "whether the run of the log used this profile",
}
SELECTION: dict[str, str] = {
    "available": "the discounted free memory the selector compared with, as it logged it",
    "free": "raw free memory the selector saw, as it logged it",
    "replayed": "the profile that these settings choose at that free memory",
    "safety_factor": "the share of free memory that counts",
    "total": "total memory the selector saw",
}
LADDER: dict[str, str] = {
    "aside": "free memory of its runs that do not count",
    "aside_reasons": "why they do not",
    "contradictions": "runs that passed with no more free memory than others that failed",
    "counted": "number of runs that count",
    "fails_at": "raw free bytes of the runs that failed",
    "passes_at": "raw free bytes of the runs that passed",
    "profile": "name of the profile",
    "recommended": "recommended requires_free_bytes",
    "runs": "number of runs",
    "threshold_high": "the threshold is at most this, in raw free bytes",
    "threshold_low": "the threshold is more than this, in raw free bytes",
}
PROBLEM: dict[str, str] = {
    "key": "dotted path of the setting",
    "message": "what was expected instead",
}
CASE: dict[str, str] = {
    "arena_by_other_run": "vLLM: the pinned arena in bytes with which this run starts as surely as one that served with more free memory",
    "has_settings": "whether a settings file was given",
    "largest_refused_fraction": "SGLang: of all runs, the largest mem_fraction_static that left no KV pool",
    "left_out": "runs that stand on no ladder, and why",
    "measured": "whether any log or receipt was given",
    "overhead_common": "the least overhead beyond weights and arena with which each profile that shares it passed",
    "overhead_is": "constant, not constant, or cannot tell: whether several profiles need the same beyond weights and arena",
    "overhead_may_differ_by": "how far apart the true overheads can still lie",
    "overhead_passing": "the least overhead with which each profile passed",
    "overhead_reason": "why it is taken for constant or not",
    "overhead_spread": "difference of those overheads",
    "runs": "number of runs",
    "smallest_exceeded_fraction": "SGLang: of all runs, the smallest mem_fraction_static at which memory beside the pools ran out",
    "stale_profile": "profile of the log whose settings in the file differ from the ones in the log",
}

SCOPES: dict[str, dict[str, str]] = {
    "case": CASE,
    "event": EVENT,
    "ladder": LADDER,
    "problem": PROBLEM,
    "profile": PROFILE,
    "rank": RANK,
    "run": RUN,
    "selection": SELECTION,
}

VISIBLE: dict[str, tuple[str, ...]] = {
    "case": ("case", "run", "rank", "selection"),
    "run": ("case", "run", "rank", "selection"),
    "rank": ("case", "run", "rank", "selection"),
    "event": ("case", "run", "rank", "event", "selection"),
    "ladder": ("case", "ladder"),
    "problem": ("problem",),
    "profile": ("case", "run", "rank", "profile", "selection"),
}
"""Which scopes a rule sees, by what it is evaluated for."""


def vocabulary_for(rule: Rule, grammars: Grammars) -> dict[str, frozenset[str] | None]:
    """The names that a rule may use. An event also has the fields of the messages that the rule judges."""
    names: dict[str, frozenset[str] | None] = {scope: frozenset(SCOPES[scope]) for scope in VISIBLE[rule.for_each]}
    if rule.for_each == "event":
        fields = {name for kind in rule.messages if kind in grammars.messages for name in grammars.messages[kind].fields}
        names["event"] = frozenset(EVENT) | fields
    return names


def unknown_kinds(rule: Rule, grammars: Grammars, derived: frozenset[str]) -> list[str]:
    """Fact kinds that a rule judges or cites as evidence, and that no grammar defines."""
    known: Mapping[str, object] = grammars.messages
    return [kind for kind in (*rule.messages, *rule.evidence) if kind not in known and kind not in derived]
