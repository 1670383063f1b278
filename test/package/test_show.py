"""pycuda.show: pictures of arrays in files, on terminals and in notebooks."""

import io
import os
import re
import sys

import numpy as np
import pytest

import pycuda
import pycuda.driver as drv
from pycuda import _pixels as pixels, _show, gpuarray

RAMP = np.arange(12, dtype=np.float32).reshape(3, 4)
RED = np.array([[[255, 0, 0], [0, 255, 0]]], np.uint8)


def read(path):
    pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    with pillow.open(path) as image:
        return image.mode, np.asarray(image)


# -- files -----------------------------------------------------------------------------


@pytest.mark.parametrize(("channels", "mode"), [(1, "L"), (3, "RGB"), (4, "RGBA")])
def test_a_png_file_is_what_pillow_reads(tmp_path, channels, mode):
    values = np.random.default_rng(1).integers(0, 256, (7, 5, channels), np.uint8)
    (tmp_path / "x.png").write_bytes(_show.png_of(values))
    found, image = read(tmp_path / "x.png")
    assert found == mode
    assert (image.reshape(values.shape) == values).all()


def test_a_damaged_png_file_is_refused(tmp_path):
    body = bytearray(_show.png_of(RED))
    body[45] ^= 1
    (tmp_path / "x.png").write_bytes(body)
    with pytest.raises(OSError, match=r"(?i)broken|truncated|crc|checksum|identify"):
        read(tmp_path / "x.png")


def test_a_file_is_written_and_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pycuda.show(RAMP, file="ramp.png")
    said = capsys.readouterr().out.splitlines()
    assert said == ["4 x 3 pixels, float32 from 0 to 11", "written: ramp.png"]
    _, image = read("ramp.png")
    assert (image == np.rint(RAMP / 11 * 255)).all()


def test_another_format_is_written_by_pillow(tmp_path, capsys):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    pycuda.show(RAMP, file=tmp_path / "ramp.bmp")
    assert read(tmp_path / "ramp.bmp")[1].shape == (3, 4)


def test_another_format_without_pillow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match="Install pillow, or choose another name"):
        pycuda.show(RAMP, file=tmp_path / "ramp.bmp")


def test_a_file_has_all_pixels(tmp_path, capsys):
    pycuda.show(np.zeros((3, 3000), np.uint8), file=tmp_path / "wide.png")
    assert read(tmp_path / "wide.png")[1].shape == (3, 3000)
    assert pixels.picture_of(np.zeros((3, 3000), np.uint8)).pixels.shape == (1, 1000, 1)


# -- what the pixels are ---------------------------------------------------------------


def values(array, **limits):
    return pixels.picture_of(array, **limits).pixels


def test_bytes_are_shown_as_they_are():
    grey = np.array([[3, 200]], np.uint8)
    assert values(grey).tolist() == [[[3], [200]]]
    assert values(RED).tolist() == RED.tolist()


def test_numbers_are_scaled_between_their_limits():
    assert values(np.array([[-1, 0, 1]])).ravel().tolist() == [0, 128, 255]
    limited = values(np.array([[-1, 0, 1]]), low=0, high=2)
    assert limited.ravel().tolist() == [0, 0, 128]
    assert values(np.array([[True, False]])).ravel().tolist() == [255, 0]
    assert values(np.full((1, 2), 7.0)).ravel().tolist() == [128, 128]


def test_colors_of_numbers_from_0_to_1():
    assert values(np.array([[[0, 0.5, 2]]])).tolist() == [[[0, 128, 255]]]


def test_nan_is_transparent_and_infinity_is_the_limit():
    found = values(np.array([[np.nan, 0, 1, np.inf, -np.inf]]))
    assert found[0, :, 3].tolist() == [0, 255, 255, 255, 255]
    assert found[0, 1:, 0].tolist() == [0, 255, 255, 0]


def test_a_table_of_colors():
    table = [[0, 0, 0], [10, 20, 30], [255, 255, 255]]
    found = values(np.array([[0.0, 1, 2]]), colors=table)
    assert found.tolist() == [table]


