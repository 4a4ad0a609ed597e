"""Rules' expressions: yes, no, or not to be told; every name known; and nothing of Python within reach."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from analyzer.rulebook.expressions import (
    Missing,
    NameProblem,
    View,
    check_template,
    compile_expression,
    compile_template,
    environment,
    readable,
)
from analyzer.units import GIB, CannotTell, Size, parse_size

VOCABULARY: dict[str, frozenset[str] | None] = {
    "rank": frozenset({"weights", "kv_pinned", "free_at_start", "total", "name", "devices"}),
    "run": frozenset({"args", "phase", "kinds", "served", "waiting"}),
    "settings": None,
}

SCOPES = {
    "rank": View(
        "rank",
        {
            "weights": parse_size("16.44 GiB"),
            "free_at_start": parse_size("23.0 GiB", decimals=2),
            "total": None,
            "name": "TP0",
            "devices": [0, 1],
        },
    ),
    "run": View(
        "run",
        {
            "args": View("run.args", {"max_model_len": 393_216, "dtype": "auto", "compilation_config": {"level": 3}}),
            "phase": lambda: "serve",
            "kinds": frozenset({"stats"}),
            "served": False,
            "waiting": [3, 3],
        },
    ),
    "settings": View("settings", {"anything": 1}),
}


def checked_expression(source: str) -> Callable[[Mapping[str, Any]], Any]:
    """An expression as the rulebook takes it: checked first, compiled when asked."""
    env = environment()
    check_template(env, f"{{{{ {source} }}}}", VOCABULARY)
    return compile_expression(env, source)


def checked_template(source: str) -> Callable[[Mapping[str, Any]], str]:
    env = environment()
    check_template(env, source, VOCABULARY)
    return compile_template(env, source)


def evaluate(source: str) -> Any:
    return checked_expression(source)(SCOPES)


def render(source: str) -> str:
    return checked_template(source)(SCOPES)


@pytest.mark.parametrize(
    "source",
    [
        "rank.weights < rank.free_at_start",
        "rank.weights + rank.weights > rank.free_at_start",
        "rank.free_at_start - rank.weights >= 6 * 1024 ** 3",
        "rank.weights.low < rank.weights.bytes < rank.weights.high",
        "rank.name == 'TP0' and run.phase == 'serve'",
        "run.args.max_model_len > 262144",
        "run.args['max_model_len'] > 262144",
        "run.args.compilation_config.level == 3",
        "'stats' in run.kinds and 'preemption' not in run.kinds",
        "rank.devices[0] == 0 and rank.devices | length == 2",
        "rank.weights is known and rank.kv_pinned is not known and rank.total is not known",
        "run.args.kv_cache_memory_bytes is not known",
        "run.args.speculative_config.method is not known",
        "rank.kv_pinned is not known or rank.kv_pinned > rank.weights",
        "settings.anything == 1 and settings.whatever is not known",
    ],
)
def test_definitely_yes(source: str):
    assert evaluate(source) is True


@pytest.mark.parametrize(
    "source",
    [
        "rank.weights > rank.free_at_start",
        "run.served",
        "run.phase == 'init'",
        "rank.name in ['TP1', 'TP2']",
        "rank.kv_pinned is known",
        "rank.kv_pinned is known and rank.kv_pinned > rank.weights",
        "run.served and rank.kv_pinned > rank.weights",
    ],
)
def test_definitely_no(source: str):
    assert not evaluate(source)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("rank.kv_pinned > rank.weights", "rank.kv_pinned"),
        ("rank.weights < rank.kv_pinned", "rank.kv_pinned"),
        ("rank.kv_pinned == rank.weights", "rank.kv_pinned"),
        ("rank.kv_pinned != 0", "rank.kv_pinned"),
        ("rank.weights + rank.kv_pinned", "rank.kv_pinned"),
        ("rank.weights - rank.kv_pinned > 0", "rank.kv_pinned"),
        ("2 * rank.kv_pinned > 0", "rank.kv_pinned"),
        ("rank.kv_pinned / 2 > 0", "rank.kv_pinned"),
        ("rank.kv_pinned // 2 > 0", "rank.kv_pinned"),
        ("rank.kv_pinned % 2 > 0", "rank.kv_pinned"),
        ("rank.kv_pinned ** 2 > 0", "rank.kv_pinned"),
        ("-rank.kv_pinned < 0", "rank.kv_pinned"),
        ("+rank.kv_pinned < 0", "rank.kv_pinned"),
        ("not rank.total", "rank.total"),
        ("rank.total and run.served", "rank.total"),
        ("run.served or rank.total", None),
        ("rank.total in run.kinds", "rank.total"),
        ("rank.total in ['TP0']", "rank.total"),
        ("'x' in rank.total", "rank.total"),
        ("1 if rank.total else 2", "rank.total"),
        ("rank.total | gib", "rank.total"),
        ("rank.total | round", "rank.total"),
        ("rank.total | int", "rank.total"),
        ("rank.total | length", "rank.total"),
        ("rank.total ~ ' GiB'", "rank.total"),
        ("rank.total.bytes > 0", "rank.total"),
        ("rank.total['bytes'] > 0", "rank.total"),
        ("run.args.kv_cache_memory_bytes > 0", "run.args.kv_cache_memory_bytes"),
        ("run.args.compilation_config.mode == 3", "mode"),
    ],
)
def test_what_is_missing_is_neither_yes_nor_no(source: str, name: str | None):
    expression = checked_expression(source)
    with pytest.raises(Missing) as raised:
        bool(expression(SCOPES))
    assert name is None or raised.value.name == name


def test_what_the_decimals_leave_open_is_neither_yes_nor_no():
    with pytest.raises(CannotTell):
        evaluate("rank.weights >= rank.weights + 0")
    with pytest.raises(CannotTell):
        evaluate(f"rank.free_at_start > {23 * GIB}")


@pytest.mark.parametrize("source", ["run.waiting > 2", "run.args.dtype > 3", "rank.weights + 'GiB'", "1 / 0 > 1", "run.waiting - 1"])
def test_what_cannot_be_computed_is_missing(source: str):
    with pytest.raises(Missing, match=r"\("):
        evaluate(source)


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("rank.wieghts > 1", "unknown name rank.wieghts; known: .*weights"),
        ("rank['wieghts'] > 1", "unknown name rank.wieghts"),
        ("rank[run.phase] > 1", "unknown name rank"),
        ("rnak.weights > 1", "unknown name 'rnak'; known here: rank, run, settings"),
        ("weights", "unknown name 'weights'"),
        ("run.args.x > y", "unknown name 'y'"),
        ("rank.weights | gbi", "unknown filter 'gbi'"),
        ("1 if rank.name else rank.weights | gbi", "unknown filter 'gbi'"),
        ("rank.weights is konwn", "unknown test 'konwn'"),
        ("rank.weights >", "rank.weights >"),
        ("rank.weights > 1 }}{% include 'x' %}{{ 1", "."),
        ("", "."),
    ],
)
def test_a_typo_is_an_error(source: str, complaint: str):
    with pytest.raises(NameProblem, match=complaint):
        checked_expression(source)


@pytest.mark.parametrize(
    "source",
    [
        "rank.__class__",
        "rank['__class__']",
        "rank.name.__class__.__mro__",
        "rank._values",
        "rank.name.upper()",
        "rank.values()",
        "run.args.get('x')",
        "rank.weights.__class__",
        "''.__class__.__mro__[1].__subclasses__()",
        "range(10)",
        "lipsum()",
        "self",
        "cycler('a')",
        "namespace(a=1)",
        "dict(a=1)",
        "(1).__add__(2)",
    ],
)
def test_python_is_out_of_reach_when_loaded(source: str):
    with pytest.raises(NameProblem):
        checked_expression(source)


@pytest.mark.parametrize(
    "source",
    [
        "rank.name | attr('__class__')",
        "rank.name | attr('upper')",
        "rank.name['__class__']",
        "rank.name['upper']",
        "rank.weights['__class__']",
        "rank.weights.exact",
        "rank.weights['may_equal']",
        "run.kinds.add",
        "rank.devices.append",
        "rank.devices['append']",
        "rank.devices[7]",
        "rank.devices['__len__']",
        "([rank.name] | map(attribute='__class__') | list)[0]",
        "run.args.compilation_config.items",
        "run.args.compilation_config['__class__']",
    ],
)
def test_and_when_evaluated(source: str):
    expression = checked_expression(source)
    with pytest.raises(Missing):
        str(expression(SCOPES))


@pytest.mark.parametrize(
    "source",
    [
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% from 'x' import y %}",
        "{% extends 'x' %}",
        "{% macro m() %}{% endmacro %}",
        "{% for i in range(9) %}{% endfor %}",
        "{{ rank.wieghts }}",
        "{% if rank.name %}{{ rank.weights | gbi }}{% endif %}",
        "{% if rank.name %}{{ rank.weights }}",
        "{% set x = y %}",
    ],
)
def test_so_it_is_for_texts(source: str):
    with pytest.raises(NameProblem):
        checked_template(source)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ rank.weights }} of {{ rank.free_at_start }}", "16.44 GiB of 23.0 GiB"),
        ("{{ rank.free_at_start - rank.weights }}", "6.56 GiB"),
        ("{{ rank.weights | bytes }}", "17 652 315 587 B"),
        ("{{ 5_200_000_000 | gib }}", "4.84 GiB"),
        ("{{ 0.72309 | fraction }} {{ 0.72309 | fraction(2) }} {{ 0.72309 | percent }}", "0.7231 0.72 72 %"),
        ("{{ run.args.max_model_len | grouped }}", "393 216"),
        ("{{ rank.devices | listed }}", "0, 1"),
        ("{% if rank.kv_pinned is known %}pinned{% else %}\n  not\n  pinned {% endif %}", "not pinned"),
        ("{% set both = rank.weights + rank.weights %}{{ both }}", "32.88 GiB"),
        ("{% for device in rank.devices %}GPU {{ device }} {% endfor %}", "GPU 0 GPU 1"),
        ("<b>{{ rank.name }}</b>", "<b>TP0</b>"),
    ],
)
def test_texts(source: str, text: str):
    assert render(source) == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Size.exact(4_334_813_184, "4334813184 B"), "4.04 GiB"),
        (Size.exact(4096, "4096 B"), "4096 B"),
        (parse_size("16.44 GiB"), "16.44 GiB"),
        ("4334813184 B", "4334813184 B"),
        (12_345_678, 12_345_678),
    ],
)
def test_a_long_number_of_bytes_is_said_in_the_unit_people_compare_with(value: object, shown: object):
    assert str(readable(value)) == str(shown)


def test_a_text_with_something_missing_is_not_said():
    with pytest.raises(Missing, match=r"rank\.kv_pinned"):
        render("The arena is {{ rank.kv_pinned }}.")


def test_a_view_asks_only_for_what_is_named():
    asked: list[str] = []

    def quantity(name: str) -> Callable[[], str]:
        def ask() -> str:
            asked.append(name)
            return name

        return ask

    view = View("rank", {"name": quantity("name"), "weights": quantity("weights")})
    assert checked_expression("rank.name")({"rank": view}) == "name"
    assert asked == ["name"]
    assert (set(view), len(view), "weights" in view, "kv_pinned" in view) == ({"name", "weights"}, 2, True, False)


def test_a_size_is_what_it_was():
    assert isinstance(evaluate("rank.weights"), Size)
