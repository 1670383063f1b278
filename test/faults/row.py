"""What a row of the table is, and the world in which its entry point is called.

A row is one line for most entry points:

    row("Stream.synchronize", lambda w: w.stream.synchronize)

The function gets the world and returns the call to be swept, which takes no argument.
What it does before, nothing makes fail. It runs again for each attempt, so what the
call uses up must be made there and not taken from the world.
"""

import functools
from dataclasses import dataclass, field

import numpy as np

import pycuda.driver as drv

#: name -> Row, in the order of the files of rows.
ROWS = {}


@dataclass(frozen=True)
class Row:
    """One entry point.

    ``undo`` takes back what the call did to the world when it succeeded. ``also`` are
    names that the same code serves.

    What may be otherwise than the sweep demands has its reason here. ``absorbs`` maps
    driver calls, or pairs of call and code, to why their failure needs no exception, or
    has one of another kind. ``changes`` maps driver calls, or "an allocation", to why
    something has changed after their failure. ``no_allocations`` says why no allocation
    of Python's is made to fail.
    """

    name: str
    make: object
    undo: object = None
    also: tuple = ()
    absorbs: dict = field(default_factory=dict)
    changes: dict = field(default_factory=dict)
    no_allocations: str = ""


def row(name, make, *, also=(), **more):
    assert name not in ROWS, f"two rows for {name}"
    ROWS[name] = Row(name, make, also=tuple(also), **more)


def calls(name, function, *needed, **more):
    """A row whose function is given things of the world, by their names.

    Instead of a name a function may stand, which makes the thing for each attempt.
    """

    def make(w):
        things = [each(w) if callable(each) else getattr(w, each) for each in needed]
        return lambda: function(*things)

    row(name, make, **more)


def refused(kind, function, *arguments):
    """Call what must raise this kind of exception."""
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
    """A context, current in this thread, and in it what calls need, made when asked."""

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
        """A context of the second device, not current."""
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
        """The kernel with its parameters and block set the old way."""
        function = self.module.get_function("add")
        function.param_set(self.memory, np.int32(1))
        function.set_block_shape(8, 1, 1)
        return function
