"""cp.async with a predicate."""

from . import values
from .case import Kernel

BLOCK = 64


def copy(size):
    """The predicate is true for odd threads, which get zeros."""
    mode = "cg" if size == 16 else "ca"
    kernel = Kernel(f"cp.async.{mode} {size} with a predicate")
    words = values.random_bits(values.source("cp.async predicate"), 32, 4 * BLOCK)
    base = kernel.input(words, "in")
    kernel.threads = BLOCK
    kernel.variables += [f".shared .align 16 .b8 room[{BLOCK * 16}];"]
    near, bit = kernel.regs("b32", 2)
    skip, from_ = kernel.reg("pred"), kernel.at(base, 16)
    kernel(f"""mov.u32 {near}, room;
               mad.lo.u32 {near}, {kernel.tid}, 16, {near};
               st.shared.v2.b64 [{near}], {{-1, -1}};
               and.b32 {bit}, {kernel.tid}, 1;
               setp.ne.u32 {skip}, {bit}, 0;
               cp.async.{mode}.shared.global [{near}], [{from_}], {size}, {skip};
               cp.async.wait_all;""")
    for at in range(0, 16, 4):
        got = kernel.reg("b32")
        kernel(f"ld.shared.b32 {got}, [{near}+{at}];")
        kernel.keep("u32", got, f"byte {at}", BLOCK)
    return kernel.case("asynchronous", (), threads=BLOCK, target=90)


def cases():
    for size in (4, 8, 16):
        yield copy(size)
