"""Every script in examples/ runs in a child process and prints the right numbers."""

import ast
import functools
import os
import pty
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from pycuda._compile import nvrtc

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


def run(name, tmp_path, *arguments, **env):
    """Run an example with an empty compile cache, in an empty directory."""
    cache = tmp_path / "cache"
    cache.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYCUDA_CACHE_DIR": str(cache), **env},
        timeout=300,
    )


def output(name, tmp_path, *arguments):
    """Return the lines of an example's output, without that which names the device.

    The example must print nothing to stderr.
    """
    done = run(name, tmp_path, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return without_device(name, done.stdout.splitlines())


def without_device(name, lines):
    """Remove the line that names the device. Each example must print it once."""
    if name in scripts() and name != "device_properties.py":
        lines.remove(f"device: {device_name()}")
    assert not any(line.startswith("device: ") for line in lines)
    return lines


def numbers(text):
    return [float(n) for n in NUMBER.findall(text)]


def after(lines, start):
    """Return the rest of the only line that begins with these words."""
    found = [line.removeprefix(start) for line in lines if line.startswith(start)]
    assert len(found) == 1, lines
    return found[0].strip()


@functools.cache
def device_name():
    code = "import pycuda.driver as d; d.init(); print(d.Device(0).name())"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


# -- without a GPU ---------------------------------------------------------------------


def scripts():
    return sorted(path.name for path in EXAMPLES.glob("*.py"))


def test_every_example_has_a_test():
    tested = {
        name.removeprefix("test_") + ".py"
        for name in globals()
        if name.startswith("test_")
    }
    assert scripts()
    assert set(scripts()) <= tested


def test_the_list_of_examples():
    listed = re.findall(r"^``(\S+)``", (EXAMPLES / "README.rst").read_text(), re.M)
    folder = [*EXAMPLES.rglob("*.py"), *EXAMPLES.rglob("*.ipynb")]
    assert sorted(listed) == sorted(
        path.relative_to(EXAMPLES).as_posix() for path in folder
    )


@pytest.mark.parametrize("name", scripts())
def test_an_example_says_what_it_shows(name):
    docstring = ast.get_docstring(ast.parse((EXAMPLES / name).read_text()))
    assert docstring
    assert docstring.splitlines()[0].endswith(".")


def test_hello_without_a_device_ends_with_one_sentence(tmp_path):
    """PYCUDA_DRIVER=cuda keeps the software device from taking over."""
    done = run("hello_gpu.py", tmp_path, PYCUDA_DRIVER="cuda", CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("There is no GPU that this program could use: ")
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) > len("There is no GPU that this program could use: ") + 20


# -- on a device -----------------------------------------------------------------------


@pytest.mark.gpu
def test_hello_gpu(tmp_path):
    lines = output("hello_gpu.py", tmp_path)
    x = np.linspace(0, 4 * np.pi, 400)[::20]
    curve = [line for line in lines if line.endswith("*")]
    drawn = [numbers(line)[0] for line in curve]
    assert drawn == pytest.approx(np.cos(x) * np.exp(-x / 6), abs=0.006)
    columns = [line.index("*") for line in curve]
    assert columns == pytest.approx([21 + 15 * value for value in drawn], abs=1)
    assert lines[-1] == "the product is correct"


README = EXAMPLES.parent / "README.rst"


def blocks_of_readme(language):
    pattern = rf"code-block:: {language}\n\n((?:    .*\n|\n)+)"
    return [textwrap.dedent(block) for block in re.findall(pattern, README.read_text())]


def run_program_of_readme(number, tmp_path):
    script = tmp_path / "program.py"
    script.write_text(blocks_of_readme("python")[number])
    return output(str(script), tmp_path)


@pytest.mark.gpu
def test_the_ten_lines_of_the_readme_print_what_it_says(tmp_path):
    lines = [line for line in blocks_of_readme("python")[0].splitlines() if line]
    assert len(lines) == 10
    (said,) = blocks_of_readme("text")
    assert run_program_of_readme(0, tmp_path) == said.split("\n")[:1]
    index = (EXAMPLES.parent / "doc" / "index.rst").read_text()
    assert "\n".join(f"    {line}" for line in lines[:4]) in index


def test_the_readme_shows_a_picture_that_exists():
    """Its first screen has the picture, two commands, the program and its output."""
    text = README.read_text()
    assert len(text.splitlines()) <= 120
    first_screen = text.split("Arrays compute")[0]
    (picture,) = re.findall(r"\.\. image:: (\S+)", first_screen)
    assert (EXAMPLES.parent / picture).stat().st_size > 1000
    assert re.findall(r"^    (make \w+) ", first_screen, re.M) == [
        "make hello",
        "make test",
    ]
    assert len(first_screen.splitlines()) < 45
    for name in re.findall(r"``(doc/[\w/.]+)``", README.read_text()):
        assert (EXAMPLES.parent / name).exists(), name


@pytest.mark.gpu
def test_the_arrays_of_the_readme(tmp_path):
    printed = " ".join(run_program_of_readme(1, tmp_path))
    *values, total = numbers(printed)
    x = np.linspace(0, 1, 5)
    assert values == pytest.approx(2 * x + np.sqrt(x), rel=1e-6)
    assert total == 2.5


@pytest.mark.gpu
def test_demo_double(tmp_path):
    lines = output("demo_double.py", tmp_path)
    middle = lines.index("doubled:")
    matrix = numbers(" ".join(lines[1:middle]))
    doubled = numbers(" ".join(lines[middle + 1 : middle + 5]))
    assert len(matrix) == len(doubled) == 16
    # Both are printed with eight digits.
    assert doubled == pytest.approx([2 * x for x in matrix], abs=1e-5)
    assert any(doubled)
    for way in ("by hand:", "InOut:", "prepared, doubled again:", "GPUArray:"):
        assert after(lines, way) == "largest difference 0.0"


@pytest.mark.gpu
def test_struct_array(tmp_path):
    lines = output("struct_array.py", tmp_path)
    assert numbers(after(lines, "before:")) == [1, 2, 3, 0.5, -4]
    assert numbers(after(lines, "both doubled:")) == [2, 4, 6, 1, -8]
    assert numbers(after(lines, "second doubled again:")) == [2, 4, 6, 2, -16]


@pytest.mark.gpu
def test_multiply_options(tmp_path):
    done = run("multiply_options.py", tmp_path)
    assert done.returncode == 0, done.stderr
    lines = without_device("multiply_options.py", done.stdout.splitlines())
    assert int(after(lines, "registers:")) > 0
    assert after(lines, "largest difference:") == "0.0"
    if "software" in device_name():
        return  # it runs PTX without ptxas
    assert "UserWarning" in done.stderr
    assert re.search(r"[Uu]sed \d+ registers", done.stderr)


@pytest.mark.gpu
def test_explicit_copies(tmp_path):
    lines = output("explicit_copies.py", tmp_path)
    assert numbers(after(lines, "first and last:")) == [-2, 2]
    assert after(lines, "largest difference:") == "0.0"


@pytest.mark.gpu
def test_managed_memory(tmp_path):
    lines = output("managed_memory.py", tmp_path)
    assert after(lines, "letters:") == "35"
    assert after(lines, "letters that are missing:") == "0"
    assert after(lines, "the letter o:") == "4"


@pytest.mark.gpu
def test_pitched_tile(tmp_path):
    lines = output("pitched_tile.py", tmp_path)
    corners = [-(5 * 30 + 10), -(8 * 30 + 17)]
    assert numbers(after(lines, "corners of the tile:")) == corners
    assert after(lines, "pixels that changed:") == "32"
    check_picture(tmp_path / "pitched_tile.png")


@pytest.mark.gpu
def test_device_properties(tmp_path):
    lines = output("device_properties.py", tmp_path)
    count = int(after(lines, "devices:"))
    assert count >= 1
    assert sum(line.startswith("device ") for line in lines) == count
    assert device_name() in after(lines, "device 0:")
    warps = [line for line in lines if line.startswith("  threads in a warp:")]
    assert warps == ["  threads in a warp: 32"] * count
    for line in lines:
        if line.startswith(("  memory:", "  multiprocessors:", "  block, x")):
            assert numbers(line)[0] > 0


@pytest.mark.gpu
def test_streams_events(tmp_path):
    lines = output("streams_events.py", tmp_path)
    for amount in (1, 100):
        milliseconds, error = numbers(after(lines, f"raised by {amount} in"))
        assert 0 < milliseconds < 10_000
        assert error == 0
    assert after(lines, "streams done:") == "True"


@pytest.mark.gpu
def test_printf(tmp_path):
    lines = output("printf.py", tmp_path)
    assert lines[0] == "six threads:"
    wanted = [f"thread {t} of block {b} says 42" for b in (0, 1) for t in (0, 1, 2)]
    assert sorted(lines[1:]) == sorted(wanted)


@pytest.mark.gpu
def test_constant_memory(tmp_path):
    lines = output("constant_memory.py", tmp_path)
    assert after(lines, "bytes of constant memory:") == "12"
    results = [line for line in lines if "x^2" in line]
    assert [line.partition(":")[0] for line in results] == [
        "1 + 2 x + 3 x^2",
        "0 + -1 x + 0.5 x^2",
    ]
    assert all(line.endswith("largest difference 0") for line in results)


@pytest.mark.gpu
def test_dynamic_shared(tmp_path):
    lines = output("dynamic_shared.py", tmp_path)
    sums = [sum(range(1000 * r, 1000 * r + 1000)) for r in range(5)]
    assert lines == [f"{n} threads: {sums}, right" for n in (32, 128, 256)]


@pytest.mark.gpu
def test_prepared_calls(tmp_path):
    lines = output("prepared_calls.py", tmp_path)
    assert numbers(after(lines, "last:")) == [4 * 999]
    assert after(lines, "largest difference from 4 x:") == "0.0"
    assert after(lines, "timed:") == "True"


@pytest.mark.gpu
def test_heat_on_a_plate(tmp_path):
    lines = output("heat_on_a_plate.py", tmp_path)
    assert numbers(after(lines, "residual:"))[0] < 1e-9
    assert after(lines, "hottest in the middle:") == "True"
    assert after(lines, "the same from all sides:") == "True"
    (iterations,) = numbers(after(lines, "iterations:"))
    assert 20 <= iterations <= 200
    check_picture(tmp_path / "heat_on_a_plate.png")


@pytest.mark.gpu
def test_threads(tmp_path):
    lines = output("threads.py", tmp_path)
    assert lines == [f"thread {k}: last {(7 + 10 * k) ** 2}, right" for k in range(4)]


@pytest.mark.gpu
def test_struct_arguments(tmp_path):
    lines = output("struct_arguments.py", tmp_path)
    assert numbers(after(lines, "int4:")) == [1, -2, 3, -4]
    assert numbers(after(lines, "float4:")) == [0.5, 1.5, -2.5, 3.5]
    assert after(lines, "bytes of the struct:") == "16"
    assert numbers(after(lines, "tag, count, count * weight:")) == [65, 300, 75]


@pytest.mark.gpu
def test_texture_reference(tmp_path):
    lines = output("texture_reference.py", tmp_path)
    rows = [numbers(line) for line in lines if line.startswith("middle row:")]
    corners = [numbers(line) for line in lines if line.startswith("corners:")]
    assert rows == [[4, 5, 6, 7, 8], [0.5] * 5]
    assert corners == [[0, 4, 8, 12], [1, 0, 0, 1]]
    check_picture(tmp_path / "texture_reference.png")


@pytest.mark.gpu
def test_texture_object(tmp_path):
    lines = output("texture_object.py", tmp_path)
    wanted = [(0, 255), (0.2, 204), (1, 0)]
    assert lines == [f"{s} of black: 4 x 8 pixels of {grey}" for s, grey in wanted]


@pytest.mark.gpu
def test_dynamic_parallelism(tmp_path):
    lines = output("dynamic_parallelism.py", tmp_path)
    counts = (1, 10, 100, 1000)
    assert lines == [f"1 + ... + {n} = {n * (n + 1) // 2}" for n in counts]


@pytest.mark.gpu
def test_two_files(tmp_path):
    lines = output("two_files.py", tmp_path)
    assert numbers(after(lines, "roots:"))[::3] == [1, 2]
    assert after(lines, "right:") == "True"


@pytest.mark.gpu
def test_elementwise(tmp_path):
    lines = output("elementwise.py", tmp_path)
    for what in ("mixed", "views", "every third"):
        assert numbers(after(lines, f"{what}: largest difference"))[0] < 1e-6


@pytest.mark.gpu
def test_reduction(tmp_path):
    lines = output("reduction.py", tmp_path, "--size", "3000")
    random = np.random.default_rng(1)
    x, y = random.standard_normal((2, 3000), dtype=np.float32)
    distance = float(after(lines, "distance:"))
    assert distance == pytest.approx(np.abs(x.astype(np.float64) - y).sum(), rel=1e-12)
    assert float(after(lines, "largest:")) == pytest.approx(x.max(), rel=1e-6)
    assert 47_000 < int(after(lines, "bits:")) < 49_000  # half of 32 * 3000


@pytest.mark.gpu
def test_scan(tmp_path):
    lines = output("scan.py", tmp_path)
    assert after(lines, "high-water mark at the end:") == "25636"
    assert after(lines, "days with a new mark:") == "61"
    assert after(lines, "the last of them:") == "2869"
    check_picture(tmp_path / "scan.png")


@pytest.mark.gpu
def test_templates(tmp_path):
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    lines = output("templates.py", tmp_path)
    terms = [line.partition(" terms")[0] for line in lines]
    assert terms == [
        "laplace, float32: 5",
        "mean, float64: 9",
        "wide cross, float32: 9",
    ]


@pytest.mark.gpu
@pytest.mark.parametrize("name", [n for n in scripts() if "exchange" not in n])
def test_help(name, tmp_path):
    """--help explains the program and runs nothing: the folder stays empty."""
    done = run(name, tmp_path, "--help")
    assert done.returncode == 0, done.stderr
    docstring = ast.get_docstring(ast.parse((EXAMPLES / name).read_text()))
    told = " ".join(done.stdout.split())
    described = re.search(r"description=\"(.*)\"", (EXAMPLES / name).read_text())
    first = described[1] if described else " ".join(docstring.split("\n\n")[0].split())
    assert first in told
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def image(path):
    """Return the pixels of an image file."""
    pillow = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    with pillow.open(path) as opened:
        return np.asarray(opened)


def check_picture(path):
    """Compare what a program drew with the picture in the pages."""
    shown = image(EXAMPLES.parent / "doc" / "runs" / path.name).astype(int)
    drawn = image(path)
    assert drawn.shape == shown.shape
    assert np.abs(drawn - shown).mean() < 2  # a GPU may round otherwise


@pytest.mark.gpu
def test_another_picture_is_noticed(tmp_path):
    pillow = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    shown = image(EXAMPLES.parent / "doc" / "runs" / "scan.png")
    pillow.fromarray(shown[::-1]).save(tmp_path / "scan.png")
    with pytest.raises(AssertionError):
        check_picture(tmp_path / "scan.png")


@pytest.mark.gpu
def test_a_terminal_shows_the_picture(tmp_path):
    """Coloured half blocks are printed if the output is a terminal."""
    program, terminal = pty.openpty()
    variables = {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"}
    child = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "texture_reference.py")],
        stdout=terminal,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, **variables, "NO_COLOR": ""},
    )
    os.close(terminal)
    text = b""
    while chunk := read_terminal(program):
        text += chunk
    os.close(program)
    assert child.communicate(timeout=300)[1] == b""
    assert child.returncode == 0
    assert text.decode().count("\N{UPPER HALF BLOCK}") > 1000


