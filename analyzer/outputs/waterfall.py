"""Where one rank's memory went, as a picture: bars from left to right across the card, from what others hold to what is left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from analyzer.analysis import SizeRecord
from analyzer.outputs.picture import INK, svg_element
from analyzer.outputs.printable import printable
from analyzer.outputs.wording import LEDGER_ITEMS, amount

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which stays apart under the common colour blindnesses and on light and dark ground.
COLOURS = {
    "other_processes": "#CC79A7",
    "weights": "#0072B2",
    "allocated": "#0072B2",
    "non_torch": "#56B4E9",
    "activation_peak": "#E69F00",
    "kv_cache": "#009E73",
    "kv_pinned": "#009E73",
    "cuda_graphs": "#F0E442",
    "unaccounted": "#999999",
    "free_at_failure": "none",
    "allocation_refused": "#D55E00",
    "kv_needed": "#D55E00",
}
_STACKED = (
    "other_processes",
    "weights",
    "allocated",
    "non_torch",
    "activation_peak",
    "kv_cache",
    "kv_pinned",
    "cuda_graphs",
    "unaccounted",
)
_IN_ALLOCATED = {"weights", "activation_peak", "kv_cache", "kv_pinned", "cuda_graphs"}
"""Where one of these is known, the bars show it, and not the sum that PyTorch's allocator gives for all of them."""
_WHISKER = 0.004  # of the width: narrower intervals would not be seen
_ROW_INCHES = 0.30


class Bar(NamedTuple):
    """One row: where the bar begins and ends, in bytes from the left edge of the card."""

    item: str
    start: int
    end: int
    size: SizeRecord

    @property
    def lacking(self) -> bool:
        """Whether it is memory that was wanted and not there; such a bar is an outline."""
        return self.size.bytes < 0 or self.item in {"allocation_refused", "kv_needed"}

    @property
    def label(self) -> str:
        """The amount, or by how much it falls short."""
        if self.size.bytes < 0:
            return f"{'over' if self.item == 'unaccounted' else 'short'} by {printable(amount(self.size)).lstrip('-')}"
        return printable(amount(self.size))


def bars(ledger: Mapping[str, SizeRecord]) -> list[Bar]:
    """The rows in order. Each begins where the one before ended; what is negative or was refused takes no room from those after it."""
    return list(_bars(ledger))


def _bars(ledger: Mapping[str, SizeRecord]) -> Iterator[Bar]:
    filled = 0
    for item in _STACKED:
        size = ledger.get(item)
        if size is None or (item == "kv_pinned" and "kv_cache" in ledger):  # the same memory under two names
            continue
        if item == "allocated" and _IN_ALLOCATED & ledger.keys():
            continue
        yield Bar(item, filled, filled + size.bytes, size)
        if item in {"kv_cache", "kv_pinned"} and "kv_needed" in ledger:
            yield Bar("kv_needed", filled, filled + ledger["kv_needed"].bytes, ledger["kv_needed"])
        filled += max(size.bytes, 0)
    free, total = ledger.get("free_at_failure"), ledger.get("total")
    if free is None:
        return
    start = total.bytes - free.bytes if total else filled
    yield Bar("free_at_failure", start, start + free.bytes, free)
    if "allocation_refused" in ledger:
        yield Bar("allocation_refused", start, start + ledger["allocation_refused"].bytes, ledger["allocation_refused"])


def waterfall_svg(ledger: Mapping[str, SizeRecord], title: str, prefix: str) -> str:
    """An `<svg>` element to stand in a page, or "" when the ledger has nothing to draw.

    `title` is what a screen reader says, already escaped for HTML; `prefix` keeps the ids of several pictures on a page apart.
    """
    rows = bars(ledger)
    if not rows:
        return ""
    return svg_element(lambda figure: _draw(figure, rows, ledger), title, prefix)


def _draw(figure: Figure, rows: list[Bar], ledger: Mapping[str, SizeRecord]) -> None:
    total, budget = ledger.get("total"), ledger.get("budget")
    top, bottom = (-1.4 if total else -0.6), len(rows) - (-0.5 if budget else 0.4)
    figure.set_size_inches(5.8, _ROW_INCHES * (bottom - top))
    axes = figure.add_axes((0.27, 0, 0.48, 1))  # the rest is for the words left and the amounts right
    axes.set_axis_off()
    farthest = max(bar.end for bar in rows)
    left, right = min(0, *(bar.end for bar in rows)), max(total.bytes if total else 0, farthest)
    axes.set_xlim(left, right * 1.005)
    axes.set_ylim(bottom, top)
    _frame(axes, total.bytes if total else farthest, len(rows))
    if total:
        axes.text(total.bytes, -0.85, f"total {printable(amount(total))}", ha="right", va="center", fontweight="bold")
    if budget:
        axes.plot([budget.bytes, budget.bytes], [-0.45, len(rows) - 0.3], color=INK, linestyle=(0, (4, 3)), linewidth=1.2)
        axes.text(budget.bytes, len(rows), f"budget {printable(amount(budget))}", ha="center", va="center")
    for row, bar in enumerate(rows):
        _row(axes, row, bar, right - left)


def _frame(axes: Axes, total: int, rows: int) -> None:
    axes.plot([0, total, total, 0, 0], [-0.45, -0.45, rows - 0.45, rows - 0.45, -0.45], color=INK, linewidth=0.8, alpha=0.5)


def _row(axes: Axes, row: int, bar: Bar, width: int) -> None:
    colour = COLOURS[bar.item] if bar.size.bytes >= 0 else COLOURS["allocation_refused"]
    fill = "none" if bar.lacking or bar.item == "free_at_failure" else colour
    edge = colour if bar.lacking else INK
    axes.barh(row, bar.end - bar.start, left=bar.start, height=0.62, facecolor=fill, edgecolor=edge, linewidth=1.6 if bar.lacking else 0.6)
    if (bar.size.high - bar.size.low) > width * _WHISKER:
        offset = bar.start if bar.size.bytes >= 0 else bar.end - bar.size.bytes
        axes.plot([offset + bar.size.low, offset + bar.size.high], [row, row], color=INK, linewidth=1.5, marker="|", markersize=8)
    axes.text(-0.02, row, LEDGER_ITEMS[bar.item], ha="right", va="center", transform=axes.get_yaxis_transform())
    axes.text(1.015, row, bar.label, ha="left", va="center", transform=axes.get_yaxis_transform())
