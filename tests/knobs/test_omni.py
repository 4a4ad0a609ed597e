"""The rows of settings of sglang-omni's stages, from logs."""

from dataclasses import replace

import pytest
from packaging.version import Version

from analyzer.analysis import KnobRecord
from analyzer.engines.omni import omni_release
from analyzer.figures.known_arguments import takes
from analyzer.figures.omni_stages import knob
from analyzer.knobs.table import knobs
from tests.runs import run_of

HEAD = "2026-05-01 12:00:00,123 [INFO] sglang_omni.models.qwen3_omni.stages: "
THINKER = HEAD + (
    "sglang_ar_startup stage=thinker gpu_id=0 tp_rank=0/1 context_length=32768 total_gpu_memory_fraction={share} "
    "effective_total_gpu_memory_fraction={effective} mem_fraction_static={static} encoder_mem_reserve={reserve} pre_load_avail_mem=78.11 "
    "pid=4321 pre_load_process_mem=0.52GiB\n"
)
TALKER = HEAD + (
    "sglang_ar_startup stage=talker_ar gpu_id={gpu} tp_rank=0/1 context_length=32768 total_gpu_memory_fraction={share} "
    "mem_fraction_static={static} pre_load_avail_mem=78.11 pid=4322 pre_load_process_mem=0.52GiB\n"
)
PROFILE = (
    "2026-05-01 12:00:09,123 [INFO] sglang_omni.model_runner.sglang_model_runner: SGLang AR memory profile: "
    "gpu_mem_accounting=nvml_process gpu_id=0 total_gpu_memory_fraction={share:.3f} mem_fraction_static={share:.3f} total=79.11GiB "
    "process_used={used}GiB available_for_kv={pool}GiB\n"
)
PINNED = (
    "2026-05-01 12:00:09,123 [INFO] sglang_omni.model_runner.sglang_model_runner: SGLang AR memory profile: "
    "gpu_mem_accounting=kv_cache_bytes gpu_id=0 kv_cache_bytes=8.00GiB free=17.20GiB\n"
)
CAP = "[INFO] stage_workers.{stage}: Stage {stage}: torch allocator capped at {bytes} bytes on cuda:0 (fraction 0.1)\n"
TOGETHER = THINKER.format(share=0.6, effective=0.55, static=0.55, reserve=0.05) + TALKER.format(gpu=0, share=0.35, static=0.35)


def rows(log: str) -> dict[str, KnobRecord]:
    """The rows of the table, by setting."""
    return {row.knob: row for row in knobs(run_of(log))}


def test_stages_that_share_a_card() -> None:
    found = rows(TOGETHER + PROFILE.format(share=0.55, used="39.50", pool="4.01"))
    thinker = found["thinker.total_gpu_memory_fraction"]
    assert (thinker.value, thinker.source) == (0.6, "printed by the engine, line 1; 0.55 without what is kept for encoders")
    # 39.50 / 79.11 + 0.05, and what the talker leaves
    assert (thinker.low, thinker.high) == (0.55, 0.65)
    assert "GPU 0 has no more beside talker_ar" in thinker.works
    assert thinker.effect == (
        "the stage's KV pool gets 4.01 GiB; 0.01 is 810.09 MiB; "
        "the stages on GPU 0 that print a share have 0.6 + 0.35 = 0.95 of the card, 3.96 GiB left at most"
    )
    talker = found["talker_ar.total_gpu_memory_fraction"]
    assert (talker.low, talker.high) == (None, 0.4)


def test_stages_that_were_promised_more_than_the_card() -> None:
    log = THINKER.format(share=0.6, effective=0.6, static=0.6, reserve=0.0) + TALKER.format(gpu=0, share=0.45, static=0.45)
    effect = rows(log + PROFILE.format(share=0.6, used="39.50", pool="7.96"))["thinker.total_gpu_memory_fraction"].effect
    assert effect.endswith("have 0.6 + 0.45 = 1.05 of the card, 3.96 GiB too much at least")