def read_terminal(program):
    try:
        return os.read(program, 1 << 16)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.gpu
def test_mandelbrot(tmp_path):
    arguments = ("--width", "72", "--limit", "50", "--output", "set.png")
    lines = output("mandelbrot.py", tmp_path, *arguments)
    assert lines[0] == "72 x 48 pixels, 882 of them in the set"
    assert after(lines, "pixels that differ from NumPy's:") == "0"
    assert after(lines, "written:") == "set.png"
    pixels = image(tmp_path / "set.png")
    assert pixels.shape == (48, 72, 3)
    in_the_set = pixels[24, 48]  # the middle of the set
    assert (pixels == in_the_set).all(axis=2).sum() == 882
    assert (pixels == pixels[::-1]).all()  # the set is symmetric


@pytest.mark.gpu
def test_game_of_life(tmp_path):
    arguments = ("--size", "48", "--output", "life.png")
    lines = output("game_of_life.py", tmp_path, *arguments)
    assert lines[0] == "48 x 48 cells, 8 steps, 45 alive"
    assert after(lines, "gliders are 2 cells on:") == "True"
    assert after(lines, "cells that differ from NumPy's:") == "0"
    pixels = image(tmp_path / "life.png")
    assert pixels.shape == (192, 192)
    assert (pixels == 255).sum() == 45 * 16


