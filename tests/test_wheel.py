"""The built distributions: they carry the content folders, and the installed program works far from the checkout."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import uv

ROOT = Path(__file__).resolve().parent.parent

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheel")]


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False)


def run_here(*command: str | Path, cwd: Path = ROOT, **environment: str) -> None:
    """Run a build tool in the environment of the tests; its output is shown when it fails."""
    done = run(*command, cwd=cwd, **{**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr


def build(kind: str, source: Path, folder: Path) -> Path:
    run_here(sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", folder, cwd=source)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new environment that holds the wheel and what it depends on, and nothing else."""
    environment = tmp_path_factory.mktemp("installed") / "venv"
    uv_program = uv.find_uv_bin()
    locked = ("sync", "--frozen", "--no-default-groups", "--no-install-project", "--quiet", "--python", sys.executable)
    run_here(uv_program, *locked, UV_PROJECT_ENVIRONMENT=str(environment))
    run_here(uv_program, "pip", "install", "--quiet", "--no-deps", "--python", environment, wheel)
    run_here(uv_program, "pip", "check", "--quiet", "--python", environment)
    return environment / "bin"


@pytest.mark.parametrize("folder", ["fixtures/demo", "grammars", "reports", "rules"])
def test_wheel_carries_a_content_folder_whole(wheel: Path, folder: str) -> None:
    prefix = f"analyzer/{folder}/"
    carried = {name.removeprefix(prefix) for name in zipfile.ZipFile(wheel).namelist() if name.startswith(prefix)}
    assert carried == {str(path.relative_to(ROOT / folder)) for path in (ROOT / folder).rglob("*") if path.is_file()}
    assert carried


def test_wheel_carries_nothing_but_the_package(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert tops == {"analyzer", "vram_postmortem-0.1.0.dist-info"}


def test_source_distribution_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    archive = build("sdist", ROOT, tmp_path / "sdist")
    run_here("tar", "-xf", archive, cwd=tmp_path)
    again = build("wheel", tmp_path / archive.name.removesuffix(".tar.gz"), tmp_path / "wheel")
    assert again.read_bytes() == wheel.read_bytes()


def test_source_distribution_can_run_the_tests(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", ROOT, tmp_path)) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    files = (path for folder in ("tests", "fixtures") for path in (ROOT / folder).rglob("*") if path.is_file())
    needed = {path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc"}
    assert needed | {"Makefile", "pyproject.toml", "uv.lock"} <= names


def test_installed_program_tells_its_version(programs: Path, tmp_path: Path) -> None:
    told = run(programs / "analyze", "--version", cwd=tmp_path, HOME=str(tmp_path))
    assert told.returncode == 0, told.stderr
    assert "0.1.0" in told.stdout


def test_installed_program_analyzes_a_log(programs: Path, fixtures_dir: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    demo = fixtures_dir / "demo"
    arguments = (demo / "crash.log", "--config", demo / "profiles.yaml", "--format", "json", "--output", "-")
    told = run(programs / "vram-postmortem", *arguments, cwd=empty, HOME=str(tmp_path))
    assert told.returncode == 1, told.stderr
    assert json.loads(told.stdout)["verdict"]["outcome"] == "failed"
    assert list(empty.iterdir()) == []
