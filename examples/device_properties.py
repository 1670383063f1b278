"""List the devices and their properties. Needs no context and leaves none behind."""

import argparse

import pycuda.driver as drv

argparse.ArgumentParser(description=__doc__).parse_args()

SHOWN = [
    ("MULTIPROCESSOR_COUNT", "multiprocessors"),
    ("WARP_SIZE", "threads in a warp"),
    ("MAX_THREADS_PER_BLOCK", "threads in a block, at most"),
    ("MAX_BLOCK_DIM_X", "block, x, at most"),
    ("MAX_GRID_DIM_X", "grid, x, at most"),
    ("MAX_SHARED_MEMORY_PER_BLOCK", "bytes of shared memory in a block"),
    ("TOTAL_CONSTANT_MEMORY", "bytes of constant memory"),
    ("MAX_REGISTERS_PER_BLOCK", "registers in a block"),
]

drv.init()
print(
    "driver for CUDA:", ".".join(str(n) for n in divmod(drv.get_driver_version(), 1000))
)
print("devices:", drv.Device.count())
for ordinal in range(drv.Device.count()):
    device = drv.Device(ordinal)
    major, minor = device.compute_capability()
    print()
    print(f"device {ordinal}: {device.name()}")
    print(f"  compute capability: {major}.{minor}")
    print(f"  memory: {device.total_memory() // 2**20} MiB")
    print(f"  PCI bus: {device.pci_bus_id()}")
    for name, meaning in SHOWN:
        value = device.get_attribute(getattr(drv.device_attribute, name))
        print(f"  {meaning}: {value}")
    # The same through the attribute's name in lower case.
    assert device.warp_size == device.get_attribute(drv.device_attribute.WARP_SIZE)
