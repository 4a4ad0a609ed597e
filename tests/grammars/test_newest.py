"""What the newest releases print besides the catalogues' messages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.grammars.conftest import Reader
from tests.grammars.newest_samples import SGLANG, VLLM
from tests.grammars.samples import plain


@pytest.mark.parametrize(
    ("family", "text", "kind", "fields"),
    [
        pytest.param(family, *sample, id=f"{family}-{number}-{sample[1]}")
        for family, samples in (("vllm", VLLM), ("sglang", SGLANG))
        for number, sample in enumerate(samples)
    ],
)
def test_a_line_becomes_this_fact(family: str, text: str, kind: str, fields: dict[str, Any], read: Reader) -> None:
    found = [fact for fact in read(text) if fact.family == family]
    assert [(fact.kind, plain(dict(fact.fields))) for fact in found] == [(kind, fields)]
