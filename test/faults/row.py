"""The rows of the table, and the world in which their entry points are called.

A row is one line for most entry points:

    row("Stream.synchronize", lambda w: w.stream.synchronize)

The function gets the world and returns the call to be swept, which takes no arguments.
Nothing fails in the function itself. It runs again for each attempt, so it must make
every object that the call consumes, and not take that object from the world.
"""

import functools
from dataclasses import dataclass, field

import numpy as np

import pycuda.driver as drv

#: name -> Row, in the order of the modules that rows.py imports.
ROWS = {}


@dataclass(frozen=True)
class Row:
    """One entry point.

    ``undo`` reverts the change that a successful call made to the world. ``also`` has
    other names for the same code.

    The other fields are exceptions from the rules of the sweep, with their reasons.
    ``absorbs`` maps driver calls, or pairs of call and code, to the reason why their
    failure raises nothing, or another class. ``changes`` maps driver calls, or "an
    allocation", to the reason why their failure leaves a change. ``no_allocations`` is
    the reason why the row is not swept with failing allocations. ``own_allocations`` is
    the reason why only those fail that the extension module asks for.
    """

    name: str
    make: object
    undo: object = None
    also: tuple = ()
    absorbs: dict = field(default_factory=dict)
    changes: dict = field(default_factory=dict)
    no_allocations: str = ""
    own_allocations: str = ""


def row(name, make, *, also=(), **more):
    assert name not in ROWS, f"two rows for {name}"
    ROWS[name] = Row(name, make, also=tuple(also), **more)


def calls(name, function, *needed, **more):
    """Add a row whose function gets objects of the world, by their names.

    A function in place of a name makes the object for each attempt.
    """

    def make(w):
        things = [each(w) if callable(each) else getattr(w, each) for each in needed]
        return lambda: function(*things)

    row(name, make, **more)


def refused(kind, function, *arguments):
    """Call a function, which must raise this class of exception."""
    try:
        function(*arguments)
    except kind:
        return
    raise AssertionError(f"{function} did not raise {kind.__name__}")


PTX = b"""
.version 6.4
.target sm_50
.address_size 64
.global .align 4 .b8 table[64];
.visible .entry add(.param .u64 p, .param .u32 n) {
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r3, [%rd4]; add.u32 %r3, %r3, %r1; st.global.u32 [%rd4], %r3;
    ret;
}
\0"""

SIZE = 256


class World:
    """A current context, and the objects that calls need, made at first use."""

    def __init__(self):
        self.device = drv.Device(0)
        self.other_device = drv.Device(1)
        self.context = self.device.make_context()
        self.host = np.arange(SIZE // 4, dtype=np.int32)

    def close(self):
        for name in list(vars(self)):
            if name != "context":
                delattr(self, name)
        if self.context is not None:
            drv.Context.pop()
            self.context.detach()
        self.context = None

    @functools.cached_property
    def other_context(self):
        """A context of the second device. It is not current."""
        context = self.other_device.make_context()
        drv.Context.pop()
        return context

    @functools.cached_property
    def stream(self):
        return drv.Stream()

    @functools.cached_property
    def event(self):
        return drv.Event().record().synchronize()

    @functools.cached_property
    def memory(self):
        return drv.to_device(self.host)

    @functools.cached_property
    def memory2(self):
        return drv.to_device(self.host)

    @functools.cached_property
    def pinned(self):
        """A page-locked array."""
        array = drv.pagelocked_empty(SIZE // 4, np.int32)
        array[:] = 0
        return array

    @functools.cached_property
    def module(self):
        return drv.module_from_buffer(PTX)

    @functools.cached_property
    def function(self):
        """add(p, n): adds n to each word of p."""
        return self.module.get_function("add")

    @functools.cached_property
    def prepared(self):
        return self.module.get_function("add").prepare("Pi")

    @functools.cached_property
    def old_style(self):
        """The kernel with parameters and block set by the old functions."""
        function = self.module.get_function("add")
        function.param_set(self.memory, np.int32(1))
        function.set_block_shape(8, 1, 1)
        return function
