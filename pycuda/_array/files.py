"""Arrays from files and to files: ``.npy``, ``.npz``, and elements without a header.

NumPy's functions read and write the headers. The elements of a regular file go through
the page-locked pieces of the context (``driver/staging.c``), whose threads read and
write the file. All other elements go through host memory, a part at a time.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import importlib
import io
import math
import os
import stat
import struct
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

from pycuda._array.copies import c_copy
from pycuda._driver import GPUArray, to_gpu

if TYPE_CHECKING:
    from zipfile import ZipFile

_SMALL = 64 << 10  # bytes of an array that is copied at once
_PART = 16 << 20  # bytes in host memory at a time
_STEP = 256 << 20  # bytes between two updates of a bar
_LARGE = 1 << 30  # bytes of the smallest file with a bar
_READERS = 8  # threads that compute a checksum, at most
_BUFFERED = io.BufferedReader, io.BufferedWriter, io.BufferedRandom
_MOST_NAMES = 10  # arrays of an archive that a message names


# -- files -----------------------------------------------------------------------------


class _Place(NamedTuple):
    """Where the elements are in a regular file, or in an archive's entry in it."""

    fd: int
    offset: int
    end: float = math.inf  # of the entry

    def rest(self):
        """Return the number of bytes from here to the end."""
        return max(min(os.fstat(self.fd).st_size, self.end) - self.offset, 0)


def _place(file):
    """Return the position of an open file, or None if it is not a regular file.

    A file that appends ignores positions. An object around a file, or of a class that
    inherits from a file's, may do more than to read and write.
    """
    raw = file.raw if type(file) in _BUFFERED else file
    if type(raw) is not io.FileIO:
        return None
    file.flush()
    fd = raw.fileno()
    appends = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_APPEND
    if appends or not stat.S_ISREG(os.fstat(fd).st_mode):
        return None
    return _Place(fd, file.tell())


def _name(file):
    """Return the name of a file for messages."""
    if isinstance(file, (str, bytes, os.PathLike)):
        return os.fsdecode(file)
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else type(file).__name__


def _opened(file, mode):
    """Open a path; leave a file object open at the end of the ``with`` statement."""
    if hasattr(file, "read" if mode == "rb" else "write"):
        if isinstance(file, io.TextIOBase):
            raise TypeError(
                f"{_name(file)} is open as text; open it with mode='{mode}'"
            )
        return contextlib.nullcontext(file)
    return open(file, mode)


def _with_extension(file, extension):
    """Return a path that ends with an extension, as NumPy saves it."""
    if hasattr(file, "write"):
        return file
    if isinstance(file, GPUArray):
        raise TypeError("file is a GPUArray; the file comes first, then the array")
    file = os.fspath(file)
    return file if file.endswith(extension) else file + extension


def _truncated(name, needed, found):
    return ValueError(
        f"{name} is truncated: the array has {needed} bytes, the file has {found} of "
        "them"
    )


# -- elements --------------------------------------------------------------------------


def _bar(name, size, progress):
    """Return a bar of tqdm for so many bytes, or None."""
    is_shown = progress
    if progress is None:
        is_shown = size >= _LARGE and sys.stderr is not None and sys.stderr.isatty()
    if not is_shown:
        return None
    try:
        tqdm = importlib.import_module("tqdm").tqdm
    except ImportError as error:
        if progress is None:
            return None
        raise ImportError(
            "progress=True needs the package tqdm, which is not installed. Install tqdm"
        ) from error
    return tqdm(total=size, unit="B", unit_scale=True, desc=os.path.basename(name))


def _read(file, place, done, size):
    """Return bytes of the file, fewer at its end."""
    parts, left = [], size
    while left:
        if place is None:
            part = file.read(left)
        else:
            part = os.pread(place.fd, left, place.offset + done + size - left)
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _write(file, place, done, data):
    """Write bytes. A file without a buffer may take only some of them at a time."""
    while data:
        if place is not None:
            written = os.pwrite(place.fd, data, place.offset + done)
        else:
            written = file.write(data)
            if not isinstance(file, io.RawIOBase):
                return
            if written is None:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        done, data = done + written, data[written:]


