"""The report in a real browser: it renders, fits a narrow screen, and nothing of a hostile log runs."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from analyzer.analysis import Analysis
from analyzer.outputs import render
from tests.outputs.sample import crash_analysis, hostile_analysis

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--virtual-time-budget=2000",
]  # fmt: skip

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"), pytest.mark.xdist_group("browser")]

# Written into a copy of the page, whose policy is widened for it: makes the page as narrow as a telephone, which is narrower than any
# window that headless Chromium opens, and notes how far right anything reaches that does not scroll by itself.
PROBE = """<script>
document.documentElement.style.width = "400px";
const fixed = [...document.body.querySelectorAll("*")].filter((element) => !element.parentElement.closest(".scroll, pre"));
document.documentElement.dataset.right = Math.ceil(Math.max(...fixed.map((element) => element.getBoundingClientRect().right)));
</script>"""


def document_after_loading(page: Path, profile: Path) -> str:
    """The document as the browser has it after scripts ran."""
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}", "--window-size=1200,900", "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, timeout=120, check=True, encoding="utf-8").stdout


def written(analysis: Analysis, folder: Path) -> Path:
    page = folder / "crash.report.html"
    page.write_text(render(analysis, "html"), encoding="utf-8")
    return page


def test_the_page_renders_and_its_own_script_runs(tmp_path: Path) -> None:
    document = document_after_loading(written(crash_analysis(), tmp_path), tmp_path / "profile")
    assert "<h1>The KV cache has a fixed size, and that size does not fit</h1>" in document
    assert "<title>Failed: the KV cache has a fixed size, and that size does not fit (crash.log)</title>" in document
    assert document.count("<button") == 2
    assert not re.search(r"<button[^>]* hidden", document), "the script of the page shows the buttons; the policy must let it"


def test_nothing_of_a_hostile_log_runs(tmp_path: Path) -> None:
    document = document_after_loading(written(hostile_analysis(), tmp_path), tmp_path / "profile")
    assert "<title>Failed: the KV cache has a fixed size, and that size does not fit (crash.log)</title>" in document
    assert document.count("<script") == 1
    assert "<img" not in document


def test_a_narrow_page_does_not_scroll_sideways(tmp_path: Path) -> None:
    page = written(hostile_analysis(), tmp_path)
    source = re.sub(r"script-src '[^']*'", "script-src 'unsafe-inline'", page.read_text(encoding="utf-8"))
    page.write_text(source.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    reach = re.search(r'data-right="(\d+)"', document_after_loading(page, tmp_path / "profile"))
    assert reach is not None
    assert 300 < int(reach[1]) <= 400
