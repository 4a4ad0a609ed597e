"""Post-mortem analysis of vLLM and SGLang memory failures.

>>> from analyzer import analyze
>>> analyze(["crash.log"], ["profiles.yaml"]).verdict.cause    # doctest: +SKIP
'pinned-kv-arena'
"""

from analyzer.analysis import Analysis
from analyzer.pipeline import analyze

__all__ = ["Analysis", "analyze"]
