"""Fetches the file of a release from the package index, without building or installing it.

uv resolves the release to a file and its digest; it never builds one, since a release without a wheel is refused. The sdist is fetched
where there is one: it holds the same Python files as a wheel of many times its size.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from analyzer.conformance.sources import SourceError

PLATFORM = ("--python-version", "3.12", "--python-platform", "x86_64-manylinux_2_40")
"""What the engines are run on; the files are only read here."""
SECONDS = 60
CHUNK = 1 << 20


def fetch(release: str, folder: Path) -> Path:
    """The file of a release ("vllm==0.33.0") in a folder. Raises SourceError without uv, without the index, and for an unknown release."""
    _locked(release, folder, "--only-binary", ":all:")
    package = _locked(release, folder)
    file = package.get("sdist") or package["wheels"][0]
    url, digest = str(file["url"]), str(file["hashes"]["sha256"])
    target = folder / url.rpartition("/")[2]
    if not url.startswith("https://"):
        raise SourceError(f"{release}: the index names {url}; https was expected")
    read = hashlib.sha256()
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer, target.open("wb") as stored:  # noqa: S310 - https, as checked above
            while chunk := answer.read(CHUNK):
                read.update(chunk)
                stored.write(chunk)
    except (OSError, urllib.error.URLError) as error:
        raise SourceError(f"{release}: {url} could not be fetched: {error}") from error
    if read.hexdigest() != digest:
        raise SourceError(f"{release}: {url} is not the file that the index names: another SHA-256")
    return target


def _locked(release: str, folder: Path, *options: str) -> dict[str, Any]:
    """What the index knows of a release: its sdist and the wheel for our platform, with their digests."""
    wanted, lock = folder / "release.in", folder / "pylock.toml"
    wanted.write_text(f"{release}\n", encoding="utf-8")
    lock.unlink(missing_ok=True)
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-deps", "--format", "pylock.toml", "--output-file", str(lock)]
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and the release is read from a file
            [*command, *PLATFORM, *options, str(wanted)], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SourceError(f"{release}: the index did not answer: {error}") from error
    if done.returncode or not lock.exists():
        raise SourceError(f"{release}: uv cannot find it: {done.stderr.strip() or 'no answer'}")
    packages = tomllib.loads(lock.read_text(encoding="utf-8")).get("packages", [])
    if len(packages) != 1:
        raise SourceError(f"{release}: one package was expected, the index names {len(packages)}")
    return dict(packages[0])
