"""Texture references bound to GPUArrays."""

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.gpuarray import to_gpu
from support.arrays import same

pytestmark = pytest.mark.gpu

SOURCE = """
texture<float, 1, cudaReadModeElementType> tex;
texture<int2, 1, cudaReadModeElementType> pairs;

__global__ void fetch(float *out) { out[threadIdx.x] = tex1Dfetch(tex, threadIdx.x); }

__global__ void fetch_double(double *out)
{
    int2 v = tex1Dfetch(pairs, threadIdx.x);
    out[threadIdx.x] = __hiloint2double(v.y, v.x);
}
"""


def test_floats_and_doubles(ctx):
    module = SourceModule(SOURCE)
    host = np.arange(16, dtype=np.float32)
    array, out = to_gpu(host), gpuarray.zeros(16, np.float32)
    texref = module.get_texref("tex")
    assert array.bind_to_texref(texref) == 0
    module.get_function("fetch")(out, block=(16, 1, 1), texrefs=[texref])
    same(out, host)

    doubles = np.arange(16) / 7
    array, out = to_gpu(doubles), gpuarray.zeros(16, np.float64)
    texref = module.get_texref("pairs")
    assert array.bind_to_texref_ext(texref, allow_double_hack=True) == 0
    module.get_function("fetch_double")(out, block=(16, 1, 1), texrefs=[texref])
    same(out, doubles)


def test_what_cannot_be_bound(ctx):
    module = SourceModule(SOURCE)
    texref = module.get_texref("tex")
    with pytest.raises(RuntimeError, match="gaps"):
        gpuarray.zeros((4, 4), np.float32)[:, ::2].bind_to_texref(texref)
    with pytest.raises(ValueError, match="channel"):
        gpuarray.zeros(4).bind_to_texref_ext(texref, 2, allow_double_hack=True)