def test_stages_on_cards_of_their_own() -> None:
    found = rows(THINKER.format(share=None, effective=None, static=0.824, reserve=0.05) + TALKER.format(gpu=1, share=None, static=0.8))
    thinker = found["thinker.mem_fraction_static"]
    assert (thinker.value, thinker.works) == (0.824, "")
    assert thinker.source == "printed by the engine, line 1; automatic, less 0.05 for encoders"
    assert found["talker_ar.mem_fraction_static"].value == 0.8
    reserve = found["thinker.encoder_mem_reserve"]
    assert (reserve.value, reserve.high) == (0.05, 0.774), "0.824 + 0.05 - 0.1"


def test_a_reserve_of_nothing_may_be_ignored_or_set_to_nothing() -> None:
    row = rows(THINKER.format(share=None, effective=None, static=0.8, reserve=0.0))["thinker.encoder_mem_reserve"]
    assert row.effect == "nothing is kept for encoders: it is 0, or the stage's fraction was set by hand"
    assert row.high is None


def test_two_stages_of_the_same_share_are_not_told_apart() -> None:
    log = THINKER.format(share=0.45, effective=0.45, static=0.45, reserve=0.0) + TALKER.format(gpu=0, share=0.45, static=0.45)
    assert rows(log + PROFILE.format(share=0.45, used="30.00", pool="5.60"))["thinker.total_gpu_memory_fraction"].low is None


def test_a_share_that_leaves_no_pool() -> None:
    refused = "RuntimeError: Colocated GPU memory budget leaves no KV-cache headroom: total=79.11GiB, fraction=0.550, budget=43.51GiB, "
    row = rows(TOGETHER + refused + "process_used=62.30GiB\n")["thinker.total_gpu_memory_fraction"]
    assert row.low == 0.838, "62.30 / 79.11 + 0.05"
    assert row.works.startswith("no value works"), "the talker has 0.35"
    assert row.works.endswith("move a stage to another card, or make its weights smaller")


def test_pools_of_a_fixed_size() -> None:
    skip = HEAD + "thinker declares engine.kv_cache_bytes; skipping the encoder_mem_reserve=0.05 fraction adjustment\n"
    found = rows(skip + THINKER.format(share=None, effective=None, static=0.874, reserve=0.0) + PINNED)
    pool = found["kv_cache_bytes"]
    assert (pool.value, pool.source) == (8 * 2**30, "printed by the engine, line 3")
    assert pool.works == "at most 17.20 GiB (so much was free after loading)"
    assert pool.effect == "gives the size of the pool on GPU 0; no fraction and no reserve is looked at"
    fixed = "none: kv_cache_bytes gives the size of the pool"
    assert found["thinker.engine.mem_fraction_static"].effect == fixed, "the message is of 0.1.5 or later, where paths are dotted"
    assert found["thinker.factory.encoder_mem_reserve"].effect == fixed


def test_a_fixed_pool_that_does_not_fit() -> None:
    refused = (
        "ValueError: Insufficient free GPU memory for the declared KV byte budget after model load: requested kv_cache_bytes=20.00GiB "
        "(21474836480 bytes), free=17.20GiB (18468359372 bytes) on gpu_id=0. Lower engine.kv_cache_bytes or free memory on this GPU.\n"
    )
    row = rows(refused)["kv_cache_bytes"]
    assert (row.value, row.high) == (21474836480, 18468359372)
    captured = (
        "RuntimeError: Post-capture KV sizing cannot honor the declared byte budget: kv_cache_bytes=20.00GiB sized the pool at 400000 "
        "tokens, but free memory minus the post-capture headroom only backs 300000 tokens (free=17.20GiB, gpu_id=0).\n"
    )
    assert rows(captured)["kv_cache_bytes"].works.startswith("at most 15.00 GiB")


def test_a_byte_limit_beside_the_shares() -> None:
    log = TOGETHER + PROFILE.format(share=0.55, used="39.50", pool="4.01")
    found = rows(log + CAP.format(stage="image_encoder", bytes=2 * 2**30) + CAP.format(stage="audio_encoder", bytes=3 * 2**30))
    cap = found["total_reserve_bytes"]
    assert (cap.value, cap.source) == (3 * 2**30, "printed by the engine, line 5"), "stages of one process print their sum so far"
    assert cap.works == "at most 3.96 GiB (GPU 0 has no more beside the shares of its stages)"
    assert found["thinker.gpu_memory_fraction"].effect.endswith("0.95 of the card, 978.43 MiB left at most")


