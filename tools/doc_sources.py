#!/usr/bin/env python3
"""Print the file that implements each name of the extension, and its driver calls.

    python tools/doc_sources.py [root]

Prints one line per name of pycuda._driver: the name, the C file, the function, and the
driver's functions that it calls directly or through others. The reference lists these
functions and links to the file. Both are computed from the sources.

Calls that every name makes are omitted: following the stack of contexts, releasing
objects, making the text of an error.
"""

import re
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import check_layout

#: Functions whose driver calls are not specific to the caller.
COMMON = re.compile(
    r"pcu_(raise|args_|as_|ctxstack_|scope_|drv_|context_require|context_check|"
    r"collect_garbage|devmem_raise|resource_(new|check|clear|release|enter|leave)|"
    r"report_|state_|enum_|error_|current_stream|stream_order|res_(defer|drain)|"
    r"add_|kernel|gpuarray|function|texref|collect|copy_from_device)\w*"
)
CALL = re.compile(
    r"\bPCU_[A-Z_]+\([^,;]+,(?:[^,;]+,)?\s*([A-Z]\w+)\s*,|\bdrv\.([A-Z]\w+)\b"
)
#: What helpers call: they follow the stack of contexts and make the text of an error.
#: Only a name that is called like such a function lists it.
HELPERS = {
    *("cuCtxGetCurrent", "cuCtxPopCurrent", "cuCtxPushCurrent", "cuCtxSetCurrent"),
    *("cuMemGetInfo", "cuThreadExchangeStreamCaptureMode"),
}
SPEC = re.compile(r'PyType_Spec \w+ = \{\s*"pycuda\._driver\.(\w+)",[^;]*?(\w+)\};')
ARRAY = r"\b%s\[\] = \{(.*?)\n\};"
SLOT = re.compile(r"\{Py_tp_(new|init|call|methods|getset), (?:\(void \*\))?(\w+)\}")
CASTS = r"(?:\((?:[^()]|\([^()]*\))*\))*"
METHOD = re.compile(
    rf'(?:\{{|\bPCU_METHOD\()"(\w+)",\s*{CASTS}\s*(\w+)(?:,\s*(?:METH|PCU)_|\))'
)
#: A row of an array of methods that a macro generates.
ROW = re.compile(r"\b[A-Z_]{4,}\((\w+)[,)]")
#: The prefixes of the driver's functions for a class.
PREFIXES = {
    "Context": "Ctx",
    "Function": "Func",
    "SurfaceReference": "SurfRef",
    "TextureReference": "TexRef",
}
#: Calls through tables of resources or vector calls, which this script cannot follow.
BEHIND = {
    "AlignedHostAllocation.free": (),
    "Array.free": ("cuArrayDestroy",),
    "BufferObject.unregister": ("cuGLUnregisterBufferObject",),
    "BufferObjectMapping.unmap": ("cuGLUnmapBufferObject",),
    "Context.detach": ("cuCtxDestroy", "cuDevicePrimaryCtxRelease"),
    "Context.pop": ("cuCtxPopCurrent",),
    "Context.push": ("cuCtxPushCurrent",),
    "DeviceAllocation.free": ("cuMemFree",),
    "Function.prepared_async_call": ("cuLaunchKernel",),
    "Function.prepared_call": ("cuLaunchKernel",),
    "Function.prepared_timed_call": ("cuLaunchKernel",),
    "IPCMemoryHandle.close": ("cuIpcCloseMemHandle",),
    "PagelockedHostAllocation.free": ("cuMemFreeHost",),
    "RegisteredHostMemory.unregister": ("cuMemHostUnregister",),
    "init": ("cuInit",),
    "RegisteredMapping.unmap": ("cuGraphicsUnmapResources",),
    "RegisteredObject.unregister": ("cuGraphicsUnregisterResource",),
}
GETTER = re.compile(rf'\{{"(\w+)",\s*{CASTS}(\w+),')
ADDED = re.compile(r"pcu_add_methods\(st->(\w+), (\w+)\)")
#: Several arrays of methods of one class.
TABLES = re.compile(
    r"PyMethodDef \*const tables\[\] = \{([^}]*)\};"
    r"[^}]*pcu_add_methods\(st->(\w+), tables\[i\]\)"
)


@dataclass(frozen=True)
class Entry:
    """One name: its file, its function and the driver's functions that it calls."""

    file: str
    function: str
    calls: tuple[str, ...]


