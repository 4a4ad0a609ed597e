"""Free memory against outcome, one row for each profile, over the bands in which the selector takes each of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from analyzer.analysis import BandRecord, LadderRecord, MapRecord
from analyzer.outputs.picture import INK, svg_element
from analyzer.outputs.printable import printable
from analyzer.units import GIB

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which stays apart under the common colour blindnesses and on light and dark ground.
STARTS, FAILS, OPEN = "#009E73", "#D55E00", "#999999"
COLOURS = {"starts": STARTS, "fails": FAILS, "cannot tell": OPEN, "nothing fits": "none"}
MARKS = {"pass": ("o", STARTS), "fail": ("X", FAILS)}
_ROW_INCHES = 0.42
_MOST_ROWS = 24
_LETTER = 0.011  # of the width, in the small print of the bands


def ladder_svg(ladders: Sequence[LadderRecord], selected: MapRecord | None, title: str, prefix: str) -> str:
    """An `<svg>` element, or "" when no run was measured and nothing is selected. `title` and `prefix` as in `svg_element`."""
    rows = [ladder for ladder in ladders if ladder.rungs][:_MOST_ROWS]
    bands = selected.bands if selected is not None else []
    if not rows and not any(band.profile for band in bands):
        return ""
    return svg_element(lambda figure: _draw(figure, rows, bands), title, prefix)


def span(ladders: Sequence[LadderRecord], bands: Sequence[BandRecord]) -> tuple[int, int]:
    """The stretch of free memory that is drawn, in bytes: all runs, and all bands but the empty one at the bottom."""
    points = [rung.free for ladder in ladders for rung in ladder.rungs]
    points += [edge for band in bands if band.profile is not None for edge in (band.low, band.high)]
    margin = max((max(points) - min(points)) // 20, 1)
    return min(points) - margin, max(points) + margin


def _draw(figure: Figure, ladders: Sequence[LadderRecord], bands: Sequence[BandRecord]) -> None:
    rows = len(ladders) + bool(bands)
    figure.set_size_inches(7.2, _ROW_INCHES * rows + 0.55)
    bottom = 0.5 / (_ROW_INCHES * rows + 0.55)
    axes = figure.add_axes((0.2, bottom, 0.78, 1 - bottom))
    low, high = span(ladders, bands)
    axes.set_xlim(low / GIB, high / GIB)
    axes.set_ylim(rows - 0.4, -0.6)
    axes.set_yticks([])
    axes.set_xlabel("raw free memory at the selection, GiB", color=INK)
    axes.tick_params(colors=INK)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(INK)
    for row, ladder in enumerate(ladders):
        _ladder(axes, row, ladder)
    if bands:
        _label(axes, len(ladders), "selected")
        for band in bands:
            _band(axes, len(ladders), band)
        for profile, same in groupby(bands, key=lambda band: band.profile):
            if profile is not None:
                _name(axes, len(ladders), profile, list(same))


def _label(axes: Axes, row: int, text: str) -> None:
    axes.text(-0.01, row, printable(text), ha="right", va="center", transform=axes.get_yaxis_transform())


def _ladder(axes: Axes, row: int, ladder: LadderRecord) -> None:
    _label(axes, row, ladder.profile)
    axes.axhline(row, color=INK, linewidth=0.5, alpha=0.4)
    if ladder.threshold is not None:
        low, high = (ladder.threshold[end] / GIB for end in ("low", "high"))
        axes.barh(row, high - low, left=low, height=0.6, facecolor=OPEN, alpha=0.5)
    for rung in ladder.rungs:
        mark, colour = MARKS[rung.outcome]
        face = colour if rung.counts else "none"
        axes.plot(rung.free / GIB, row, marker=mark, markersize=7, markerfacecolor=face, markeredgecolor=colour, linestyle="none")


def _band(axes: Axes, row: int, band: BandRecord) -> None:
    if band.profile is not None:
        start, width = band.low / GIB, (band.high - band.low) / GIB
        axes.barh(row, width, left=start, height=0.6, facecolor=COLOURS[band.expected], edgecolor=INK, linewidth=0.6, alpha=0.6)


def _name(axes: Axes, row: int, profile: str, bands: Sequence[BandRecord]) -> None:
    """The name of a profile over its bands, where they are wide enough for it."""
    start, end = bands[0].low / GIB, bands[-1].high / GIB
    left, right = axes.get_xlim()
    if end - start > (right - left) * _LETTER * len(profile):
        axes.text((start + end) / 2, row, printable(profile), ha="center", va="center", fontsize=7)
