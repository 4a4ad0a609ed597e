"""How long a serving log takes whose lines repeat: read by their shapes, and parsed each.

usage: PYTHONPATH=. python benchmarks/repeated_lines.py [LINES]                measure
       PYTHONPATH=. python benchmarks/repeated_lines.py --write FILE [LINES]   only write such a log

The ratio is measured on the same lines in the same run, so that it does not depend on the machine.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from analyzer.facts.extract import Extraction, extract_facts
from analyzer.facts.shapes import Shapes
from analyzer.grammar import Grammars, load_grammars
from analyzer.inputs.document import Document

LINES = 20_000
PARSED_LINES = 2_000
"""So many are enough to time the way that is slow."""


def vllm_lines(count: int) -> Iterator[str]:
    """Statistics of vLLM, and the web server's lines between them."""
    for index in range(count // 2):
        time_of_day = f"{5 + index // 3600:02d}:{index // 60 % 60:02d}:{index % 60:02d}"
        yield (
            f"(APIServer pid=6990) INFO 07-26 {time_of_day} [loggers.py:236] Engine 000: "
            f"Avg prompt throughput: {index % 977}.{index % 10} tokens/s, "
            f"Avg generation throughput: {index % 311}.{index % 7} tokens/s, "
            f"Running: {index % 40} reqs, Waiting: {index % 7} reqs, "
            f"GPU KV cache usage: {index % 100}.3%, Prefix cache hit rate: {index % 61}.1%"
        )
        yield f'(APIServer pid=6990) INFO:     10.0.0.2:{index % 65536} - "POST /v1/completions HTTP/1.1" 200 OK'


def sglang_lines(count: int) -> Iterator[str]:
    """Batches of SGLang on two ranks."""
    for index in range(count):
        head = f"[2026-10-30 {5 + index // 3600:02d}:{index // 60 % 60:02d}:{index % 60:02d} TP{index % 2}] "
        if index % 5:
            yield (
                f"{head}Decode batch, #running-req: {index % 128}, #token: {index * 7 % 900000}, token usage: 0.{index % 100:02d}, "
                f"cuda graph: True, gen throughput (token/s): {index % 4000}.{index % 100:02d}, #queue-req: {index % 9}"
            )
        else:
            yield (
                f"{head}Prefill batch, #new-seq: {index % 4}, #new-token: {index % 8192}, #cached-token: {index % 4096}, "
                f"token usage: 0.{index % 100:02d}, #running-req: {index % 128}, #queue-req: {index % 9}"
            )


KINDS = {"vllm": vllm_lines, "sglang": sglang_lines}


def timed(lines: list[str], grammars: Grammars) -> tuple[float, Extraction]:
    """Microseconds of processor time for each line, and what was read."""
    document = Document("log", "\n".join(lines).encode(), grammars.prefixes)
    start = time.process_time()
    extraction = extract_facts(document, grammars)
    return 1e6 * (time.process_time() - start) / len(lines), extraction


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--write"]:
        count = int(arguments[2]) if len(arguments) > 2 else LINES
        Path(arguments[1]).write_text("\n".join(vllm_lines(count)) + "\n", encoding="utf-8")
        return
    count = int(arguments[0]) if arguments else LINES
    grammars = load_grammars()
    print(f"{'':8}{'shapes, us/line':>18}{'parsed, us/line':>18}{'ratio':>8}{'shapes on ' + str(count) + ', us/line':>30}{'peak MiB':>10}")
    for name, make in KINDS.items():
        lines = list(make(PARSED_LINES))
        timed(lines[:50], grammars)  # compiles the parsers
        by_shape, read = timed(lines, grammars)
        with patch.object(Shapes, "find", return_value=None):
            by_parser, parsed = timed(lines, grammars)
        if read != parsed:
            raise SystemExit(f"{name}: shapes and parser disagree")
        many, _ = timed(list(make(count)), grammars)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{name:8}{by_shape:>18.0f}{by_parser:>18.0f}{by_parser / by_shape:>8.1f}{many:>30.0f}{peak:>10.0f}")


if __name__ == "__main__":
    main()
