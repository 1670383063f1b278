"""Pictures of arrays: in notebooks, on terminals, in files."""

from __future__ import annotations

import base64
import os
import shutil
import struct
import sys
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from pycuda import _pixels
from pycuda._warning import in_notebook

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pycuda._pixels import Picture, Pixels

#: Smaller pictures are enlarged in notebooks, to about so many pixels.
_LEAST = 256


def show(
    arrays: tuple[Any, ...],
    low: float | None,
    high: float | None,
    colors: object,
    file: str | os.PathLike[str] | None,
) -> None:
    """Show arrays; see ``pycuda.show``."""
    if not arrays:
        raise TypeError("show needs at least one array")
    pictures = [
        _pixels.picture_of(each, low, high, colors, whole=file is not None)
        for each in arrays
    ]
    text = " | ".join(each.text for each in pictures)
    if file is not None:
        save(_pixels.side_by_side([each.pixels for each in pictures]), file)
    if in_notebook():
        _show_in_notebook(pictures, text)
    elif _is_terminal():
        colors_known = colors_of(sys.stdout)
        joined = _pixels.side_by_side([each.pixels for each in pictures], gap=1)
        print(text_of(joined, width_of(joined), colors_known))
        print(text)
    else:
        print(text)
    if file is not None:
        print("written:", os.fsdecode(file))


def _is_terminal() -> bool:
    try:
        return sys.stdout.isatty()
    except (AttributeError, ValueError):  # replaced by the program, or closed
        return False


def _show_in_notebook(pictures: list[Picture], text: str) -> None:
    from IPython.display import publish_display_data

    shown = []
    for each in pictures:
        step = -(-max(each.pixels.shape[:2]) // _pixels.LARGEST)
        shown.append(_pixels.enlarged(each.pixels[::step, ::step], _LEAST))
    image = base64.b64encode(png_of(_pixels.side_by_side(shown))).decode()
    publish: Any = publish_display_data
    publish({"image/png": image, "text/plain": text})


def save(pixels: Pixels, file: str | os.PathLike[str]) -> None:
    """Write a picture. Formats other than PNG need Pillow."""
    path = os.fsdecode(file)
    if os.path.splitext(path)[1].lower() == ".png":
        with open(path, "wb") as output:
            output.write(png_of(pixels))
        return
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            f"only files that end in .png can be written without Pillow, and {path!r} "
            "does not. Install pillow, or choose another name"
        ) from error
    color = pixels[:, :, 0] if pixels.shape[2] == 1 else pixels
    try:
        Image.fromarray(color).save(path)
    except (ValueError, KeyError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        # "unknown file extension", "cannot write mode RGBA as JPEG"
        raise ValueError(f"Pillow cannot write the file {path!r}: {error}") from None


# -- PNG files, without a package besides NumPy ----------------------------------------

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: The kinds of color in the file's header, by the number of channels.
_KINDS = {1: 0, 3: 2, 4: 6}


def _chunk(kind: bytes, body: bytes) -> bytes:
    checked = kind + body
    return (
        struct.pack(">I", len(body)) + checked + struct.pack(">I", zlib.crc32(checked))
    )


def png_of(pixels: Pixels) -> bytes:
    """Return pixels of 1, 3 or 4 channels as the bytes of a PNG file."""
    height, width, channels = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _KINDS[channels], 0, 0, 0)
    # Each row begins with the number of its filter; 0 is none.
    rows = np.zeros((height, 1 + width * channels), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)
    body = zlib.compress(rows.tobytes(), 6)
    return (
        _SIGNATURE
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", body)
        + _chunk(b"IEND", b"")
    )


# -- terminals: a character is two pixels, one above the other -------------------------

_HALF = "\u2580"  # the upper half of a character
_RESET = "\x1b[0m"
_SHADES = " .:-=+*#%@"  # without color, from dark to bright
_WIDEST = 120
_NARROWEST = 40  # whatever the height of the picture
_OTHER_LINES = 5  # of the terminal, for the text before and after a picture


def colors_of(file: TextIO, environment: Mapping[str, str] = os.environ) -> int:
    """Return the number of colors of a terminal: 0, 256 or 1 << 24."""
    kind = environment.get("TERM", "")
    if environment.get("NO_COLOR") or kind in ("", "dumb"):
        return 0
    try:
        _HALF.encode(file.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return 0
    if environment.get("COLORTERM", "") in ("truecolor", "24bit"):
        return 1 << 24
    return 1 << 24 if kind.endswith("-direct") else 256


def width_of(pixels: Pixels) -> int:
    """Return how many characters a picture may be wide, so that all of it is seen."""
    size = shutil.get_terminal_size()
    height, width = int(pixels.shape[0]), int(pixels.shape[1])
    fitting = 2 * (size.lines - _OTHER_LINES) * width // height
    return max(1, min(_WIDEST, size.columns - 1, max(_NARROWEST, fitting)))


def _averaged(values: NDArray[Any], count: int, axis: int) -> NDArray[Any]:
    """Return the averages of ``count`` parts along an axis."""
    length = values.shape[axis]
    if count >= length:
        return values
    ends = np.arange(count + 1) * length // count
    sums = np.add.reduceat(values, ends[:-1], axis=axis)
    shape = [1] * values.ndim
    shape[axis] = count
    averages: NDArray[Any] = sums / np.diff(ends).reshape(shape)
    return averages


def _fitted(pixels: Pixels, width: int) -> Pixels:
    """Return colors, not wider than ``width``, with an even number of rows."""
    color = _pixels.as_color(pixels).astype(np.float64)
    if color.shape[2] == 4:
        color = color[:, :, :3] * (color[:, :, 3:] / 255)
    rows, columns = color.shape[:2]
    if columns > width:
        rows = max(1, round(rows * width / columns))
        color = _averaged(_averaged(color, rows, 0), width, 1)
    if len(color) % 2:
        color = np.concatenate([color, np.zeros_like(color[:1])])
    return np.rint(color).astype(np.uint8)


def _number(color: Any, colors: int) -> str:
    """Return the end of the code that chooses a color."""
    red, green, blue = (int(part) for part in color)
    if colors > 256:
        return f"2;{red};{green};{blue}"
    if red == green == blue:  # 24 shades of grey, from 8 to 238
        return f"5;{232 + max(0, min(23, (red - 3) // 10))}"
    levels = [round(part / 255 * 5) for part in (red, green, blue)]
    return f"5;{16 + 36 * levels[0] + 6 * levels[1] + levels[2]}"


def _line(top: Pixels, bottom: Pixels, colors: int) -> str:
    parts, last = [], ""
    for above, below in zip(top, bottom, strict=True):
        code = f"\x1b[38;{_number(above, colors)};48;{_number(below, colors)}m"
        parts.append(_HALF if code == last else code + _HALF)
        last = code
    return "".join(parts) + _RESET


def _plain_line(top: Pixels, bottom: Pixels) -> str:
    bright = (top.astype(int) + bottom).mean(axis=1) / 510
    places = np.rint(bright * (len(_SHADES) - 1)).astype(int)
    return "".join(_SHADES[place] for place in places).rstrip()


def text_of(pixels: Pixels, width: int, colors: int) -> str:
    """Return a picture as lines of at most ``width`` characters."""
    fitted = _fitted(pixels, width)
    pairs = zip(fitted[::2], fitted[1::2], strict=True)
    if colors:
        return "\n".join(_line(top, bottom, colors) for top, bottom in pairs)
    return "\n".join(_plain_line(top, bottom) for top, bottom in pairs)
