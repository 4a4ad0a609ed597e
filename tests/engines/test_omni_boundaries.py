"""Messages of sglang-omni that came with 0.1.5, and with it the arguments that a log shows."""

from __future__ import annotations

import pytest
from packaging.version import Version

from analyzer.engines.omni import omni_release


@pytest.mark.parametrize("kind", ["omni_encoder_reserve_skip", "omni_kv_bytes_fail", "omni_kv_bytes_postcapture_fail", "omni_torch_cap"])
def test_a_message_that_came_with_0_1_5(kind: str) -> None:
    assert omni_release(None, [kind]) == Version("0.1.5")


@pytest.mark.parametrize("kind", ["omni_ar_startup", "omni_kv_none", "omni_request_too_big"])
def test_a_message_of_every_release_tells_none(kind: str) -> None:
    assert omni_release(None, [kind]) is None
