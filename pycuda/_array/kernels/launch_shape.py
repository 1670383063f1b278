"""The grid and block of a kernel whose threads share a number of elements."""

from __future__ import annotations

from pycuda._driver import Context, device_attribute


def splay_backend(n, dev):
    """Return (grid, block) for a loop over ``n`` elements on a device."""
    most = 32 * dev.get_attribute(device_attribute.MULTIPROCESSOR_COUNT)
    each = -(-n // most)
    threads = 32 * min(max(-(-each // 32), 1), 4)
    blocks = min(max(-(-n // threads), 1), most)
    return (blocks, 1), (threads, 1, 1)


def splay(n, dev=None):
    """Return (grid, block) for a kernel whose threads share ``n`` elements."""
    return splay_backend(n, Context.get_device() if dev is None else dev)
