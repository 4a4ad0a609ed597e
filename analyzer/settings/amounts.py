"""How numbers are written in settings: amounts of memory with a unit, and the suffixes each engine takes."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal, TypeAlias

from analyzer.units import size_of

Form: TypeAlias = Literal["profiles", "vllm-arguments", "sglang-arguments"]

_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]i?B|B)")
_EXPONENT = re.compile(r"\d{1,9}(?:\.\d{1,9})?[eE]\d{1,2}")
_SUFFIXED = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z]+)")

# vLLM 0.10.2 and later: lower case is decimal and takes a fraction, upper case is binary and takes none (human_readable_int, arg_utils.py).
_VLLM_SUFFIXES: dict[str, int] = {letter: 10**power for letter, power in (("k", 3), ("m", 6), ("g", 9), ("t", 12))}
_VLLM_WHOLE_SUFFIXES: dict[str, int] = {letter: 2**power for letter, power in (("K", 10), ("M", 20), ("G", 30), ("T", 40))}
_VLLM_SUFFIXED_ARGUMENTS = {"kv_cache_memory_bytes", "max_model_len", "max_num_batched_tokens", "max_num_scheduled_tokens"}

# SGLang 0.5.10 and later: SI in its own spelling (k, not K), and IEC; both take a fraction (server_args.py).
_SGLANG_SUFFIXES = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_SGLANG_SUFFIXED_ARGUMENTS = {"context_length", "max_prefill_tokens", "max_total_tokens"}

BYTE_ARGUMENTS = {"kv_cache_memory_bytes", "requires_free_bytes"}


def read_whole_number(text: str, form: Form, argument: str) -> int:
    """The number that a text value of an argument (in snake_case) stands for in a file of this form.

    Argument files are pasted into a command line, so a quoted number counts there, and so do the engine's own suffixes.
    A profiles file takes text only for bytes, and then the unit is mandatory: "24 GiB", "5.2 GB".
    Raises ValueError that says what was expected.
    """
    if form == "profiles":
        return _amount(text, argument)
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    if form == "vllm-arguments":
        return _vllm_number(text, argument)
    return _sglang_number(text, argument)


def _amount(text: str, argument: str) -> int:
    if argument not in BYTE_ARGUMENTS:
        raise ValueError(f"expected a whole number, found the text {text!r}")
    if _EXPONENT.fullmatch(text):
        raise ValueError(f"expected a whole number of bytes; YAML reads {text} as text, write {int(Fraction(text))}")
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise ValueError(
            f'expected a whole number of bytes, or an amount with its unit such as "24 GiB" or "5.2 GB", found the text {text!r}'
        )
    return size_of(found[1], found[2]).bytes


def _vllm_number(text: str, argument: str) -> int:
    found = _SUFFIXED.fullmatch(text)
    if found is None or argument not in _VLLM_SUFFIXED_ARGUMENTS:
        raise ValueError(f"expected a whole number, found the text {text!r}")
    number, suffix = found.groups()
    if suffix in _VLLM_SUFFIXES:
        return int(Fraction(number) * _VLLM_SUFFIXES[suffix])
    if suffix not in _VLLM_WHOLE_SUFFIXES:
        raise ValueError(f"expected a whole number, alone or with k, m, g, t (decimal) or K, M, G, T (binary), found {text!r}")
    if not number.isdigit():
        raise ValueError(
            f"expected a whole number before {suffix} (binary); with a fraction vLLM takes only {suffix.lower()} (decimal), found {text!r}"
        )
    return int(number) * _VLLM_WHOLE_SUFFIXES[suffix]


def _sglang_number(text: str, argument: str) -> int:
    found = _SUFFIXED.fullmatch(text)
    if found is None or argument not in _SGLANG_SUFFIXED_ARGUMENTS:
        raise ValueError(f"expected a whole number, found the text {text!r}")
    number, suffix = found.groups()
    if suffix not in _SGLANG_SUFFIXES:
        raise ValueError(f"expected a whole number, alone or with k, M, G, T (decimal) or Ki, Mi, Gi, Ti (binary), found {text!r}")
    return int(Fraction(number) * _SGLANG_SUFFIXES[suffix])
