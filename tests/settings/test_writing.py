"""Writing patched files."""

from pathlib import Path

import pytest

from analyzer.settings import SettingsError, edit_argument, load_settings, preview_edits, write_edits
from analyzer.settings.patch import FilePatch


def patched(path: Path) -> list[FilePatch]:
    settings = load_settings([path])
    return preview_edits(settings, [edit_argument(settings.profiles["a"], "max_model_len", 6)])


def test_the_file_is_replaced_and_keeps_its_mode(tmp_path: Path):
    path = tmp_path / "profiles.yaml"
    path.write_bytes("profiles:\r\n  a: {max_model_len: 5}  # ж".encode())
    path.chmod(0o640)
    patches = patched(path)
    assert path.read_bytes() == "profiles:\r\n  a: {max_model_len: 5}  # ж".encode()
    write_edits(patches)
    assert path.read_bytes() == "profiles:\r\n  a: {max_model_len: 6}  # ж".encode()
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path):
    target, link = tmp_path / "target.yaml", tmp_path / "link.yaml"
    target.write_text("profiles: {a: {max_model_len: 5}}", encoding="utf-8")
    link.symlink_to(target)
    write_edits(patched(link))
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "profiles: {a: {max_model_len: 6}}"


def test_nothing_is_written_when_a_file_has_changed_since(tmp_path: Path):
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    for path in (first, second):
        path.write_text("profiles: {a: {max_model_len: 5}}", encoding="utf-8")
    patches = [*patched(first), *patched(second)]
    second.write_text("profiles: {a: {max_model_len: 7}}", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"second\.yaml: has changed since it was read"):
        write_edits(patches)
    assert first.read_text(encoding="utf-8") == "profiles: {a: {max_model_len: 5}}"


def test_a_file_that_is_gone_is_named(tmp_path: Path):
    path = tmp_path / "profiles.yaml"
    path.write_text("profiles: {a: {max_model_len: 5}}", encoding="utf-8")
    patches = patched(path)
    path.unlink()
    with pytest.raises(SettingsError, match=r"profiles\.yaml: cannot be read"):
        write_edits(patches)
