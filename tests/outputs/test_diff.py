"""The patches as one diff for each file."""

from analyzer.outputs import render
from tests.outputs.sample import DIFF, crash_analysis

OTHER = "--- a/serve.sh\n+++ b/serve.sh\n@@ -1 +1 @@\n-a\n+b"


def test_the_diffs_of_all_files_one_after_the_other() -> None:
    assert render(crash_analysis().model_copy(update={"file_diffs": [DIFF, OTHER]}), "diff") == DIFF + OTHER + "\n"


def test_no_patch_gives_an_empty_diff() -> None:
    assert render(crash_analysis().model_copy(update={"file_diffs": []}), "diff") == ""


def test_credentials_around_a_change_are_redacted() -> None:
    analysis = crash_analysis().model_copy(update={"file_diffs": [DIFF + "     api_key: hunter2\n"]})
    assert "     api_key: [redacted:api-key]\n" in render(analysis, "diff")
