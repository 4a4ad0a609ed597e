"""Control characters made visible: what a log holds never steers a terminal or reorders a line."""

from __future__ import annotations

import re

# C0 and C1 controls except tab and line feed; soft hyphen and Arabic letter mark; zero-width and bidirectional marks; line and
# paragraph separators; bidirectional embeddings, overrides and isolates; lone surrogates; byte order mark; non-characters; tags.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    r"""The text with each such character as a visible escape: ESC becomes \x1b, a right-to-left override \u202e."""
    return _UNPRINTABLE.sub(_escape, text)


def one_line(text: str) -> str:
    r"""The same with line feeds and tabs escaped as well, for places that hold one line."""
    return printable(text).replace("\n", r"\n").replace("\t", r"\t")


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
