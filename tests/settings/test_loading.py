"""Recognising settings files and judging their values."""

from pathlib import Path

import pytest

from analyzer.settings import SettingsError, load_settings, parse_settings, replaced
from analyzer.units import Size


def test_the_profiles_as_found(fixtures_dir: Path):
    path = fixtures_dir / "seeds" / "profiles.as-found.yaml"
    settings = load_settings([path])
    assert settings.form == "profiles"
    assert settings.files == (str(path),)
    assert settings.selection.safety_factor == 0.98
    assert settings.selection.order == ("raw_1010k", "long_393k", "long_262k")
    long_393k = settings.profiles["long_393k"]
    assert long_393k.engine == "vllm"
    assert long_393k.requires_free_bytes == 24_053_735_802
    assert long_393k.utilization == 0.95
    assert long_393k.value("skip_mm_profiling") is True
    assert long_393k.written("requires_free_bytes") == "24_053_735_802"
    assert long_393k.size("kv_cache_memory_bytes") == Size.exact(5_200_000_000)
    assert long_393k.line("requires_free_bytes") == 15
    assert long_393k.place("requires_free_bytes") == ("profiles", "long_393k", "requires_free_bytes")


def test_a_missing_argument_has_the_place_where_it_would_be_added(fixtures_dir: Path):
    long_262k = load_settings([fixtures_dir / "seeds" / "profiles.as-found.yaml"]).profiles["long_262k"]
    assert long_262k.utilization is None
    assert long_262k.value("gpu_memory_utilization") is None
    assert long_262k.line("gpu_memory_utilization") == 20
    assert long_262k.place("gpu_memory_utilization") == ("profiles", "long_262k", "gpu_memory_utilization")


def test_a_value_behind_a_merge_key_is_placed_in_the_child_and_its_line_is_the_anchors(fixtures_dir: Path):
    long_262k = load_settings([fixtures_dir / "settings" / "serving_profiles.yaml"]).profiles["long_262k"]
    assert long_262k.utilization == 0.95
    assert long_262k.inherits("gpu_memory_utilization")
    assert not long_262k.inherits("max_model_len")
    assert long_262k.line("gpu_memory_utilization") == 14
    assert long_262k.place("gpu_memory_utilization") == ("profiles", "long_262k", "gpu_memory_utilization")


def test_the_json_twin_has_no_utilization_and_a_longer_path(fixtures_dir: Path):
    long_262k = load_settings([fixtures_dir / "settings" / "serving_profiles.json"]).profiles["long_262k"]
    assert long_262k.utilization is None
    assert long_262k.place("max_model_len") == ("serving", "profiles", "long_262k", "max_model_len")


def test_an_argument_file_of_vllm(fixtures_dir: Path):
    settings = load_settings([fixtures_dir / "settings" / "vllm-config.yaml"])
    assert (settings.form, list(settings.profiles)) == ("vllm-arguments", ["vllm-config"])
    profile = settings.profiles["vllm-config"]
    assert profile.engine == "vllm"
    assert profile.arguments == {
        "model": "Qwen/Qwen3-32B",
        "gpu_memory_utilization": 0.95,
        "max_model_len": 131_072,
        "max_num_seqs": 64,
        "kv_cache_memory_bytes": 5_200_000_000,
        "enforce_eager": False,
        "compilation_config": {"cudagraph_capture_sizes": [1, 2, 4, 8]},
        "limit_mm_per_prompt": {"image": 2, "video": 0},
    }
    assert profile.size("kv_cache_memory_bytes") == Size.exact(5_200_000_000, "5.2g")
    assert profile.place("max_model_len") == ("max-model-len",)
    assert profile.place("max_num_seqs") == ("max_num_seqs",)
    assert profile.place("max_num_batched_tokens") == ("max-num-batched-tokens",)


def test_an_argument_file_of_sglang(fixtures_dir: Path):
    settings = load_settings([fixtures_dir / "settings" / "sglang-config.yaml"])
    assert settings.form == "sglang-arguments"
    profile = settings.profiles["sglang-config"]
    assert profile.engine == "sglang"
    assert profile.utilization == 0.88
    assert profile.value("context_length") == 128_000
    assert profile.value("max_total_tokens") == 524_288
    assert profile.written("context_length") == "128k"
    assert profile.value("enable_metrics") is True
    assert profile.place("max_prefill_tokens") == ("max-prefill-tokens",)