@pytest.mark.gpu
def test_convolution(tmp_path):
    lines = output("convolution.py", tmp_path, "--height", "45", "--width", "150")
    assert lines[0] == "45 x 150 pixels, 9 weights each way"
    assert numbers(after(lines, "largest difference:"))[0] < 1e-5


@pytest.mark.gpu
def test_sobel(tmp_path):
    pillow = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    lines = output("sobel.py", tmp_path, "--height", "40")
    assert lines[0] == "40 x 60 pixels, 200 on an edge"
    assert after(lines, "pixels that differ from NumPy's:") == "0"
    square = np.zeros((20, 30), np.uint8)
    square[5:15, 10:20] = 255
    pillow.fromarray(square).save(tmp_path / "in.png")
    output("sobel.py", tmp_path, "--input", "in.png", "--output", "out.png")
    edges = image(tmp_path / "out.png")
    assert (edges[5:15, 9:11] == 255).all() and (edges[:4] == 0).all()
    assert (edges[7:13, 12:18] == 0).all()


@pytest.mark.gpu
def test_photo_filter(tmp_path):
    pillow = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    name = "photo_filter.py"
    lines = output(name, tmp_path, "--size", "40", "60", "--output", "pair.png")
    for number in range(4):
        before, left = numbers(after(lines, f"picture {number}: noise"))
        assert 15 < before < 20 and left < before / 2
    assert image(tmp_path / "pair.png").shape == (40, 128, 4)  # with a clear gap of 8

    grey = np.full((30, 50, 3), 100, np.uint8)
    grey[:, 25:] = 200  # an edge, which must stay
    for k in range(5):  # more files than streams, of several sizes
        picture = grey[: 30 - 5 * k].copy()
        picture[4, 4] = 110
        pillow.fromarray(picture).save(tmp_path / f"{k}.png")
    files = [f"{k}.png" for k in range(5)]
    output(name, tmp_path, *files, "--radius", "2", "--output", "out")
    for k in range(5):
        result = image(tmp_path / "out" / f"{k}.png")
        assert result.shape == (30 - 5 * k, 50, 3)
        assert (result[:, 26:] == 200).all() and (result[:, 10:24] == 100).all()
        assert 100 < result[4, 4, 0] < 105

    lines = output(name, tmp_path, "--size", "30", "50", "--times", "2")
    assert len(lines) == 3 and all(numbers(line)[-1] > 0 for line in lines)


