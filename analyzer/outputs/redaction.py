"""Credentials out of everything that is printed: each becomes `[redacted:<kind>]`, and all other text stays as it was.

Two ways to know a secret: by its own form (`hf_...`, a JWT, a password in a URL), or by the name it is assigned to (`--api-key X`,
`'api_key': 'X'`, `HF_TOKEN=X`). Every repetition below is possessive or stops at a character that no later start can cross, so the time is
linear in the length of the text, whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NewType

from pydantic import BaseModel

from analyzer.analysis import Analysis
from analyzer.outputs.secret_names import OPAQUE, is_secret, secret_kind

RedactedAnalysis = NewType("RedactedAnalysis", Analysis)
"""An analysis that went through `redacted`; outputs accept nothing else."""

# Credentials known by their form. The prefixes are the issuers' own, as their documentation and secret scanners give them.
_FORMS = {
    "private-key": r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:[^-]|-(?!----))*+(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?+",
    "url-credentials": r"(?<=://)(?:[^\s/@:'\"<>?#]{0,200}+:[^\s/'\"<>?#]{1,500}|[\w.~%-]{16,500}+)(?=@)",
    "url-signature": r"(?<=[?&])(?:X-(?:Amz|Goog)-(?:Signature|Credential|Security-Token)|Signature|sig)=[^\s&'\"<>\[]++",
    "jwt": r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{4,}+\.[\w-]*+",
    "huggingface-token": r"(?<![A-Za-z0-9])(?:api_org|hf)_(?:[A-Za-z0-9]{30,}+|(?=[A-Za-z]*+[0-9])[A-Za-z0-9]{10,}+)",
    "api-key": r"(?<![\w-])sk-(?:[\w-]{20,}+|(?=[A-Za-z_-]*+[0-9])[\w-]{8,}+)",
    "aws-access-key": r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "github-token": r"(?<![A-Za-z0-9])(?:gh[opsru]_[A-Za-z0-9]{16,}+|github_pat_\w{20,}+)",
    "gitlab-token": r"(?<![A-Za-z0-9])gl(?:pat|rt|dt|cbt|ptt|ft|soat)-[\w-]{16,}+",
    "slack-token": r"(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[A-Za-z0-9-]{8,}+|(?<=hooks\.slack\.com/services/)[\w/]++",
    "google-key": r"(?<![A-Za-z0-9])(?:AIza[\w-]{30,}+|ya29\.[\w-]{16,}+)",
    "nvidia-key": r"(?<![A-Za-z0-9])nvapi-[\w-]{16,}+",
    "package-token": r"(?<![A-Za-z0-9])(?:pypi-AgE[\w-]{16,}+|npm_[A-Za-z0-9]{30,}+|dckr_pat_[\w-]{16,}+)",
    "bearer-token": r"(?i:(?<=bearer ))(?:[\w.~+/=-]{24,}+|(?=[A-Za-z_.~+/=-]*+[0-9])[\w.~+/=-]{8,}+)",
}
_FORM = re.compile("|".join(f"(?P<{kind.replace('-', '_')}>{form})" for kind, form in _FORMS.items()), re.ASCII)

_HINT = re.compile(r"key|token|secret|passw|passphrase|pwd|credential|authorization", re.IGNORECASE)
_QUOTE = r"""\\{0,3}["']"""
_NEXT_LINE = r"(?:\r?\n[ \t+-]{0,40})"
_NAME = re.compile(
    rf"""(?<![\w-])(?P<flag>--)?-?(?P<name>[A-Za-z_][\w-]*+)(?:{_QUOTE})?+
    (?: [ \t]{{0,4}}(?::=|=>|=|:)[ \t]{{0,4}}                                              # name = value, 'name': value
      | (?:{_QUOTE})?[ \t]{{0,4}},?{_NEXT_LINE}?[ \t]{{0,4}}(?:{_QUOTE})?value(?:{_QUOTE})?:[ \t]{{0,4}}  # name: NAME, value: ...
      | (?(flag) ,?(?:[ \t]{{1,4}}|{_NEXT_LINE}-[ ]{{1,4}}) | (?!) )(?!-)                   # --name value, ['--name', 'value']
    )""",
    re.VERBOSE | re.ASCII,
)
_QUOTED = rf"(?P<open>{_QUOTE})(?P<quoted>(?:(?!(?P=open))(?:\\.|[^\n]))*+)"
_STRING = r"""'(?:\\.|[^'\n])*+'?|"(?:\\.|[^"\n])*+"?"""
_MARK = r"\[redacted:[\w-]*\]"
_VALUE = re.compile(
    rf"""{_QUOTED}
      | (?P<group>(?!{_MARK})\[(?:{_STRING}|{_MARK}|[^\]'"\n])*+\]? | \{{(?:{_STRING}|[^}}'"\n])*+\}}?)
      | (?!{_MARK})(?P<bare>(?:(?:bearer|basic|digest|token|negotiate)[ \t]+)?(?:[^\s'"&,;]|[&,;](?!\s|[\w.-]*+\s?[=:]|$))++)
    """,
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_LOOKS_RANDOM = re.compile(rf"(?:{_QUOTE})?(?P<bare>{OPAQUE})", re.ASCII)
_TRAILING = ")]}>`.:,;"


@lru_cache(maxsize=4096)  # names, kinds and field names come back with every fact
def redact(text: str) -> str:
    """The text with every credential replaced by `[redacted:<kind>]`. Redacting twice changes nothing more."""
    formless = _FORM.sub(_replacement, text)
    return _redact_named(formless) if _HINT.search(formless) else formless


def redact_value(value: Any) -> Any:
    """The same for nested values; what a credential's name maps to goes whole, whatever it looks like."""
    if isinstance(value, str):
        return redact(value.encode("utf-8", "backslashreplace").decode("utf-8"))  # undecodable bytes of a log cannot be written again
    if isinstance(value, BaseModel):
        return value.model_copy(update={name: redact_value(getattr(value, name)) for name in type(value).model_fields})
    if isinstance(value, Mapping):
        return {redact_value(name): redact_value(_without_named(str(name), item)) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(redact_value, value))
    return value


def redacted(analysis: Analysis) -> RedactedAnalysis:
    """The analysis with every string redacted; done once, for all outputs."""
    return RedactedAnalysis(redact_value(analysis))


def _without_named(name: str, value: Any) -> Any:
    """What stands under `name`, with the credentials gone that only the name tells."""
    if isinstance(value, Mapping):
        return {key: _without_named(name, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_without_named(name, item) for item in value)
    kind = None if value is None or isinstance(value, (bool, BaseModel)) else secret_kind(name)
    return _mark(kind) if kind and is_secret(kind, name, str(value)) else value


def _redact_named(text: str) -> str:
    pieces: list[str] = []
    done = 0  # before this, everything is copied or replaced
    for found in _NAME.finditer(text):
        kind = secret_kind(found["name"]) if found.start() >= done else None
        value = (_LOOKS_RANDOM if kind == "perhaps-token" else _VALUE).match(text, found.end()) if kind else None
        if kind is None or value is None:
            continue
        start, end = _span_of_secret(value)
        secret = is_secret(kind, found["name"], text[start:end])
        pieces += text[done:start], _mark(kind) if secret else text[start:end]
        done = end
    return "".join([*pieces, text[done:]])


def _span_of_secret(value: re.Match[str]) -> tuple[int, int]:
    """Where the credential itself stands: inside the quotes, or without the punctuation that follows it."""
    start, end = value.span(value.lastgroup or 0)
    if value.lastgroup != "bare":
        return start, end
    bare = value["bare"].rstrip(_TRAILING)
    cut_mark = bare.rfind("[redacted:") > bare.rfind("]")  # its bracket is no punctuation
    return start, start + len(bare) + cut_mark


def _replacement(found: re.Match[str]) -> str:
    return _mark((found.lastgroup or "").replace("_", "-"))


def _mark(kind: str) -> str:
    return f"[redacted:{kind.removeprefix('perhaps-')}]"
