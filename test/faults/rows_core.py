"""Rows: the library, devices, contexts, streams, events."""

import pycuda.driver as drv

from .row import calls, row


def _nothing(*_):
    pass


class _ForeignEvent:
    def __init__(self, event):
        self.cuda_event = event.handle


# -- the library -----------------------------------------------------------------------

row(
    "init",
    lambda w: drv.init,
    absorbs={"cuLogsRegisterCallback": "errors then have no log of the driver"},
)
row("get_version", lambda w: drv.get_version)
row("get_driver_version", lambda w: drv.get_driver_version)
row("bitlog2", lambda w: lambda: drv.bitlog2(1 << 20))
row(
    "set_debugging",
    lambda w: drv.set_debugging,
    undo=lambda w: drv.set_debugging(False),
)

# -- devices ---------------------------------------------------------------------------

DEVICE_ATTRIBUTES = [
    name.lower()
    for name in vars(drv.device_attribute)
    if name.isupper() and hasattr(drv.Device, name.lower())
]

row("Device", lambda w: lambda: drv.Device(0))
row(
    "Device(bus id)",
    lambda w: (lambda bus: lambda: drv.Device(bus))(w.device.pci_bus_id()),
)
row("Device.count", lambda w: drv.Device.count)
row("Device.name", lambda w: w.device.name)
row("Device.pci_bus_id", lambda w: w.device.pci_bus_id)
row("Device.compute_capability", lambda w: w.device.compute_capability)
row("Device.total_memory", lambda w: w.device.total_memory)
row(
    "Device.get_attribute",
    lambda w: lambda: w.device.get_attribute(drv.device_attribute.WARP_SIZE),
)
row(
    "Device.get_attributes",
    lambda w: w.device.get_attributes,
    absorbs={"cuDeviceGetAttribute": "what the driver does not know is left out"},
)
row(
    "Device.warp_size",
    lambda w: lambda: w.device.warp_size,
    also=[f"Device.{name}" for name in DEVICE_ATTRIBUTES],
)
row("Device.make_context", lambda w: w.device.make_context)
row("Device.retain_primary_context", lambda w: w.device.retain_primary_context)
row(
    "Device.can_access_peer", lambda w: lambda: w.device.can_access_peer(w.other_device)
)

# -- contexts --------------------------------------------------------------------------


def _fresh(w):
    """Make a context current, on top of the world's."""
    return w.device.make_context()


row("Context.push", lambda w: w.other_context.push)
row("Context.pop", lambda w: (w.other_context.push(), drv.Context.pop)[1])
row("Context.__enter__", lambda w: w.other_context.__enter__)
row("Context.__exit__", lambda w: (w.other_context.push(), w.other_context.__exit__)[1])
row("Context.attach", lambda w: drv.Context.attach, undo=lambda w: drv.Context.pop())
row(
    "Context.detach",
    lambda w: _fresh(w).detach,
    changes={"cuCtxPushCurrent": "it is ended; the next one cannot be made current"},
)


def _detach_popped(w):
    context = _fresh(w)
    drv.Context.pop()
    return context.detach


row("Context.detach (popped)", _detach_popped)


def _detach_primary(w):
    return w.device.retain_primary_context().detach


row("Context.detach (primary)", _detach_primary)


def _drop_context(w):
    box = [_fresh(w)]
    drv.Context.pop()
    return box.clear


row("Context (dropped)", _drop_context)
row("Context.get_current", lambda w: drv.Context.get_current)
row("Context.handle", lambda w: lambda: w.context.handle)
row("Context.synchronize", lambda w: drv.Context.synchronize)
row("Context.get_device", lambda w: drv.Context.get_device)
row(
    "Context.get_limit",
    lambda w: lambda: drv.Context.get_limit(drv.limit.STACK_SIZE),
)
row(
    "Context.set_limit",
    lambda w: lambda: drv.Context.set_limit(drv.limit.STACK_SIZE, 2048),
)
row("Context.get_cache_config", lambda w: drv.Context.get_cache_config)
row(
    "Context.set_cache_config",
    lambda w: lambda: drv.Context.set_cache_config(drv.func_cache.PREFER_L1),
)
row("Context.get_shared_config", lambda w: drv.Context.get_shared_config)
row(
    "Context.set_shared_config",
    lambda w: (
        lambda: drv.Context.set_shared_config(drv.shared_config.FOUR_BYTE_BANK_SIZE)
    ),
)
row(
    "Context.enable_peer_access",
    lambda w: (lambda other: lambda: drv.Context.enable_peer_access(other))(
        w.other_context
    ),
)


