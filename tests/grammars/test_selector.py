"""The profile selector's lines, in Russian and in English."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.grammars.conftest import Reader
from tests.grammars.samples import plain
from tests.grammars.selector_samples import CHOICE, CLAMP, SELECTOR


@pytest.mark.parametrize(("text", "kind", "fields"), SELECTOR)
def test_line_becomes_this_fact(text: str, kind: str, fields: dict[str, Any], read: Reader) -> None:
    assert [(fact.kind, plain(fact.fields)) for fact in read(text) if fact.family == "selector"] == [(kind, fields)]


def test_the_way_a_profile_was_chosen(fixtures_dir: Path, read: Reader) -> None:
    facts = [fact for fact in read((fixtures_dir / "seeds/crash.log").read_text(encoding="utf-8")) if fact.family == "selector"]
    assert [(fact.line.number, fact.kind) for fact in facts] == [(1, "selector_choice"), (2, "selector_clamp"), (3, "selector_args")]
    assert plain(facts[0].fields) == CHOICE
    assert plain(facts[1].fields) == CLAMP
    assert facts[2].mapping("args")["kv_cache_memory_bytes"] == 5_200_000_000


def test_a_forced_profile(fixtures_dir: Path, read: Reader) -> None:
    facts = [fact for fact in read((fixtures_dir / "seeds/forced_262k.log").read_text(encoding="utf-8")) if fact.family == "selector"]
    assert [fact.kind for fact in facts] == ["selector_forced", "selector_args"]


@pytest.mark.parametrize(
    "text",
    ["selected backend: flashinfer", "the model does not fit into memory", "X=long_262k: something", "профиль не найден", "window 4096"],
)
def test_other_lines_are_left_alone(text: str, read: Reader) -> None:
    assert not [fact for fact in read(text) if fact.family == "selector"]
