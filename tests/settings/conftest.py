"""What the tests of settings share."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def git_apply() -> Callable[[Path, str], None]:
    """Has git apply a diff in a fresh repository in a folder, away from any configuration of the machine."""
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

    def apply(folder: Path, diff: str) -> None:
        subprocess.run(["git", "init", "--quiet"], cwd=folder, env=environment, check=True)
        command = ["git", "apply", "--whitespace=nowarn", "-"]
        done = subprocess.run(command, cwd=folder, env=environment, input=diff.encode(), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()

    return apply
