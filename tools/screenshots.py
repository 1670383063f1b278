#!/usr/bin/env python3
"""Open the built pages in a real browser, check them and keep pictures of them.

    python tools/screenshots.py [--html FOLDER] [--to FOLDER] [PAGE ...]

Each page is opened at the width of a desktop and of a phone, in light and in dark
colours. The program fails if a page is wider than its window, if a script fails, if a
file is missing or an image cannot be shown. It serves the pages on this machine and
loads nothing from elsewhere. It needs Playwright and Chromium (``--browser`` names the
program).
"""

import argparse
import contextlib
import functools
import http.server
import os
import shutil
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Kinds of windows: name -> width, height, colours.
WINDOWS = {
    "desktop": (1280, 900, "light"),
    "desktop-dark": (1280, 900, "dark"),
    "phone": (390, 844, "light"),
    "phone-dark": (390, 844, "dark"),
}
MOST_HEIGHT = 6000  # pixels of a picture
WIDER = "document.documentElement.scrollWidth - window.innerWidth"
#: What is cut off at the right edge: not in a part of the page that scrolls.
CUT = """Array.from(document.querySelectorAll(
    '.bd-content :is(h1, h2, h3, p, li, dt, img, svg, table, .sd-card)'))
    .filter(element => {
        const box = element.getBoundingClientRect();
        if (box.width === 0 || element.closest('[hidden]')) return false;
        const range = document.createRange();
        range.selectNodeContents(element);
        const right = Math.max(box.right, range.getBoundingClientRect().right);
        if (right <= window.innerWidth + 1) return false;
        for (let up = element; up; up = up.parentElement) {
            const flow = getComputedStyle(up).overflowX;
            if (flow === 'auto' || flow === 'scroll') return false;
        }
        return true;
    })
    .map(element => element.tagName + ' ' + element.textContent.trim().slice(0, 40))"""
BROKEN = """Array.from(document.images)
    .filter(image => image.complete && image.naturalWidth === 0
                     && image.offsetParent !== null)
    .map(image => image.src)"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def served(folder):
    """Serve a folder on a free port of this machine; give its address."""
    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()


def find_browser(given):
    names = [given] if given else ["chromium", "chromium-browser", "google-chrome"]
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        sys.exit(f"no browser: looked for {', '.join(names)}; name one with --browser")
    return found


def look(page, address, path):
    """Open one page, take its picture and return what is wrong with it."""
    problems = []
    local = (address.rpartition(":")[0], "data:", "blob:")

    def on_response(response):
        if response.status >= 400:
            problems.append(f"{response.url}: status {response.status}")

    def refuse(route):
        problems.append(f"{route.request.url} is loaded from elsewhere")
        route.abort()

    page.on("response", on_response)
    page.route(lambda url: not url.startswith(local), refuse)
    page.on("pageerror", lambda error: problems.append(f"script: {error}"))
    page.goto(address, wait_until="load")
    page.evaluate("document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
    page.wait_for_timeout(100)
    wider = page.evaluate(WIDER)
    if wider > 0:
        problems.append(f"{wider} pixels wider than its window")
    problems += [f"cut off at the right: {text}" for text in page.evaluate(CUT)]
    problems += [f"{source} cannot be shown" for source in page.evaluate(BROKEN)]
    height = page.evaluate("document.documentElement.scrollHeight")
    width = page.viewport_size["width"]
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, MOST_HEIGHT)}
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(path), full_page=True, clip=clip)
    return problems


def pages_of(folder, wanted):
    found = sorted(
        path.relative_to(folder).as_posix().removesuffix(".html")
        for path in folder.rglob("*.html")
        if not path.relative_to(folder).parts[0].startswith("_")
    )
    missing = sorted(set(wanted) - set(found))
    if missing:
        sys.exit(f"there is no page {', '.join(missing)} in {folder}")
    return wanted or found


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--html", type=Path, default=ROOT / "doc" / "_build" / "html")
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "screenshots")
    parser.add_argument("--windows", nargs="+", choices=WINDOWS, default=list(WINDOWS))
    parser.add_argument("--browser", help="the program of the browser")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as tutorial")
    args = parser.parse_args(argv)
    if not (args.html / "index.html").exists():
        sys.exit(f"there are no pages in {args.html}; build them with `make doc`")
    from playwright.sync_api import sync_playwright

    failed = 0
    with served(args.html) as address, sync_playwright() as playwright:
        # As root, Chromium refuses to run with its sandbox.
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(
            executable_path=find_browser(args.browser), args=flags
        )
        for name in pages_of(args.html, args.pages):
            for window in args.windows:
                width, height, colours = WINDOWS[window]
                page = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=colours
                )
                path = args.to / window / f"{name}.png"
                problems = look(page, f"{address}/{name}.html", path)
                page.close()
                failed += len(problems)
                for problem in problems:
                    print(f"{name}, {window}: {problem}", flush=True)
        browser.close()
    print(f"{failed} problems; pictures in {args.to}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
