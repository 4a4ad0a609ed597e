"""How long the grammars take to be there, from the cache and without it, beside a reference that is measured in the same run.

usage: python benchmarks/grammar_cache.py [RUNS]

Each figure is the median of several new processes, in milliseconds, with the modules already imported. The reference is what lark itself
takes to be imported and to build and use a parser of one word; the ratio to it does not depend on the machine as the milliseconds do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
CHILD = """
import json, sys, time
def lap(since): return 1000 * (time.perf_counter() - since)
start = time.perf_counter()
import lark
lark.Lark('start: "word"', parser="lalr").parse("word")
reference = lap(start)
from analyzer.facts.read import read_message
from analyzer.grammar import load_grammars
start = time.perf_counter()
grammars = load_grammars()
load = lap(start)
start = time.perf_counter()
read_message(grammars.messages["torch_oom"].parser, "CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 8.00 GiB total capacity)")
parse = lap(start)
print(json.dumps([reference, load, parse]))
"""
COLUMNS = ("reference", "load the grammars", "first parse", "both", "both / reference")


def measure(cache: str) -> list[float]:
    """Milliseconds of the reference, of loading, and of the first parse, in a new process."""
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", CHILD], env=environment, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def row(name: str, measured: list[list[float]]) -> str:
    reference, load, parse, both = (median(column) for column in zip(*([*one, one[1] + one[2]] for one in measured), strict=True))
    return f"{name:22}" + "".join(f"{figure:>20.1f}" for figure in (reference, load, parse, both)) + f"{both / reference:>20.2f}"


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    without = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as empty:
            without.append(measure(empty))
    with tempfile.TemporaryDirectory() as cache:
        measure(cache)
        cached = [measure(cache) for _ in range(runs)]
    print(" " * 22 + "".join(f"{column:>20}" for column in COLUMNS))
    print(row("without a cache", without))
    print(row("from the cache", cached))


if __name__ == "__main__":
    main()
