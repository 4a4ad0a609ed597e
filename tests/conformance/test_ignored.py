"""What is left out on purpose is data: groups with conditions and a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.conformance.ignored import IgnoredError, load_ignored, reason_for
from analyzer.conformance.templates import Template

GROUPS = """
- reason: debug output
  levels: debug
- reason: a setting
  files: [vllm/config/*, vllm/envs.py]
  texts: ['must be', 'expected']
  unless: out of memory
"""


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (Template("vllm/a.py", "debug", "memory"), "debug output"),
        (Template("vllm/config/a.py", "debug", "memory must be 3"), "debug output"),
        (Template("vllm/config/deep/a.py", "info", "memory Must Be 3"), "a setting"),
        (Template("vllm/envs.py", "exception ValueError", "memory expected"), "a setting"),
        (Template("vllm/a.py", "info", "memory must be 3"), None),
        (Template("vllm/config/a.py", "info", "memory"), None),
        (Template("vllm/config/a.py", "info", "must be Out of memory"), None),
    ],
)
def test_every_condition_of_a_group_must_hold(tmp_path: Path, template: Template, reason: str | None):
    (tmp_path / "ignored.yaml").write_text(GROUPS)
    assert reason_for(template, load_ignored(tmp_path)) == reason


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("reason: x", "a list of groups was expected"),
        ("- reason: x", "entry 1: a reason and some of files, levels, texts, unless were expected"),
        ("- levels: debug", "entry 1: a reason and some of"),
        ("- {reason: x, level: debug}", "entry 1: a reason and some of"),
        ("- {reason: x, levels: debug}\n- {reason: x, levels: [1]}", "entry 2: texts were expected"),
        ("- {reason: x, texts: '('}", r"entry 1: .*unterminated"),
        ("- [", "while parsing"),
    ],
)
def test_a_list_that_cannot_be_used_names_the_entry(tmp_path: Path, text: str, complaint: str):
    (tmp_path / "ignored.yaml").write_text(text)
    with pytest.raises(IgnoredError, match=rf"ignored\.yaml: {complaint}"):
        load_ignored(tmp_path)


def test_no_list(tmp_path: Path):
    with pytest.raises(IgnoredError, match=r"ignored\.yaml"):
        load_ignored(tmp_path)
