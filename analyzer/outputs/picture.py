"""Pictures as SVG elements of a page: drawn with matplotlib, with the page's own ink, and no outside references."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#123456"
"""A stand-in, replaced by the colour of the surrounding text."""

_PROLOGUE = re.compile(r"^.*?(?=<svg )|<metadata>.*?</metadata>", re.DOTALL)
_VIEW_BOX = re.compile(r'viewBox="[^"]*"')
_ID = re.compile(r'(\bid="|url\(#|href="#)')


def svg_element(draw: Callable[[Figure], None], title: str, prefix: str) -> str:
    """An `<svg>` element to stand in a page.

    `title` is what a screen reader says, already escaped for HTML; `prefix` keeps the ids of several pictures on a page apart.
    """
    import matplotlib as mpl  # noqa: PLC0415  costs half a second, which a run without pictures must not pay
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(
            {"svg.fonttype": "none", "svg.hashsalt": "waterfall", "font.size": 10, "text.color": INK, "text.parse_math": False}
        )
        figure = Figure()
        draw(figure)
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _embedded(written.getvalue(), title, prefix)


def _embedded(svg: str, title: str, prefix: str) -> str:
    """The picture as an element of a page: no prologue, no metadata, no fixed size, its own ids, the page's ink."""
    body = _PROLOGUE.sub("", svg)
    head, _, rest = body.partition(">")
    view_box = "".join(_VIEW_BOX.findall(head))
    opening = (
        f'<svg class="waterfall" role="img" aria-labelledby="{prefix}title" {view_box} xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink"><title id="{prefix}title">{title}</title>'
    )
    return opening + _ID.sub(rf"\1{prefix}", rest).replace(INK, "currentColor").strip()
