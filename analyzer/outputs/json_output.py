"""The result for programs: version 1 of the JSON contract, and its schema."""

from __future__ import annotations

import json

from analyzer.analysis import Analysis
from analyzer.outputs.redaction import RedactedAnalysis

SCHEMA_ID = "urn:vram-postmortem:analysis:1"


def to_json(analysis: RedactedAnalysis) -> str:
    """The analysis in the contract's order of keys, indented; a figure that JSON cannot hold (nan, inf) is null."""
    return analysis.model_dump_json(indent=2) + "\n"


def json_schema() -> str:
    """JSON Schema (draft 2020-12) of what `to_json` prints."""
    schema = Analysis.model_json_schema(mode="serialization")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, "title": "vram-postmortem analysis, version 1"}
    return json.dumps(head | {key: value for key, value in schema.items() if key != "title"}, ensure_ascii=False, indent=2) + "\n"
