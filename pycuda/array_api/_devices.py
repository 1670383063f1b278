"""The devices of the namespace: that of the current context."""

from __future__ import annotations

from pycuda.driver import Context, Device


def current_device() -> Device:
    """Return the device of the current context, on which new arrays are made."""
    return Context.get_device()


def check_device(device: Device | None) -> None:
    """Raise ValueError unless arrays can be made on a device; None is the default."""
    if device is None:
        return
    here = current_device()
    if not isinstance(device, Device) or device != here:
        raise ValueError(
            f"device {device!r} is not that of the current context, {here!r}: make a "
            "context of that device current"
        )
