"""The patches as one diff."""

from analyzer.outputs import render
from tests.outputs.sample import DIFF, crash_analysis

OTHER = "--- a/serve.sh\n+++ b/serve.sh\n@@ -1 +1 @@\n-a\n+b"


def test_a_diff_shared_by_patches_of_a_file_is_printed_once_and_all_others_in_order() -> None:
    patch = crash_analysis().patches[0]
    patches = [
        patch,
        patch.model_copy(update={"path": ["profiles", "long_393k", "gpu_memory_utilization"]}),
        patch.model_copy(update={"file": "console", "safety": "display", "diff": ""}),
        patch.model_copy(update={"file": "serve.sh", "diff": OTHER}),
    ]
    assert render(crash_analysis().model_copy(update={"patches": patches}), "diff") == DIFF + OTHER + "\n"


def test_no_patch_gives_an_empty_diff() -> None:
    assert render(crash_analysis().model_copy(update={"patches": []}), "diff") == ""


def test_credentials_around_a_change_are_redacted() -> None:
    patch = crash_analysis().patches[0].model_copy(update={"diff": DIFF + "     api_key: hunter2\n"})
    assert "     api_key: [redacted:api-key]\n" in render(crash_analysis().model_copy(update={"patches": [patch]}), "diff")
