"""The proposed patches as one unified diff."""

from __future__ import annotations

from analyzer.outputs.redaction import RedactedAnalysis


def to_diff(analysis: RedactedAnalysis) -> str:
    """The diffs of all patches one after the other; a diff that several patches of a file share is printed once.

    A credential among the context lines is redacted, as everywhere: such a hunk is for reading, and applying it needs the file's own text.
    """
    diffs = dict.fromkeys((patch.file, patch.diff) for patch in analysis.patches if patch.diff)
    return "".join(diff if diff.endswith("\n") else f"{diff}\n" for _, diff in diffs)
