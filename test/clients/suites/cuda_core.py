"""A test of each class of cuda.core, with values.

The tests need cuda.core 1.2, NumPy, and NVRTC, and a device of capability 9.0. Kernels
are compiled to PTX, so the same tests run on a GPU and on the software device.
"""

import ctypes
import os
import tempfile
import unittest

import numpy as np
from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    ContextOptions,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    EventOptions,
    GraphMemoryResource,
    Host,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ManagedMemoryResource,
    MemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    Program,
    ProgramOptions,
    SMResourceOptions,
    Stream,
    StreamOptions,
    TensorMapDescriptor,
    TensorMapDescriptorOptions,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
    WorkqueueResourceOptions,
    graph,
    launch,
    system,
    texture,
    utils,
)

CODE = r"""
extern "C" __global__ void scale(float *x, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= factor;
}
extern "C" __global__ void add_one(int *x)
{
    atomicAdd(x, 1);
}
extern "C" __device__ void cudaGraphSetConditional(unsigned long long, unsigned int);
extern "C" __global__ void set_condition(unsigned long long handle, int *count)
{
    cudaGraphSetConditional(handle, --*count > 0);
}
extern "C" __global__ void sample(unsigned long long from, float *to, int n)
{
    int i = threadIdx.x;
    if (i < n)
        to[i] = tex1D<float>((cudaTextureObject_t)from, i + 0.5f);
}
extern "C" __global__ void store(unsigned long long to)
{
    int x = threadIdx.x, y = threadIdx.y;
    surf2Dwrite(10.0f * y + x, (cudaSurfaceObject_t)to, x * 4, y);
}
template <class T>
__global__ void fill(T *x, T value)
{
    x[threadIdx.x] = value;
}
"""