def test_an_argument_file_in_json(fixtures_dir: Path):
    settings = load_settings([fixtures_dir / "settings" / "triton_model.json"])
    assert settings.form == "vllm-arguments"
    assert settings.profiles["triton_model"].value("max_model_len") == 32_768


def test_several_files_together(fixtures_dir: Path):
    paths = [fixtures_dir / "seeds" / "profiles.repaired.yaml", fixtures_dir / "settings" / "vllm-config.yaml"]
    settings = load_settings(paths)
    assert settings.form == "profiles"
    assert list(settings.profiles) == ["raw_1010k", "long_393k", "long_262k", "vllm-config"]
    assert settings.order == ("raw_1010k", "long_393k", "long_262k")


@pytest.mark.parametrize("name", ["docker-compose.yml", "kserve.yaml", "verl_grpo.yaml"])
def test_other_files_are_refused_by_name(fixtures_dir: Path, name: str):
    with pytest.raises(SettingsError, match=rf"{name}.*expected"):
        load_settings([fixtures_dir / "settings" / name])


@pytest.mark.parametrize(
    ("arguments", "engine"),
    [
        ("gpu_memory_utilization: 0.9", "vllm"),
        ("mem_fraction_static: 0.9", "sglang"),
        ("mem-fraction-static: 0.9", "sglang"),
        ("engine: sglang, max_model_len: 5", "sglang"),
        ("kv_cache_dtype: fp8", None),
        ("max_model_len: 5, context_length: 5", None),
    ],
)
def test_the_engine_shows_in_the_arguments(arguments: str, engine: str | None):
    assert parse_settings({"p.yaml": f"profiles: {{a: {{{arguments}}}}}"}).profiles["a"].engine == engine


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("gpu_memory_utilization: 95", "expected a fraction above 0 and at most 1 (95 percent is written 0.95), found 95"),
        ("gpu_memory_utilization: 0", "expected a fraction above 0 and at most 1, found 0"),
        ("gpu_memory_utilization: -0.5", "expected a fraction above 0 and at most 1, found -0.5"),
        ("gpu_memory_utilization: .nan", "expected a fraction above 0 and at most 1, found nan"),
        ("gpu_memory_utilization: '0.9'", "expected a fraction above 0 and at most 1, found the text '0.9'"),
        ("gpu_memory_utilization: true", "expected a fraction above 0 and at most 1, found true"),
        ("mem_fraction_static: 1.5", "expected a fraction above 0 and at most 1, found 1.5"),
        ("mem_fraction_static: [0.9]", "expected a fraction above 0 and at most 1, found a list"),
        ("requires_free_bytes: -1", "expected a whole number of bytes that is not negative, found -1"),
        ("requires_free_bytes: 1.5e+9", "expected a whole number of bytes that is not negative, found 1500000000.0"),
        ("kv_cache_memory_bytes: {}", "expected a whole number of bytes that is not negative, found a mapping"),
        (
            "kv_cache_memory_bytes: 5.2G",
            'expected a whole number of bytes, or an amount with its unit such as "24 GiB" or "5.2 GB", found the text \'5.2G\'',
        ),
        (
            "requires_free_bytes: '24053735802'",
            'expected a whole number of bytes, or an amount with its unit such as "24 GiB" or "5.2 GB", found the text \'24053735802\'',
        ),
        ("max_model_len: 0", "expected a whole number of at least 1, found 0"),
        ("max_model_len: -2", "expected a whole number of at least 1, found -2"),
        ("max_model_len: 128k", "expected a whole number, found the text '128k'"),
        ("max_num_seqs: many", "expected a whole number, found the text 'many'"),
        ("context_length: false", "expected a whole number of at least 1, found false"),
        ("chunked_prefill_size: 0", "expected a whole number of at least 1, found 0"),
        ("swap_space: -4", "expected a number that is not negative, found -4"),
        ("cpu_offload_gb: .inf", "expected a number that is not negative, found inf"),
        ("skip_mm_profiling: 1", "expected true or false, found 1"),
        ("kv_cache_dtype: 8", "expected a text, found 8"),
        ("engine: trt", "expected vllm or sglang, found the text 'trt'"),
    ],
)
def test_a_value_that_cannot_be_meant_is_named_with_its_line(arguments: str, message: str):
    key = arguments.partition(":")[0]
    with pytest.raises(SettingsError) as raised:
        parse_settings({"p.yaml": f"profiles:\n  wide:\n    dtype: auto\n    {arguments}\n"})
    assert str(raised.value) == f"p.yaml:4: profiles.wide.{key}: {message}"


