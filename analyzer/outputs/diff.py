"""The proposed patches as one unified diff."""

from __future__ import annotations

from analyzer.outputs.redaction import RedactedAnalysis


def to_diff(analysis: RedactedAnalysis) -> str:
    """One diff for each settings file, with all its patches together, as `git apply` takes it.

    A credential among the context lines is redacted, as everywhere: such a hunk is for reading, and applying it needs the file's own text.
    """
    return "".join(diff if diff.endswith("\n") else f"{diff}\n" for diff in analysis.file_diffs)
