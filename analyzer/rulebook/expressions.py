"""The expressions of rules: compiled in Jinja's immutable sandbox, every name checked when loaded, and three-valued when evaluated.

A name that this case does not have raises Missing, a comparison that the printed decimals leave open raises CannotTell.
Neither ever counts as "no".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NoReturn, TypeVar

from jinja2 import StrictUndefined, TemplateError, Undefined, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from analyzer.units import Size, format_bytes, group_digits

T = TypeVar("T")

FORBIDDEN = (nodes.Call, nodes.CallBlock, nodes.Extends, nodes.FromImport, nodes.Import, nodes.Include, nodes.Macro)
"""Parts of the template language that would reach beyond the quantities of a case."""


class Missing(Exception):
    """A name that is known to the vocabulary but that this case has no value for."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class NameProblem(ValueError):
    """An expression with a name, filter or test that does not exist."""


class Absent(StrictUndefined):
    """What an unknown quantity evaluates to: any use of it but `is known` raises Missing."""

    def _fail_with_undefined_error(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise Missing(str(self._undefined_name))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _fail_with_undefined_error
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __pos__ = __complex__ = _fail_with_undefined_error
    __lt__ = __le__ = __gt__ = __ge__ = __int__ = __float__ = __call__ = __getitem__ = __neg__ = _fail_with_undefined_error
    __iter__ = __str__ = __len__ = __bool__ = __contains__ = __eq__ = __ne__ = __hash__ = __round__ = _fail_with_undefined_error


class View(Mapping[str, Any]):
    """The quantities of one scope under their names; an absent one becomes Missing("scope.name") when used.

    A quantity may be given as a function without arguments, which is asked once, when a rule names it.
    """

    def __init__(self, scope: str, values: Mapping[str, Any]) -> None:
        self._scope = scope
        self._values = {name: value for name, value in values.items() if value is not None}

    def __getitem__(self, name: str) -> Any:
        value = self._values.get(name)
        if callable(value):
            value = self._values[name] = value()
        return Absent(name=f"{self._scope}.{name}") if value is None else value

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values


class _Environment(ImmutableSandboxedEnvironment):
    """Attribute access means a quantity of a view; attributes and methods of Python objects are out of reach."""

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, (list, tuple)) and isinstance(argument, (int, slice)):
            return obj[argument] if isinstance(argument, slice) or -len(obj) <= argument < len(obj) else Absent(name=str(argument))
        return self.getattr(obj, argument)

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, Undefined):
            return obj
        if isinstance(obj, Mapping):
            if isinstance(obj, View) or attribute in obj:
                return obj[attribute]
            return Absent(name=attribute)
        if isinstance(obj, Size) and attribute in ("bytes", "low", "high", "gib"):
            return getattr(obj, attribute)
        return Absent(name=attribute)


def environment() -> ImmutableSandboxedEnvironment:
    """The environment in which rules are evaluated."""
    made = _Environment(undefined=Absent, autoescape=False, finalize=readable)
    made.tests["known"] = lambda value: not isinstance(value, Undefined)
    made.filters.update(FILTERS)
    return made


LONGEST_BYTES = 5
"""Digits of a bare number of bytes that are still read at a glance."""


def readable(value: Any) -> Any:
    """What a sentence shows of a value: a long bare number of bytes in the unit people compare with, everything else as printed."""
    if isinstance(value, Size) and value.text.endswith(" B") and len(value.text) > LONGEST_BYTES + len(" B"):
        return format_bytes(value.bytes)
    return value


FILTERS: dict[str, Callable[..., Any]] = {
    "bytes": lambda value: f"{group_digits(value.bytes if isinstance(value, Size) else int(value))} B",
    "gib": lambda value: format_bytes(value.bytes if isinstance(value, Size) else int(value)),
    "fraction": lambda value, digits=4: f"{value:.{digits}f}",
    "percent": lambda value: f"{100 * value:.0f} %",
    "grouped": lambda value: group_digits(int(value)),
    "listed": lambda values: ", ".join(map(str, values)),
    "clause": lambda text: str(text).rstrip(" .:"),
}