@pytest.mark.gpu
def test_matrix_multiply(tmp_path):
    lines = output("matrix_multiply.py", tmp_path)
    for name in ("simple", "tiled"):
        milliseconds, rate, error = numbers(after(lines, f"{name}:"))
        assert milliseconds > 0 and rate >= 0 and error < 1e-5


@pytest.mark.gpu
def test_transpose(tmp_path):
    lines = output("transpose.py", tmp_path, "--rows", "33")
    assert len(lines) == 2
    for name in ("straight", "tiled"):
        assert after(lines, f"{name}:").endswith("right: True")


@pytest.mark.gpu
def test_nbody(tmp_path):
    lines = output("nbody.py", tmp_path, "--bodies", "100", "--steps", "3")
    assert lines[0] == "100 bodies, 3 steps"
    assert numbers(after(lines, "first step, largest difference:"))[0] < 1e-6
    assert numbers(after(lines, "change of momentum:"))[0] < 1e-6


@pytest.mark.gpu
def test_kernel_concurrency(tmp_path):
    lines = output("kernel_concurrency.py", tmp_path, "--kernels", "4")
    assert after(lines, "4 kernels in one stream:").endswith("right: True")
    assert after(lines, "in 4 streams:").endswith("right: True")


@pytest.mark.gpu
def test_graph_solver(tmp_path):
    picture = tmp_path / "graph.svg"
    lines = output(
        "graph_solver.py", tmp_path, "--size", "12", "--picture", str(picture)
    )
    host = numbers(after(lines, "host decides:"))
    assert host[0] % 50 == 0
    assert host[1] < 1e-3
    assert numbers(after(lines, "device decides:")) == host
    assert picture.read_text().startswith("<svg")


