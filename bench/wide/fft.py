"""Fourier transforms. ``z`` has n complex numbers, ``Z`` the same as a square."""

from wide import Row

DATA = {
    "z": "x.astype(np.complex64)",
    "zd": "x[: n // 2].astype(np.complex128)",
    "Z": "z.reshape(side, side)",
    "spectrum": "z[: n // 2 + 1]",
    "half": "np.fft.rfft2(Y)",
    "odd": "x[: 3 ** ((n.bit_length() - 1) * 63 // 100)]",
}


def _row(name, arguments, most=None):
    """Return the row of a function of the same arguments in all packages."""
    function, _, note = name.partition(", ")
    torch = arguments.replace("axis=", "dim=")
    return Row(
        name if note else function,
        ours=f"fft.{function}({arguments})",
        cupy=f"cp.fft.{function}({arguments})",
        torch=f"torch.fft.{function}({torch})",
        most=most,
    )


ROWS = [
    _row("fft, complex64", "z"),
    _row("fft, complex128", "zd"),
    _row("fft, float32", "x"),
    _row("ifft", "z"),
    _row("rfft", "x"),
    _row("irfft", "spectrum"),
    _row("fft, a power of 3", "odd"),
    *(
        _row(f"fft, (n / {m}, {m})", f"z.reshape(n // {m}, {m})")
        for m in (16, 64, 256, 1024, 4096)
    ),
    _row("rfft, (n / 1024, 1024)", "x.reshape(n // 1024, 1024)"),
    _row("fft, axis 0 of a square", "Z, axis=0"),
    _row("fft2, complex64", "Z"),
    _row("ifft2, complex64", "Z"),
    _row("fft2, float32", "Y"),
    _row("rfft2", "Y"),
    _row("irfft2", "half"),
    Row(
        "fftshift",
        ours="fft.fftshift(x)",
        cupy="cp.fft.fftshift(x)",
        torch="torch.fft.fftshift(x)",
        bytes=8,
    ),
]
