"""Every rule on its fixtures: where it fires, where it stays silent although it looks similar, and where it abstains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from analyzer.content import content_folder
from analyzer.pipeline import Device, run_pipeline
from analyzer.rulebook.rule import load_rules
from tests.agreement import contradictions

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "rules"
RULES = {rule.id: rule for rule in load_rules([content_folder("rules")])}


def _examples() -> list[tuple[str, dict[str, Any]]]:
    return [
        (file.relative_to(FIXTURES).with_suffix("").as_posix(), example)
        for file in sorted(FIXTURES.rglob("*.yaml"))
        for example in yaml.safe_load(file.read_text(encoding="utf-8"))
    ]


PARAMETERS = [pytest.param(rule, example, id=f"{rule}: {example['name']}") for rule, example in _examples()]


@pytest.mark.parametrize(("rule", "example"), PARAMETERS)
def test_rule_on_its_fixture(rule: str, example: dict[str, Any], tmp_path: Path) -> None:
    log = tmp_path / "crash.log"
    log.write_text(example.get("log", ""), encoding="utf-8")
    settings = []
    if "config" in example:
        settings = [tmp_path / "profiles.yaml"]
        settings[0].write_text(example["config"], encoding="utf-8")
    inputs = [log] if "log" in example else []
    if "receipts" in example:
        inputs.append(tmp_path / "receipts.jsonl")
        inputs[-1].write_text(example["receipts"], encoding="utf-8")
    device = Device(example.get("total"), example.get("most_free"))
    result = run_pipeline(inputs, settings, device=device)
    analysis = result.analysis
    assert contradictions(result) == []
    fired = [finding for finding in analysis.findings if finding.rule == rule]
    abstained = [entry for entry in analysis.abstentions if entry.rule == rule]
    assert example["expect"] in ("fires", "silent", "abstains")
    assert (bool(fired), bool(abstained)) == (example["expect"] == "fires", example["expect"] == "abstains"), (fired, abstained)
    for text in example.get("says", []):
        assert text in fired[0].message
    if "missing" in example:
        assert example["missing"] in abstained[0].missing
    if "cause" in example:
        assert analysis.verdict.cause == example["cause"]
    given = [entry for finding in fired for entry in finding.advice]
    advice = {f"{entry.knob} {entry.direction}" for entry in given}
    advice |= {f"{entry.knob} {entry.direction} to {entry.value}" for entry in given}
    advice |= {f"{entry.knob} {entry.direction} at least {entry.low}" for entry in given}
    advice |= {f"{entry.knob} {entry.direction} at most {entry.high}" for entry in given}
    assert set(example.get("advice", [])) <= advice
    assert not set(example.get("never", [])) & advice


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_has_fixtures(rule: str) -> None:
    """One on which it fires and one on which it stays silent; one on which it abstains where it depends on a figure."""
    file = FIXTURES / f"{rule}.yaml"
    assert file.exists(), f"no fixtures for {rule}"
    expected = {example["expect"] for example in yaml.safe_load(file.read_text(encoding="utf-8"))}
    assert {"fires", "silent"} <= expected
    if RULES[rule].how_to_get:
        assert "abstains" in expected


def test_every_fixture_is_of_a_rule() -> None:
    assert {rule for rule, _ in _examples()} <= set(RULES)
