"""Where a picture is shown: a notebook, a terminal, a file."""

from __future__ import annotations

import base64
import os
import sys
from typing import TYPE_CHECKING, Any

from pycuda._show import pixels as _pixels, png, terminal

if TYPE_CHECKING:
    from pycuda._show.pixels import Picture, Pixels

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
    if _in_notebook():
        _show_in_notebook(pictures, text)
    elif _is_terminal():
        colors_known = terminal.colors_of(sys.stdout)
        joined = _pixels.side_by_side([each.pixels for each in pictures], gap=1)
        print(terminal.text_of(joined, terminal.width_of(joined), colors_known))
        print(text)
    else:
        print(text)
    if file is not None:
        print("written:", os.fsdecode(file))


def _in_notebook() -> bool:
    """Return whether the output of the program is in a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


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
    image = base64.b64encode(png.encode(_pixels.side_by_side(shown))).decode()
    publish: Any = publish_display_data
    publish({"image/png": image, "text/plain": text})


def save(pixels: Pixels, file: str | os.PathLike[str]) -> None:
    """Write a picture. Formats other than PNG need Pillow."""
    path = os.fsdecode(file)
    if os.path.splitext(path)[1].lower() == ".png":
        with open(path, "wb") as output:
            output.write(png.encode(pixels))
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
