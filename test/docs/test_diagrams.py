"""The diagrams in doc/diagrams: made by tools/diagrams.py, used, readable anywhere."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from support.pages import DOC

FOLDER = DOC / "diagrams"
SCRIPT = DOC.parent / "tools" / "diagrams.py"
SVG = "{http://www.w3.org/2000/svg}"
PATHS = sorted(FOLDER.glob("*.svg"))
#: The least contrast of lines and boxes that WCAG asks for, and the backgrounds.
CONTRAST = 3
BACKGROUNDS = ("#ffffff", "#121212")


def test_the_files_are_those_of_the_script(tmp_path):
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True, capture_output=True)
    made = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert len(made) >= 5
    assert made == {path.name: path.read_text() for path in PATHS}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_page_shows_the_diagram(path):
    pages = [page.read_text() for page in DOC.rglob("*.rst")]
    assert any(f".. diagram:: {path.stem}\n" in page for page in pages)


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, other):
    """Return the contrast of two colours as WCAG defines it, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def hard_to_see(colour):
    return any(contrast(colour, background) < CONTRAST for background in BACKGROUNDS)


def test_contrast():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert hard_to_see("#222222") and hard_to_see("#dddddd") and hard_to_see("#0000ff")
    assert not hard_to_see("#858585")


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_colours_are_seen_on_light_and_dark_pages(path):
    root = ET.parse(path).getroot()
    colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', path.read_text()))
    colours -= {"currentColor", "none"}
    assert len(colours) >= 2
    assert [colour for colour in colours if hard_to_see(colour)] == []
    # No background of its own: that would hide the colour of the page.
    whole = [float(n) for n in root.get("viewBox").split()][2:]
    for box in root.iter(f"{SVG}rect"):
        assert [float(box.get("width")), float(box.get("height"))] != whole


def outside(root):
    """Return the texts that leave the picture, by an estimate of their width."""
    width, height = (float(n) for n in root.get("viewBox").split()[2:])
    found = []
    for text in root.iter(f"{SVG}text"):
        size = float(text.get("font-size") or root.get("font-size"))
        share = 0.61 if text.get("font-family") == "monospace" else 0.54
        long = len(text.text) * size * share
        anchor = {None: 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
        left = float(text.get("x")) - anchor * long
        if left < 0 or left + long > width or not size < float(text.get("y")) < height:
            found.append(text.text)
    return found


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_texts_are_inside_the_picture(path):
    root = ET.parse(path).getroot()
    assert root.get("role") == "img" and len(root.get("aria-label")) > 40
    assert outside(root) == []


def test_a_text_that_is_too_long_is_noticed():
    root = ET.parse(PATHS[0]).getroot()
    text = next(root.iter(f"{SVG}text"))
    text.text = "long" * 40
    assert outside(root) == [text.text]
