"""How a value is written into a settings file: plain integers, short decimals, in the style of what it replaces."""

from __future__ import annotations

import json
import math
import re

from analyzer.settings.yaml_document import read_document
from analyzer.settings.yaml_nodes import ScalarNode, ScalarValue, plain

_DECIMALS = 6
_NUMBER = re.compile(r"[-+]?[\d_]*\.?\d[\d_]*")
_BARE_TEXT = re.compile(r"[A-Za-z][\w./-]*", re.ASCII)


def write_value(value: ScalarValue) -> str:
    """A value as YAML 1.1 and JSON both read it back. Raises ValueError for numbers that are not finite or have more than six decimals."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return "".join(_escaped(character) for character in json.dumps(value, ensure_ascii=False))
    if isinstance(value, int):
        return str(value)
    text = f"{value:.{_DECIMALS}f}".rstrip("0")
    if not math.isfinite(value) or float(text) != value:
        raise ValueError(f"expected a number of at most {_DECIMALS} decimals, found {value!r}")
    return f"{text}0" if text.endswith(".") else text


def _escaped(character: str) -> str:
    """What does not print is escaped, except beyond the first plane, where JSON and YAML escape differently and YAML needs none."""
    return character if character.isprintable() or ord(character) > 0xFFFF else f"\\u{ord(character):04x}"


def write_plain(value: ScalarValue) -> str:
    """As `write_value`, but a text stands without quotes where YAML reads it back as the same text."""
    if isinstance(value, str) and _BARE_TEXT.fullmatch(value) and plain(read_document("value", value).root) == value:
        return value
    return write_value(value)


def write_like(value: ScalarValue, replaced: ScalarNode) -> str:
    """A value in the style of the one it replaces: digits stay grouped by underscores, a quoted number stays quoted, text stays plain."""
    if isinstance(value, str):
        return write_value(value) if replaced.style else write_plain(value)
    text = f"{value:_}" if type(value) is int and "_" in replaced.source else write_value(value)
    if replaced.style in {"'", '"'} and _NUMBER.fullmatch(replaced.text):
        return f"{replaced.style}{text}{replaced.style}"
    return text