class _Move(NamedTuple):
    """The elements of a contiguous array and of a file, from ``place`` on.

    Without a place, they are at the position of the file. ``dtype`` is the file's.
    """

    array: GPUArray
    file: object
    place: _Place | None
    name: str
    dtype: np.dtype
    writes: bool

    def run(self, progress):
        """Copy all elements."""
        array, total, done = self.array, self.array.nbytes, 0
        if total == 0:
            return
        flat = GPUArray((total,), np.uint8, gpudata=array.gpudata, base=array)
        bar = _bar(self.name, total, progress)
        step = total if bar is None else _STEP
        try:
            while done < total:
                size = self._copy(flat, done, min(step, total - done))
                done += size
                if bar is not None:
                    bar.update(size)
        except OSError as error:
            if error.errno == errno.ENODATA:  # the file became shorter just now
                raise _truncated(self.name, total, self.place.rest()) from None
            if error.filename is None:
                error.filename = self.name
            raise
        finally:
            if bar is not None:
                bar.close()

    def _copy(self, flat, done, size):
        """Copy some of the array's bytes, and return how many."""
        place, itemsize = self.place, self.dtype.itemsize
        direct = place is not None and (self.writes or self.dtype.isnative)
        if not direct or not flat._move_file(
            place.fd, place.offset + done, done, size, self.writes
        ):
            part = max(_PART // itemsize, 1) * itemsize
            size = min(part, flat.size - done)
            self._by_host(flat[done : done + size], done)
        return size

    def _by_host(self, part, done):
        if self.writes:
            _write(self.file, self.place, done, part.get().data)
            return
        data = _read(self.file, self.place, done, part.nbytes)
        if len(data) < part.nbytes:
            raise _truncated(self.name, self.array.nbytes, done + len(data))
        if self.dtype.isnative:
            part.set(np.frombuffer(data, np.uint8))
        else:
            elements = np.frombuffer(data, self.dtype).astype(self.array.dtype)
            part.set(elements.view(np.uint8))


def _read_elements(file, name, shape, dtype, order, allocator, progress, entry=None):
    """Return a new array with the next elements of a file, in native byte order.

    ``entry`` is the place of the file in an archive, if it is not compressed there.
    """
    if dtype.hasobject:
        raise ValueError(
            f"{name} has elements of dtype {dtype}, Python objects, which no GPU can "
            "read; load it with numpy.load"
        )
    native = dtype.newbyteorder("=")
    needed = math.prod(shape) * dtype.itemsize
    if needed <= _SMALL:
        data = _read(file, None, 0, needed)
        if len(data) < needed:
            raise _truncated(name, needed, len(data))
        host = np.ndarray(shape, dtype, data, order=order)
        return to_gpu(host.astype(native, copy=False), allocator)
    place = _place(file)
    if entry is not None:
        place = entry._replace(offset=entry.offset + file.tell())
    if place is not None and place.rest() < needed:
        raise _truncated(name, needed, place.rest())
    array = GPUArray(shape, native, allocator, order=order)
    _Move(array, file, place, name, dtype, False).run(progress)
    if place is not None and entry is None:
        file.seek(place.offset + array.nbytes)
    return array


def _write_elements(file, name, array, progress):
    """Write the elements of a contiguous array at the position of a file."""
    place = _place(file) if array.nbytes > _SMALL else None
    _Move(array, file, place, name, array.dtype, True).run(progress)
    if place is not None:
        file.seek(place.offset + array.nbytes)


# -- .npy ------------------------------------------------------------------------------

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def _read_npy(file, name, allocator, progress, entry=None):
    """Return the array at the position of an open ``.npy`` file."""
    try:
        version = npy.read_magic(file)
        if version not in _HEADERS:  # the names of fields are not Latin-1
            file.seek(-npy.MAGIC_LEN, 1)
            return to_gpu(npy.read_array(file), allocator)
        shape, is_fortran, dtype = _HEADERS[version](file)
        if min(shape, default=0) < 0 or dtype.subdtype is not None:
            raise ValueError(f"no array has shape {shape} and dtype {dtype}")
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    settings = shape, dtype, "F" if is_fortran else "C", allocator, progress, entry
    return _read_elements(file, name, *settings)


def _write_npy(file, name, array, progress):
    """Write an array in NumPy's format at the position of an open file."""
    if not array.flags.forc:
        array = c_copy(array)
    header = {
        "descr": npy.dtype_to_descr(array.dtype),
        "fortran_order": not array.flags.c_contiguous,
        "shape": array.shape,
    }
    try:
        npy.write_array_header_1_0(file, header)
    except ValueError:  # its dtype needs a later version
        npy.write_array(file, array.get())
    else:
        _write_elements(file, name, array, progress)


# -- .npz ------------------------------------------------------------------------------


def _checksum(fd, offset, size):
    """Return the CRC-32 of bytes of a file, and their number."""
    import zlib

    crc, at, end = 0, offset, offset + size
    while at < end:
        data = os.pread(fd, min(1 << 20, end - at), at)
        if not data:
            break
        crc = zlib.crc32(data, crc)
        at += len(data)
    return crc, at - offset


def _product(a, b):
    """Return the product of two remainders modulo the polynomial of CRC-32.

    The highest bit is the coefficient of 1, as in the checksums.
    """
    result = 0
    for bit in range(31, -1, -1):
        if a >> bit & 1:
            result ^= b
        b = b >> 1 ^ (b & 1) * 0xEDB88320
    return result


def _join(crc, next_crc, size):
    """Return the CRC-32 of bytes from those of two parts; the next has so many bytes.

    It is that of the first part times x to the power 8 * size, plus the next one.
    """
    power = 1 << 23  # x to the power 8
    while size:
        if size & 1:
            crc = _product(crc, power)
        power, size = _product(power, power), size >> 1
    return crc ^ next_crc


def _join_all(parts):
    """Return the CRC-32 of bytes from the results of ``_checksum`` for its parts."""
    return functools.reduce(lambda crc, part: _join(crc, *part.result()), parts, 0)


def _place_of_entry(archive, info):
    """Return where an entry that is not compressed begins, or None."""
    place = None
    if info.compress_type == 0 and not info.flag_bits & 1:  # stored, not encrypted
        place = _place(archive.fp)
    if place is None:
        return None
    header = os.pread(place.fd, 30, info.header_offset)
    lengths = struct.unpack("<26xHH", header)  # of the name and of the extra field
    begin = info.header_offset + len(header) + sum(lengths)
    return _Place(place.fd, begin, begin + info.file_size)


class NpzFile(Mapping[str, Any]):
    """The arrays of a ``.npz`` file by name, each loaded when it is asked for.

    ``gpuarray.load`` returns it. Close it, or use it in a ``with`` statement.

    Attributes
    ----------
    files : list of str
        The names of the arrays.
    zip : zipfile.ZipFile
        The archive.

    See Also
    --------
    load : Open a file.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> gpuarray.savez(file, x=gpuarray.to_gpu(np.array([1, 2])))
    >>> _ = file.seek(0)
    >>> with gpuarray.load(file) as arrays:
    ...     print(arrays.files, arrays["x"] + 1)
    ['x'] [2 3]
    """

    files: list[str]
    zip: ZipFile | None
    _host: Any  # NumPy's object
    _name: str
    _settings: tuple[Any, ...]

    def __new__(cls) -> NpzFile:
        raise TypeError("cannot create 'NpzFile' instances; gpuarray.load returns one")

    @classmethod
    def _of(cls, host, name, allocator, progress):
        """Return the arrays of an archive that ``numpy.load`` opened."""
        self = object.__new__(cls)
        self._host, self._name = host, name
        self._settings = allocator, progress
        self.files, self.zip = host.files, host.zip
        return self

    def __getitem__(self, key: str) -> Any:
        """Load an array; return the bytes of an entry that is no array."""
        if self.zip is None:
            raise ValueError(f"{self._name} is closed")
        names = self.zip.namelist()
        entry = key if key in names else f"{key}.npy"
        if entry not in names:
            has = ", ".join(self.files[:_MOST_NAMES])
            if len(self.files) > _MOST_NAMES:
                has += f" and {len(self.files) - _MOST_NAMES} more"
            raise KeyError(f"{key!r} is not an array of {self._name}; it has: {has}")
        with self.zip.open(entry) as file:
            is_array = file.read(len(npy.MAGIC_PREFIX)) == npy.MAGIC_PREFIX
        if not is_array:
            return self.zip.read(entry)
        return self._load(self.zip.getinfo(entry), f"{entry} in {self._name}")

    def _load(self, info, name):
        entry = None
        if info.file_size > _PART:
            entry = _place_of_entry(self.zip, info)
        with self.zip.open(info) as file:
            if entry is None:  # zipfile reads, and compares the checksum
                return _read_npy(file, name, *self._settings)
            from concurrent.futures import ThreadPoolExecutor
            from zipfile import BadZipFile

            threads = min(os.cpu_count() or 1, _READERS)
            step = -(-info.file_size // threads)
            with ThreadPoolExecutor(threads) as pool:
                crcs = [
                    pool.submit(
                        _checksum,
                        entry.fd,
                        entry.offset + at,
                        min(step, info.file_size - at),
                    )
                    for at in range(0, info.file_size, step)
                ]
                array = _read_npy(file, name, *self._settings, entry)
                if _join_all(crcs) != info.CRC:
                    raise BadZipFile(f"{name} has another checksum than recorded")
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        """Return the number of arrays."""
        return len(self.files)

    def __contains__(self, key: object) -> bool:
        return key in self._host

    def __repr__(self) -> str:
        return f"NpzFile {self._name!r} with keys: {', '.join(self.files)}"

    def close(self) -> None:
        """Close the file, if ``load`` opened it."""
        self._host.close()
        self.zip = None

    def __enter__(self) -> NpzFile:
        """Return the mapping."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the file."""
        self.close()


NpzFile.__module__ = "pycuda.gpuarray"


def _savez(file, args, kwds, allow_pickle, is_compressed):
    import zipfile

    arrays = dict(kwds)
    for i, value in enumerate(args):
        if arrays.setdefault(f"arr_{i}", value) is not value:
            raise ValueError(f"the name arr_{i} is used twice")
    method = zipfile.ZIP_DEFLATED if is_compressed else zipfile.ZIP_STORED
    path = _with_extension(file, ".npz")
    with zipfile.ZipFile(path, "w", method) as archive:
        for key, value in arrays.items():
            with archive.open(f"{key}.npy", "w", force_zip64=True) as entry:
                if isinstance(value, GPUArray):
                    _write_npy(entry, _name(path), value, False)
                else:
                    npy.write_array(entry, np.asanyarray(value), None, allow_pickle)


# -- functions -------------------------------------------------------------------------


def load(file, mmap_mode=None, allow_pickle=False, *, allocator=None, progress=None):
    """Load an array from a ``.npy`` file, or open a ``.npz`` file.

    Parameters
    ----------
    file : path or file object
        The file. The first bytes tell its format.
    mmap_mode : optional
        Not used; NumPy has this parameter.
    allow_pickle : bool, optional
        Not used: a GPUArray cannot hold Python objects.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    progress : bool, optional
        Whether to show a bar of the package tqdm. The default is to show it for 1 GiB
        or more if tqdm is installed and the standard error output is a terminal.

    Returns
    -------
    GPUArray or NpzFile
        The array, in the order of the axes in the file and in the byte order of the
        GPU; for a ``.npz`` file, a mapping of names to arrays.

    Raises
    ------
    EOFError
        If there is nothing to read.
    ValueError
        If the file has another format, ends too early, or holds Python objects.
    MemoryError
        If there is not enough memory on the device.
    OSError
        If the file cannot be opened or read, such as FileNotFoundError.
    zipfile.BadZipFile
        If the checksum of an array in a ``.npz`` file is wrong.

    See Also
    --------
    save : Write a ``.npy`` file.
    fromfile : Elements without a header.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> gpuarray.save(file, gpuarray.to_gpu(np.array([1, 2, 3])))
    >>> _ = file.seek(0)
    >>> gpuarray.load(file)
    array([1, 2, 3])
    """
    name = _name(file)
    with _opened(file, "rb") as opened:
        magic = opened.read(len(npy.MAGIC_PREFIX))
        opened.seek(-len(magic), 1)
        if magic == npy.MAGIC_PREFIX:
            return _read_npy(opened, name, allocator, progress)
    if magic[:2] == b"PK":
        return NpzFile._of(np.load(file), name, allocator, progress)
    if not magic:
        raise EOFError(f"{name} has no data left")
    raise ValueError(
        f"{name} is neither a .npy nor a .npz file; gpuarray.fromfile(file, dtype) "
        "reads elements without a header"
    )


def save(file, arr, allow_pickle=True, *, progress=None):
    """Write an array to a ``.npy`` file.

    Parameters
    ----------
    file : path or file object
        The file. A path without the extension ``.npy`` gets it.
    arr : GPUArray or array_like
        The array. ``numpy.save`` writes one that is no GPUArray.
    allow_pickle : bool, optional
        For ``numpy.save``: whether Python objects may be written.
    progress : bool, optional
        Whether to show a bar of the package tqdm. The default is to show it for 1 GiB
        or more if tqdm is installed and the standard error output is a terminal.

    Raises
    ------
    OSError
        If the file cannot be opened or written, such as FileNotFoundError.

    See Also
    --------
    load : The way back.
    savez : Several arrays.
    GPUArray.tofile : Elements without a header.

    Notes
    -----
    ``numpy.save`` calls this function for a GPUArray. An array with gaps is copied on
    the device first.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> gpuarray.save(file, gpuarray.to_gpu(np.array([1, 2, 3])))
    >>> _ = file.seek(0)
    >>> np.load(file)
    array([1, 2, 3])
    """
    file = _with_extension(file, ".npy")
    if not isinstance(arr, GPUArray):
        np.save(file, arr, allow_pickle)
        return
    with _opened(file, "wb") as opened:
        _write_npy(opened, _name(file), arr, progress)


def savez(file, *args, allow_pickle=True, **kwds):
    """Write several arrays to a ``.npz`` file, without compression.

    Parameters
    ----------
    file : path or file object
        The file. A path without the extension ``.npz`` gets it.
    *args : GPUArray or array_like
        Arrays with the names ``arr_0``, ``arr_1`` and so on.
    allow_pickle : bool, optional
        Whether arrays that are no GPUArrays may hold Python objects.
    **kwds : GPUArray or array_like
        Arrays by name.

    Raises
    ------
    ValueError
        If a name is used twice.
    OSError
        If the file cannot be opened or written, such as FileNotFoundError.

    See Also
    --------
    savez_compressed : With compression.
    load : The way back.

    Notes
    -----
    ``numpy.savez`` calls this function if one of the arrays is a GPUArray. The format
    needs a checksum, which the CPU computes.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> gpuarray.savez(file, x=gpuarray.to_gpu(np.array([1, 2])), y=np.eye(2))
    >>> _ = file.seek(0)
    >>> gpuarray.load(file)["x"]
    array([1, 2])
    """
    _savez(file, args, kwds, allow_pickle, False)


def savez_compressed(file, *args, allow_pickle=True, **kwds):
    """Write several arrays to a ``.npz`` file, with compression.

    Parameters
    ----------
    file : path or file object
        The file. A path without the extension ``.npz`` gets it.
    *args : GPUArray or array_like
        Arrays with the names ``arr_0``, ``arr_1`` and so on.
    allow_pickle : bool, optional
        Whether arrays that are no GPUArrays may hold Python objects.
    **kwds : GPUArray or array_like
        Arrays by name.

    Raises
    ------
    ValueError
        If a name is used twice.
    OSError
        If the file cannot be opened or written, such as FileNotFoundError.

    See Also
    --------
    savez : Without compression, which is faster.

    Notes
    -----
    ``numpy.savez_compressed`` calls this function if one of the arrays is a GPUArray.
    The CPU compresses the elements.
    """
    _savez(file, args, kwds, allow_pickle, True)


def fromfile(file, dtype, count=-1, sep="", offset=0, *, allocator=None, progress=None):
    """Load the elements of a file that has no header.

    Parameters
    ----------
    file : path or file object
        The file. A file object is read from its position on.
    dtype : dtype_like
        Dtype of the elements in the file.
    count : int, optional
        Number of elements. The default is all to the end of the file.
    sep : str, optional
        Text between the elements of a text file, which ``numpy.fromfile`` reads. The
        default is a binary file.
    offset : int, optional
        Number of bytes to leave out first.
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.
    progress : bool, optional
        Whether to show a bar of the package tqdm. The default is to show it for 1 GiB
        or more if tqdm is installed and the standard error output is a terminal.

    Returns
    -------
    GPUArray
        An array with one axis, in the byte order of the GPU.

    Raises
    ------
    TypeError
        If ``dtype`` is None.
    ValueError
        If the file has fewer elements, or if its end is not the end of an element.
    MemoryError
        If there is not enough memory on the device.
    OSError
        If the file cannot be opened or read, such as FileNotFoundError.

    See Also
    --------
    GPUArray.tofile : The way back.
    load : Files that tell shape and dtype.

    Examples
    --------
    >>> import io
    >>> gpuarray.fromfile(io.BytesIO(bytes([1, 0, 2, 0])), np.uint16)
    array([1, 2], dtype=uint16)
    """
    if dtype is None:
        raise TypeError("fromfile needs a dtype, which the file does not tell")
    if sep:
        return to_gpu(np.fromfile(file, dtype, count, sep, offset=offset), allocator)
    dtype, name = np.dtype(dtype), _name(file)
    if dtype.itemsize == 0:
        raise ValueError(f"the elements of dtype {dtype} have no bytes")
    with _opened(file, "rb") as opened:
        if offset:
            opened.seek(offset, 1)
        place = _place(opened)
        if count < 0:
            if place is None:
                data = opened.read()
                opened, found = io.BytesIO(data), len(data)
            else:
                found = place.rest()
            count, more = divmod(found, dtype.itemsize)
            if more:
                raise ValueError(
                    f"{name} has {found} bytes, not a multiple of the {dtype.itemsize} "
                    f"of an element of dtype {dtype}"
                )
        base, inner = dtype.subdtype or (dtype, ())
        settings = (count, *inner), base, "C", allocator, progress
        return _read_elements(opened, name, *settings)


def tofile(a, file, sep="", format="%s"):
    """Write the elements to a file in C order; called by ``GPUArray.tofile``."""
    if sep:
        a.get().tofile(file, sep, format)
        return
    if not a.flags.c_contiguous:
        a = c_copy(a)
    with _opened(file, "wb") as opened:
        _write_elements(opened, _name(file), a, None)
