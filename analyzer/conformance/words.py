"""Which messages speak of memory."""

from __future__ import annotations

import re

WORDS = (
    r"memory|mem usage|avail(able)?[ _]mem\w*|mem[-_]fraction\w*|gpu[-_]mem\w*|\w+[-_]mem(ory)?[-_]\w+|VRAM|HBM|RAM",
    r"[KMGT]i?B|bytes?",
    r"OOM\w*|out of (?!range|order|bounds|date|the|sync)\w+",
    r"(no|not enough|insufficient) (free |available )?(space|room|blocks|slots|capacity)",
    r"kv[ _-]?caches?|(block|token|memory|req\w*|kv|mamba|state) pools?|offload(ing|ed)?",
    r"swap(ped|ping|_space| space)?|pinned|shm|preempt\w*|retract\w*|evict\w*|workspaces?",
    r"(cuda|hip|npu|xpu|device|piecewise|encoder) ?graphs?|graph (capture|capturing)|capturing .*graph",
    r"(free|gpu|cpu|kv|num|cache|physical) blocks|num_\w*blocks\w*|max_total_(num_)?tokens|max_total_token_num",
    r"(de)?allocat(e|es|ed|ing|ion|ions|or)",
)
"""By subject: device memory, units, running out, no room, caches and pools, what happens under pressure, graphs, blocks, allocation."""
_SPEAKS = re.compile("|".join(rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])" for words in WORDS), re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def speaks_of_memory(template: str) -> bool:
    """Whether the words of a template, not the names of its values, speak of memory."""
    return _SPEAKS.search(_PLACEHOLDER.sub("0", template)) is not None