class Test(unittest.TestCase):
    """A device, a stream and the kernels."""

    @classmethod
    def setUpClass(cls):
        cls.device = Device(0)
        cls.device.set_current()
        cls.stream = cls.device.create_stream()
        cls.options = ProgramOptions(arch=f"sm_{cls.device.arch}", std="c++17")
        cls.program = Program(CODE, "c++", cls.options)
        names = ("fill<int>", "fill<double>")
        cls.code = cls.program.compile("ptx", name_expressions=names)
        cls.host = LegacyPinnedMemoryResource()

    def kernel(self, name):
        return self.code.get_kernel(name)

    def launch(self, name, block, *arguments, grid=1, stream=None):
        config = LaunchConfig(grid=grid, block=block)
        launch(stream or self.stream, config, self.kernel(name), *arguments)

    def on_host(self, count, dtype=np.float32):
        """Return a buffer that the host and the device can use, and its array."""
        size = count * np.dtype(dtype).itemsize
        buffer = self.host.allocate(size, stream=self.stream)
        array = np.from_dlpack(buffer).view(dtype)
        array[:] = 0
        return buffer, array

    def on_device(self, values):
        """Return a buffer of the device with these values."""
        values = np.ascontiguousarray(values)
        staging, array = self.on_host(values.size, values.dtype)
        array[:] = values.ravel()
        memory = DeviceMemoryResource(self.device)
        buffer = memory.allocate(values.nbytes, stream=self.stream)
        buffer.copy_from(staging, stream=self.stream)
        self.stream.sync()
        return buffer

    def values(self, buffer, dtype=np.float32):
        """Return the values in a buffer."""
        staging, array = self.on_host(buffer.size // np.dtype(dtype).itemsize, dtype)
        buffer.copy_to(staging, stream=self.stream)
        self.stream.sync()
        return array.copy()


class Devices(Test):
    def test_device(self):
        device = self.device
        self.assertEqual(device.device_id, 0)
        self.assertIs(Device(0), device)
        self.assertIn(device, Device.get_all_devices())
        self.assertTrue(device.name)
        self.assertTrue(device.uuid)
        self.assertEqual(device.arch, "".join(map(str, device.compute_capability)))

    def test_calls_of_the_runtime_library(self):
        self.device.sync()
        self.assertIn(":", self.device.pci_bus_id)

    def test_properties(self):
        properties = self.device.properties
        names = [name for name in dir(properties) if name[0] != "_"]
        values = {name: getattr(properties, name) for name in names}
        self.assertEqual(values["warp_size"], 32)
        self.assertEqual(values["max_threads_per_block"], 1024)
        self.assertGreater(values["multiprocessor_count"], 0)
        self.assertGreater(len(values), 100)

    def test_system(self):
        self.assertGreaterEqual(system.get_num_devices(), 1)
        self.assertGreaterEqual(system.get_user_mode_driver_version()[0], 12)
        device = system.Device(index=0)
        self.assertTrue(device.name)
        self.assertGreater(device.memory_info.total, 1 << 30)
        self.assertTrue(self.device.to_system_device().uuid)

    def test_context(self):
        context = self.device.context
        self.assertFalse(context.is_closed)
        self.assertFalse(context.is_green)
        self.assertEqual(self.stream.context, context)

    def test_green_context(self):
        parts, rest = self.device.resources.sm.split(SMResourceOptions(count=8))
        self.assertGreaterEqual(parts[0].sm_count, 8)
        context = self.device.create_context(ContextOptions(resources=[parts[0]]))
        self.assertTrue(context.is_green)
        stream = context.create_stream()
        buffer = self.on_device(np.arange(32, dtype="f4"))
        self.launch("scale", 32, buffer, np.float32(2), np.int32(32), stream=stream)
        stream.sync()
        np.testing.assert_array_equal(self.values(buffer), 2 * np.arange(32))
        stream.close()
        context.close()
        self.assertTrue(context.is_closed)

    def test_workqueue(self):
        queue = self.device.resources.workqueue
        queue.configure(WorkqueueResourceOptions(sharing_scope="green_ctx_balanced"))
        self.assertEqual(str(queue.sharing_scope), "green_ctx_balanced")


class Streams(Test):
    def test_stream(self):
        options = StreamOptions(nonblocking=True, priority=-1)
        stream = self.device.create_stream(options=options)
        self.assertTrue(stream.is_nonblocking)
        self.assertEqual(stream.priority, -1)
        self.assertEqual(stream.device, self.device)
        stream.wait(self.stream)
        stream.sync()
        again = Stream.from_handle(int(stream.handle))
        self.assertEqual(int(again.handle), int(stream.handle))
        stream.close()
        self.assertTrue(stream.is_closed)

    def test_default_streams(self):
        for stream in (LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM):
            buffer = self.on_device(np.ones(4, "f4"))
            self.launch("scale", 4, buffer, np.float32(3), np.int32(4), stream=stream)
            stream.sync()
            self.assertEqual(self.values(buffer).tolist(), [3] * 4)

    def test_event(self):
        options = EventOptions(timing_enabled=True)
        first = self.stream.record(options=options)
        last = self.stream.record(options=options)
        last.sync()
        self.assertTrue(last.is_done)
        self.assertTrue(last.is_timing_enabled)
        self.assertGreaterEqual(last - first, 0)
        other = self.device.create_stream()
        other.wait(last)
        other.sync()
        first.close()
        self.assertTrue(first.is_closed)

    def test_shared_event(self):
        event = self.stream.record(options=EventOptions(ipc_enabled=True))
        self.assertTrue(event.is_ipc_enabled)
        self.assertIsNotNone(event.ipc_descriptor)


class Memory(Test):
    def check(self, memory, *, host):
        """Allocate, write with a kernel, and read."""
        buffer = memory.allocate(128, stream=self.stream)
        self.assertIsInstance(buffer, Buffer)
        self.assertEqual(buffer.size, 128)
        self.assertTrue(buffer.is_device_accessible)
        self.assertEqual(buffer.is_host_accessible, host)
        buffer.fill(np.float32(1.5), stream=self.stream)
        self.launch("scale", 32, buffer, np.float32(2), np.int32(32))
        self.assertEqual(self.values(buffer).tolist(), [3.0] * 32)
        return buffer

    def test_device_memory(self):
        options = DeviceMemoryResourceOptions(max_size=1 << 24)
        memory = DeviceMemoryResource(self.device, options)
        buffer = self.check(memory, host=False)
        self.assertGreaterEqual(memory.attributes.used_mem_current, 128)
        buffer.close(self.stream)
        self.assertTrue(buffer.is_closed)
        self.assertIsNotNone(memory.handle)
        memory.close()

    def test_default_memory(self):
        buffer = self.device.allocate(64, stream=self.stream)
        self.assertIs(buffer.memory_resource, self.device.memory_resource)
        with buffer:
            buffer.fill(7, stream=self.stream)
            self.assertEqual(self.values(buffer, np.uint8).tolist(), [7] * 64)

    def test_pinned_memory(self):
        self.check(PinnedMemoryResource(), host=True)

    def test_legacy_pinned_memory(self):
        self.check(LegacyPinnedMemoryResource(), host=True)

    def test_managed_memory(self):
        buffer = self.check(ManagedMemoryResource(), host=True)
        self.assertTrue(buffer.is_managed)
        utils.prefetch_batch(self.stream, [buffer], Host())
        utils.prefetch_batch(self.stream, [buffer], self.device)
        self.stream.sync()
        self.assertEqual(self.values(buffer)[0], 3.0)

    def test_virtual_memory(self):
        options = VirtualMemoryResourceOptions(handle_type=None)
        memory = VirtualMemoryResource(self.device, options)
        buffer = memory.allocate(1 << 21)
        buffer.fill(np.float32(1.5), stream=self.stream)
        self.launch("scale", 32, buffer, np.float32(2), np.int32(32))
        self.assertEqual(self.values(buffer)[:33].tolist(), [3.0] * 32 + [1.5])
        larger = memory.modify_allocation(buffer, 1 << 22)
        self.assertGreaterEqual(larger.size, 1 << 22)
        self.assertEqual(self.values(larger)[:33].tolist(), [3.0] * 32 + [1.5])

    def test_graph_memory(self):
        memory = GraphMemoryResource(self.device)
        result = self.on_device(np.zeros(32, "f4"))
        builder = self.device.create_graph_builder().begin_building()
        buffer = memory.allocate(128, stream=builder)
        buffer.fill(np.float32(2), stream=builder)
        buffer.copy_to(result, stream=builder)
        buffer.close(builder)
        executable = builder.end_building().complete()
        executable.launch(self.stream)
        self.assertEqual(self.values(result).tolist(), [2.0] * 32)
        self.assertGreaterEqual(memory.attributes.reserved_mem_high, 0)

    def test_own_memory_resource(self):
        case = self

        class Own(MemoryResource):
            is_device_accessible = True
            is_host_accessible = False
            device_id = 0

            def __init__(self):
                self.memory = DeviceMemoryResource(case.device)
                self.kept = {}

            def allocate(self, size, *, stream):
                inner = self.memory.allocate(size, stream=stream)
                self.kept[int(inner.handle)] = inner
                return Buffer.from_handle(inner.handle, size, mr=self, stream=stream)

            def deallocate(self, ptr, size, *, stream):
                del self.kept[int(ptr)]

        memory = Own()
        buffer = self.check(memory, host=False)
        self.assertEqual(len(memory.kept), 1)
        buffer.close(self.stream)
        self.assertEqual(len(memory.kept), 0)

    def test_shared_memory_pool(self):
        options = DeviceMemoryResourceOptions(max_size=1 << 24, ipc_enabled=True)
        memory = DeviceMemoryResource(self.device, options)
        self.assertTrue(memory.is_ipc_enabled)
        self.assertIsNotNone(memory.allocation_handle)
        buffer = memory.allocate(1024, stream=self.stream)
        self.assertEqual(buffer.ipc_descriptor.size, 1024)

    def test_buffer_of_a_handle(self):
        owner = self.on_device(np.arange(8, dtype="f4"))
        part = Buffer.from_handle(int(owner.handle) + 16, 16, owner=owner)
        self.assertIs(part.owner, owner)
        self.assertEqual(self.values(part).tolist(), [4, 5, 6, 7])
        self.assertEqual(part.__dlpack_device__(), (2, 0))

    def test_batches(self):
        sources = [self.on_device(np.full(8, i, "f4")) for i in range(3)]
        targets = [self.on_device(np.zeros(8, "f4")) for _ in range(3)]
        utils.copy_batch(self.stream, sources, targets)
        for i, target in enumerate(targets):
            self.assertEqual(self.values(target).tolist(), [i] * 8)


class Code(Test):
    def test_program(self):
        self.assertEqual(str(self.program.backend).lower(), "nvrtc")
        self.assertEqual(self.code.code_type, "ptx")
        self.assertIn(b".visible .entry scale", bytes(self.code.code))
        buffer = self.on_device(np.zeros(4))
        self.launch("fill<double>", 4, buffer, np.float64(0.1))
        self.assertEqual(self.values(buffer, np.float64).tolist(), [0.1] * 4)

    def test_program_of_ptx(self):
        text = bytes(self.code.code).decode().rstrip("\0")
        code = Program(text, "ptx", self.options).compile("cubin")
        self.assertIsInstance(code.get_kernel("scale"), Kernel)

    def test_object_code(self):
        data = bytes(self.code.code)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "code.ptx")
            with open(path, "wb") as file:
                file.write(data)
            for code in (ObjectCode.from_ptx(data), ObjectCode.from_ptx(path)):
                kernel = code.get_kernel("scale")
                self.assertEqual(kernel.num_arguments, 3)
                self.assertEqual(
                    [(one.offset, one.size) for one in kernel.arguments_info],
                    [(0, 8), (8, 4), (12, 4)],
                )

    def test_kernel(self):
        kernel = self.kernel("scale")
        attributes = kernel.attributes
        self.assertEqual(attributes.max_threads_per_block, 1024)
        self.assertEqual(attributes.shared_size_bytes, 0)
        self.assertGreater(attributes.num_regs, 0)
        self.assertFalse(attributes.cluster_size_must_be_set)
        occupancy = kernel.occupancy
        self.assertGreater(occupancy.max_active_blocks_per_multiprocessor(128, 0), 0)
        self.assertGreater(occupancy.max_potential_block_size(0, 0).max_block_size, 31)
        size = occupancy.available_dynamic_shared_memory_per_block(2, 128)
        self.assertGreater(size, 1024)
        config = LaunchConfig(grid=4, cluster=2, block=32)
        active = occupancy.max_active_clusters(config, stream=self.stream)
        self.assertGreater(active, 0)
        again = Kernel.from_handle(int(kernel.handle))
        self.assertEqual(again.num_arguments, 3)

    def test_linker(self):
        options = ProgramOptions(
            arch=f"sm_{self.device.arch}", relocatable_device_code=True
        )
        caller = Program(
            'extern "C" __device__ float twice(float);\n'
            'extern "C" __global__ void use(float *x)'
            "{ x[threadIdx.x] = twice(x[threadIdx.x]); }",
            "c++",
            options,
        ).compile("ptx")
        called = Program(
            'extern "C" __device__ float twice(float x) { return 2 * x; }',
            "c++",
            options,
        ).compile("ptx")
        link = LinkerOptions(arch=f"sm_{self.device.arch}")
        linker = Linker(caller, called, options=link)
        kernel = linker.link("cubin").get_kernel("use")
        buffer = self.on_device(np.arange(8, dtype="f4"))
        launch(self.stream, LaunchConfig(grid=1, block=8), kernel, buffer)
        self.assertEqual(self.values(buffer).tolist(), list(range(0, 16, 2)))
        linker.close()

    def test_linker_error(self):
        options = ProgramOptions(
            arch=f"sm_{self.device.arch}", relocatable_device_code=True
        )
        code = Program(
            'extern "C" __device__ float absent(float);\n'
            'extern "C" __global__ void use(float *x) { *x = absent(*x); }',
            "c++",
            options,
        ).compile("ptx")
        link = LinkerOptions(arch=f"sm_{self.device.arch}")
        with self.assertRaisesRegex(Exception, "absent"):
            Linker(code, options=link).link("cubin").get_kernel("use")

    def test_program_cache(self):
        cache = utils.InMemoryProgramCache()
        key = utils.make_program_cache_key(
            code=CODE, code_type="c++", options=self.options, target_type="ptx"
        )
        self.assertIsNone(cache.get(key))
        cache[key] = self.code
        self.assertEqual(cache[key], bytes(self.code.code))
        with tempfile.TemporaryDirectory() as folder:
            stored = utils.FileStreamProgramCache(folder)
            stored[key] = self.code
            self.assertEqual(stored[key], bytes(self.code.code))
            stored.close()