@pytest.mark.parametrize("name", ["fire", "ice", "balance"])
def test_a_named_table(name, monkeypatch):
    """The tables of the package need no Matplotlib."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    first, last = values(np.array([[0.0, 1.0]]), colors=name)[0].tolist()
    assert values(RAMP, colors=name).shape == (3, 4, 3)
    bright = [sum(color) for color in (first, last)]
    assert first != last and (bright[0] < bright[1] or name == "balance")


def test_a_colormap_of_matplotlib():
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    assert values(RAMP, colors="viridis").shape == (3, 4, 3)
    with pytest.raises(ValueError, match="no colormap 'nothing'"):
        values(RAMP, colors="nothing")


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        ImportError, match="Install matplotlib, pass a table.* or use one of fire, ice"
    ):
        values(RAMP, colors="viridis")


@pytest.mark.parametrize(
    ("array", "limits", "error", "text"),
    [
        (np.zeros(3), {}, ValueError, r"has the shape \(3,\)"),
        (np.zeros((2, 2, 2)), {}, ValueError, "1, 3 or 4 channels"),
        (np.zeros((0, 4)), {}, ValueError, "no pixels"),
        (np.zeros((2, 2), complex), {}, TypeError, r"Show its abs\(\)"),
        (np.array([["a"]]), {}, TypeError, "cannot be shown"),
        (RAMP, {"low": 3, "high": 1}, ValueError, "high is 1, which is less"),
        (RAMP, {"colors": [1, 2]}, ValueError, r"the shape \(n, 3\)"),
        (RED, {"colors": [[1, 2, 3]]}, TypeError, "has its own colors"),
    ],
)
def test_what_cannot_be_shown(array, limits, error, text):
    with pytest.raises(error, match=text):
        values(array, **limits)


@pytest.mark.parametrize(
    ("limits", "error", "text"),
    [
        ({"low": np.nan}, ValueError, "low is nan, and it must be a finite number"),
        ({"high": np.inf}, ValueError, "high is inf"),
        ({"low": "dark"}, TypeError, "low is a number, not 'dark'"),
        ({"high": 1j}, TypeError, "high is a number, not 1j"),
        ({"colors": [[0, 256, 0]]}, ValueError, "numbers from 0 to 255"),
        ({"colors": [[0, -1, 0]]}, ValueError, "numbers from 0 to 255"),
        ({"colors": [[np.nan] * 3]}, ValueError, "numbers from 0 to 255"),
        ({"colors": [["a", "b", "c"]]}, ValueError, "numbers from 0 to 255"),
    ],
)
def test_wrong_limits_and_colors(limits, error, text):
    with pytest.raises(error, match=text):
        pixels.picture_of(RAMP, **limits)


@pytest.mark.parametrize("kind", ["V3", "f4,U2", "f4,O", [("x", "u1", (2,))]])
def test_fields_that_are_no_numbers(kind):
    with pytest.raises(TypeError, match="cannot be shown"):
        pixels.picture_of(np.zeros((2, 2), kind))


@pytest.mark.filterwarnings("error")
def test_the_largest_and_the_smallest_floats():
    largest = np.finfo(np.float64).max
    picture = pixels.picture_of(np.array([[-largest, 0, largest]]))
    assert picture.pixels.ravel().tolist() == [0, 128, 255]
    assert pixels.picture_of(np.array([[0, 5e-324]])).pixels.shape == (1, 2, 1)


def test_masked_elements_are_transparent():
    picture = pixels.picture_of(np.ma.array(RAMP, mask=RAMP > 10))
    assert (picture.pixels[:, :, 3] == np.where(RAMP > 10, 0, 255)).all()


@pytest.mark.parametrize(("name", "text"), [("x", "'x'"), ("x.foo", "foo"), ("", "''")])
def test_a_file_that_pillow_refuses(name, text, tmp_path, monkeypatch):
    pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="Pillow cannot write the file") as caught:
        pycuda.show(RAMP, file=name)
    assert text in str(caught.value)
    transparent = np.full((2, 2), np.nan)
    with pytest.raises(ValueError, match="cannot write the file 'x.jpg'"):
        pycuda.show(transparent, file="x.jpg")


def test_no_array():
    with pytest.raises(TypeError, match="at least one array"):
        pycuda.show()


def test_several_are_side_by_side():
    one, two = np.full((2, 2, 1), 9, np.uint8), np.full((1, 1, 3), 7, np.uint8)
    found = pixels.side_by_side([one, two], gap=1)
    assert found.shape == (2, 4, 4)
    assert found[:, :2].tolist() == [[[9, 9, 9, 255]] * 2] * 2
    assert found[:, 3].tolist() == [[7, 7, 7, 255], [0, 0, 0, 0]]
    assert (found[:, 2] == 0).all()


@pytest.mark.gpu
def test_arrays_of_the_device(ctx):
    a = gpuarray.to_gpu(RAMP)
    assert (values(a) == values(RAMP)).all()
    assert (values(a[::2, ::-1]) == values(RAMP[::2, ::-1])).all()
    wide = np.arange(2 * 5000, dtype=np.float32).reshape(2, 5000)
    assert values(gpuarray.to_gpu(wide)).shape == (1, 1000, 1)
    image = drv.matrix_to_array(RAMP, "C")
    assert (values(image) == values(RAMP)).all()
    vectors = np.zeros((1, 2), gpuarray.vec.uchar4)
    vectors["x"], vectors["w"] = 5, 255
    assert values(gpuarray.to_gpu(vectors)).tolist() == [[[5, 0, 0, 255]] * 2]


# -- terminals -------------------------------------------------------------------------


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("variables", "colors"),
    [
        ({"TERM": "xterm-256color"}, 256),
        ({"TERM": "xterm-direct"}, 1 << 24),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, 1 << 24),
        ({"TERM": "xterm", "NO_COLOR": "1"}, 0),
        ({"TERM": "dumb"}, 0),
        ({}, 0),
    ],
)
def test_the_colors_of_a_terminal(variables, colors):
    assert _show.colors_of(Terminal(), variables) == colors


def test_a_terminal_without_the_character():
    file = Terminal()
    file.encoding = "ascii"
    assert _show.colors_of(file, {"TERM": "xterm"}) == 0


def test_two_pixels_are_a_character():
    code = "\x1b[38;2;255;0;0;48;2;0;0;0m\u2580"
    text = _show.text_of(RED, 80, 1 << 24)
    assert text.startswith(code) and text.endswith("\x1b[0m")
    assert text.count("\u2580") == 2
    grey = np.array([[[0]], [[255]]], np.uint8)
    assert _show.text_of(grey, 80, 256) == "\x1b[38;5;232;48;5;255m\u2580\x1b[0m"
    assert _show.text_of(RED, 80, 256).startswith("\x1b[38;5;196;48;5;232m")


def test_a_wide_picture_is_averaged():
    stripes = np.zeros((4, 100, 1), np.uint8)
    stripes[:, ::2] = 200
    text = _show.text_of(stripes, 50, 1 << 24)
    assert set(re.findall(r"38;2;(\d+);", text)) == {"100"}
    assert text.count("\u2580") == 50


def test_a_high_picture_fits_on_the_terminal(monkeypatch):
    size = os.terminal_size((200, 45))
    monkeypatch.setattr(_show.shutil, "get_terminal_size", lambda: size)
    square, flat = np.zeros((400, 400, 1)), np.zeros((100, 900, 1))
    assert _show.width_of(square) == 80
    assert _show.width_of(flat) == 120  # the widest
    assert _show.width_of(np.zeros((400, 4, 1))) == 40  # the narrowest
    square_text = _show.text_of(square.astype(np.uint8), 80, 1 << 24)
    assert square_text.count("\n") + 1 == 40


def test_without_color_it_is_made_of_letters():
    assert _show.text_of(np.array([[[0], [255]]], np.uint8), 80, 0) == " ="


def test_a_terminal_gets_the_picture(monkeypatch):
    file = Terminal()
    monkeypatch.setattr(sys, "stdout", file)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(_show, "in_notebook", lambda: False)
    pycuda.show(RAMP)
    assert file.getvalue().count("\u2580") == 8
    assert file.getvalue().endswith("4 x 3 pixels, float32 from 0 to 11\n")
