"""What is kept between runs, and what is never read back."""

import os
import pickle
from pathlib import Path

import pytest

from analyzer.cache import cache_folder, recall, remember


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    file = tmp_path / "cache" / "result.pickle"
    remember(file, {"weights": 16})
    return file


def test_what_was_stored_is_recalled(stored: Path):
    assert recall(stored) == {"weights": 16}
    assert [file.name for file in stored.parent.iterdir()] == ["result.pickle"]
    assert stored.stat().st_mode & 0o777 == 0o600
    assert stored.parent.stat().st_mode & 0o777 == 0o700


def test_nothing_was_stored(tmp_path: Path):
    assert recall(tmp_path / "missing.pickle") is None
    assert recall(tmp_path) is None


@pytest.mark.parametrize("keep", [0, 10, 32, 40, -1])
def test_a_cut_file_is_not_read(stored: Path, keep: int):
    stored.write_bytes(stored.read_bytes()[:keep])
    assert recall(stored) is None


def test_a_changed_file_is_not_read(stored: Path):
    data = bytearray(stored.read_bytes())
    data[-3] ^= 1
    stored.write_bytes(data)
    assert recall(stored) is None


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


def test_a_pickle_from_elsewhere_is_not_run(stored: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    stored.write_bytes(pickle.dumps(Bomb()))
    assert recall(stored) is None
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_read(stored: Path, mode: int):
    stored.chmod(mode)
    assert recall(stored) is None


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_may_write_to_is_not_used(stored: Path, mode: int):
    stored.parent.chmod(mode)
    assert recall(stored) is None
    remember(stored.parent / "other.pickle", 1)
    assert not (stored.parent / "other.pickle").exists()


def test_the_file_of_another_user_is_not_read(stored: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "getuid", lambda: stored.stat().st_uid + 1)
    assert recall(stored) is None
    remember(stored.parent / "other.pickle", 1)
    assert not (stored.parent / "other.pickle").exists()


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path):
    (tmp_path / "file").write_text("not a folder")
    remember(tmp_path / "file" / "result.pickle", 1)
    assert recall(tmp_path / "file" / "result.pickle") is None


def test_a_full_disk_is_no_error(stored: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    remember(stored, {"weights": 17})
    assert recall(stored) == {"weights": 16}


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"XDG_CACHE_HOME": "/var/cache/me", "HOME": "/home/me"}, "/var/cache/me/vram-postmortem"),
        ({"HOME": "/home/me"}, "/home/me/.cache/vram-postmortem"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/home/me"}, "/home/me/.cache/vram-postmortem"),
        ({"XDG_CACHE_HOME": "", "HOME": "/home/me"}, "/home/me/.cache/vram-postmortem"),
    ],
)
def test_where_the_cache_lies(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], folder: str):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(folder)


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch):
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cache_folder() is None
