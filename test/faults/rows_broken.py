"""Rows with one deliberate error each. The sweeps must find all of them."""

import os
from ctypes import c_void_p

import pycuda.driver as drv

from .row import row

#: The message of each sweep for each row: of driver calls, and of allocations.
FOUND_BY_CALLS = {
    "leaks": "handles are lost",
    "swallows": "neither an exception nor a warning",
    "another class": "the exception is LogicError('cuMemGetInfo failed: out",
    "another routine": "it speaks of 1 in elsewhere",
    "leaves a context": "after the failure, stack",
    "keeps memory": "after the failure, free",
    "fails always": "with nothing to fail",
    "leaves its result": "at the end, live",
}
FOUND_BY_ALLOCATIONS = {
    "leaks without memory": "handles are lost",
    "another class without memory": "the exception is ValueError",
    "leaves a file open without memory": "after the failure, files",
}
#: The messages of the search for leaks at the end of a sweep of allocations.
FOUND_BY_LEAKS = {"forgets a block without memory": "in forget "}
ALL = (*FOUND_BY_CALLS, *FOUND_BY_ALLOCATIONS, *FOUND_BY_LEAKS)

kept = []


class Broken:
    def __init__(self, w):
        from .sweep import Device

        self.w, self.device = w, Device()

    def leaks(self):
        handle = self.device.out(c_void_p, "StreamCreate", 0)
        drv.mem_get_info()
        self.device.ok("StreamDestroy", c_void_p(handle))

    def swallows(self):
        try:
            drv.mem_get_info()
        except drv.Error:
            return None

    def another_class(self):
        try:
            drv.mem_get_info()
        except drv.Error as error:
            raise drv.LogicError(*error.args) from None

    def another_routine(self):
        try:
            drv.mem_get_info()
        except drv.Error as error:
            error.routine = "elsewhere"
            raise

    def leaves_a_context(self):
        self.w.other_context.push()
        drv.mem_get_info()
        drv.Context.pop()

    def keeps_memory(self):
        kept.append(drv.mem_alloc(1 << 20))
        drv.mem_get_info()
        kept.clear()

    def fails_always(self):
        raise drv.LogicError("broken")

    def leaves_its_result(self):
        kept.append(drv.Device(1).make_context())

    def leaks_without_memory(self):
        handle = self.device.out(c_void_p, "StreamCreate", 0)
        [object() for _ in range(3)]
        self.device.ok("StreamDestroy", c_void_p(handle))

    def another_class_without_memory(self):
        try:
            bytearray(1000)
        except MemoryError:
            raise ValueError from None

    def leaves_a_file_open_without_memory(self):
        file = os.open(os.devnull, os.O_RDONLY)
        [object() for _ in range(3)]
        os.close(file)

    def forgets_a_block_without_memory(self):
        import faults_nomemory as nomemory

        def call():
            return nomemory.forget()

        return call()


for _name in ALL:
    row(_name, lambda w, name=_name: getattr(Broken(w), name.replace(" ", "_")))