class Launches(Test):
    def test_launch_config(self):
        config = LaunchConfig(grid=(2, 3), block=(4, 5), shmem_size=64)
        self.assertEqual(config.grid, (2, 3, 1))
        self.assertEqual(config.block, (4, 5, 1))
        self.assertEqual(config.shmem_size, 64)

    def test_arguments(self):
        kernel = self.kernel("scale")
        for factor, count in (
            (np.float32(3), np.int32(100)),
            (ctypes.c_float(3), ctypes.c_int(100)),
        ):
            buffer = self.on_device(np.arange(128, dtype="f4"))
            config = LaunchConfig(grid=4, block=32)
            launch(self.stream, config, kernel, buffer, factor, count)
            expected = np.arange(128) * np.where(np.arange(128) < 100, 3, 1)
            np.testing.assert_array_equal(self.values(buffer), expected)

    def test_cooperative(self):
        counter = self.on_device(np.zeros(1, np.int32))
        config = LaunchConfig(grid=2, block=32, is_cooperative=True)
        launch(self.stream, config, self.kernel("add_one"), counter)
        self.assertEqual(self.values(counter, np.int32)[0], 64)

    def test_cluster(self):
        counter = self.on_device(np.zeros(1, np.int32))
        config = LaunchConfig(grid=3, cluster=2, block=32)
        launch(self.stream, config, self.kernel("add_one"), counter)
        self.assertEqual(self.values(counter, np.int32)[0], 3 * 2 * 32)

    def test_programmatic(self):
        counter = self.on_device(np.zeros(1, np.int32))
        config = LaunchConfig(grid=1, block=32, programmatic_stream_serialization=True)
        for _ in range(3):
            launch(self.stream, config, self.kernel("add_one"), counter)
        self.assertEqual(self.values(counter, np.int32)[0], 96)