def check_template(env: ImmutableSandboxedEnvironment, source: str, vocabulary: Mapping[str, frozenset[str] | None]) -> None:
    """Raises NameProblem for unknown names, filters and tests in a text with {{ expressions }}, and for what does not parse.

    `vocabulary` gives for each scope its names, or None for a scope whose names are open (engine arguments).
    """
    try:
        tree = env.parse(source)
        _check_tools(env, tree)
        _check_names(tree, vocabulary)
    except TemplateError as error:
        raise NameProblem(f"{error.message}: {source}") from error


def compile_expression(env: ImmutableSandboxedEnvironment, source: str) -> Callable[[Mapping[str, Any]], Any]:
    """An expression as a function of its scopes, compiled when it is first asked for: most rules of a rulebook never are."""
    compiled = cache(lambda: env.compile_expression(source, undefined_to_none=False))
    return lambda scopes: _evaluated(source, lambda: compiled()(**scopes))


def compile_template(env: ImmutableSandboxedEnvironment, source: str) -> Callable[[Mapping[str, Any]], str]:
    """A text with {{ expressions }} as a function of its scopes, compiled when it is first asked for."""
    template = cache(lambda: env.from_string(source))
    return lambda scopes: _evaluated(source, lambda: " ".join(template().render(**scopes).split()))


def _evaluated(source: str, evaluate: Callable[[], T]) -> T:
    """A value that cannot be computed from what this log has (a figure printed twice, a division by zero) is missing, too."""
    try:
        return evaluate()
    except (TypeError, ValueError, ArithmeticError) as error:
        raise Missing(f"{source} ({error})") from error


def _check_tools(env: ImmutableSandboxedEnvironment, tree: nodes.Template) -> None:
    """Nothing of the template language but names, operators, and the filters and tests there are."""
    for node in tree.find_all(FORBIDDEN):
        raise NameProblem(f"a rule cannot use {type(node).__name__.lower()}: it names quantities, filters and tests")
    for kind, known_ones in ((nodes.Filter, env.filters), (nodes.Test, env.tests)):
        for used in tree.find_all(kind):
            if used.name not in known_ones:
                raise NameProblem(f"unknown {kind.__name__.lower()} {used.name!r}; known: {', '.join(sorted(known_ones))}")


def _check_names(tree: nodes.Template, vocabulary: Mapping[str, frozenset[str] | None]) -> None:
    local = {name.name for name in tree.find_all(nodes.Name) if name.ctx == "store"}
    for name in tree.find_all(nodes.Name):
        if name.ctx == "load" and name.name not in vocabulary and name.name not in local:
            raise NameProblem(f"unknown name {name.name!r}; known here: {', '.join(sorted(vocabulary))}")
    for access in tree.find_all(nodes.Getattr):
        if access.attr.startswith("_"):
            raise NameProblem(f"unknown name {access.attr!r}; what begins with an underscore is no quantity")
    for scope, quantity in _quantities(tree):
        known = vocabulary.get(scope)
        if known is not None and quantity not in known:
            raise NameProblem(f"unknown name {scope}.{quantity}; known: {', '.join(sorted(known))}")


def _quantities(tree: nodes.Template) -> Iterator[tuple[str, str]]:
    """The names of quantities with their scopes, from `rank.weights` and `rank["weights"]`."""
    for access in tree.find_all(nodes.Getattr):
        if isinstance(access.node, nodes.Name):
            yield access.node.name, access.attr
    for item in tree.find_all(nodes.Getitem):
        if isinstance(item.node, nodes.Name):
            yield item.node.name, str(item.arg.value) if isinstance(item.arg, nodes.Const) else "(an expression)"
