"""Arguments that a release takes, also where only the names of its arguments tell the release."""

import pytest

from analyzer.figures.known_arguments import takes
from tests.runs import run_of
from tests.sglang_dumps import dump


@pytest.mark.parametrize(
    ("release", "knob", "taken"),
    [
        ("0.5.19", "disable_piecewise_cuda_graph", True),
        ("0.5.20", "disable_piecewise_cuda_graph", False),
        ("0.5.9", "disable_prefill_cuda_graph", False),
        ("0.5.14", "disable_prefill_cuda_graph", True),
        ("0.5.9", "mem_fraction_static", True),
        ("0.5.9", "an_argument_of_no_table", True),
    ],
)
def test_the_names_of_a_dump_tell_what_its_release_takes(release: str, knob: str, taken: bool) -> None:
    assert takes(run_of(dump(release)), knob) is taken


def test_what_cannot_be_told_counts_as_taken() -> None:
    assert takes(run_of("server_args=ServerArgs(model_path='/m', mem_fraction_static=0.8)\n"), "disable_prefill_cuda_graph")
    assert takes(None, "anything")