class Graphs(Test):
    def setUp(self):
        self.counter = self.on_device(np.zeros(1, np.int32))
        self.one = LaunchConfig(grid=1, block=1)

    def count(self):
        return self.values(self.counter, np.int32)[0]

    def add(self, to, times=1):
        """Add kernels that count to a builder or a node. Return the last node."""
        for _ in range(times):
            if isinstance(to, graph.GraphBuilder):
                launch(to, self.one, self.kernel("add_one"), self.counter)
            else:
                to = to.launch(self.one, self.kernel("add_one"), self.counter)
        return to

    def run_graph(self, executable, times=1):
        for _ in range(times):
            executable.launch(self.stream)
        self.stream.sync()

    def test_builder(self):
        builder = self.device.create_graph_builder().begin_building()
        self.add(builder)
        parts = builder.split(3)
        for part in parts:
            self.add(part)
        builder = graph.GraphBuilder.join(*parts)
        self.add(builder)
        executable = builder.end_building().complete()
        executable.upload(self.stream)
        self.run_graph(executable, 2)
        self.assertEqual(self.count(), 2 * 5)

    def test_builder_update(self):
        first = self.device.create_graph_builder().begin_building()
        self.add(first)
        executable = first.end_building().complete()
        other = self.on_device(np.zeros(1, np.int32))
        second = self.device.create_graph_builder().begin_building()
        launch(second, self.one, self.kernel("add_one"), other)
        executable.update(second.end_building())
        self.run_graph(executable, 3)
        self.assertEqual(self.values(other, np.int32)[0], 3)
        self.assertEqual(self.count(), 0)

    def test_builder_condition(self):
        for value, expected in ((0, 0), (1, 1)):
            builder = self.device.create_graph_builder().begin_building()
            condition = builder.create_condition(default_value=value)
            inner = builder.if_then(condition).begin_building()
            self.add(inner)
            inner.end_building()
            before = self.count()
            self.run_graph(builder.end_building().complete())
            self.assertEqual(self.count() - before, expected)

    def test_builder_child_and_callback(self):
        called = []
        child = self.device.create_graph_builder().begin_building()
        self.add(child, 2)
        child.end_building()
        builder = self.device.create_graph_builder().begin_building()
        builder.embed(child)
        builder.callback(lambda: called.append(1))
        self.run_graph(builder.end_building().complete(), 2)
        self.assertEqual(self.count(), 4)
        self.assertEqual(called, [1, 1])

    def test_definition(self):
        definition = graph.GraphDefinition()
        node = self.add(definition)
        self.assertIsInstance(node, graph.KernelNode)
        self.assertEqual(node.block, (1, 1, 1))
        left, right = self.add(node), self.add(node)
        joined = definition.join(left, right)
        self.assertIsInstance(joined, graph.EmptyNode)
        self.assertEqual(set(joined.pred), {left, right})
        self.add(joined)
        self.assertEqual(len(definition.nodes()), 5)
        self.assertEqual(len(definition.edges()), 5)
        self.run_graph(definition.instantiate())
        self.assertEqual(self.count(), 4)

    def test_memory_nodes(self):
        definition = graph.GraphDefinition()
        result = self.on_device(np.zeros(8, np.int32))
        allocated = definition.allocate(32)
        self.assertIsInstance(allocated, graph.AllocNode)
        filled = allocated.memset(allocated.dptr, np.uint32(5), 8)
        self.assertIsInstance(filled, graph.MemsetNode)
        self.assertEqual((filled.width, filled.element_size), (8, 4))
        copied = filled.memcpy(result, allocated.dptr, 32)
        self.assertIsInstance(copied, graph.MemcpyNode)
        freed = copied.deallocate(allocated.dptr)
        self.assertIsInstance(freed, graph.FreeNode)
        self.run_graph(definition.instantiate())
        self.assertEqual(self.values(result, np.int32).tolist(), [5] * 8)

    def test_event_and_host_nodes(self):
        called = []
        event = self.device.create_event()
        definition = graph.GraphDefinition()
        recorded = definition.record(event)
        self.assertIsInstance(recorded, graph.EventRecordNode)
        waited = recorded.wait(event)
        self.assertIsInstance(waited, graph.EventWaitNode)
        node = waited.callback(lambda: called.append(1))
        self.assertIsInstance(node, graph.HostCallbackNode)
        self.run_graph(definition.instantiate(), 2)
        self.assertEqual(called, [1, 1])

    def test_child_node(self):
        child = graph.GraphDefinition()
        self.add(child, 3)
        definition = graph.GraphDefinition()
        node = definition.embed(child)
        self.assertIsInstance(node, graph.ChildGraphNode)
        self.assertEqual(len(node.child_graph.nodes()), 3)
        self.run_graph(definition.instantiate())
        self.assertEqual(self.count(), 3)

    def test_if_and_switch_nodes(self):
        definition = graph.GraphDefinition()
        yes = definition.create_condition(default_value=1)
        self.add(definition.if_then(yes).then)
        either = definition.if_else(definition.create_condition(default_value=0))
        self.assertIsInstance(either, graph.IfElseNode)
        self.add(either.then, 100)
        self.add(either.else_, 10)
        switch = definition.switch(definition.create_condition(default_value=2), 3)
        self.assertIsInstance(switch, graph.SwitchNode)
        for branch, times in zip(switch.branches, (1, 2, 4), strict=True):
            self.add(branch, times)
        self.run_graph(definition.instantiate())
        self.assertEqual(self.count(), 1 + 10 + 4)

    def test_while_node(self):
        left = self.on_device(np.array([5], np.int32))
        definition = graph.GraphDefinition()
        condition = definition.create_condition(default_value=1)
        loop = definition.while_loop(condition)
        self.assertIsInstance(loop, graph.WhileNode)
        node = self.add(loop.body)
        node.launch(self.one, self.kernel("set_condition"), condition, left)
        self.run_graph(definition.instantiate())
        self.assertEqual(self.count(), 5)

    def test_updates_of_nodes(self):
        definition = graph.GraphDefinition()
        buffer = self.on_device(np.zeros(4, np.int32))
        kernel = self.add(definition)
        memset = definition.memset(buffer, np.uint32(1), 4)
        executable = definition.instantiate()
        executable[memset].update(dst=buffer, value=np.uint32(9), width=4)
        other = self.on_device(np.zeros(1, np.int32))
        executable[kernel].update(
            config=LaunchConfig(grid=1, block=7),
            kernel=self.kernel("add_one"),
            args=(other,),
        )
        self.run_graph(executable)
        self.assertEqual(self.values(buffer, np.int32).tolist(), [9] * 4)
        self.assertEqual(self.values(other, np.int32)[0], 7)
        executable[kernel].disable()
        self.assertFalse(executable[kernel].is_enabled)
        self.run_graph(executable)
        self.assertEqual(self.values(other, np.int32)[0], 7)

    def test_picture(self):
        definition = graph.GraphDefinition()
        self.add(definition)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "graph.dot")
            definition.debug_dot_print(path)
            with open(path) as file:
                self.assertIn("digraph", file.read())


