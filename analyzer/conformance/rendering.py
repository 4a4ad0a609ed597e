"""A template with plausible values in its places, behind the head that its engine prints."""

from __future__ import annotations

import re
import string
from pathlib import PurePosixPath

from analyzer.conformance.templates import Template

COUNT, WHOLE, FRACTION = 2048, 17, 0.85
AMOUNT = 16.44
"""GiB, seconds or percent."""
BYTES = 17179869184
WORD = "full"
QUOTING = ("r", "a")
"""Conversions that put a text in quotation marks."""
KINDS = (
    (r"graph_backend", "CUDA graph"),
    (r"format_gib", f"{AMOUNT}"),
    (r"format_bytes|human|readable|pretty|_str$|fmt", f"{AMOUNT} GiB"),
    (r"dtype", "torch.bfloat16"),
    (r"(^|_)(e|err|error|exc|exception|reason|msg|message|detail|hint|note|stderr|output)s?(_\d+)?$", "invalid argument"),
    (r"^ratio$", "4"),
    (r"graph_groups", "FULL=17 (largest=512), PIECEWISE=34 (largest=512)"),
    (r"^handle_kind$", "POSIX FD"),
    (r"fraction|ratio|utilization|usage$|factor|scale", f"{FRACTION}"),
    (r"^pools$|kv_cache_device_name", "GPU"),
    (r"suffix", ""),
    (
        r"(^|_)(sizes|shapes?|ids|indices|ranks|list|tuple|names|kv_caches|free_blocks|keys|missing|batch_sizes|configs|capture_bs)$",
        "[1, 2, 4]",
    ),
    (r"(^|_)(num|n|len|count|length|total_tokens|max_\w+|min_\w+)(_|$)", f"{COUNT}"),
    (r"(size|count|len|idx|index|id|pid|rank|tokens|blocks|reqs|requests|seqs|slots|layers|pages|bs|step|steps)(_\d+)?$", f"{COUNT}"),
    (r"n?bytes|capacity|numel|stride|offset|addr|ptr", f"{BYTES}"),
    (r"device(s|_name|_type)?(_\d+)?$", "cuda:0"),
    (r"path|file|folder|(^|_)dir(_|$)|model_name", "/models/m"),
    (
        r"name|type|class|mode|backend|layer|kind|key|policy|platform|layout|method|label|prefix|model|arch|config|uuid|role|spec$|group$|flag|attr",
        WORD,
    ),
    (
        r"(^|_)(gb|gib|mb|mib|mem|memory|free|avail\w*|total|used|time|elapsed|seconds|secs|duration|latency|percent|pct|throughput)(_|$)",
        f"{AMOUNT}",
    ),
)
"""Regular expression for some part of a value's name -> what such a value prints. The first that matches counts; else it is a number."""
UNITS = re.compile(r"\s*([KMGT]i?B\b|%|seconds|secs|s\b|x\b)")
WHOLE_UNITS = re.compile(r"\s*(bytes|tokens|blocks|reqs|requests|slots|layers|pages|graphs|MB\b|GPUs?|ranks?|workers?)")


def render(template: Template) -> str:
    """The text of the message as a running engine could print it."""
    pieces = list(string.Formatter().parse(template.text))
    following = [text for text, *_ in pieces[1:]] + [""]
    return "".join(
        text + ("" if name is None else _value(name, specification or "", conversion or "", after))
        for (text, name, specification, conversion), after in zip(pieces, following, strict=True)
    )


def _value(name: str, specification: str, conversion: str, after: str) -> str:
    if specification and not conversion:
        return _formatted(specification)
    printed = _printed(name.lower(), after, WORD if conversion in QUOTING else f"{WHOLE}")
    return f"'{printed}'" if conversion in QUOTING and not re.fullmatch(r"[\d.]+|\[.*\]", printed) else printed


def _formatted(specification: str) -> str:
    """A number or a word, whichever the format is for."""
    number = FRACTION if specification.endswith("%") else AMOUNT if specification[-1] in "feg" else COUNT
    try:
        return format(number, specification)
    except ValueError:
        return format(WORD, specification)


def _printed(name: str, after: str, otherwise: str) -> str:
    if UNITS.match(after):
        return f"{AMOUNT}"
    if WHOLE_UNITS.match(after):
        return f"{COUNT}"
    return next((value for pattern, value in KINDS if re.search(pattern, name)), otherwise)


HEADS = {
    "vllm": "(EngineCore pid=4183) {level} 07-26 05:11:05 [{place}:412] ",
    "sglang": "[2026-10-30 12:00:00 TP0] ",
}


def log_line(template: Template) -> str:
    """The message behind the head of the engine that prints it; an exception as the last line of its traceback."""
    file = PurePosixPath(template.file)
    kind, _, exception = template.level.partition(" ")
    head = (
        HEADS.get(file.parts[0], "").format(level="ERROR" if exception else kind.upper(), place=file.name)
        if not exception or file.parts[0] == "vllm"
        else ""
    )
    return f"{head}{exception}{': ' if exception else ''}{render(template)}"
