"""Lines of the profile selector, each with the kind and the fields it must become."""

from __future__ import annotations

from analyzer.units import GIB, MIB
from tests.grammars.samples import Sample, exact, printed

RUSSIAN_CHOICE = "raw_1010k не влезает (23.03 ГиБ доступно) -> выбран long_393k, окно 393 216"
CHOICE = {"rejected": "raw_1010k", "available": printed("23.03", GIB), "profile": "long_393k", "window": 393216}
CLAMP = {"profile": "long_393k", "asked": 0.95, "free": printed("23.50", GIB), "total": printed("31.84", GIB), "clamped": 0.723}
ARGUMENTS = {"args": {"kv_cache_memory_bytes": 5200000000, "skip_mm_profiling": True, "gpu_memory_utilization": 0.723}}

SELECTOR: list[Sample] = [
    (f"[profiles] {RUSSIAN_CHOICE}", "selector_choice", CHOICE),
    ("raw_1010k does not fit (23.03 GiB available) -> selected long_393k, window 393,216", "selector_choice", CHOICE),
    ("raw_1010k не влезает (23,03 ГиБ доступно) → выбран long_393k, окно 393\u202f216", "selector_choice", CHOICE),
    ("raw_1010k не влезает (23.03\u00a0ГиБ доступно) -> выбран long_393k, окно 393\u00a0216", "selector_choice", CHOICE),
    ("raw_1010k не влезает (23.03 ГиБ доступно) -> выбран long_393k, окно 393216", "selector_choice", CHOICE),
    (
        "a не влезает (23583 МиБ доступно) -> выбран b, окно 4096",
        "selector_choice",
        {"rejected": "a", "available": printed("23583", MIB), "profile": "b", "window": 4096},
    ),
    (
        "a does not fit (32.18 GB required, 24.73 GB available) -> selected b, window 4_096",
        "selector_choice",
        {"rejected": "a", "required": printed("32.18", 10**9), "available": printed("24.73", 10**9), "profile": "b", "window": 4096},
    ),
    (
        "a не влезает (24 728 274 207 байт доступно) -> выбран b, окно 4096",
        "selector_choice",
        {"rejected": "a", "available": exact(24728274207), "profile": "b", "window": 4096},
    ),
    (
        "a не влезает (23.03 ГиБ доступно), b не влезает (22.51 ГиБ доступно) -> выбран c, окно 262 144",
        "selector_choice",
        {"rejected": ["a", "b"], "available": printed("22.51", GIB), "profile": "c", "window": 262144},
    ),
    (
        "[profiles] a does not fit (23.03 GiB available)\n[profiles] b does not fit (22.51 GiB available)\n[profiles] selected c,"
        " window 262144",
        "selector_choice",
        {"rejected": ["a", "b"], "available": printed("22.51", GIB), "profile": "c", "window": 262144},
    ),
    ("[profiles] выбран long_262k, окно 262 144", "selector_choice", {"profile": "long_262k", "window": 262144}),
    ("ни один профиль не влезает (12.00 ГиБ доступно)", "selector_nothing_fits", {"available": printed("12.00", GIB)}),
    ("no profile fits (12.00 GiB available)", "selector_nothing_fits", {"available": printed("12.00", GIB)}),
    ("[profiles] long_393k просит долю 0.95, свободно 23.50 из 31.84 -> прижато до 0.723", "selector_clamp", CLAMP),
    ("long_393k просит долю 0,95, свободно 23,50 ГиБ из 31,84 ГиБ -> прижато до 0,723", "selector_clamp", CLAMP),
    ("long_393k asks for a fraction of 0.95, 23.50 of 31.84 free -> clamped to 0.723", "selector_clamp", CLAMP),
    (
        "[profiles] профиль подал: kv_cache_memory_bytes=5200000000, skip_mm_profiling=True, gpu_memory_utilization=0.723",
        "selector_args",
        ARGUMENTS,
    ),
    (
        "profile passed: kv_cache_memory_bytes=5200000000, skip_mm_profiling=True, gpu_memory_utilization=0.723, ...",
        "selector_args",
        ARGUMENTS,
    ),
    (
        "[profiles] ZENIT_SERVING_PROFILE=long_262k: профиль задан явно, доля не прижимается",
        "selector_forced",
        {"variable": "ZENIT_SERVING_PROFILE", "profile": "long_262k"},
    ),
    ("X=long_262k: profile set explicitly, fraction is not clamped", "selector_forced", {"variable": "X", "profile": "long_262k"}),
]
