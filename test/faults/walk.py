"""Find the entry points of pycuda.driver and pycuda.compiler: all that can be called.

Properties count, and special methods that a program calls by syntax. Enumerations and
exceptions do not count, because they are pure Python and call no driver.
"""

import types

import pycuda.compiler
import pycuda.driver as drv

SPECIAL = (
    *("__call__", "__enter__", "__exit__", "__int__", "__index__"),
    *("__len__", "__getitem__", "__iter__"),
    *("__dlpack__", "__dlpack_device__", "__cuda_array_interface__"),
)
FUNCTIONS = (types.BuiltinFunctionType, types.FunctionType)
PROPERTIES = (property, types.GetSetDescriptorType, types.MemberDescriptorType)


def is_wanted(owner):
    if not isinstance(owner, type):
        return isinstance(owner, FUNCTIONS)
    if issubclass(owner, int | BaseException):
        return False
    return any(next(members(base), None) for base in owner.__mro__[:-1])


def members(owner):
    """Yield the public methods and properties that a class itself defines."""
    for name, value in vars(owner).items():
        public = name in SPECIAL or not name.startswith("_")
        called = callable(getattr(owner, name)) or isinstance(value, PROPERTIES)
        if public and called:
            yield name


def of_module(module, prefix="", package="pycuda"):
    """Yield the names of a module's entry points. A class is its constructor."""
    for name, owner in vars(module).items():
        home = getattr(owner, "__module__", "") or ""
        if name.startswith("_") or home.partition(".")[0] != package:
            continue
        if not is_wanted(owner):
            continue
        if not isinstance(owner, type):
            yield prefix + name
            continue
        if owner.__name__ != name:  # another name of a listed class
            continue
        if owner.__new__ is not object.__new__ or owner.__init__ is not object.__init__:
            yield prefix + name
        yield from (f"{prefix}{name}.{member}" for member in members(owner))


def entry_points():
    return sorted({*of_module(drv), *of_module(pycuda.compiler, "compiler.")})
