#!/usr/bin/env python3
"""Run the notebooks of doc/notebooks in JupyterLab, in a real browser.

    python tools/lab.py [--to FOLDER] [--browser PROGRAM] [NAME ...]

Each notebook is opened in JupyterLab without its outputs and run as a user would do it,
on the software device. The program fails if a cell has not run, if a picture is not
shown, or if the output of a cell differs from the one that the notebook has kept. It
keeps pictures of the notebooks in the folder, build/screenshots by default. It needs
JupyterLab, Playwright and Chromium.
"""

import argparse
import contextlib
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import nbformat
from notebooks import FOLDER, VARIABLES, said
from playwright.sync_api import TimeoutError, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
#: A notebook is shown whole: JupyterLab draws only what the window has room for.
WIDTH, HEIGHT = 1280, 6500
START, RUN = 90, 120  # seconds

#: JupyterLab as it is after its first start, without news and without tours.
SETTINGS = """{
  "@jupyterlab/apputils-extension:notification": {
    "fetchNews": "false", "checkForUpdates": false
  },
  "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"}
}"""

#: What is in each cell of code: its prompt and the text of its outputs.
CELLS = """Array.from(
    document.querySelectorAll('.jp-Notebook .jp-CodeCell')).map(cell => ({
    prompt: cell.querySelector('.jp-InputPrompt')?.textContent || '',
    text: Array.from(cell.querySelectorAll('.jp-OutputArea-output'))
        .map(output => output.innerText).join('\\n'),
    pictures: Array.from(cell.querySelectorAll('.jp-OutputArea-output img'))
        .map(image => image.naturalWidth),
}))"""


def free_port():
    """Return a port of this machine that no program uses."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    """JupyterLab over a folder of notebooks."""

    def __init__(self, folder, home):
        self.token = secrets.token_hex(16)
        self.address = f"http://127.0.0.1:{free_port()}"
        overrides = Path(home, "share", "jupyter", "lab", "settings")
        overrides.mkdir(parents=True)
        (overrides / "overrides.json").write_text(SETTINGS)
        self.log = open(Path(home, "log"), "w+")  # noqa: SIM115  closed by end()
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
        command += [
            f"--port={self.address.rpartition(':')[2]}",
            f"--notebook-dir={folder}",
        ]
        command += [f"--LabApp.app_settings_dir={overrides}"]
        self.process = subprocess.Popen(
            [*command, f"--IdentityProvider.token={self.token}"],
            stdout=self.log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **VARIABLES, "JUPYTER_CONFIG_DIR": str(home)},
        )

    def wait(self):
        """Wait until the server answers."""
        end = time.monotonic() + START
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.address}/api?token={self.token}"):
                    return
            except OSError:
                time.sleep(0.3)
        self.log.seek(0)
        sys.exit(f"JupyterLab does not answer:\n{self.log.read()}")

    def end(self):
        """End the server and its kernels."""
        self.process.terminate()
        self.process.wait(timeout=60)
        self.log.close()


def without_outputs(path, folder):
    """Copy a notebook without its outputs. Return the notebook with them."""
    kept = nbformat.read(path, as_version=4)
    empty = nbformat.read(path, as_version=4)
    for cell in empty.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.write(empty, Path(folder, path.name))
    return kept


def run(page, server, name):
    """Run all cells of a notebook. Return what the cells show."""
    page.goto(f"{server.address}/lab/tree/{name}?token={server.token}&reset")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=START * 1000)
    accept = page.locator(".jp-Dialog button.jp-mod-accept")
    with contextlib.suppress(TimeoutError):
        accept.click(timeout=10_000)  # JupyterLab asks for the kernel
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    end = time.monotonic() + RUN
    while time.monotonic() < end:
        cells = page.evaluate(CELLS)
        if all(re.fullmatch(r"\[\d+\]:", cell["prompt"]) for cell in cells):
            break
        page.wait_for_timeout(300)
    page.wait_for_timeout(500)  # the last outputs are drawn
    return page.evaluate(CELLS)


def compared(text):
    """Return the words of a text: a browser joins lines in its own way."""
    return re.sub(r"\s+", " ", text).strip()


def _is_picture(output):
    return any(kind.startswith("image/") for kind in output.get("data", {}))


def problems_of(kept, cells):
    """Yield what is wrong with the cells of a notebook that has run."""
    code = [cell for cell in kept.cells if cell.cell_type == "code"]
    if len(code) != len(cells):
        yield f"{len(cells)} of {len(code)} cells are shown"
    for number, (cell, shown) in enumerate(zip(code, cells, strict=False), 1):
        if shown["prompt"] != f"[{number}]:":
            yield f"cell {number} has not run: {shown['prompt']!r}"
        pictures = [each for each in cell.outputs if _is_picture(each)]
        if len(pictures) != len(shown["pictures"]) or 0 in shown["pictures"]:
            yield f"cell {number}: {shown['pictures']} of {len(pictures)} pictures"
        is_text = not any("data" in each for each in cell.outputs)
        wanted = compared(said(cell))
        found = re.sub(r"\b0x[0-9a-f]{6,}", "0xADDRESS", shown["text"])
        found = compared(re.sub(r"\b(?:nvcc|NVRTC) compilation", "compilation", found))
        if is_text and wanted not in found:
            yield f"cell {number} shows {found!r}, not {wanted!r}"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "screenshots")
    parser.add_argument("--browser", default="chromium", metavar="PROGRAM")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args(argv)
    browser = shutil.which(given.browser)
    if browser is None:
        sys.exit(f"there is no browser {given.browser!r}; name one with --browser")
    paths = sorted(FOLDER.glob("*.ipynb"))
    if given.names:
        paths = [FOLDER / f"{name}.ipynb" for name in given.names]
    given.to.mkdir(parents=True, exist_ok=True)
    status = 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as home:
        notebooks = {path: without_outputs(path, folder) for path in paths}
        server = Server(folder, home)
        try:
            server.wait()
            with sync_playwright() as playwright:
                chromium = playwright.chromium.launch(
                    executable_path=browser, args=["--no-sandbox"]
                )
                for path, kept in notebooks.items():
                    page = chromium.new_page(
                        viewport={"width": WIDTH, "height": HEIGHT}
                    )
                    for problem in problems_of(kept, run(page, server, path.name)):
                        status = 1
                        print(f"{path.name}: {problem}")
                    picture = given.to / f"lab-{path.stem}.png"
                    page.screenshot(path=str(picture))
                    print(picture)
                    page.close()
                chromium.close()
        finally:
            server.end()
    return status


if __name__ == "__main__":
    sys.exit(main())
