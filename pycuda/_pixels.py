"""The pixels of an array: from numbers in device memory to bytes on the host."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from pycuda import driver as drv

#: The shape is (height, width, channels), with 1, 3 or 4 channels.
Pixels: TypeAlias = NDArray[np.uint8]

#: Larger pictures are thinned out for the display, to so many pixels a side.
LARGEST = 1024

#: Tables that need no Matplotlib: colors at equal distances, from low to high.
_TABLES = {
    "fire": ((8, 4, 30), (96, 10, 90), (196, 44, 60), (246, 140, 30), (255, 250, 190)),
    "ice": (
        (4, 8, 32),
        (16, 62, 120),
        (40, 140, 180),
        (140, 214, 220),
        (250, 255, 255),
    ),
    "balance": (
        *((24, 60, 150), (110, 160, 225), (245, 245, 245)),
        *((235, 140, 100), (160, 24, 40)),
    ),
}

_GAP = 8  # pixels between two pictures


class Picture:
    """The pixels of an array, and what it is in words."""

    def __init__(self, pixels: Pixels, text: str) -> None:
        self.pixels = pixels
        self.text = text


def picture_of(
    array: Any,
    low: float | None = None,
    high: float | None = None,
    colors: object = None,
    *,
    whole: bool = False,
) -> Picture:
    """Return the picture of an array.

    A large array is thinned out before it is copied from the device, unless ``whole``
    is true.
    """
    low, high = _limit(low, "low"), _limit(high, "high")
    array = _array_like(array)
    height, width = _size_of(array)
    step = 1 if whole else -(-max(height, width) // LARGEST)
    if step > 1:
        array = array[::step, ::step]
    values = array.get() if hasattr(array, "get") else np.asarray(array)
    text = f"{width} x {height} pixels, {values.dtype}"
    if step > 1:
        text += f", 1 pixel of {step * step}"
    values = _channels_of(values)
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[:, :, 0]
    if values.ndim == 3:
        if colors is not None:
            raise TypeError(
                "colors is for arrays of numbers with two axes. This array has "
                f"{values.shape[2]} channels, so it has its own colors"
            )
        return Picture(_colored(values, low, high), text)
    pixels, limits = _shaded(values, low, high, colors)
    return Picture(pixels, text + limits)


def _limit(value: Any, name: str) -> float | None:
    """Return a limit as a float. Raise an error if it is no finite number."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is a number, not {value!r}") from None
    if not np.isfinite(number):
        raise ValueError(f"{name} is {number}, and it must be a finite number")
    return number


def _array_like(array: Any) -> Any:
    """Return an array of this package or of NumPy for any kind of array."""
    if isinstance(array, drv.Array):
        return array.get()
    if isinstance(array, drv.GPUArray):
        return array
    if hasattr(array, "__cuda_array_interface__"):
        from pycuda.interop import to_gpuarray

        return to_gpuarray(array)
    if isinstance(array, np.ma.MaskedArray) and array.dtype.kind in "biuf":
        return np.where(array.mask, np.nan, array.data)  # no pixel, as NaN
    return np.asarray(array)


def _size_of(array: Any) -> tuple[int, int]:
    """Return the height and width of a picture. Raise an error for other shapes."""
    shape = tuple(array.shape)
    channels = shape[2] if len(shape) == 3 else 1
    if len(shape) not in (2, 3) or channels not in (1, 3, 4):
        raise ValueError(
            "a picture needs an array of shape (height, width), or (height, width, "
            f"channels) with 1, 3 or 4 channels. This array has the shape {shape}"
        )
    if 0 in shape:
        raise ValueError(f"an array of the shape {shape} has no pixels to show")
    dtype = array.dtype
    kinds = [field[0].kind for field in (dtype.fields or {}).values()] or [dtype.kind]
    if any(kind not in "biuf" for kind in kinds):
        advice = ""
        if dtype.kind == "c":
            advice = ". Show its abs(), or its parts real and imag"
        raise TypeError(f"an array of {dtype} cannot be shown{advice}")
    return shape[0], shape[1]


