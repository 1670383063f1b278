"""Device: identity, attributes, and errors that name the device."""

import pytest

import pycuda.driver as drv

pytestmark = pytest.mark.gpu


def test_identity():
    assert drv.Device.count() >= 1
    device = drv.Device(0)
    assert device == drv.Device(0) and hash(device) == 0
    assert device != 0 and device != "0"
    assert drv.Device(device.pci_bus_id()) == device
    count = drv.Device.count
    assert count() == device.count()


def test_what_it_says_of_itself():
    device = drv.Device(0)
    assert isinstance(device.name(), str) and device.name()
    major, minor = device.compute_capability()
    assert (major, minor) == (
        device.compute_capability_major,
        device.compute_capability_minor,
    )
    assert device.total_memory() > 1 << 20
    assert device.warp_size == 32
    assert device.get_attribute(drv.device_attribute.WARP_SIZE) == 32
    assert isinstance(device.compute_mode, drv.compute_mode)


def test_an_attribute_of_a_devices_own():
    device = drv.Device(0)
    device.note = "mine"
    device.warp_size = 64
    assert (device.warp_size, device.note) == (64, "mine")
    assert vars(device) == {"note": "mine", "warp_size": 64}
    assert device.get_attribute(drv.device_attribute.WARP_SIZE) == 32
    assert drv.Device(0).warp_size == 32
    del device.warp_size
    assert device.warp_size == 32
    with pytest.raises(AttributeError, match="no warp_size was assigned"):
        del device.warp_size


def test_every_attribute_is_a_property():
    device = drv.Device(0)
    attributes = device.get_attributes()
    assert len(attributes) > 80
    for member, value in attributes.items():
        assert isinstance(member, drv.device_attribute)
        if member.name != "PCI_BUS_ID":  # a method has that name
            assert getattr(device, member.name.lower()) == value
    assert hasattr(device, "max_block_dim_x")
    assert not hasattr(device, "no_such_attribute")


def test_a_device_that_is_not_there():
    count = drv.Device.count()
    with pytest.raises(drv.LogicError, match=f"device {count} was asked for"):
        drv.Device(count)
    with pytest.raises(drv.LogicError, match=r"bus id '0'; Device\(0\) takes"):
        drv.Device("0")
    with pytest.raises(drv.LogicError, match="the PCI bus id '0000:ff:1f.7'"):
        drv.Device("0000:ff:1f.7")
    with pytest.raises(TypeError, match="device number"):
        drv.Device(0.0)


def test_subclasses_may_take_more():
    class Mine(drv.Device):
        def __init__(self, number, note):
            super().__init__(number)
            self.note = note

    mine = Mine(0, note="x")
    assert mine == drv.Device(0) and mine.note == "x"


def test_a_device_whose_init_was_forgotten():
    class Forgetful(drv.Device):
        def __init__(self):
            pass

    with pytest.raises(drv.LogicError):
        Forgetful().name()


def test_wrong_enumeration():
    with pytest.raises(TypeError, match="device_attribute"):
        drv.Device(0).get_attribute(drv.limit.STACK_SIZE)


@pytest.mark.gpus(2)
def test_peers():
    assert isinstance(drv.Device(0).can_access_peer(drv.Device(1)), bool)
    assert drv.Device(0) != drv.Device(1)
