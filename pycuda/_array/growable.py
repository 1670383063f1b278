"""GrowableArray: rows in device memory to which a program appends without copying."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import pycuda._driver as _driver
from pycuda._driver import GPUArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray


class GrowableArray:
    """Array that grows along its first axis, in place.

    The array reserves addresses for ``max_rows`` rows, which needs no memory. Appending
    maps more memory behind the rows that exist. No row is ever copied or moved, so
    arrays made from ``array`` before stay valid.

    Parameters
    ----------
    dtype : dtype_like, optional
        Dtype of the elements.
    row : int or tuple of int, optional
        Shape of one row, () for numbers.
    max_rows : int, optional
        Rows at most. The default is as many as the memory of the device can hold.
    data : array_like, optional
        Rows to begin with.

    Raises
    ------
    ValueError
        If a row has no bytes, or if ``max_rows`` is below 1.

    Notes
    -----
    The driver needs virtual memory (``cuMemMap``), as all GPUs since 2018 have it.

    Examples
    --------
    >>> rows = gpuarray.GrowableArray(np.float32, row=2)
    >>> rows.append(np.ones((3, 2)))
    >>> rows.shape
    (3, 2)
    """

    def __init__(
        self,
        dtype: DTypeLike = np.float32,
        row: tuple[int, ...] | int = (),
        max_rows: int | None = None,
        data: ArrayLike | GPUArray | None = None,
    ) -> None:
        self._dtype = np.dtype(dtype)
        self._row = (row,) if isinstance(row, int) else tuple(row)
        self._row_bytes = math.prod(self._row) * self._dtype.itemsize
        if self._row_bytes <= 0:
            raise ValueError(
                f"a row of shape {self._row} and dtype {self._dtype} has no bytes; a "
                "GrowableArray needs rows with at least one element"
            )
        if max_rows is None:
            total = _driver.Context.get_device().total_memory()
            max_rows = total // self._row_bytes
        if max_rows < 1:
            raise ValueError(f"max_rows must be at least 1, not {max_rows}")
        self._granularity = _driver.mem_granularity()
        self._memory = _driver.VirtualMemory(max_rows * self._row_bytes)
        self._max_rows = int(max_rows)
        self._rows = 0
        self._mapped = 0
        self._all = GPUArray(
            (self._max_rows, *self._row), self._dtype, gpudata=self._memory
        )
        if data is not None:
            self.append(data)

    def __repr__(self) -> str:
        return (
            f"<GrowableArray of shape {self.shape}, {self._dtype}, room for "
            f"{self.capacity} rows>"
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._rows

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, and the shape of one."""
        return (self._rows, *self._row)

    @property
    def nbytes(self) -> int:
        """The bytes of the rows."""
        return self._rows * self._row_bytes

    @property
    def capacity(self) -> int:
        """How many rows fit into the memory that is mapped now."""
        return min(self._mapped // self._row_bytes, self._max_rows)

    @property
    def max_rows(self) -> int:
        """How many rows the array can have at most."""
        return self._max_rows

    @property
    def memory(self) -> _driver.VirtualMemory:
        """The addresses, with the memory that is mapped there."""
        return self._memory

    @property
    def array(self) -> GPUArray:
        """The rows as a GPUArray: a view of the memory, no copy."""
        return self._all[: self._rows]

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.array.__cuda_array_interface__

    def __getitem__(self, index: Any) -> Any:
        """Return rows or elements, as ``array[index]`` does."""
        return self.array[index]

    def get(self, stream: _driver.Stream | None = None) -> NDArray[Any]:
        """Return a copy of the rows on the host.

        Parameters
        ----------
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Returns
        -------
        numpy.ndarray
            The rows.

        Notes
        -----
        The call waits for the copy.
        """
        return self.array.get(stream=stream)

    def reserve(self, rows: int) -> None:
        """Map memory for rows, so that appending them maps nothing.

        Parameters
        ----------
        rows : int
            Number of rows.

        Raises
        ------
        MemoryError
            If the device has not enough free memory.
        ValueError
            If the array cannot have so many rows.
        """
        if rows > self._max_rows:
            raise ValueError(
                f"{rows} rows were asked for, but this GrowableArray can have "
                f"{self._max_rows}; make it with a larger max_rows"
            )
        wanted = rows * self._row_bytes
        if wanted > self._mapped:
            # A piece of an eighth of the array keeps the number of pieces small.
            self._map(max(wanted - self._mapped, self._mapped // 8), wanted)

    def _map(self, size: int, wanted: int) -> None:
        """Map some more memory; at least up to ``wanted`` bytes if memory is short."""
        step = self._granularity
        size = min(-(-size // step) * step, self._memory.size - self._mapped)
        try:
            piece = _driver.PhysicalMemory(size)
        except _driver.MemoryError:
            least = -(-(wanted - self._mapped) // step) * step
            if least == size:
                raise
            size = least
            piece = _driver.PhysicalMemory(size)
        mapped = self._mapped + size
        self._memory.map(piece, self._mapped)
        self._mapped = mapped  # no code that may fail comes between
        piece.free()  # it lives as long as it is mapped

    def append(
        self, data: ArrayLike | GPUArray, stream: _driver.Stream | None = None
    ) -> None:
        """Append a row, or several, in the order of the stream.

        Parameters
        ----------
        data : array_like
            A row, or an array of rows, on the host or the device. Rows of another dtype
            are converted.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Raises
        ------
        MemoryError
            If the device has not enough free memory.
        ValueError
            If the shape does not fit, or if the array cannot have so many rows.
        """
        if not isinstance(data, GPUArray):
            data = np.ascontiguousarray(data, self._dtype)
        shape = tuple(data.shape)
        if len(shape) == len(self._row) and shape == self._row:
            data, shape = data.reshape((1, *shape)), (1, *shape)
        if shape[1:] != self._row or len(shape) != len(self._row) + 1:
            raise ValueError(
                f"data of shape {shape} cannot be appended to rows of shape "
                f"{self._row}; it must be one row, or an array of rows"
            )
        rows = self._rows + shape[0]
        if rows > self.capacity:
            self.reserve(rows)
        if shape[0] == 0:
            return
        if isinstance(data, GPUArray) and data.dtype != self._dtype:
            data = data.astype(self._dtype, stream=stream)
        self._all[self._rows : rows].set_async(data, stream)
        self._rows = rows

    def resize(self, rows: int) -> None:
        """Set the number of rows.

        Parameters
        ----------
        rows : int
            Number of rows. New rows have undefined values.

        Raises
        ------
        MemoryError
            If the device has not enough free memory.
        ValueError
            If the number is negative, or if the array cannot have so many rows.
        """
        if rows < 0:
            raise ValueError(f"rows must not be negative, not {rows}")
        if rows > self.capacity:
            self.reserve(rows)
        self._rows = int(rows)

    def clear(self) -> None:
        """Remove all rows.

        See Also
        --------
        trim : Unmap it.

        Notes
        -----
        Their memory stays mapped.
        """
        self._rows = 0

    def trim(self) -> None:
        """Unmap the memory behind the rows, as far as whole pieces allow.

        Notes
        -----
        Views of rows that were removed must not be used any more.
        """
        for offset, size in reversed(self._memory.mappings):
            if offset < self.nbytes:
                break
            self._memory.unmap(offset, size)
            self._mapped = offset

    def free(self) -> None:
        """Unmap all memory and return the addresses now.

        Notes
        -----
        The array must not be used any more.
        """
        self._rows = self._mapped = 0
        self._memory.free()
