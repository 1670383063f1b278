"""Tools around the driver: default contexts, per-context caches, occupancy, C types.

The memory pools are defined in C and have their public names here.
``DebugMemoryPool`` logs which lines of a program allocate from it.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, SupportsIndex, TextIO, TypeVar, cast

import pycuda.driver as _cuda
from pycuda._context_cache import (
    clear_context_caches as clear_context_caches,
    context_dependent_memoize as context_dependent_memoize,
    context_dependent_memoized_functions as context_dependent_memoized_functions,
)
from pycuda._driver import (
    _context_facts,
    _lend_to_threads,
    _reset_primary_context,
    _set_default_allocator,
    _setting,
    _working_context,
)
from pycuda._public import (
    names_at_first_use as _names_at_first_use,
    publish as _publish,
)
from pycuda.driver import (
    DeviceMemoryPool as DeviceMemoryPool,
    MemoryPool as MemoryPool,
    PageLockedAllocator as PageLockedAllocator,
    PageLockedMemoryPool as PageLockedMemoryPool,
    PooledDeviceAllocation as PooledDeviceAllocation,
    PooledHostAllocation as PooledHostAllocation,
    bitlog2 as bitlog2,
)

if TYPE_CHECKING:
    from pycuda._array.kernels.c_types import (
        Argument as Argument,
        ScalarArg as ScalarArg,
        VectorArg as VectorArg,
        base_dtype_to_ctype as base_dtype_to_ctype,
        dtype_to_ctype as dtype_to_ctype,
        get_arg_type as get_arg_type,
        parse_c_arg as parse_c_arg,
    )
    from pycuda._array.kernels.records import (
        dtype_from_struct as dtype_from_struct,
        struct_from_dtype as struct_from_dtype,
    )
    from pycuda._driver import Device
    from pycuda._measure import Measurement as Measurement, measure as measure
    from pycuda.compyte.dtypes import (
        get_or_register_dtype as get_or_register_dtype,
        register_dtype as register_dtype,
    )

    # names of pycuda.tools: written by tools/make_stub.py
    # fmt: off
    __all__ = [
        "Argument", "DebugMemoryPool", "DeviceData", "DeviceMemoryPool", "Measurement",
        "MemoryPool", "OccupancyRecord", "PageLockedAllocator", "PageLockedMemoryPool",
        "PooledDeviceAllocation", "PooledHostAllocation", "ScalarArg", "VectorArg",
        "base_dtype_to_ctype", "bitlog2", "clear_context_caches",
        "context_dependent_memoize", "context_dependent_memoized_functions",
        "device_for_rank", "dtype_from_struct", "dtype_to_ctype", "get_arg_type",
        "get_default_device", "get_or_register_dtype", "init_cuda_context_fixture",
        "make_default_context", "mark_cuda_test", "measure", "parse_c_arg",
        "recover_context", "register_dtype", "set_default_allocator",
        "struct_from_dtype",
    ]
    # fmt: on
    # names of pycuda.tools: end
else:
    __getattr__ = _names_at_first_use(
        globals(),
        {
            "pycuda._array.kernels.c_types": (
                "Argument ScalarArg VectorArg base_dtype_to_ctype dtype_to_ctype "
                "get_arg_type parse_c_arg"
            ),
            "pycuda._array.kernels.records": "dtype_from_struct struct_from_dtype",
            "pycuda._measure": "Measurement measure",
            "pycuda.compyte.dtypes": (
                "get_or_register_dtype register_dtype _fill_dtype_registry"
            ),
        },
    )

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Default devices and contexts


def _chosen_device() -> tuple[int, str] | tuple[None, None]:
    """Return (ordinal, source) of the user's choice, (None, None) if there is none.

    The choice is the variable CUDA_DEVICE, else a file in the home directory.
    """
    text, source = os.environ.get("CUDA_DEVICE"), "the environment variable CUDA_DEVICE"
    if text is None:
        home = os.path.expanduser("~")
        for name in (".cuda-device", ".cuda_device"):
            path = os.path.join(home, name)
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    text, source = file.read(), f"the file {path}"
                break
            except OSError:
                continue  # usually there is no such file
        else:
            return None, None
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or abs(number) >= 1 << 31:  # larger than the driver's int
        raise ValueError(
            f"{source} must hold the number of a device, such as 0, not "
            f"{text.strip()!r}"
        )
    return number, source


def make_default_context(
    ctx_maker: Callable[[_cuda.Device], _cuda.Context] | None = None,
) -> _cuda.Context:
    """Make a context on the device of the user's choice, else on the first possible.

    The choice is read from the environment variable CUDA_DEVICE, then from the file
    ``.cuda-device`` or ``.cuda_device`` in the home directory.

    Parameters
    ----------
    ctx_maker : callable, optional
        Function of a device that makes the context. The default is
        ``device.make_context()``.

    Returns
    -------
    Context
        The new context, which is current.

    Raises
    ------
    RuntimeError
        If no context can be made on any device. If the user's choice fails, it is the
        driver's RuntimeError.
    TypeError
        If ``ctx_maker`` is not callable.
    ValueError
        If the choice is not a number.

    Notes
    -----
    The driver must be initialised. The program must pop the context before it ends.

    Examples
    --------
    >>> from pycuda.tools import make_default_context
    >>> context = make_default_context()
    >>> context.pop()
    """
    if ctx_maker is None:

        def make(device: _cuda.Device) -> _cuda.Context:
            return device.make_context()

        ctx_maker = make
    elif not callable(ctx_maker):
        raise TypeError(
            f"ctx_maker must be a callable or None, not {type(ctx_maker).__name__}"
        )

    number, source = _chosen_device()
    if number is not None:
        try:
            return ctx_maker(_cuda.Device(number))
        except _cuda.Error as error:
            # The driver's RuntimeError is a builtin RuntimeError too. Programs with an
            # explicit choice of the device expect an error of the driver.
            raise _cuda.RuntimeError(
                f"no context could be made on device {number}, which {source} asks "
                f"for: {error}"
            ) from error

    count = _cuda.Device.count()
    if count == 0:
        raise RuntimeError("no context could be made: there is no CUDA device")
    failures = []
    for number in range(count):
        try:
            return ctx_maker(_cuda.Device(number))
        except _cuda.Error as error:
            failures.append(f"device {number}: {error}")
    raise RuntimeError("no context could be made on any device: " + "; ".join(failures))


#: Variables in which launchers of parallel programs store the rank on the machine.
_LOCAL_RANK_VARIABLES = (
    "OMPI_COMM_WORLD_LOCAL_RANK",  # Open MPI
    "MPI_LOCALRANKID",  # MPICH, Intel MPI
    "MV2_COMM_WORLD_LOCAL_RANK",  # MVAPICH2
    "PALS_LOCAL_RANKID",  # Cray's launcher
    "JSM_NAMESPACE_LOCAL_RANK",  # IBM's jsrun
    "SLURM_LOCALID",  # srun
    "LOCAL_RANK",  # torchrun
)


def _local_rank_of(comm: Any) -> int:
    """Return the rank of this process among those of ``comm`` on its machine."""
    for name in ("Split_type", "Get_rank"):
        if not hasattr(comm, name):
            raise TypeError(
                f"comm must be a communicator of mpi4py, not a {type(comm).__name__}, "
                f"which has no {name}"
            )
    from mpi4py import MPI

    local = comm.Split_type(MPI.COMM_TYPE_SHARED, key=comm.Get_rank())
    try:
        return int(local.Get_rank())
    finally:
        local.Free()


def _local_rank_of_environment() -> int:
    for name in _LOCAL_RANK_VARIABLES:
        text = os.environ.get(name)
        if text is None:
            continue
        try:
            rank = int(text)
        except ValueError:
            rank = -1
        if rank < 0:
            raise ValueError(
                f"the environment variable {name} must hold the number of a process on "
                f"its machine, such as 0, not {text!r}"
            )
        return rank
    raise RuntimeError(
        "the rank of this process on its machine is unknown: start the program with "
        "mpiexec, or pass a communicator; none of these variables is set: "
        + ", ".join(_LOCAL_RANK_VARIABLES)
    )


def device_for_rank(comm: Any = None) -> _cuda.Device:
    """Return the device for this process of a parallel program.

    The process with rank r on its machine gets device r modulo the number of devices
    that it sees.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        Communicator. All its processes must call this function, which splits the
        communicator by shared memory to find the rank. The default is to read the rank
        from a variable of the launcher: Open MPI, MPICH, Intel MPI, MVAPICH2, Cray,
        jsrun, srun and torchrun are known.

    Returns
    -------
    Device
        The device.

    Raises
    ------
    RuntimeError
        If the rank is unknown or if there is no device.
    TypeError
        If ``comm`` is not a communicator.
    ValueError
        If a variable holds no rank.

    Notes
    -----
    The call initialises the driver, but makes no context.
    """
    rank = _local_rank_of_environment() if comm is None else _local_rank_of(comm)
    _cuda.init()
    count = _cuda.Device.count()
    if count == 0:
        raise RuntimeError("there is no CUDA device for this process")
    return _cuda.Device(rank % count)


def get_default_device(default: int = 0) -> _cuda.Device:
    """Return the device of the user's choice, else device ``default``; deprecated.

    Parameters
    ----------
    default : int, optional
        Number of the device if the user has chosen none.

    Returns
    -------
    Device
        The device.

    Raises
    ------
    ValueError
        If the choice is not a number.

    See Also
    --------
    make_default_context : Also look for a device that is free.
    """
    import warnings

    warnings.warn(
        "get_default_device is deprecated; make_default_context also looks for a "
        "device that is free",
        DeprecationWarning,
        stacklevel=2,
    )
    number, _ = _chosen_device()
    return _cuda.Device(default if number is None else number)


# Contexts that an import makes


def _retain_primary_context(dev: _cuda.Device) -> _cuda.Context:
    """Retain the primary context of the device and push it."""
    context = dev.retain_primary_context()
    context.push()
    return context


def _make_automatic_context(kind: str | None = None) -> _cuda.Context:
    """Make the context of an import, make it current and lend it to other threads.

    ``kind`` is "primary" or "own"; the default is the value of PYCUDA_AUTOINIT. A
    thread without a context works in it unless PYCUDA_AUTOINIT_THREADS is 0.
    """
    if kind is None:
        kind = _setting("PYCUDA_AUTOINIT")
    lend = _setting("PYCUDA_AUTOINIT_THREADS")
    _cuda.init()
    maker = _retain_primary_context if kind == "primary" else None
    context = make_default_context(maker)
    _lend_to_threads(context if lend else None)
    return context


def _leave(context: _cuda.Context | None) -> None:
    """Pop an automatic context, if it is current, and clear its caches.

    This runs when the interpreter exits. It is silent if a fault has broken the
    context, or if the program has popped or dropped it.
    """
    _lend_to_threads(None)
    try:
        if context is not None and _cuda.Context.get_current() == context:
            context.pop()
    except _cuda.Error:
        pass  # the context is broken: there is nothing to release
    clear_context_caches()


# Contexts after a fault

#: Contexts in which a kernel runs that may never end. They end with the process.
_left_contexts: list[_cuda.Context] = []


def _works(context: _cuda.Context) -> bool:
    """Wait for the context. Return whether no fault has broken it."""
    try:
        with context:
            context.synchronize()
    except _cuda.Error as error:
        if "launches" not in vars(error):  # no error that loses the context
            raise
        return False
    return True


def _replace_automatic(old: _cuda.Context, new: _cuda.Context) -> None:
    """Make the new context that of the modules that made the old one."""
    for name in ("pycuda.autoinit", "pycuda.autoprimaryctx"):
        module = sys.modules.get(name)
        if module is not None and getattr(module, "context", None) is old:
            module.context = new  # type: ignore[attr-defined]
            if _setting("PYCUDA_AUTOINIT_THREADS"):
                _lend_to_threads(new)


def recover_context() -> _cuda.Context:
    """Make a new context in place of the current one, which is lost.

    A kernel that fails, for example by an illegal address, breaks its context: every
    later call in it fails, too. This function ends that context and makes a new one of
    the same kind, so that a notebook goes on without a restart. If a kernel still runs
    after Ctrl-C has ended a wait for it, the old context stays beside a new one.

    Returns
    -------
    Context
        The new context, which is current; the old one if it works. It is also the new
        ``pycuda.autoinit.context`` if that was broken.

    Raises
    ------
    RuntimeError
        If this thread has no context, if another library has made it, or if the driver
        makes no new one. Then only a new process helps.

    See Also
    --------
    make_default_context : Make a context.
    pycuda.driver.Error.launches : The launches that a fault may come from.

    Notes
    -----
    Arrays, modules, streams and other objects of the old context are lost: their use
    raises an error, so make them again. If the default allocator was set, it becomes
    the usual one. A primary context is reset, also for the other libraries that use it.

    No function of the driver stops a kernel, and the driver does not end a context in
    which one runs. So a kernel that never ends keeps its part of the device and its
    memory until the process ends, and slows down the new context.

    Examples
    --------
    >>> from pycuda.tools import recover_context
    >>> recover_context() == drv.Context.get_current()
    True
    """
    old = _working_context()
    if old is None:
        raise RuntimeError("this thread has no context; import pycuda.autoinit")
    number, kind, flags, works_on, same = _context_facts(old)
    if kind == "foreign":
        raise RuntimeError("another library has made the context, and must end it")
    if works_on:
        _left_contexts.append(old)
    elif _works(old):
        return old
    clear_context_caches()
    _set_default_allocator(None)
    try:
        if not works_on:
            for context in same:
                context.detach()
            if kind == "primary":
                _reset_primary_context(number)
        device = _cuda.Device(number)
        if kind == "primary" and not works_on:
            new = _retain_primary_context(device)
        else:
            new = device.make_context(flags)
    except _cuda.Error as error:
        raise RuntimeError(
            "the driver makes no new context in this process; restart Python, or the "
            "notebook's kernel"
        ) from error
    _replace_automatic(old, new)
    return new


# Memory of arrays


def set_default_allocator(allocator: Any = None) -> None:
    """Set the allocator of arrays that are made without one.

    Parameters
    ----------
    allocator : callable or None, optional
        Function of a number of bytes that returns device memory. The default is the
        default allocator.

    Notes
    -----
    Memory of a pool belongs to the pool's context. So a program with several contexts
    must pass an allocator to each array instead.

    Examples
    --------
    >>> from pycuda.tools import DeviceMemoryPool, set_default_allocator
    >>> pool = DeviceMemoryPool()
    >>> set_default_allocator(pool.allocate)
    >>> x = gpuarray.zeros(1000, np.float32)
    >>> pool.active_blocks
    1
    >>> set_default_allocator(None)
    """
    _set_default_allocator(allocator)


# Tests


def _take_stack() -> list[_cuda.Context]:
    """Take all contexts off this thread's stack; return them, the top first."""
    taken = []
    with contextlib.suppress(_cuda.Error):  # a broken context stays on the stack
        while (context := _cuda.Context.get_current()) is not None:
            _cuda.Context.pop()
            taken.append(context)
    return taken