@pytest.mark.gpu
def test_persistent_kernel(tmp_path):
    lines = output("persistent_kernel.py", tmp_path, "--points", "900")
    most, used = numbers(after(lines, "blocks of 128 threads that fit on the device:"))
    assert used == min(most, 8)
    assert f"; {int(most)} fit (" in lines[-1]


@pytest.mark.gpu
def test_growing_array(tmp_path):
    lines = output("growing_array.py", tmp_path, "--batches", "3", "--points", "2000")
    assert re.match(r"<GrowableArray of shape \(\d+, 2\), float32", lines[0])
    assert lines[0].endswith(" of 1")
    assert lines[1].startswith("pieces of memory: [(0, ")


#: A change that makes the result of a program wrong. There is none for
#: device_properties.py and printf.py.
FAULTS = {
    "hello_gpu.py": ("left[i] * right[i];", "left[i] + right[i];"),
    "demo_double.py": ("*= 2;", "*= 3;"),
    "constant_memory.py": ("* x[i] + coefficients[0]", "* x[i] - coefficients[0]"),
    "dynamic_parallelism.py": ("atomicAdd(total, i + 1)", "atomicAdd(total, i)"),
    "dynamic_shared.py": ("half > 0", "half > 1"),
    "explicit_copies.py": ("2 * values[i];", "3 * values[i];"),
    "managed_memory.py": ("text[i] >= 'a'", "text[i] > 'a'"),
    "multiply_options.py": ("left[i] * right[i];", "left[i] + right[i];"),
    "pitched_tile.py": ("*pixel = -*pixel;", "*pixel += 1;"),
    "prepared_calls.py": ("y, -1, x, n)", "y, -2, x, n)"),
    "streams_events.py": ("+= amount;", "-= amount;"),
    "graph_solver.py": ("left + right + rhs[i]", "left + right - rhs[i]"),
    "struct_arguments.py": ("ints[1] = i.y;", "ints[1] = i.x;"),
    "struct_array.py": ("np.uintp(second_struct)", "np.uintp(int(structs))"),
    "texture_object.py": ("np.float32(share)", "np.float32(share / 2)"),
    "texture_reference.py": ("filter_mode.LINEAR", "filter_mode.POINT"),
    "threads.py": ("*= values[threadIdx.x];", "*= 3;"),
    "two_files.py": ("i < 20", "i < 2"),
    "elementwise.py": ("share * b[i]", "share * a[i]"),
    "reduction.py": ("__popc(words[i])", "__popc(words[i] / 2)"),
    "scan.py": ("days[places[i]] = i", "days[places[i]] = i + 1"),
    "templates.py": ("{{ weight }} * here", "1 * here"),
    "mandelbrot.py": ("- b * b + re[x]", "- b * b + 1.01 * re[x]"),
    "game_of_life.py": ("alive && around == 4", "alive && around == 5"),
    "convolution.py": ("part[threadIdx.y + k]", "part[threadIdx.y + k / 2 * 2]"),
    "sobel.py": ("y + j - 1)", "y + j)"),
    "photo_filter.py": ("blue += weight * p.z;", "blue += weight * p.y;"),
    "matrix_multiply.py": ("of_b[k][i];", "of_b[i][k];"),
    "transpose.py": ("tile[threadIdx.x][j];", "tile[j][threadIdx.x];"),
    "nbody.py": ("pull.z += force * z;", "pull.z += force * y;"),
    "kernel_concurrency.py": ("i < rounds", "i < rounds - 1"),
    "persistent_kernel.py": ("float *old = a;", "float *old = b;"),
    "growing_array.py": ("if (r * r < p.x", "if (r * r < 2 * p.x"),
    "heat_on_a_plate.py": ("values[order], shape", "2 * values[order], shape"),
}


