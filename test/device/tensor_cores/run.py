"""Runs the kernels on the current context's device."""

import numpy as np

import pycuda.driver as drv

from . import inputs, kernels, moves, wgmma


def launch(text, arrays, output, block):
    """Run kernel k of a text with arrays, after the output, as parameters."""
    module = drv.module_from_buffer(text.encode())
    result = drv.to_device(output)
    given = [drv.to_device(np.ascontiguousarray(array)) for array in arrays]
    groups = len(arrays[0])
    function = module.get_function("k")
    function(result, *given, grid=(groups, 1, 1), block=(block, 1, 1))
    drv.memcpy_dtoh(output, result)
    return output


def multiplication(form, warps, seed=""):
    """Return the registers of D: element [warp][register][lane]."""
    arrays = inputs.of_form(form, warps, seed)
    dtype = np.uint64 if form.types[0] == "f64" else np.uint32
    output = np.zeros((warps, form.registers[0], 32), dtype)
    return launch(kernels.multiplication(form), list(arrays.values()), output, 32)


def group_multiplication(form, arrays):
    """Return the registers of D of a wgmma: element [group][register][lane]."""
    given = [arrays[name] for name in ("ps", "pc", "pa", "pe") if name in arrays]
    output = np.zeros_like(arrays["pc"])
    return launch(wgmma.kernel(form), given, output, wgmma.LANES)


def movement(move):
    """Return the registers or the memory that a move writes."""
    given = [moves.operands(move)["ps"]]
    return launch(moves.kernel(move), given, moves.empty(move), 32)


def transposition():
    """Return what movmatrix makes of random registers."""
    words = inputs.Source("movmatrix").words(4 * 32).reshape(4, 1, 32)
    words = (words >> np.uint64(32)).astype(np.uint32)
    return launch(moves.transposition(), [words], np.zeros_like(words), 32)
