"""The memory of cards as nvidia-smi prints it, which engines divide by; PyTorch and a started engine see a little less of it."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.units import GIB, MIB, Size


@dataclass(frozen=True, slots=True)
class Card:
    """A card by the name that nvidia-smi and PyTorch give it, and its memory.total in MiB; several values where ECC can be switched."""

    name: str
    mib: tuple[int, ...]


CARDS = (
    # nvidia-smi tables in public reports, drivers 525 and later (earlier ones leave out what the driver reserves); AMD: rocm-smi
    Card("AMD Instinct MI300X", (196592,)),
    Card("AMD Instinct MI350X", (294896,)),
    Card("AMD Instinct MI355X", (294896,)),
    Card("NVIDIA A10", (23028,)),
    Card("NVIDIA A100 80GB PCIe", (81920,)),
    Card("NVIDIA A100-PCIE-40GB", (40960,)),
    Card("NVIDIA A100-SXM4-40GB", (40960,)),
    Card("NVIDIA A100-SXM4-80GB", (81920,)),
    Card("NVIDIA A10G", (23028,)),
    Card("NVIDIA A40", (46068, 49140)),
    Card("NVIDIA A800 80GB PCIe", (81920,)),
    Card("NVIDIA A800-SXM4-80GB", (81920,)),
    Card("NVIDIA B200", (183359,)),
    Card("NVIDIA GH200 480GB", (97871,)),
    Card("NVIDIA GeForce RTX 3090", (24576,)),
    Card("NVIDIA GeForce RTX 4090", (24564,)),
    Card("NVIDIA GeForce RTX 5090", (32607,)),
    Card("NVIDIA H100 80GB HBM3", (81559,)),
    Card("NVIDIA H100 NVL", (95830,)),
    Card("NVIDIA H100 PCIe", (81559,)),
    Card("NVIDIA H20", (97871,)),
    Card("NVIDIA H200", (143771,)),
    Card("NVIDIA H200 NVL", (143771,)),
    Card("NVIDIA H800", (81559,)),
    Card("NVIDIA L4", (23034,)),
    Card("NVIDIA L40S", (46068,)),
    Card("NVIDIA RTX 6000 Ada Generation", (46068, 49140)),
    Card("NVIDIA RTX A6000", (46068, 49140)),
    Card("NVIDIA RTX PRO 6000 Blackwell Server Edition", (97887,)),
    Card("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", (97887,)),
    Card("Tesla T4", (15360,)),
)

KEPT_BY_DRIVER = Size.exact(GIB)
"""PyTorch's "total capacity" is up to this much below nvidia-smi's total: 0.3 GiB on small cards to 0.9 GiB on an A100 of 80 GB."""

GONE_BEFORE_LOADING = Size.exact(4 * GIB)
"""Driver, context and communication seldom take more before the weights, on a card that nobody else uses."""


def memory_of(name: str) -> tuple[int, ...]:
    """nvidia-smi's total of a card in MiB, every value that its name leaves open; empty for a card that is not in the table."""
    return next((card.mib for card in CARDS if card.name == name.strip()), ())


def memory_above(amount: Size, within: Size) -> tuple[int, ...]:
    """The totals of the table, in MiB, that are at least `amount` and exceed it by no more than `within`; in order, each once."""
    sizes = sorted({mib for card in CARDS for mib in card.mib})
    return tuple(mib for mib in sizes if amount.low <= mib * MIB <= amount.high + within.bytes)