NEEDS_NVCC = (
    *("dynamic_parallelism.py", "multiply_options.py", "two_files.py"),
    "persistent_kernel.py",
)


def test_every_example_has_a_fault():
    exchanges = {name for name in scripts() if name.startswith("exchange_")}
    without = {"device_properties.py", "printf.py"}
    assert {*FAULTS, *exchanges, *without} == {*scripts()}


@pytest.mark.gpu
@pytest.mark.parametrize("name", FAULTS)
def test_an_example_notices_a_fault(name, tmp_path):
    if name == "templates.py":
        pytest.importorskip("jinja2", reason="jinja2 is not installed")
    old, new = FAULTS[name]
    text = (EXAMPLES / name).read_text()
    assert text.count(old) == 1
    script = tmp_path / name
    script.write_text(text.replace(old, new))
    # Use NVRTC, which is faster, unless the program needs nvcc.
    quick = nvrtc.find() is not None and name not in NEEDS_NVCC
    done = run(str(script), tmp_path, PYCUDA_COMPILER="nvrtc" if quick else "nvcc")
    assert done.returncode == 1 and "correct" not in done.stdout
    last = done.stderr.splitlines()[-1]  # the compiler may print messages before it
    assert re.fullmatch(r"(a|the) \w+ (is|are) wrong", last), done.stderr


