"""Findings as JUnit XML, for the test views of CI servers."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from analyzer.analysis import Abstention, Finding
from analyzer.outputs.printable import printable
from analyzer.outputs.redaction import RedactedAnalysis
from analyzer.outputs.wording import verdict_headline


def to_junit(analysis: RedactedAnalysis) -> str:
    """One test case per finding (a failure if it is an error) and per rule that abstained (skipped); without findings, the verdict's."""
    cases = [_finding_case(finding) for finding in analysis.findings] or [_verdict_case(analysis)]
    cases += [_abstention_case(abstention) for abstention in analysis.abstentions]
    suite = ET.Element(
        "testsuite",
        name=printable(", ".join(source.name for source in analysis.inputs) or "settings"),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors="0",
        skipped=str(len(analysis.abstentions)),
    )
    suite.extend(cases)
    suites = ET.Element("testsuites", name=analysis.tool.name)
    suites.append(suite)
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _case(rule: str, title: str) -> ET.Element:
    family, _, name = rule.rpartition("/")
    return ET.Element("testcase", classname=family or "analysis", name=printable(f"{name}: {title}" if title else name), time="0")


def _finding_case(finding: Finding) -> ET.Element:
    case = _case(finding.rule, finding.title)
    evidence = [f"{line.input}:{line.line}: {line.text}" for line in finding.evidence]
    _tell(case, finding.severity == "error", finding.title, finding.rule, "\n".join([finding.message, *evidence]))
    return case


def _verdict_case(analysis: RedactedAnalysis) -> ET.Element:
    verdict = analysis.verdict
    case = _case("verdict", verdict_headline(verdict))
    _tell(case, verdict.outcome == "failed", verdict_headline(verdict), verdict.cause, verdict.summary)
    return case


def _tell(case: ET.Element, failed: bool, message: str, kind: str, text: str) -> None:
    attributes = {"message": printable(message), "type": kind} if failed else {}
    ET.SubElement(case, "failure" if failed else "system-out", attributes).text = printable(text)


def _abstention_case(abstention: Abstention) -> ET.Element:
    case = _case(abstention.rule, "")
    ET.SubElement(case, "skipped", message=printable(f"not logged: {', '.join(abstention.missing)}"))
    return case