def _put_stack(contexts: list[_cuda.Context]) -> None:
    """Push the contexts of ``_take_stack`` again, except those that have ended."""
    for context in reversed(contexts):
        with contextlib.suppress(_cuda.Error):
            context.push()


def init_cuda_context_fixture() -> Generator[None, None, None]:
    """Give a test a new default context: ``yield from`` this in a fixture.

    The test may push, pop and detach contexts. Afterwards the thread's stack has the
    same contexts as before, without those that the test has ended.

    Yields
    ------
    None
        While the context is current.

    See Also
    --------
    mark_cuda_test : The same as a decorator.
    """
    _cuda.init()
    outer = _take_stack()
    _put_stack(outer)
    context = make_default_context()
    try:
        device = context.get_device()
        assert isinstance(device.name(), str)
        assert isinstance(device.compute_capability(), tuple)
        assert isinstance(device.get_attributes(), dict)
        yield
    finally:
        _take_stack()
        _put_stack(outer)
        clear_context_caches()
        del context
        gc.collect()


def mark_cuda_test(inner_f: _Function) -> _Function:
    """Run a test function in a new default context.

    Parameters
    ----------
    inner_f : callable
        Function of a test.

    Returns
    -------
    callable
        Function that runs ``inner_f`` in a new context.

    See Also
    --------
    init_cuda_context_fixture : How the stack of contexts is restored.
    """

    @functools.wraps(inner_f)
    def test(*args: Any, **kwargs: Any) -> Any:
        fixture = init_cuda_context_fixture()
        next(fixture)
        try:
            return inner_f(*args, **kwargs)
        finally:
            fixture.close()

    return cast(_Function, test)


