"""The launches that the log of an SGLang run leaves open: what its automatic mem_fraction_static was worked out from.

Sources: sglang/srt/server_args.py, from 0.5.19 arg_groups, 0.4.7.post1 - 0.5.23: what a dump of the arguments shows is what the engine
made of them, defaults filled in; only data-parallel attention divides the chunk after the fraction is worked out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from packaging.version import Version

from analyzer.cases.model import Run
from analyzer.engines.cards import GONE_BEFORE_LOADING, KEPT_BY_DRIVER, memory_above, memory_of
from analyzer.engines.sglang_launch import Launch, Role
from analyzer.engines.sglang_prefill_graphs import captures_prefill_graphs
from analyzer.engines.sglang_release import Releases, releases_of
from analyzer.units import MIB, Size

Platform = Literal["cuda", "rocm", "xpu", "npu"]

DUMPS = ("server_args", "server_args_fragment")
PLATFORM_OF_BACKEND: Mapping[str, Platform] = {"CUDA": "cuda", "HIP": "rocm", "NPU": "npu", "XPU": "xpu"}
DATA_PARALLEL = ("dp_size", "dp", "data_parallel_size")
DISABLED = "disabled"
"""Backend of a phase in cuda_graph_config (0.5.14 -) that captures no graphs."""


def launches(run: Run, cards: Sequence[int]) -> tuple[Launch, ...]:
    """Every launch on one of these cards (MiB) that fits what the log shows; empty where it shows no release or not all arguments."""
    releases = sampled_releases(run) if shows_all_arguments(run) else ()
    return tuple(found for release in releases for card in cards for found in _variants(_launch(run, release, card)))


def sampled_releases(run: Run) -> tuple[Version, ...]:
    """The release that the log names, else those that were read of the ones it leaves open; empty where it tells nothing."""
    releases = releases_of_run(run)
    return () if releases is None else releases.sampled if isinstance(releases, Releases) else (releases,)


def releases_of_run(run: Run) -> Releases | Version | None:
    """The release that the log names, else those whose dump of arguments has the names that this one has."""
    if run.version is not None:
        return run.version
    names = {name for kind in DUMPS for fact in run.all(kind) for name in _plain(fact.mapping("args"))}
    return releases_of(names) if names else None


def release_of_run(run: Run) -> Version | None:
    """The one release that the log leaves open; None where it leaves several."""
    sampled = sampled_releases(run)
    return sampled[0] if len(sampled) == 1 else None


def cards_of_run(run: Run) -> tuple[int, ...]:
    """nvidia-smi's total of the smallest card in MiB: as printed, else every value that its name, or what PyTorch sees, leaves open."""
    printed = [size.bytes // MIB for fact in run.all("gpu_memory") if (size := fact.size("total")) is not None]
    if printed:
        return (min(printed),)
    named = next((found for fact in run.all("gpu_name") if (found := memory_of(str(fact.fields.get("name"))))), ())
    seen = min(_sizes(run, "total"), key=lambda size: size.bytes, default=None)
    return named or (memory_above(seen, KEPT_BY_DRIVER) if seen is not None else ())


def likely_cards(run: Run) -> tuple[int, ...]:
    """The same, and where nothing names the card, those of which so much can be free before loading."""
    free = max(_sizes(run, "free_at_start"), key=lambda size: size.bytes, default=None)
    return cards_of_run(run) or (memory_above(free, GONE_BEFORE_LOADING) if free is not None else ())


def shows_all_arguments(run: Run) -> bool:
    """Whether a dump of all arguments is shown, or a command line that reads no further ones from a file."""
    return any(not fact.cut for fact in run.all("server_args")) or bool(whole_command_lines(run))


def whole_command_lines(run: Run) -> list[set[str]]:
    """The names on each command line that is shown to its end and reads no arguments from a file."""
    lines = [set(_plain(fact.mapping("args"))) for fact in run.all("command_line") if fact.mapping("args") and not fact.cut]
    return [] if any("config" in names for names in lines) else lines


def attention_shares(args: Mapping[str, Any]) -> int:
    """Among how many groups of ranks data-parallel attention divides a chunk and the running requests; 1 without it."""
    own = _integer(args, "attn_dp_size") or 1
    return own if own > 1 or not args.get("enable_dp_attention") else _integer(args, *DATA_PARALLEL) or 1


def largest_graph(args: Mapping[str, Any]) -> int | None:
    """The largest batch of the decode graphs, by the argument of any release."""
    return _integer(_phase(args, "decode"), "max_bs") or _integer(args, "cuda_graph_max_bs", "cuda_graph_max_bs_decode")


def _launch(run: Run, release: Version, card: int) -> Launch:
    args = run.args
    filled_in = bool(run.all("server_args")) and args.get("mem_fraction_static") is not None
    decode, prefill = _phase(args, "decode"), _phase(args, "prefill")
    shares, chunk = attention_shares(args), _integer(args, "chunked_prefill_size")
    if chunk is not None and filled_in:
        chunk *= shares
    backend = _word(args, "attention_backend")
    platform = _platform(run)
    return Launch(
        release=release,
        card_mib=card,
        tp=_integer(args, "tp_size", "tp", "tensor_parallel_size") or 1,
        pp=_integer(args, "pp_size", "pp", "pipeline_parallel_size") or 1,
        dp=_integer(args, *DATA_PARALLEL) or 1,
        attention_dp=_integer(args, "attn_dp_size"),
        dp_attention=shares > 1 or bool(args.get("enable_dp_attention")),
        chunked_prefill_size=chunk,
        max_prefill_tokens=_integer(args, "max_prefill_tokens") or 16384,
        graph_max_batch_size=largest_graph(args),
        decode_graphs=decode.get("backend") != DISABLED and not args.get("disable_cuda_graph"),
        prefill_graphs=_prefill_graphs(args, prefill, filled_in),
        prefill_graph_max_tokens=_integer(prefill, "max_bs")
        or _integer(args, "piecewise_cuda_graph_max_tokens", "cuda_graph_max_bs_prefill"),
        max_total_tokens=_integer(args, "max_total_tokens"),
        max_running_requests=_integer(args, "max_running_requests"),
        context_length=_integer(args, "context_length") or (_printed_context(run) if backend == "aiter" else None),
        speculative_algorithm=_word(args, "speculative_algorithm"),
        draft_tokens=_integer(args, "speculative_num_draft_tokens"),
        role=_role(args),
        platform=platform,
        attention_backend=backend,
        sparse_attention=bool(run.all("args_nsa_mem_fraction")),
        deepep=_word(args, "moe_a2a_backend") == "deepep" or bool(args.get("enable_deepep_moe")),
        post_capture_sizing=any(kind.startswith("post_capture_kv") for kind in run.by_kind),
    )


def _printed_context(run: Run) -> int | None:
    """The model's own context length, which the reduction for aiter attention looks at, and the cap on prefill graphs does not."""
    return next((length for fact in run.all("max_total_num_tokens") if (length := fact.integer("context_len")) is not None), None)


def _variants(launch: Launch) -> tuple[Launch, ...]:
    """The launch with each kind of attention, where the reserve for prefill graphs depends on it (0.5.8 -): no argument shows it."""
    if launch.is_within("0.5.8") and captures_prefill_graphs(launch):
        return launch, replace(launch, mla=True)
    return (launch,)


def _prefill_graphs(args: Mapping[str, Any], phase: Mapping[str, Any], filled_in: bool) -> bool | None:
    """Whether prefill graphs are captured, as filled-in arguments show and asked ones at times; None: by the rule of the release."""
    if "backend" in phase:
        return bool(phase["backend"] != DISABLED)
    off, on = args.get("disable_piecewise_cuda_graph"), args.get("enable_piecewise_cuda_graph")
    if isinstance(off, bool) and (off or filled_in):
        return not off
    return on if isinstance(on, bool) and (on or filled_in) else None


def _phase(args: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    configuration = args.get("cuda_graph_config")
    phase = configuration.get(name) if isinstance(configuration, dict) else None
    return phase if isinstance(phase, dict) else {}


def _role(args: Mapping[str, Any]) -> Role:
    mode = args.get("disaggregation_mode")
    return cast(Role, mode) if mode in ("prefill", "decode") else "whole"


def _platform(run: Run) -> Platform:
    """As out-of-memory messages name the device, else the device that was asked for; ROCm calls itself cuda."""
    named = (PLATFORM_OF_BACKEND.get(str(fact.fields.get("backend"))) for fact in run.all("torch_oom"))
    asked = PLATFORM_OF_BACKEND.get(str(run.args.get("device")).upper(), "cuda")
    by_attention: Platform = "rocm" if run.args.get("attention_backend") == "aiter" else asked
    return next((platform for platform in named if platform is not None), by_attention)


def _plain(args: Mapping[str, Any]) -> list[str]:
    return [name.lstrip("-").replace("-", "_") for name in args]


def _integer(args: Mapping[str, Any], *names: str) -> int | None:
    """The first of these arguments that is a whole number."""
    values = (args.get(name) for name in names)
    return next((value for value in values if isinstance(value, int) and not isinstance(value, bool)), None)


def _word(args: Mapping[str, Any], name: str) -> str | None:
    value = args.get(name)
    return value if isinstance(value, str) and value.lower() not in ("none", "null") else None


def _sizes(run: Run, item: str) -> list[Size]:
    return [size for rank in run.ranks if (size := rank.size(item)) is not None]