def test_cards_that_were_refused_before_loading() -> None:
    limit = rows("ValueError: GPU 0 total_gpu_memory_fraction=1.050 exceeds placement limit 1.000\n")
    row = limit["total_gpu_memory_fraction of GPU 0"]
    assert (row.value, row.high, row.effect) == (1.05, 1.0, "0.050 of the card too much")
    declared = rows(
        "ValueError: GPU 1 declared budgets exceed physical memory: fraction 0.900 of 79.11GiB plus total_reserve_bytes 20.00GiB = "
        "91.20GiB. Lower the stage budgets or move a stage to another GPU.\n"
    )["total_gpu_memory_fraction of GPU 1"]
    assert (declared.high, declared.effect) == (0.747, "12.09 GiB too much"), "1 - 20.00 / 79.11"


@pytest.mark.parametrize(
    ("version", "messages", "expected"),
    [
        ("0.1.3", [], "0.1.3"),
        ("0.1.25", [], "0.1.25"),
        ("0.1.26", [], None),
        ("0.5.16", [], "0.1.1"),
        ("0.5.17", [], None),
        ("0.5.19", [], "0.1.5"),
        (None, ["omni_ar_startup"], None),
        (None, ["omni_torch_cap"], "0.1.5"),
        ("0.5.17", ["omni_torch_cap"], "0.1.5"),
    ],
)
def test_the_release_by_number_or_by_message(version: str | None, messages: list[str], expected: str | None) -> None:
    found = omni_release(Version(version) if version is not None else None, messages)
    assert found == (Version(expected) if expected is not None else None)


@pytest.mark.parametrize(
    ("version", "stage", "argument", "name"),
    [
        ("0.1.3", "talker_ar", "talker_mem_fraction_static", "talker_mem_fraction_static"),
        ("0.1.3", "asr", "thinker_mem_fraction_static", "asr.mem_fraction_static"),
        ("0.1.3", "thinker", "encoder_mem_reserve", "encoder_mem_reserve"),
        ("0.1.3", "thinker", "stage_fraction", "thinker.total_gpu_memory_fraction"),
        ("0.1.4", "talker_ar", "talker_mem_fraction_static", "talker_ar.engine.mem_fraction_static"),
        ("0.1.4", "thinker", "stage_fraction", "thinker.gpu_memory_fraction"),
        ("0.1.4", "thinker", "encoder_mem_reserve", "thinker.factory.encoder_mem_reserve"),
        (None, "thinker", "encoder_mem_reserve", "thinker.encoder_mem_reserve"),
    ],
)
def test_names_by_release(version: str | None, stage: str, argument: str, name: str) -> None:
    run = replace(run_of(TOGETHER), version_text=version)
    printed = "total_gpu_memory_fraction" if argument == "stage_fraction" else argument.removeprefix("thinker_").removeprefix("talker_")
    assert knob(run, stage, argument, printed) == name


@pytest.mark.parametrize(
    ("version", "argument", "taken"),
    [
        ("0.1.4", "kv_cache_bytes", False),
        ("0.1.5", "kv_cache_bytes", True),
        ("0.1.5", "max_running_requests", True),
        ("0.1.7", "keep_mm_feature_on_device", True),
        ("0.1.9", "keep_mm_feature_on_device", False),
        (None, "kv_cache_bytes", True),
    ],
)
def test_arguments_of_the_pipeline_and_of_the_engine_inside(version: str | None, argument: str, taken: bool) -> None:
    run = replace(run_of(TOGETHER), version_text=version)
    assert takes(run, argument) is taken


def test_another_engine_has_no_stages() -> None:
    found = rows("[2026-03-02 10:00:00] server_args=ServerArgs(model_path='/m', mem_fraction_static=0.8)\n")
    assert set(found) == {"mem_fraction_static"}