# Memory pools


class DebugMemoryPool(DeviceMemoryPool):
    """Pool that logs each allocation and the blocks in use.

    With every allocation it writes the place in the program, the decrease of free
    memory since the last allocation, and the number of blocks that each place has in
    use.

    Parameters
    ----------
    interactive : bool, optional
        If true, wait for the Enter key after each allocation.
    logfile : file, optional
        Text file to write to. The default is standard output.

    Attributes
    ----------
    last_free : int
        The free memory of the device at the last allocation, in bytes.
    interactive : bool
        Whether the pool waits for the Enter key after each allocation.
    logfile : file object
        The file into which the pool writes.
    blocks : mapping
        From weak references to the allocations in use to pairs: the text of the stack
        and the number of bytes.
    stacktrace_mnemonics : dict
        From stacks to their short names.

    See Also
    --------
    DeviceMemoryPool : A pool without a log.
    """

    def __init__(self, interactive: bool = True, logfile: TextIO | None = None) -> None:
        super().__init__()
        self.last_free: int = _cuda.mem_get_info()[0]
        self.interactive: bool = interactive
        self.logfile: TextIO = sys.stdout if logfile is None else logfile
        self.blocks: weakref.WeakKeyDictionary[
            PooledDeviceAllocation, tuple[str, int]
        ] = weakref.WeakKeyDictionary()
        self.stacktrace_mnemonics: dict[str, str] = {}

    def allocate(self, size: SupportsIndex) -> PooledDeviceAllocation:
        """Allocate and log the allocation.

        Parameters
        ----------
        size : int
            Number of bytes.

        Returns
        -------
        PooledDeviceAllocation
            The memory.

        Raises
        ------
        MemoryError
            If the device has not enough free memory.
        """
        import traceback  # slow to import

        stack = "".join(traceback.format_stack(sys._getframe(1)))
        free, total = _cuda.mem_get_info()
        self.logfile.write(
            f"{size} bytes wanted; {free} of {total} are free, {self.last_free - free} "
            f"fewer than last time; the pool manages {self.managed_bytes}\n"
        )
        self.last_free = free
        block = super().allocate(size)
        self.blocks[block] = stack, int(size)
        in_use = Counter(self.blocks.values())
        for (place, bytes_), count in sorted(in_use.items(), key=_bytes_in_use):
            self.logfile.write(f"  {count:5d} x ")
            self.describe(place, bytes_)
        self.logfile.flush()
        if self.interactive:
            input("[Enter]")
        return block

    def describe(self, stack: str, size: int) -> None:
        """Write a line about an allocation.

        A new stack is written in full, once.

        Parameters
        ----------
        stack : str
            Text of the stack.
        size : int
            Number of bytes.
        """
        mnemonic = self.stacktrace_mnemonics.get(stack)
        self.logfile.write(f"{size} bytes, ")
        if mnemonic is None:
            mnemonic = f"place {len(self.stacktrace_mnemonics) + 1}"
            self.stacktrace_mnemonics[stack] = mnemonic
            self.logfile.write(f"{mnemonic}, which is\n{stack}")
        else:
            self.logfile.write(f"{mnemonic}\n")


