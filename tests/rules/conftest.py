"""The analyses of these tests share their grammars and rules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.loading import grammars_and_rules_kept


@pytest.fixture(scope="package", autouse=True)
def loaded_once() -> Iterator[None]:
    with grammars_and_rules_kept():
        yield
