"""Parse trees become values: sizes with their units, numbers, texts, and Python literals as argument dumps print them."""

import math
import warnings
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.facts.read import Ending, read_message
from analyzer.facts.values import is_implausible
from analyzer.grammar import Grammars
from analyzer.units import GIB, KIB, MIB, Size
from tests.facts.conftest import Read

TYPES = (
    "types: 2.50 GB / 2.50 GB / 23.0 GiB / 1.5 / 64 / 1.5 / 5_200_000_000 / 406,726 / -1.5e-05 / 97.3% / v0.11.0 / 'it\\'s' "
    "/ with a flag / the rest, of it"
)


def test_each_type_reads_its_figure(read: Read):
    fields = read("types", TYPES).fields
    sizes = {name: (value.bytes, value.high - value.low) for name, value in fields.items() if isinstance(value, Size)}
    assert sizes == {
        "a_size": (2_500_000_000, 10_000_000),
        "a_binary_size": (int(2.5 * GIB), GIB // 100),
        "a_rounded_size": (23 * GIB, 2 * (GIB // 200)),
        "a_gib": (int(1.5 * GIB), 2 * (GIB // 20)),
        "a_mib": (64 * MIB, MIB),
        "a_decimal_gb": (1_500_000_000, 100_000_000),
        "a_bytes": (5_200_000_000, 0),
    }
    assert {name: value for name, value in fields.items() if name not in sizes} == {
        "an_integer": 406_726,
        "a_number": -1.5e-05,
        "a_percent": 97.3,
        "a_word": "v0.11.0",
        "a_quoted": "it's",
        "a_flag": True,
        "a_text": "the rest, of it",
    }
    assert str(fields["a_gib"]) == "1.5 GiB"
    assert str(fields["a_bytes"]) == "5_200_000_000 B"


def test_a_flag_that_is_not_there_is_no_field(read: Read):
    reading = read("types", TYPES.replace("with a flag ", ""))
    assert reading.ending is Ending.COMPLETE
    assert "a_flag" not in reading.fields


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("16.44 GiB", Size(17652315587, 17646946878, 17657684295, "16.44 GiB")),
        ("16.44GiB", Size(17652315587, 17646946878, 17657684295, "16.44 GiB")),
        ("16 Gib", Size(16 * GIB, 16 * GIB - GIB // 2, 16 * GIB + GIB // 2, "16 Gib")),
        ("12,5 ГиБ", None),
        ("12.50 ГиБ", Size(int(12.5 * GIB), int(12.5 * GIB) - GIB // 200, int(12.5 * GIB) + GIB // 200, "12.50 GiB")),
        ("1048576 bytes", Size.exact(MIB, "1048576 bytes")),
        ("1048576 байт", Size.exact(MIB, "1048576 bytes")),
        ("1 KiB", Size(KIB, KIB - 512, KIB + 512, "1 KiB")),
        ("-5.40 GB", Size(-5_400_000_000, -5_405_000_000, -5_395_000_000, "-5.40 GB")),
    ],
)
def test_sizes(read: Read, printed: str, value: Size | None):
    assert read("kv_memory", f"Available KV cache memory: {printed}").fields.get("kv_cache") == value


def test_an_underflow_is_kept_as_text_and_is_no_size(read: Read):
    value = read("kv_memory", "Available KV cache memory: 17179869184.00 GiB").fields["kv_cache"]
    assert value == "17179869184.00 GiB (implausible)"
    assert is_implausible(value)
    assert not is_implausible("17179869184.00 GiB")
    assert not is_implausible(Size.exact(1))


DUMPS: list[tuple[str, Any]] = [
    ("'text'", "text"),
    ('"it\'s"', "it's"),
    ("'it\\'s'", "it's"),
    ("'[x](y){z}=<,>'", "[x](y){z}=<,>"),
    ("'a\\nb\\u4e16'", "a\nb世"),
    ("'C:\\models\\q'", "C:\\models\\q"),
    ("''", ""),
    ("None", None),
    ("True", True),
    ("false", False),
    ("-4", -4),
    ("5_000", 5000),
    ("1e-05", 1e-05),
    ("torch.bfloat16", "torch.bfloat16"),
    ("cuda:0", "cuda:0"),
    ("/models/Qwen3-32B", "/models/Qwen3-32B"),
    ("b'bytes'", "b'bytes'"),
    ("<CompilationMode.VLLM_COMPILE: 3>", "<CompilationMode.VLLM_COMPILE: 3>"),
    ("<CUDAGraphMode.FULL_AND_PIECEWISE: (2, 1)>", "<CUDAGraphMode.FULL_AND_PIECEWISE: (2, 1)>"),
    ("<function wrapper at <unknown>>", "<function wrapper at <unknown>>"),
    ("[]", []),
    ("()", []),
    ("{}", {}),
    ("(1,)", [1]),
    ("{'a', 'b'}", ["a", "b"]),
    ("[1, [2, (3,)], {'k': [4]}]", [1, [2, [3]], {"k": [4]}]),
    ("{1: 'a', None: 2, (1, 2): 3, 'k': {}}", {"1": "a", "None": 2, "[1, 2]": 3, "k": {}}),
    ('{"level": 3, "ops": ["vllm::moe"], "use": true, "dir": null}', {"level": 3, "ops": ["vllm::moe"], "use": True, "dir": None}),
    ("KVTransferConfig(kv_connector='Nixl', extra={'a': 1})", {"kv_connector": "Nixl", "extra": {"a": 1}}),
    ("Outer(inner=a.b.Inner(x=1, y=[Deep(z=2)]))", {"inner": {"x": 1, "y": [{"z": 2}]}}),
    ("PosixPath('/models/m')", "PosixPath(/models/m)"),
    ("defaultdict(<class 'int'>, {'image': 2})", "defaultdict(<class 'int'>, {'image': 2})"),
    ("set()", {}),
    ("...", "..."),
    ("[1, ...]", [1, "..."]),
    ("9" * 5000, "9" * 5000),
]  # fmt: skip


@pytest.mark.parametrize(("printed", "value"), DUMPS, ids=[printed[:30] for printed, _ in DUMPS])
@pytest.mark.parametrize(
    ("kind", "dump"),
    [("namespace", "args: Namespace(first='x', it={}, last=1)"), ("dictionary", "non-default args: {{'first': 'x', 'it': {}, 'last': 1}}")],
)
def test_a_value_in_a_dump(read: Read, kind: str, dump: str, printed: str, value: Any):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reading = read(kind, dump.format(printed))
    assert reading.ending is Ending.COMPLETE
    assert reading.fields == {"args": {"first": "x", "it": value, "last": 1}}


@pytest.mark.parametrize(
    ("dump", "args"),
    [
        ("args: Namespace(model='m', x=1.5, flag=Tr", {"model": "m", "x": 1.5}),
        ("args: Namespace(model='m', sizes=[1, 2], path='/mod", {"model": "m", "sizes": [1, 2]}),
        ("args: Namespace(model='m', sizes=[1, 2, ", {"model": "m"}),
        ("args: Namespace(model='m', nested=Config(a=1, b=", {"model": "m"}),
        ("args: Namespace(model='m', max_mod", {"model": "m"}),
        ("args: Namespace(model='m', ...", {"model": "m"}),
        ("args: Namespace(model='m', max_model_len=", {"model": "m"}),
        ("args: Namespace(model='m', max_model_len=4096, n=13", {"model": "m", "max_model_len": 4096}),
        ("args: Namespace(model='m', ..., last=1)", {"model": "m", "last": 1}),
        ("args: Namespace()", {}),
    ],
)
def test_a_cut_dump_keeps_the_pairs_that_are_complete(read: Read, dump: str, args: dict[str, Any]):
    reading = read("namespace", dump)
    assert reading.ending in (Ending.CUT, Ending.COMPLETE)
    assert reading.fields.get("args", {}).items() >= args.items()
    assert reading.fields.get("args", {}) == args


keys = st.text(min_size=1, max_size=8) | st.integers(-9, 9) | st.none() | st.tuples(st.integers(0, 9), st.booleans())
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**39), 10**39)
    | st.floats(-1e290, 1e290).filter(lambda number: number == 0 or abs(number) > 1e-290)
    | st.text(max_size=20)
    | st.binary(max_size=8)
)
literals = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(keys, inner, max_size=4)
        | st.sets(st.integers(0, 99) | st.text(max_size=5), min_size=1, max_size=4)
    ),
    max_leaves=12,
)


def as_read(value: Any) -> Any:
    """What a literal is read as: all sequences are lists, all keys are texts, bytes stay as they are printed."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(as_read(key)): as_read(inner) for key, inner in value.items()}
    if isinstance(value, set):
        return [as_read(inner) for inner in value]
    if isinstance(value, list | tuple):
        return [as_read(inner) for inner in value]
    return repr(value) if isinstance(value, bytes) else value


@given(literals)
@example({"a": -0.0})
@example(["\\", "'", '"', "\\'", "'\"\n\x00\u2028"])
@example({"x": math.pi, 3: ((), {}, [{}])})
def test_every_literal_is_read_back(grammars: Grammars, value: Any):
    for kind, dump in (
        ("namespace", f"args: Namespace(it={value!r}, last=1)"),
        ("dictionary", f"non-default args: {{'it': {value!r}, 'last': 1}}"),
    ):
        reading = read_message(grammars.messages[kind].parser, dump)
        assert reading.ending is Ending.COMPLETE
        assert reading.fields["args"] == {"it": as_read(value), "last": 1}
