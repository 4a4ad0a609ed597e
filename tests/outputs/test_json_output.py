"""The JSON output is the contract."""

import json

import jsonschema
import pytest

from analyzer.outputs import json_schema, render
from tests.outputs.sample import crash_analysis, hostile_analysis


def test_the_schema_is_valid_and_the_output_follows_it() -> None:
    schema = json.loads(json_schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for analysis in (crash_analysis(), hostile_analysis()):
        validator.validate(json.loads(render(analysis, "json")))


@pytest.mark.parametrize("path", [("verdict",), ("runs", 0, "ranks", 0, "ledger", "weights", "low"), ("findings", 0, "evidence")])
def test_the_schema_misses_what_is_missing(path: tuple[str | int, ...]) -> None:
    document = json.loads(render(crash_analysis(), "json"))
    owner = document
    for step in path[:-1]:
        owner = owner[step]
    del owner[path[-1]]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, json.loads(json_schema()))


def test_keys_stand_in_the_order_of_the_contract() -> None:
    document = json.loads(render(crash_analysis(), "json"))
    assert list(document) == [
        "schema_version", "tool", "inputs", "verdict", "runs", "findings", "patches", "ladder", "facts", "unknown_lines",
    ]  # fmt: skip
    assert list(document["verdict"]) == ["outcome", "cause", "phase", "confidence", "summary", "advice"]
    assert document["runs"][0]["ranks"][0]["ledger"]["weights"] == {
        "bytes": 17652315587, "low": 17646946878, "high": 17657684295, "text": "16.44 GiB",
    }  # fmt: skip


def test_letters_of_any_script_stand_as_they_are_and_the_text_ends_with_a_line_feed() -> None:
    text = render(crash_analysis(), "json")
    assert "свободно 23.50 из 31.84" in text
    assert text.endswith("}\n")