class Views(Test):
    def test_strided_view(self):
        buffer = self.on_device(np.arange(12, dtype="f4"))
        view = utils.StridedMemoryView.from_buffer(buffer, (3, 4), dtype=np.dtype("f4"))
        self.assertEqual(view.shape, (3, 4))
        self.assertEqual(view.dtype, np.float32)
        self.assertTrue(view.is_device_accessible)
        self.assertEqual(view.ptr, int(buffer.handle))
        again = utils.StridedMemoryView.from_dlpack(view, stream_ptr=-1)
        self.assertEqual(again.shape, (3, 4))

    def test_view_of_host_memory(self):
        array = np.arange(6).reshape(2, 3)
        view = utils.StridedMemoryView.from_any_interface(array, stream_ptr=-1)
        self.assertEqual(view.shape, (2, 3))
        self.assertFalse(view.is_device_accessible)

        @utils.args_viewable_as_strided_memory((0,))
        def shape(given):
            return given.view(-1).shape

        self.assertEqual(shape(array), (2, 3))

    def test_tensor_map(self):
        buffer = self.on_device(np.arange(64 * 64, dtype="f4"))
        view = utils.StridedMemoryView.from_buffer(
            buffer, (64, 64), dtype=np.dtype("f4")
        )
        options = TensorMapDescriptorOptions(box_dim=(8, 16))
        kept = []
        for _ in range(8):  # cuda.core puts them at any multiple of 16 bytes
            kept.append(view.as_tensor_map(options=options))
            self.assertIsInstance(kept[-1], TensorMapDescriptor)
            self.assertEqual(kept[-1].device, self.device)