def _channels_of(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array of vectors, such as uchar4, with one more axis for its fields."""
    fields = values.dtype.fields
    if not fields:
        return values
    kinds = {field[0] for field in fields.values()}
    if values.ndim != 2 or len(kinds) != 1 or len(fields) not in (1, 3, 4):
        raise TypeError(
            f"an array of {values.dtype} cannot be shown: a pixel needs 1, 3 or 4 "
            "fields of one type"
        )
    return np.stack([values[name] for name in fields], axis=2)


def _scaled(values: NDArray[Any], low: float, high: float) -> NDArray[np.floating[Any]]:
    """Return values as numbers from 0 to 1; NaN stays NaN."""
    numbers = values.astype(np.float64)
    if high == low:
        return np.where(np.isnan(numbers), np.nan, 0.5)
    # the halves, because a difference of two large floats may be infinite
    numbers, low, high = numbers / 2, low / 2, high / 2
    with np.errstate(invalid="ignore", over="ignore"):
        if high == low:  # the smallest floats
            return np.where(np.isnan(numbers), np.nan, 0.5)
        return np.clip((numbers - low) / (high - low), 0.0, 1.0)


def _bytes_of(shares: NDArray[np.floating[Any]]) -> Pixels:
    found: Pixels = np.rint(np.nan_to_num(shares) * 255).astype(np.uint8)
    return found


def _colored(values: NDArray[Any], low: float | None, high: float | None) -> Pixels:
    """Return the pixels of an array that has channels."""
    if values.dtype == np.uint8 and low is None and high is None:
        return cast("Pixels", values)
    top = 1.0
    if values.dtype.kind in "iu":
        top = float(np.iinfo(values.dtype).max)
    low = 0.0 if low is None else low
    return _bytes_of(_scaled(values, low, top if high is None else high))


def _shaded(
    values: NDArray[Any], low: float | None, high: float | None, colors: object
) -> tuple[Pixels, str]:
    """Return the pixels of an array of numbers, and its limits in words."""
    plain = low is None and high is None
    if values.dtype == bool:
        low, high = low or 0.0, 1.0 if high is None else high
    elif values.dtype == np.uint8 and plain and colors is None:
        grey: Pixels = values[:, :, None]
        return grey, ""
    finite = values
    if values.dtype.kind == "f":
        finite = values[np.isfinite(values)]
    if low is None:
        low = float(finite.min()) if finite.size else 0.0
    if high is None:
        high = float(finite.max()) if finite.size else 1.0
    if high < low:
        raise ValueError(f"high is {high:g}, which is less than low, {low:g}")
    shares = _scaled(values, low, high)
    if colors is None:
        pixels = _bytes_of(shares)[:, :, None]
    else:
        table = table_of(colors)
        places = np.rint(np.nan_to_num(shares) * (len(table) - 1)).astype(np.intp)
        pixels = table[places]
    missing = np.isnan(shares)
    if missing.any():
        pixels = np.dstack([as_color(pixels), np.where(missing, 0, 255)])
    limits = "" if values.dtype == bool else f" from {low:.6g} to {high:.6g}"
    return pixels.astype(np.uint8), limits


def table_of(colors: object) -> Pixels:
    """Return a table of colors: rows of red, green, blue.

    ``colors`` is such a table, the name of a table of this module, or the name of a
    colormap of Matplotlib.
    """
    if isinstance(colors, str) and colors in _TABLES:
        return _interpolated(_TABLES[colors])
    if isinstance(colors, str):
        try:
            from matplotlib import colormaps
        except ImportError as error:
            raise ImportError(
                f"the colormap {colors!r} is one of Matplotlib's, which is not "
                "installed. Install matplotlib, pass a table of colors, or use one of "
                f"{', '.join(_TABLES)}"
            ) from error
        if colors not in colormaps:
            raise ValueError(
                f"Matplotlib has no colormap {colors!r}, and it is none of "
                f"{', '.join(_TABLES)}"
            )
        found = colormaps[colors](np.arange(256), bytes=True)
        return np.asarray(found, np.uint8)[:, :3]
    table = np.asarray(colors)
    if table.ndim != 2 or table.shape[1] != 3 or not len(table):
        raise ValueError(
            "a table of colors has the shape (n, 3): rows of red, green and blue from "
            f"0 to 255. This one has the shape {table.shape}"
        )
    if table.dtype.kind not in "iuf" or not ((table >= 0) & (table <= 255)).all():
        raise ValueError("a table of colors has numbers from 0 to 255")
    return table.astype(np.uint8)


def _interpolated(stops: tuple[tuple[int, int, int], ...]) -> Pixels:
    """Return a table of 256 colors between some at equal distances."""
    places = np.linspace(0, len(stops) - 1, 256)
    channels = [
        np.interp(places, range(len(stops)), part) for part in zip(*stops, strict=True)
    ]
    return cast("Pixels", np.rint(np.stack(channels, axis=1)).astype(np.uint8))


# -- several pictures ------------------------------------------------------------------


def as_color(pixels: Pixels, channels: int = 3) -> Pixels:
    """Return pixels with 3 channels, or with 4: red, green, blue, alpha."""
    if pixels.shape[2] == 1:
        pixels = np.repeat(pixels, 3, axis=2)
    if channels == 4 and pixels.shape[2] == 3:
        alpha = np.full((*pixels.shape[:2], 1), 255, np.uint8)
        pixels = np.concatenate([pixels, alpha], axis=2)
    return pixels


def enlarged(pixels: Pixels, least: int) -> Pixels:
    """Return pixels repeated until the picture is about as high as ``least``."""
    factor = max(1, min(16, least // max(pixels.shape[:2])))
    return pixels.repeat(factor, axis=0).repeat(factor, axis=1)


def side_by_side(pictures: list[Pixels], gap: int = _GAP) -> Pixels:
    """Return one picture of several. What is between them is transparent."""
    if len(pictures) == 1:
        return pictures[0]
    height = max(len(each) for each in pictures)
    width = sum(each.shape[1] for each in pictures) + gap * (len(pictures) - 1)
    result = np.zeros((height, width, 4), np.uint8)
    place = 0
    for each in pictures:
        result[: len(each), place : place + each.shape[1]] = as_color(each, 4)
        place += each.shape[1] + gap
    return result