def _disable_peer_access(w):
    drv.Context.enable_peer_access(w.other_context)
    return lambda: drv.Context.disable_peer_access(w.other_context)


row(
    "Context.disable_peer_access",
    _disable_peer_access,
)
row("Context.get_api_version", lambda w: w.context.get_api_version)

# -- streams and events ----------------------------------------------------------------

row("Stream", lambda w: drv.Stream)
row("Stream (dropped)", lambda w: [drv.Stream()].clear)
row("Stream.synchronize", lambda w: w.stream.synchronize)
row("Stream.is_done", lambda w: w.stream.is_done)
calls("Stream.wait_for_event", lambda s, e: s.wait_for_event(e), "stream", "event")
calls("Stream.handle", lambda s: s.handle, "stream")
row("Event", lambda w: drv.Event)
row("Event (dropped)", lambda w: [drv.Event()].clear)
calls("Event.record", lambda e, s: e.record(s), "event", "stream")
row("Event.synchronize", lambda w: w.event.synchronize)
row("Event.query", lambda w: w.event.query)
calls("Event.time_since", lambda e: e.time_since(e), "event")
calls("Event.time_till", lambda e: e.time_till(e), "event")
calls("Event.handle", lambda e: e.handle, "event")


def _drop_elsewhere(w):
    """Release an object while another context is current."""
    box = [drv.Stream()]
    w.other_context.push()
    return box.clear


row("Stream (dropped, other context current)", _drop_elsewhere)


# -- functions of no object ------------------------------------------------------------

row("start_profiler", lambda w: drv.start_profiler)
row("stop_profiler", lambda w: drv.stop_profiler)
row(
    "initialize_profiler",
    lambda w: (
        lambda: drv.initialize_profiler("in", "out", drv.profiler_output_mode.CSV)
    ),
)


def _curand_version():
    """Read the version of cuRAND, which may be missing."""
    try:
        return drv.get_curand_version()
    except drv.RuntimeError:
        return None


row("get_curand_version", lambda w: _curand_version)

calls(
    "Context.from_handle",
    lambda c: drv.Context.from_handle(c.handle),
    "context",
)

# -- host functions, values in memory, foreign events ----------------------------------

OP = drv.stream_mem_op

calls("Stream.add_callback", lambda s: s.add_callback(_nothing, 1), "stream")
row("launch_host_func", lambda w: lambda: drv.launch_host_func(_nothing))
calls("Stream.wait_value", lambda s, m: s.wait_value(m, 0), "stream", "memory")
calls(
    "Stream.wait_value (8 bytes)",
    lambda s, m: s.wait_value(m, 0, drv.stream_wait_value.GEQ, 8),
    "stream",
    "memory",
)
calls("Stream.write_value", lambda s, m: s.write_value(m, 0), "stream", "memory")
calls(
    "Stream.write_value (8 bytes)",
    lambda s, m: s.write_value(m, 0, width=8),
    "stream",
    "memory",
)
calls(
    "Stream.batch_memory_operations",
    lambda s, m: s.batch_memory_operations(
        [(OP.WRITE_VALUE_32, m, 1), (OP.BARRIER,), (OP.WAIT_VALUE_32, m, 1)]
    ),
    "stream",
    "memory",
)
calls("Event.from_handle", lambda e: drv.Event.from_handle(e.handle, e), "event")
calls(
    "Stream.wait_for_event (foreign)",
    lambda s, e: s.wait_for_event(_ForeignEvent(e)),
    "stream",
    "event",
)
calls("Event.record (flags)", lambda e, s: e.record(s, flags=0), "event", "stream")
