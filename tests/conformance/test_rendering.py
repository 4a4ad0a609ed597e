"""A template becomes a line that its engine could print."""

from __future__ import annotations

import pytest

from analyzer.conformance.rendering import log_line, render
from analyzer.conformance.templates import Template


def rendered(text: str) -> str:
    return render(Template("vllm/a.py", "info", text))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("took {x:.2f} GiB", "took 16.44 GiB"),
        ("took {x:.1%}", "took 85.0%"),
        ("took {x:d} GiB", "took 2048 GiB"),
        ("{x:,} tokens", "2,048 tokens"),
        ("{x:5d}|{x:>6s}", " 2048|  full"),
        ("{x} GiB, {y} MB, {z}%", "16.44 GiB, 16.44 MB, 16.44%"),
        ("{x} tokens, {y} blocks", "2048 tokens, 2048 blocks"),
        ("{num_blocks}", "2048"),
        ("{gpu_memory_utilization}", "0.85"),
        ("{format_gib_free} GiB", "16.44 GiB"),
        ("{free_memory}", "16.44"),
        ("{nbytes}", "17179869184"),
        ("{dtype} on {device}", "torch.bfloat16 on cuda:0"),
        ("{model_path}", "/models/m"),
        ("{capture_sizes}", "[1, 2, 4]"),
        ("failed: {e}", "failed: invalid argument"),
        ("{backend!r}, {x!r}", "'full', 'full'"),
        ("{something}", "17"),
        ("{{}} {{{x} GiB}}", "{} {16.44 GiB}"),
        ("without a value", "without a value"),
    ],
)
def test_a_value_is_what_its_format_its_name_and_what_follows_say(text: str, line: str):
    assert rendered(text) == line


@pytest.mark.parametrize(
    ("template", "line"),
    [
        (Template("vllm/v1/worker.py", "info", "memory"), "(EngineCore pid=4183) INFO 07-26 05:11:05 [worker.py:412] memory"),
        (
            Template("vllm/v1/worker.py", "exception ValueError", "memory"),
            "(EngineCore pid=4183) ERROR 07-26 05:11:05 [worker.py:412] ValueError: memory",
        ),
        (Template("sglang/srt/pool.py", "warning", "memory"), "[2026-10-30 12:00:00 TP0] memory"),
        (Template("sglang/srt/pool.py", "exception ValueError", "memory"), "ValueError: memory"),
        (Template("elsewhere/pool.py", "print", "memory"), "memory"),
    ],
)
def test_a_line_has_the_head_of_its_engine(template: Template, line: str):
    assert log_line(template) == line
