"""Two runs of one engine side by side."""

from pathlib import Path
from typing import Any

import pytest

from analyzer import analyze
from analyzer.analysis import Analysis
from analyzer.outputs import render
from tests.sglang_dumps import dump

HEAD = (
    "(EngineCore_DP0 pid=272) INFO 03-02 10:00:00 [core.py:61] Initializing a V1 LLM engine (v{version}) with config: model='/m', "
    "max_seq_len=32768\n"
    "(APIServer pid=1) INFO 03-02 10:00:01 [utils.py:233] non-default args: {{'max_model_len': {window}, 'max_num_seqs': 64}}\n"
)
LOADED = "(EngineCore_DP0 pid=272) INFO 03-02 10:00:40 [gpu_model_runner.py:1] Model loading took {weights} GiB memory and 28.3 seconds\n"
CACHE = "(EngineCore_DP0 pid=272) INFO 03-02 10:00:50 [gpu_worker.py:298] Available KV cache memory: {cache} GiB\n"
PINNED = (
    "(EngineCore_DP0 pid=272) INFO 03-02 10:00:50 [gpu_worker.py:1] Initial free memory {free} GiB, reserved 4.84 GiB memory "
    "for KV Cache as specified by kv_cache_memory_bytes config and skipped memory profiling.\n"
)
ARENA = (
    "(APIServer pid=1) INFO 03-02 10:00:01 [utils.py:233] non-default args: {'max_model_len': 32768, 'kv_cache_memory_bytes': 5200000000}\n"
)
SERVES = "(APIServer pid=1) INFO:     Application startup complete.\n"
RUNS_OUT = (
    "(EngineCore_DP0 pid=272) INFO 03-02 10:00:55 [gpu_model_runner.py:1] Graph capturing finished in 3 secs, took 0.52 GiB\n"
    "(EngineCore_DP0 pid=272) ERROR 03-02 10:00:58 [core.py:708] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 272.00 MiB. "
    "GPU 0 has a total capacity of 31.36 GiB of which 149.06 MiB is free.\n"
)
SGLANG = "[2026-03-02 10:00:13] Load weight begin. avail mem=78.00 GB\n"


@pytest.fixture
def analysed(tmp_path: Path) -> Any:
    def read(*texts: str) -> Analysis:
        logs = [tmp_path / f"{number}.log" for number, _ in enumerate(texts)]
        for log, text in zip(logs, texts, strict=True):
            log.write_text(text, encoding="utf-8")
        return analyze(logs)

    return read


def vllm(version: str, *, weights: float, cache: float, window: int = 32768) -> str:
    return HEAD.format(version=version, window=window) + LOADED.format(weights=weights) + CACHE.format(cache=cache)


def test_what_grew_and_by_how_much(analysed: Any) -> None:
    found = analysed(vllm("0.11.0", weights=16.44, cache=4.0), vllm("0.11.0", weights=17.44, cache=3.0, window=65536)).comparison
    grew = {change.item: round(change.grew.bytes / 2**30, 2) for change in found.items}
    assert grew == {"weights": 1.0, "kv_cache": -1.0}
    weights = next(change.grew for change in found.items if change.item == "weights")
    assert weights.low < 2**30 < weights.high, "the printed decimals leave an interval"
    assert [(entry.name, entry.before, entry.after) for entry in found.arguments] == [("max_model_len", "32768", "65536")]
    assert found.releases == []


def test_releases_that_only_the_arguments_tell(analysed: Any) -> None:
    """The dumps of 0.5.6 and 0.5.7 leave two releases open each; what lies between them and 0.5.14 changed for certain."""
    found = analysed(dump("0.5.7") + SGLANG, dump("0.5.14") + SGLANG).comparison
    assert any(told.startswith("a draft model's weights are beside the pools in 0.5.") for told in found.releases)
    assert analysed(dump("0.5.7") + SGLANG, dump("0.5.7") + SGLANG).comparison.releases == []


def test_what_may_be_the_same_is_only_counted(analysed: Any) -> None:
    found = analysed(vllm("0.11.0", weights=16.44, cache=4.0), vllm("0.11.0", weights=16.44, cache=4.0)).comparison
    assert (found.items, found.arguments) == ([], [])
    assert found.same == 2


def test_a_default_that_changed_between_the_releases(analysed: Any) -> None:
    found = analysed(vllm("0.19.1", weights=16.44, cache=4.0), vllm("0.20.0", weights=16.44, cache=4.0)).comparison
    assert found.releases == [
        "gpu_memory_utilization, when nobody sets it: 0.9 in 0.19.1, 0.92 in 0.20.0",
        "CUDA graphs live in what the utilization leaves free in 0.19.1, come off the KV budget in 0.20.0",
    ]


def test_three_runs_and_two_engines_are_not_compared(analysed: Any) -> None:
    one = vllm("0.11.0", weights=16.44, cache=4.0)
    assert analysed(one, one, one).comparison is None
    assert analysed(one, SGLANG).comparison is None
    assert analysed(one).comparison is None


def test_the_arena_that_follows_from_two_days(analysed: Any) -> None:
    """What was free is smaller by 0.60 GiB on the second day; so has the arena to be."""
    served = ARENA + LOADED.format(weights=16.44) + PINNED.format(free="23.60") + SERVES
    failed = ARENA + LOADED.format(weights=16.44) + PINNED.format(free="23.00") + RUNS_OUT
    analysis = analysed(served, failed)
    assert analysis.comparison.arena == pytest.approx(5_200_000_000 - 0.6 * 2**30, abs=0.011 * 2**30)
    assert analysis.comparison.arena < 5_200_000_000 - 0.6 * 2**30, "the lower end is the one that certainly starts"
    advice = next(entry for entry in analysis.verdict.advice if entry.knob == "kv_cache_memory_bytes")
    assert (advice.direction, advice.value) == ("lower", analysis.comparison.arena)


def test_no_arena_without_a_run_that_served_with_more_memory(analysed: Any) -> None:
    failed = ARENA + LOADED.format(weights=16.44) + PINNED.format(free="23.00") + RUNS_OUT
    assert analysed(failed, failed.replace("23.00", "22.00")).comparison.arena is None
    served = ARENA + LOADED.format(weights=16.44) + PINNED.format(free="22.00") + SERVES
    assert analysed(served, failed).comparison.arena is None
    other_model = ARENA + LOADED.format(weights=12.0) + PINNED.format(free="23.60") + SERVES
    assert analysed(other_model, failed).comparison.arena is None


def test_the_pages_show_it_and_the_json_does_not(analysed: Any) -> None:
    analysis = analysed(vllm("0.19.1", weights=16.44, cache=4.0), vllm("0.20.0", weights=17.44, cache=3.0))
    assert "weights 16.44 GiB -> 17.44 GiB: 1.00 GiB more (0.990 to 1.010 GiB)" in " ".join(render(analysis, "text").split())
    for form in ("html", "markdown"):
        assert "gpu" in render(analysis, form).lower()
        assert "1.log#1 against" in render(analysis, form).replace("\\", "").replace("0.log#1 against", "1.log#1 against")
    assert '"comparison"' not in render(analysis, "json")
