"""docs/worked-example-cards.md says what the engine models say, and its main figures can be checked by hand."""

import pytest

from tests.engines.cards_page import CARDS, PAGE, automatic, render

PAGE_TEXT = PAGE.read_text(encoding="utf-8")


def test_every_number_of_the_page_is_recomputed() -> None:
    assert render() == PAGE_TEXT, "write it again: python -m tests.engines.cards_page"


@pytest.mark.parametrize(
    "line",
    [
        # 81 559 / 1024 - 1.65 = 78.00; 78.00 - 60 = 18.00; 1 - 18 / 78; (60 + 5) / 78
        "| free before loading (pre) | 78.00 GiB | 93.93 GiB | 138.75 GiB |",
        "| free after loading (post) | 18.00 GiB | 33.93 GiB | 78.75 GiB |",
        "| smallest fraction, 1 - post / pre | 0.7693 | 0.6388 | 0.4324 |",
        "| with room for one request | 0.8334 | 0.6920 | 0.4685 |",
    ],
)
def test_lines_worked_out_by_hand(line: str) -> None:
    assert line in PAGE_TEXT


@pytest.mark.parametrize("fraction", [0.60, 0.65, 0.70, 0.75, 0.80, 0.85, 0.90])
def test_pools_worked_out_by_plain_arithmetic(fraction: float) -> None:
    line = next(line for line in PAGE_TEXT.splitlines() if line.startswith(f"| {fraction:.2f} |"))
    for mib, cell in zip((81_559, 97_871, 143_771), line.strip("| ").split(" | ")[1:], strict=True):
        left = fraction * (mib / 1024 - 1.65) - 60  # GiB
        tokens = int(left * 2**20 / 160)  # of 160 KiB
        expected = f"refused ({left:.1f} GiB)" if left < 0 else f"{left:.1f} GiB, {tokens} tokens"
        assert cell.replace(" ", "") == expected.replace(" ", "")


@pytest.mark.parametrize(("release", "expected"), [("0.5.2", (0.874, 0.869, 0.911)), ("0.5.3", (0.835, 0.863, 0.907))])
def test_automatic_values_worked_out_by_hand(release: str, expected: tuple[float, ...]) -> None:
    # 0.5.2: (M - 10 240) / M below 90 GiB, (M - 12 800) / M above; 0.5.3: (M - 13 440) / M
    assert tuple(automatic(card, release) for card in CARDS) == expected
