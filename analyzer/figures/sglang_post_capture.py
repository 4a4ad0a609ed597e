"""Whether pools of an SGLang run were sized again after graph capture (0.5.16 -, off by default)."""

from __future__ import annotations

from analyzer.cases.model import Run

FINAL = "post_capture_kv"
FIRST = ("kv_cache_allocated", "kv_swa_usage")


def is_post_capture(run: Run) -> bool:
    """Whether the log shows that pools were sized again after graph capture."""
    virtual = any("virtual" in fact.fields for kind in FIRST for fact in run.all(kind))
    return virtual or any(kind.startswith(FINAL) or kind == "post_capture_eager_gap" for kind in run.by_kind)
