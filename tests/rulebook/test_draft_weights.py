"""Where the weights of a draft model go, by the release that SGLang's arguments tell: the direction of the fraction turns with it."""

from pathlib import Path

import pytest

from analyzer import analyze
from tests.sglang_dumps import dump

CUT = """\
  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/managers/scheduler.py", line 100, in init_model_worker
  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/speculative/eagle_worker.py", line 100, in __init__
  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/model_executor/model_runner.py", line 100, in load_model
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 2.17 GiB is free.
"""
"""Loading the draft ran out; nothing above shows whether the target's pools were there."""


@pytest.mark.parametrize(("release", "lowered"), [("0.5.12", True), ("0.5.13", True), ("0.5.14", False), ("0.5.15", False)])
def test_a_smaller_share_makes_room_for_the_draft_only_where_it_comes_after_the_pools(tmp_path: Path, release: str, lowered: bool) -> None:
    log = tmp_path / "crash.log"
    log.write_text(dump(release, mem_fraction_static=0.85, speculative_algorithm="EAGLE") + CUT, encoding="utf-8")
    found = analyze([log])
    assert found.verdict.cause == "weights-do-not-fit"
    assert (("mem_fraction_static", "lower") in {(entry.knob, entry.direction) for entry in found.verdict.advice}) is lowered