# -- with another library --------------------------------------------------------------

PEERS = {"cupy": "cupy", "torch": "torch", "numba": "numba.cuda"}
on_hardware = pytest.mark.hardware(why="the other library works on a real GPU only")


@pytest.mark.parametrize("peer", PEERS)
def test_without_the_other_library(peer, tmp_path):
    """One sentence names the missing library, wherever it is installed."""
    script = EXAMPLES / f"exchange_{peer}.py"
    code = (
        f"import runpy, sys; sys.modules[{peer!r}] = None; "
        f"runpy.run_path({str(script)!r}, run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("This example needs ")
    assert done.stderr.count("\n") == 1


def exchanged(peer, tmp_path):
    pytest.importorskip(PEERS[peer], reason=f"{peer} is not installed")
    done = run(f"exchange_{peer}.py", tmp_path)
    assert done.returncode == 0, done.stderr
    return without_device(f"exchange_{peer}.py", done.stdout.splitlines())


@pytest.mark.gpu
@on_hardware
def test_exchange_cupy(tmp_path):
    lines = exchanged("cupy", tmp_path)
    assert after(lines, "CuPy sees what the kernel wrote:") == "4.5"
    assert numbers(after(lines, "the GPUArray has what CuPy wrote:")) == [*range(1, 7)]
    assert numbers(after(lines, "sum of both:")) == [21, 21]


@pytest.mark.gpu
@on_hardware
def test_exchange_torch(tmp_path):
    lines = exchanged("torch", tmp_path)
    assert after(lines, "the tensor has what the kernel wrote:") == "4.5"
    written = numbers(after(lines, "the GPUArray has what PyTorch wrote:"))
    assert written == [*range(1, 7)]
    assert numbers(after(lines, "sum of both:")) == [21, 21]


@pytest.mark.gpu
@on_hardware
def test_exchange_numba(tmp_path):
    lines = exchanged("numba", tmp_path)
    assert numbers(after(lines, "the GPUArray has what Numba wrote:")) == [1, 2, 3]
    assert after(lines, "Numba sees what the kernel wrote:") == "4.5"
