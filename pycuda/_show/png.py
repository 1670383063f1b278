"""PNG files, written with the standard library.

Pictures then need no package besides NumPy. For other formats there is Pillow.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pycuda._show.pixels import Pixels

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
#: The kinds of color in the file's header, by the number of channels.
_KINDS = {1: 0, 3: 2, 4: 6}


def _chunk(kind: bytes, body: bytes) -> bytes:
    checked = kind + body
    return (
        struct.pack(">I", len(body)) + checked + struct.pack(">I", zlib.crc32(checked))
    )


def encode(pixels: Pixels) -> bytes:
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
