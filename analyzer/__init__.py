"""Post-mortem analysis of vLLM and SGLang memory failures.

>>> from analyzer import analyze
>>> analyze(["crash.log"], ["profiles.yaml"]).verdict.cause    # doctest: +SKIP
'pinned-kv-arena'
"""

from analyzer.analysis import Analysis
from analyzer.pipeline import Device, analyze
from analyzer.what_if.question import Question

__all__ = ["Analysis", "Device", "Question", "analyze"]
