"""SGLang's prefill (piecewise) CUDA graphs: whether a launch captures them, and for how many token counts.

Sources: sglang/srt/server_args.py, _handle_piecewise_cuda_graph (0.5.10 - 0.5.13) and _apply_cuda_graph_compatibility (0.5.14 - 0.5.18);
arg_groups/cuda_graph_hook.py (0.5.19 -). Read at 0.5.6 - 0.5.10, 0.5.14 - 0.5.20 and 0.5.23.
"""

from __future__ import annotations

from collections.abc import Callable

from analyzer.engines.release import value_since
from analyzer.engines.sglang_launch import Launch

CONDITIONS: dict[str, Callable[[Launch], bool]] = {
    "data-parallel attention": lambda launch: launch.dp_attention,
    "decode server": lambda launch: launch.role == "decode",
    "disaggregated": lambda launch: launch.role != "whole",
    "expert all-to-all": lambda launch: launch.deepep,
    "latent attention": lambda launch: launch.mla,
    "multimodal": lambda launch: launch.multimodal,
    "pipeline parallel": lambda launch: launch.pp > 1,
    "speculative decoding": lambda launch: launch.speculative_algorithm is not None,
}

SWITCHED_OFF_BY: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "0.5.10",
        ("data-parallel attention", "disaggregated", "expert all-to-all", "multimodal", "pipeline parallel", "speculative decoding"),
    ),
    ("0.5.11", ("data-parallel attention", "disaggregated", "expert all-to-all", "multimodal", "pipeline parallel")),
    ("0.5.15", ("data-parallel attention", "decode server", "expert all-to-all", "latent attention", "multimodal")),
    ("0.5.17", ("decode server", "latent attention", "multimodal")),
    ("0.5.18", ("decode server", "multimodal")),
    ("0.5.19", ("decode server", "multimodal", "pipeline parallel")),
)
"""From 0.5.10 the graphs are on unless one of these holds; before, they have to be asked for. On other hardware than CUDA they are off."""

STEPS = (
    # first release, ranges of token counts: (first, last, step); the last range goes on to the maximum
    ("0.5.3.post2", ((4, 32, 4), (48, 256, 16), (288, 512, 32), (640, 4096, 128), (4352, None, 256))),
    ("0.5.8", ((4, 32, 4), (48, 256, 16), (288, 512, 32), (640, 1024, 64), (1280, 4096, 256), (4608, None, 512))),
    ("0.5.9", ((4, 32, 4), (48, 256, 16), (288, 512, 32), (576, 1024, 64), (1280, 4096, 256), (4608, None, 512))),
)

MAXIMUM_OF_LATENT_ATTENTION = (("0.5.8", 2048), ("0.5.23", 8192))
"""Models with multi-head latent attention stop here; in 0.5.23 at the chunk, if that is smaller."""


def captures_prefill_graphs(launch: Launch) -> bool:
    """Whether prefill graphs are captured: as asked, else by the rule of the release, as far as `Launch` records its conditions."""
    if launch.prefill_graphs is not None:
        return launch.prefill_graphs
    off = value_since(SWITCHED_OFF_BY, launch.release) if launch.release is not None else None
    return off is not None and launch.platform == "cuda" and not any(CONDITIONS[condition](launch) for condition in off)


def maximum_tokens(launch: Launch) -> int:
    """The largest prefill for which a graph is captured: as asked, else the chunk, within the caps of the release.

    Not counted: a cap of 4096 for Llama 2 (0.5.10 -). Raises ValueError for a launch whose release or chunk is unknown.
    """
    chunk = launch.chunked_prefill_size
    if launch.release is None or chunk is None:
        raise ValueError("the release and the chunk size are needed to tell which prefill graphs are captured")
    tokens = launch.prefill_graph_max_tokens
    if tokens is None:
        latent = value_since(MAXIMUM_OF_LATENT_ATTENTION, launch.release) if launch.mla else None
        tokens = 4096 if launch.is_within("0.5.3.post2", "0.5.7") else chunk if latent is None else latent
        tokens = min(tokens, chunk) if launch.is_within("0.5.23") else tokens
        if launch.max_total_tokens is not None and launch.is_within("0.5.10"):
            tokens = min(tokens, launch.max_total_tokens)
    if launch.context_length is not None and launch.is_within("0.5.13", "0.5.17"):
        tokens = min(tokens, launch.context_length)
    return tokens


def captured_token_counts(launch: Launch) -> tuple[int, ...]:
    """The token counts for which a prefill graph is captured."""
    maximum = maximum_tokens(launch)
    steps = value_since(STEPS, launch.release) or ()
    return tuple(
        tokens for first, last, step in steps for tokens in range(first, (maximum if last is None else last) + 1, step) if tokens <= maximum
    )