def _bytes_in_use(item):
    (place, bytes_), count = item
    return bytes_ * count, place


# Occupancy


def _exact_div(dividend, divisor):
    quotient, remainder = divmod(dividend, divisor)
    if remainder:
        raise AssertionError(f"{dividend} is not a multiple of {divisor}")
    return quotient


def _int_ceiling(value, multiple_of=1):
    """Round up to a multiple."""
    return int(-(-value // multiple_of) * multiple_of)


def _int_floor(value, multiple_of=1):
    """Round down to a multiple."""
    return int(value // multiple_of * multiple_of)


def _whole(name, value, least):
    """Return an argument as an int; ValueError unless it is whole and at least so."""
    if not value >= least or value % 1 != 0:
        raise ValueError(f"{name} must be a whole number from {least} on, not {value}")
    return int(value)


class DeviceData:
    """Figures of a device for occupancy.

    Parameters
    ----------
    dev : Device, optional
        The device. The default is that of the current context.

    Attributes
    ----------
    max_threads : int
        The largest number of threads of a block.
    warp_size : int
        The number of threads of a warp.
    warps_per_mp : int
        The largest number of warps on a multiprocessor at one time.
    thread_blocks_per_mp : int
        The largest number of blocks on a multiprocessor at one time.
    registers : int
        The number of 32-bit registers that a block can use.
    registers_per_mp : int
        The number of 32-bit registers of a multiprocessor.
    shared_memory : int
        The default limit of shared memory for a block, in bytes.
    shared_memory_per_mp : int
        Shared memory of a multiprocessor, in bytes.
    shared_memory_reserved : int
        Shared memory that the system reserves for each block, in bytes.
    register_allocation_unit : str
        ``"warp"`` or ``"block"``: the unit for which registers are allocated.
    register_granularity : int
        The number of registers of a unit is rounded up to a multiple of this.
    smem_granularity : int
        The number of banks of shared memory.
    smem_alloc_granularity : int
        The shared memory of a block is rounded up to a multiple of this many bytes.

    Raises
    ------
    TypeError
        If ``dev`` is not a device.

    See Also
    --------
    OccupancyRecord : The occupancy of a kernel.

    Examples
    --------
    >>> from pycuda.tools import DeviceData
    >>> DeviceData().warp_size
    32
    """

    def __init__(self, dev: Device | None = None) -> None:
        if dev is None:
            dev = _cuda.Context.get_device()
        elif not hasattr(dev, "compute_capability"):
            raise TypeError(f"dev must be a Device or None, not {type(dev).__name__}")
        capability = dev.compute_capability()

        def attribute(name, otherwise):
            try:
                return getattr(dev, name)
            except (AttributeError, _cuda.Error):
                return otherwise  # a driver older than the attribute

        self.max_threads: int = dev.max_threads_per_block
        self.warp_size: int = dev.warp_size
        self.registers: int = dev.max_registers_per_block
        self.shared_memory: int = dev.max_shared_memory_per_block

        threads = attribute("max_threads_per_multiprocessor", 64 * self.warp_size)
        self.warps_per_mp: int = threads // self.warp_size
        blocks = 32 if capability >= (5, 0) else 16 if capability >= (3, 0) else 8
        self.thread_blocks_per_mp: int = attribute(
            "max_blocks_per_multiprocessor", blocks
        )
        self.registers_per_mp: int = attribute(
            "max_registers_per_multiprocessor", self.registers
        )
        self.shared_memory_per_mp: int = attribute(
            "max_shared_memory_per_multiprocessor", self.shared_memory
        )
        # The system reserves this part of each block's shared memory.
        self.shared_memory_reserved: int = attribute(
            "reserved_shared_memory_per_block", 0
        )

        # Allocation units of the programming guide; the driver has no attributes.
        self.register_allocation_unit: str = "warp" if capability >= (2, 0) else "block"
        self.register_granularity: int = 256 if capability >= (3, 0) else 64
        self.smem_granularity: int = 32 if capability >= (2, 0) else 16
        self.smem_alloc_granularity: int
        if capability >= (8, 0) or (2, 0) <= capability < (3, 0):
            self.smem_alloc_granularity = 128
        else:
            self.smem_alloc_granularity = 256 if capability >= (3, 0) else 512

    def align(self, bytes: int, word_size: int = 4) -> int:
        """Round a row's length in bytes up to the possible start of the next row.

        Parameters
        ----------
        bytes : int
            Length of the row, in bytes.
        word_size : int, optional
            Bytes of a word: 4, 8 or 16.

        Returns
        -------
        int
            The length, in bytes.

        Examples
        --------
        >>> from pycuda.tools import DeviceData
        >>> DeviceData().align(100)
        128
        """
        return _int_ceiling(bytes, self.align_bytes(word_size))

    def align_dtype(self, elements: int, dtype_size: int) -> int:
        """Round a row's length in elements up to the possible start of the next row.

        Parameters
        ----------
        elements : int
            Length of the row, in elements.
        dtype_size : int
            Bytes of an element: 4, 8 or 16.

        Returns
        -------
        int
            The length, in elements.
        """
        return _int_ceiling(elements, self.align_words(dtype_size))

    def align_words(self, word_size: int) -> int:
        """Return the alignment of coalesced access in words.

        Parameters
        ----------
        word_size : int
            Bytes of a word: 4, 8 or 16.

        Returns
        -------
        int
            The alignment, in words.
        """
        return _exact_div(self.align_bytes(word_size), word_size)

    def align_bytes(self, word_size: int = 4) -> int:
        """Return the alignment of coalesced access in bytes.

        Parameters
        ----------
        word_size : int, optional
            Bytes of a word: 4, 8 or 16.

        Returns
        -------
        int
            The alignment, in bytes.

        Raises
        ------
        ValueError
            If no alignment is known for such words.
        """
        if word_size == 4:
            return 64
        if word_size in (8, 16):
            return 128
        raise ValueError(f"no alignment is known for words of {word_size} bytes")

    def coalesce(self, thread_count: int) -> int:
        """Round a number of threads up to a half warp.

        Parameters
        ----------
        thread_count : int
            Number of threads.

        Returns
        -------
        int
            Multiple of 16.
        """
        return _int_ceiling(thread_count, 16)

    @staticmethod
    def make_valid_tex_channel_count(size: int) -> int:
        """Return the number of channels of a texture that holds ``size`` of them.

        Parameters
        ----------
        size : int
            Number of channels, at most 4.

        Returns
        -------
        int
            A number of 1, 2 or 4.

        Raises
        ------
        ValueError
            If there are more than 4 channels.
        """
        for valid in (1, 2, 4):
            if size <= valid:
                return valid
        raise ValueError(f"a texture has at most 4 channels, not {size}")


class OccupancyRecord:
    """Part of a multiprocessor that a kernel can use.

    Parameters
    ----------
    devdata : DeviceData
        Figures of the device.
    threads : int
        Threads of a block.
    shared_mem : int, optional
        Bytes of shared memory of a block. 0 ignores shared memory.
    registers : int, optional
        Registers of a thread. 0 ignores registers.

    Attributes
    ----------
    tb_per_mp_limits : list of tuple
        Pairs of a number of blocks and what limits it: ``"device"``, ``"warps"``,
        ``"regs"`` or ``"smem"``.
    tb_per_mp : int
        The number of blocks that a multiprocessor holds, the least of these limits.
    limited_by : str
        The limiting resource.
    warps_per_mp : int
        The number of warps that a multiprocessor holds.
    occupancy : float
        ``warps_per_mp`` divided by the device's limit, from 0 to 1.

    Raises
    ------
    ValueError
        If no block on the device can have these numbers.

    See Also
    --------
    DeviceData : The figures of a device.

    Examples
    --------
    >>> from pycuda.tools import DeviceData, OccupancyRecord
    >>> record = OccupancyRecord(DeviceData(), threads=1024, registers=32)
    >>> 0 < record.occupancy <= 1
    True
    """

    def __init__(
        self, devdata: DeviceData, threads: int, shared_mem: int = 0, registers: int = 0
    ) -> None:
        threads = _whole("threads", threads, 1)
        shared_mem = _whole("shared_mem", shared_mem, 0)
        registers = _whole("registers", registers, 0)
        if threads > devdata.max_threads:
            raise ValueError(
                f"{threads} threads in a block, the device has {devdata.max_threads}"
            )
        if shared_mem > devdata.shared_memory:
            raise ValueError(
                f"{shared_mem} bytes of shared memory in a block, the device has "
                f"{devdata.shared_memory}"
            )
        warps = _int_ceiling(threads, devdata.warp_size) // devdata.warp_size
        limits = [
            (devdata.thread_blocks_per_mp, "device"),
            (devdata.warps_per_mp // warps, "warps"),
        ]
        if registers > 0:
            used = self._registers_of_block(devdata, warps, registers)
            if used > devdata.registers:
                raise ValueError(
                    f"{used} registers in a block ({registers} a thread), the device "
                    f"has {devdata.registers}"
                )
            limits.append((devdata.registers_per_mp // used, "regs"))
        if shared_mem > 0:
            used = _int_ceiling(
                shared_mem + devdata.shared_memory_reserved,
                devdata.smem_alloc_granularity,
            )
            limits.append((devdata.shared_memory_per_mp // used, "smem"))

        self.tb_per_mp_limits: list[tuple[int, str]] = limits
        self.tb_per_mp: int
        self.limited_by: str
        self.tb_per_mp, self.limited_by = min(limits)
        self.warps_per_mp: int = self.tb_per_mp * warps
        self.occupancy: float = self.warps_per_mp / devdata.warps_per_mp

    @staticmethod
    def _registers_of_block(devdata, warps, registers):
        granularity = devdata.register_granularity
        of_warp = registers * devdata.warp_size
        if devdata.register_allocation_unit == "warp":
            return warps * _int_ceiling(of_warp, granularity)
        return _int_ceiling(warps * of_warp, granularity)


_publish(globals())
