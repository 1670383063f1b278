"""tools/screenshots.py finds what is wrong with a page in a browser."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "screenshots.py"
needs_browser = pytest.mark.skipif(
    importlib.util.find_spec("playwright") is None or shutil.which("chromium") is None,
    reason="Playwright (extra screenshots) or Chromium is not installed",
)

PAGE = """<!doctype html><html><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"></head>
<body class="bd-content" style="margin: 0">{}</body></html>"""
#: Bodies of pages, and what is said of them.
WRONG = {
    "wide": ('<div style="width: 3000px">a</div>', "pixels wider than its window"),
    "image": ('<img src="nothing.png" width="9" height="9">', "nothing.png"),
    "script": ("<script>nothing()</script>", "script: nothing is not defined"),
    "cut": (
        '<div style="overflow: hidden"><h1 style="width: 3000px">Title</h1></div>',
        "cut off at the right: H1 Title",
    ),
    "elsewhere": ('<img src="http://192.0.2.1/a.png">', "is loaded from elsewhere"),
}
RIGHT = {
    "plain": "<h1>Title</h1><p>A text that is broken where the window ends.</p>",
    "scrolls": '<div style="overflow-x: auto"><p style="width: 3000px">a</p></div>',
}


def run(folder, *arguments):
    command = [sys.executable, str(SCRIPT), "--html", str(folder)]
    return subprocess.run(
        [*command, "--to", str(folder / "shots"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "index.html").write_text(PAGE.format("first"))
    return tmp_path


def test_without_pages(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 1
    assert "there are no pages" in done.stderr and "`make doc`" in done.stderr


@needs_browser
def test_right_pages(folder):
    for name, body in RIGHT.items():
        (folder / f"{name}.html").write_text(PAGE.format(body))
    done = run(folder)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert len(list((folder / "shots").rglob("*.png"))) == 4 * (1 + len(RIGHT))


@needs_browser
def test_wrong_pages(folder):
    for name, (body, _) in WRONG.items():
        (folder / f"{name}.html").write_text(PAGE.format(body))
    done = run(folder, "--windows", "phone", "--", *WRONG)
    assert done.returncode == 1
    for name, (_, said) in WRONG.items():
        lines = [line for line in done.stdout.splitlines() if line.startswith(name)]
        assert any(said in line for line in lines), (name, done.stdout)


@needs_browser
def test_a_page_that_is_not_there(folder):
    done = run(folder, "--", "nowhere")
    assert done.returncode == 1
    assert "there is no page nowhere" in done.stderr