class Textures(Test):
    def test_texture_of_an_array(self):
        options = texture.OpaqueArrayOptions(
            shape=(16,), format="float32", num_channels=1
        )
        array = self.device.create_opaque_array(options)
        self.assertEqual(array.shape, (16,))
        array.copy_from(self.on_device(np.arange(16, dtype="f4")), stream=self.stream)
        resource = texture.ResourceDescriptor.from_opaque_array(array)
        object_ = self.device.create_texture_object(
            resource=resource, options=texture.TextureObjectOptions()
        )
        self.check(object_)
        array.close()

    def test_texture_of_memory(self):
        buffer = self.on_device(np.arange(16, dtype="f4"))
        resource = texture.ResourceDescriptor.from_linear(
            buffer, format="float32", num_channels=1
        )
        self.assertEqual(resource.size_bytes, 64)
        object_ = self.device.create_texture_object(resource=resource)
        self.assertNotEqual(int(object_.handle), 0)
        object_.close()

    def check(self, object_):
        result = self.on_device(np.zeros(16, "f4"))
        handle = np.uint64(int(object_.handle))
        self.launch("sample", 16, handle, result, np.int32(16))
        np.testing.assert_array_equal(self.values(result), np.arange(16))
        object_.close()

    def test_mipmapped_array(self):
        options = texture.MipmappedArrayOptions(
            shape=(16,), format="float32", num_channels=1, num_levels=2
        )
        mipmaps = self.device.create_mipmapped_array(options)
        self.assertEqual(mipmaps.num_levels, 2)
        level = mipmaps.get_level(0)
        level.copy_from(self.on_device(np.arange(16, dtype="f4")), stream=self.stream)
        self.assertEqual(mipmaps.get_level(1).shape, (8,))
        mipmaps.close()

    def test_surface(self):
        options = texture.OpaqueArrayOptions(
            shape=(8, 4), format="float32", num_channels=1, is_surface_load_store=True
        )
        array = self.device.create_opaque_array(options)
        resource = texture.ResourceDescriptor.from_opaque_array(array)
        surface = self.device.create_surface_object(resource=resource)
        self.launch("store", (8, 4), np.uint64(int(surface.handle)))
        result = self.on_device(np.zeros(32, "f4"))
        array.copy_to(result, stream=self.stream)
        expected = 10.0 * np.arange(4)[:, None] + np.arange(8)
        np.testing.assert_array_equal(self.values(result).reshape(4, 8), expected)
        surface.close()


if __name__ == "__main__":
    unittest.main()