@pytest.mark.parametrize(
    ("arguments", "key", "value"),
    [
        ("requires_free_bytes: 24_053_735_802", "requires_free_bytes", 24_053_735_802),
        ("requires_free_bytes: 24 GiB", "requires_free_bytes", 24 * 2**30),
        ("requires_free_bytes: '4.84 GiB'", "requires_free_bytes", 5_196_910_428),
        ("kv_cache_memory_bytes: 5.2 GB", "kv_cache_memory_bytes", 5_200_000_000),
        ("kv_cache_memory_bytes: 0", "kv_cache_memory_bytes", 0),
        ("max_model_len: -1", "max_model_len", "auto"),
        ("max_model_len: auto", "max_model_len", "auto"),
        ("gpu_memory_utilization: 1", "gpu_memory_utilization", 1.0),
        ("gpu_memory_utilization: null", "gpu_memory_utilization", None),
        ("chunked_prefill_size: -1", "chunked_prefill_size", -1),
        ("new_argument: [1, {a: b}]", "new_argument", [1, {"a": "b"}]),
        ("max-model-len: 5", "max_model_len", 5),
    ],
)
def test_values_as_they_are_meant(arguments: str, key: str, value: object):
    assert parse_settings({"p.yaml": f"profiles:\n  wide:\n    {arguments}\n"}).profiles["wide"].value(key) == value


def test_a_byte_amount_keeps_how_it_was_written():
    profile = parse_settings({"p.yaml": "profiles: {a: {requires_free_bytes: 24 GiB, max_model_len: 5}}"}).profiles["a"]
    assert profile.size("requires_free_bytes") == Size.exact(24 * 2**30, "24 GiB")
    assert profile.size("max_model_len") is None


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("131072", 131_072),
        ('"131072"', 131_072),
        ("100k", 100_000),
        ("100K", 102_400),
        ("25.6k", 25_600),
        ("1m", 10**6),
        ("1M", 2**20),
    ],
)
def test_suffixes_of_vllm(written: str, value: int):
    assert parse_settings({"v.yaml": f"max-model-len: {written}"}).profiles["v"].value("max_model_len") == value


