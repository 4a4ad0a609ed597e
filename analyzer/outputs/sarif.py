"""Findings as SARIF 2.1.0, for code scanning: at the settings to change where there are any, else at the lines of the log."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from analyzer.analysis import Evidence, Finding, Patch
from analyzer.outputs.places import patches_of
from analyzer.outputs.redaction import RedactedAnalysis
from analyzer.outputs.wording import ROLES, dotted, patch_change

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def to_sarif(analysis: RedactedAnalysis) -> str:
    """One SARIF run with a result per finding; `rules` names each rule that found something."""
    rules = list(dict.fromkeys(finding.rule for finding in analysis.findings))
    titles = {finding.rule: finding.title for finding in reversed(analysis.findings)}
    run = {
        "tool": {
            "driver": {
                "name": analysis.tool.name,
                "version": analysis.tool.version,
                "rules": [{"id": rule, "shortDescription": {"text": titles[rule]}} for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, rules.index(finding.rule), analysis) for finding in analysis.findings],
        "properties": {"verdict": analysis.verdict.model_dump(mode="json")},
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2) + "\n"


def _result(finding: Finding, rule_index: int, analysis: RedactedAnalysis) -> dict[str, Any]:
    settings = [_patch_location(patch) for patch in patches_of(finding, analysis)]
    log = [_evidence_location(evidence) for evidence in finding.evidence]
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": finding.severity,
        "message": {"text": f"{finding.title}. {finding.message}"},
        "locations": settings or log,
        "properties": {"role": finding.role, "roleText": ROLES[finding.role], "confidence": finding.confidence},
    }
    return result | ({"relatedLocations": log} if settings and log else {})


def _patch_location(patch: Patch) -> dict[str, Any]:
    return _location(patch.file, {"startLine": patch.line}) | {"message": {"text": f"{dotted(patch.path)}: {patch_change(patch)}"}}


def _evidence_location(evidence: Evidence) -> dict[str, Any]:
    return _location(evidence.input, {"startLine": evidence.line, "snippet": {"text": evidence.text}})


def _location(name: str, region: dict[str, Any]) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": quote(name)}, "region": region}}