class Sources:
    """The C sources of python/, by function."""

    def __init__(self, root):
        names = check_layout.driver_functions(root)
        self.symbols = {name.lower(): f"cu{name}" for name in names}
        self.sources = [
            source
            for source in check_layout.load(root)
            if source.room.startswith("python/") and source.path.suffix == ".c"
        ]
        self.shared = {}
        for source in self.sources:
            for name in source.functions:
                self.shared.setdefault(name, source)

    def body(self, source, name):
        chunk = source.functions[name]
        return source.code[chunk.body : chunk.end]

    def calls(self, source, name, qualname):
        """Return the driver's functions that the function of a name calls, in order."""
        if "/python/array/" in source.name:
            return ()  # kernels and copies at every turn
        found, seen = [], set()

        def visit(source, name):
            if (source.name, name) in seen:
                return
            seen.add((source.name, name))
            body = self.body(source, name)
            for match in re.finditer(rf"{CALL.pattern}|\b(\w+)\b", body):
                direct, other = match[1] or match[2], match[3]
                if direct and direct.lower() in self.symbols:
                    if f"cu{direct}" not in found:
                        found.append(f"cu{direct}")
                elif other in source.functions:
                    visit(source, other)
                elif other in self.shared and not COMMON.fullmatch(other):
                    visit(self.shared[other], other)

        visit(source, name)
        left_out = HELPERS - set(self.namesake(qualname))
        return tuple(call for call in found if call not in left_out)

    def namesake(self, qualname):
        """Return the driver's function with the same name, as a tuple."""
        class_, _, name = qualname.rpartition(".")
        wanted = PREFIXES.get(class_, "") + name.replace("_", "")
        return tuple(filter(None, [self.symbols.get(wanted.lower())]))

    def array(self, name, user):
        """Return (source, text) of an array that a source uses, or None.

        Static arrays in several files can have one name; the user's own is preferred.
        """
        for source in (user, *self.sources):
            found = re.search(ARRAY % name, source.plain, re.DOTALL)
            if found:
                return source, found[1]
        return None


def add(found, sources, source, qualname, function):
    holder = source if function in source.functions else sources.shared.get(function)
    if holder is not None:
        calls = sources.calls(holder, function, qualname)
        found.setdefault(qualname, Entry(holder.name, function, calls))


def add_array(found, sources, user, prefix, name, pattern):
    array = sources.array(name, user)
    if array is not None:
        source, text = array
        for row in pattern.finditer(text):
            add(found, sources, source, prefix + row[1], row[2])
        for name in ROW.findall(text):
            calls = sources.namesake(prefix + name)
            found.setdefault(prefix + name, Entry(source.name, name, calls))


@cache
def read(root):
    """Return {qualname: Entry} of pycuda._driver."""
    sources = Sources(root)
    found, of_types = {}, set()
    for source in sources.sources:
        for class_, slots in SPEC.findall(source.plain):
            array = sources.array(slots, source)
            entries = dict(SLOT.findall(array[1])) if array else {}
            found[class_] = Entry(source.name, slots, ())
            for kind in ("init", "new"):
                if entries.get(kind) in source.functions:
                    calls = sources.calls(source, entries[kind], class_)
                    found[class_] = Entry(source.name, entries[kind], calls)
                    break
            if "call" in entries:
                add(found, sources, source, f"{class_}.__call__", entries["call"])
            if "methods" in entries:
                of_types.add(entries["methods"])
                add_array(
                    found, sources, source, f"{class_}.", entries["methods"], METHOD
                )
            if "getset" in entries:
                add_array(
                    found, sources, source, f"{class_}.", entries["getset"], GETTER
                )
        added = ADDED.findall(source.plain)
        for names, class_ in TABLES.findall(source.plain):
            added += [(class_, name) for name in re.findall(r"\w+", names)]
        for class_, name in added:
            of_types.add(name)
            add_array(found, sources, source, f"{class_}.", name, METHOD)
    for source in sources.sources:
        for name in re.findall(r"PyMethodDef (\w+)\[\] = ", source.plain):
            if name not in of_types:
                add_array(found, sources, source, "", name, METHOD)
    for name, calls in BEHIND.items():
        found[name] = replace(found[name], calls=calls)
    return found


def main():
    default = Path(__file__).resolve().parents[1]
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    for name, entry in sorted(read(root).items()):
        print(f"{name}: {entry.file} {entry.function}: {' '.join(entry.calls)}")


if __name__ == "__main__":
    main()