@pytest.mark.parametrize(("written", "value"), [("128k", 128_000), ("8Ki", 8192), ("25.6k", 25_600), ("1M", 10**6), ('"4096"', 4096)])
def test_suffixes_of_sglang(written: str, value: int):
    assert parse_settings({"s.yaml": f"context-length: {written}"}).profiles["s"].value("context_length") == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "kv-cache-memory-bytes: 5.2G",
            "expected a whole number before G (binary); with a fraction vLLM takes only g (decimal), found '5.2G'",
        ),
        (
            "kv-cache-memory-bytes: 4.84GiB",
            "expected a whole number, alone or with k, m, g, t (decimal) or K, M, G, T (binary), found '4.84GiB'",
        ),
        ("kv-cache-memory-bytes: lots", "expected a whole number, found the text 'lots'"),
        ("max-num-seqs: 1k", "expected a whole number, found the text '1k'"),
        ("context-length: 128K", "expected a whole number, alone or with k, M, G, T (decimal) or Ki, Mi, Gi, Ti (binary), found '128K'"),
        ("chunked-prefill-size: 8Ki", "expected a whole number, found the text '8Ki'"),
    ],
)
def test_suffixes_that_the_engine_refuses(text: str, message: str):
    with pytest.raises(SettingsError) as raised:
        parse_settings({"v.yaml": f"# arguments\n{text}\n"})
    assert str(raised.value) == f"v.yaml:2: {text.partition(':')[0]}: {message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "p.yaml:1: expected `profiles:` or engine arguments at the top, found a list"),
        ("just words", "p.yaml:1: expected `profiles:` or engine arguments at the top, found the text 'just words'"),
        ("{}", "p.yaml:1: expected `profiles:` or engine arguments at the top, found an empty mapping"),
        ("profiles:\n", "p.yaml:1: profiles: expected a mapping from names to profiles, found nothing"),
        ("profiles: [a]\n", "p.yaml:1: profiles: expected a mapping from names to profiles, found a list"),
        ("profiles:\n  a: 3\n", "p.yaml:2: profiles.a: expected a mapping of arguments, found 3"),
        (
            "max-model-len: 5\nmem-fraction-static: 0.8\n",
            "p.yaml:2: max-model-len belongs to vLLM and mem-fraction-static to SGLang: expected the arguments of one engine",
        ),
        ("max-model-len: 5\nmax_model_len: 6\n", "p.yaml:2: max_model_len: given twice: also spelt max-model-len"),
        (
            "profiles:\n  a:\n    gpu_memory_utilization: 0.9\n    mem_fraction_static: 0.8\n",
            (
                "p.yaml:4: profiles.a.mem_fraction_static: gpu_memory_utilization is given too, "
                "and both state a share of device memory: expected one of them"
            ),
        ),
        ("profiles: {a: {}}\nselection: 3\n", "p.yaml:2: selection: expected a mapping with safety_factor and order, found 3"),
        (
            "profiles: {a: {}}\nselection:\n  safety_factor: 98\n",
            "p.yaml:3: selection.safety_factor: expected a fraction above 0 and at most 1 (98 percent is written 0.98), found 98",
        ),
        ("profiles: {a: {}}\nselection:\n  safety: 1\n", "p.yaml:3: selection.safety: unknown: expected safety_factor or order"),
        (
            "profiles: {a: {}}\nselection:\n  order: a\n",
            "p.yaml:3: selection.order: expected a list of names of profiles, found the text 'a'",
        ),
        ("profiles: {a: {}}\nselection:\n  order:\n  - a\n  - b\n", "p.yaml:5: selection.order: b is no profile: expected some of a"),
        ("profiles: {a: {}}\nselection:\n  order: [a, a]\n", "p.yaml:3: selection.order: a is named twice"),
    ],
)
def test_what_is_wrong_with_a_file(text: str, message: str):
    with pytest.raises(SettingsError) as raised:
        parse_settings({"p.yaml": text})
    assert str(raised.value) == message


def test_all_problems_are_listed_in_the_order_of_their_lines():
    with pytest.raises(SettingsError) as raised:
        parse_settings({"p.yaml": "selection: {order: [b]}\nprofiles:\n  a:\n    max_model_len: 0\n    gpu_memory_utilization: 95\n"})
    assert [(problem.line, problem.key) for problem in raised.value.problems] == [
        (1, "selection.order"),
        (4, "profiles.a.max_model_len"),
        (5, "profiles.a.gpu_memory_utilization"),
    ]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("profiles: {a: {}}", "q.yaml:1: a: a profile of this name is also in p.yaml:2: expected each name once"),
        ("profiles: {b: {}}\nselection: {}", "q.yaml:2: selection: also in p.yaml:1: expected it once"),
    ],
)
def test_two_files_may_not_say_the_same(other: str, message: str):
    with pytest.raises(SettingsError) as raised:
        parse_settings({"p.yaml": "selection: {}\nprofiles: {a: {}}\n", "q.yaml": other})
    assert str(raised.value) == message


def test_files_that_cannot_be_read_are_named(tmp_path: Path):
    with pytest.raises(SettingsError, match=r"missing.yaml: cannot be read: No such file or directory"):
        load_settings([tmp_path / "missing.yaml"])
    (tmp_path / "utf16.yaml").write_bytes("profiles: {}".encode("utf-16"))
    with pytest.raises(SettingsError, match=r"utf16.yaml: not UTF-8 text: byte 0xff at offset 0"):
        load_settings([tmp_path / "utf16.yaml"])


def test_without_an_order_the_widest_window_is_tried_first():
    text = "profiles: {a: {}, b: {max_model_len: 5}, c: {max_model_len: 9}, d: {context_length: 7}, e: {}}"
    settings = parse_settings({"p.yaml": text})
    assert settings.selection.order is None
    assert settings.order == ("c", "d", "b", "a", "e")


def test_settings_with_another_text():
    settings = parse_settings({"p.yaml": "profiles: {a: {max_model_len: 5}}", "q.yaml": "profiles: {b: {max_model_len: 6}}"})
    changed = replaced(settings, {"q.yaml": "profiles: {b: {max_model_len: 7}}"})
    assert [profile.value("max_model_len") for profile in changed.profiles.values()] == [5, 7]
    assert settings.profiles["b"].value("max_model_len") == 6
