"""Runs the kernels on the current context's device."""

import numpy as np

import pycuda.driver as drv

from . import inputs, kernels, moves, wgmma


def launch(text, arrays, output, block):
    """Run kernel k of a text with arrays by parameter, `pd` for the output."""
    function = drv.module_from_buffer(text.encode()).get_function("k")
    result = drv.mem_alloc(output.nbytes)
    drv.memcpy_htod(result, output)
    given = [result]
    for array in arrays.values():
        given.append(drv.to_device(np.ascontiguousarray(array)))
    groups = len(next(iter(arrays.values())))
    function(*given, grid=(groups, 1, 1), block=(block, 1, 1))
    drv.memcpy_dtoh(output, result)
    return output


def multiplication(form, warps):
    """Return the registers of D: element [warp][register][lane]."""
    arrays = inputs.of_form(form, warps)
    dtype = np.uint64 if form.types[0] == "f64" else np.uint32
    output = np.zeros((warps, form.registers[0], 32), dtype)
    return launch(kernels.multiplication(form), arrays, output, 32)


def group_multiplication(form, arrays):
    """Return the registers of D of a wgmma: element [group][register][lane]."""
    order = ["ps", "pc"]
    order += [name for name in ("pa", "pe") if name in arrays]
    given = {name: arrays[name] for name in order}
    output = np.zeros_like(given["pc"])
    return launch(wgmma.kernel(form), given, output, wgmma.LANES)


def movement(move):
    """Return the registers or the memory that a move writes."""
    return launch(moves.kernel(move), moves.operands(move), moves.empty(move), 32)


def transposition():
    words = inputs.Source("movmatrix").words(4 * 32).reshape(4, 1, 32)
    words = (words >> np.uint64(32)).astype(np.uint32)
    return launch(moves.transposition(), {"ps": words}, np.zeros_like(words), 32)
