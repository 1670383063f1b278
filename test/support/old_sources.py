"""Programs in the style before CUDA 12, with texture<> and surface<> variables.

``SOURCE`` has a kernel ``read_NAME`` for each row of ``READS``. Its parameters are
(out, x, y, z, layer, n), and it writes one element for each of n places. ``SURFACES``
has ``load_NAME`` and ``store_NAME`` with (values, w, h, n), which visit every element.
"""

#: name: (declaration, element that a read returns, the read)
READS = {}


def _add(name, type_, kind, gives, call, mode=""):
    READS[name] = (f"texture<{type_}, {kind}{mode}> {name};", gives, call)


for _type in ("float", "float2", "float4", "int", "uint2", "short4", "uchar"):
    _c = {"uint2": "uint2", "uchar": "unsigned char"}.get(_type, _type)
    _add(f"t1d_{_type}", _c, "1", _c, "tex1D({}, x)")
    _add(f"t2d_{_type}", _c, "cudaTextureType2D", _c, "tex2D({}, x, y)")
    _add(f"t3d_{_type}", _c, "3", _c, "tex3D({}, x, y, z)")
    _add(
        f"a1d_{_type}", _c, "cudaTextureType1DLayered", _c, "tex1DLayered({}, x, layer)"
    )
    _add(
        f"a2d_{_type}",
        _c,
        "cudaTextureType2DLayered",
        _c,
        "tex2DLayered({}, x, y, layer)",
    )

#: The types of elements in C, by dtype and channels.
ELEMENTS = {
    "uint8": ("unsigned char", "uchar2", "uchar4"),
    "int8": ("char", "char2", "char4"),
    "uint16": ("unsigned short", "ushort2", "ushort4"),
    "int16": ("short", "short2", "short4"),
    "uint32": ("unsigned int", "uint2", "uint4"),
    "int32": ("int", "int2", "int4"),
    "float32": ("float", "float2", "float4"),
}
for _dtype, _types in ELEMENTS.items():
    for _k, _type in zip((1, 2, 4), _types, strict=True):
        _add(f"plain_{_dtype}_{_k}", _type, "2", _type, "tex2D({}, x, y)")
        _add(f"fetch_{_dtype}_{_k}", _type, "1", _type, "tex1Dfetch({}, (int)x)")
        if _dtype[-2:] != "32":
            _float = "float" if _k == 1 else f"float{_k}"
            _add(
                f"unit_{_dtype}_{_k}",
                _type,
                "2",
                _float,
                "tex2D({}, x, y)",
                ", cudaReadModeNormalizedFloat",
            )

_add("cube", "float4", "cudaTextureTypeCubemap", "float4", "texCubemap({}, x, y, z)")
_add(
    "cubes",
    "float",
    "cudaTextureTypeCubemapLayered",
    "float",
    "texCubemapLayered({}, x, y, z, layer)",
)
_SAME = "make_float2(x * 0, y * 0)"
for _name, _kind, _call in (
    ("lod_1d", "1", "tex1DLod({}, x, 0)"),
    ("lod_2d", "2", "tex2DLod({}, x, y, 0)"),
    ("lod_3d", "3", "tex3DLod({}, x, y, z, 0)"),
    ("lod_a1d", "0xF1", "tex1DLayeredLod({}, x, layer, 0)"),
    ("lod_a2d", "0xF2", "tex2DLayeredLod({}, x, y, layer, 0)"),
    ("grad_1d", "1", "tex1DGrad({}, x, 0, 0)"),
    ("grad_2d", "2", f"tex2DGrad({{}}, x, y, {_SAME}, {_SAME})"),
    (
        "grad_3d",
        "3",
        "tex3DGrad({}, x, y, z, make_float4(0, 0, 0, 0), make_float4(0, 0, 0, 0))",
    ),
    ("grad_a1d", "0xF1", "tex1DLayeredGrad({}, x, layer, 0, 0)"),
    ("grad_a2d", "0xF2", f"tex2DLayeredGrad({{}}, x, y, layer, {_SAME}, {_SAME})"),
):
    _add(_name, "float", _kind, "float", _call)
for _channel in range(4):
    _comp = "" if _channel == 0 else f", {_channel}"
    _add(
        f"gather_{_channel}", "float4", "2", "float4", f"tex2Dgather({{}}, x, y{_comp})"
    )
_add("gather_uint", "uint2", "2", "uint4", "tex2Dgather({}, x, y, 1)")

SOURCE = "#pragma nv_diag_suppress 177,550\n" + "\n".join(
    f"""
{declaration}
__global__ void read_{name}({gives} *out, const float *at, const int *layers, int n)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = at[i], y = at[n + i], z = at[2 * n + i];
    int layer = layers[i];
    out[i] = {call.format(name)};
}}"""
    for name, (declaration, gives, call) in READS.items()
)

#: kind: (type, coordinates)
SURFACE_KINDS = {
    "1d": ("1", "i % w * (int)sizeof(T)"),
    "2d": ("cudaSurfaceType2D", "i % w * (int)sizeof(T), i / w % h"),
    "3d": ("cudaSurfaceType3D", "i % w * (int)sizeof(T), i / w % h, i / w / h"),
    "a1d": ("cudaSurfaceType1DLayered", "i % w * (int)sizeof(T), i / w / h"),
    "a2d": ("cudaSurfaceType2DLayered", "i % w * (int)sizeof(T), i / w % h, i / w / h"),
    "cube": ("cudaSurfaceTypeCubemap", "i % w * (int)sizeof(T), i / w % h, i / w / h"),
    "cubes": (
        "cudaSurfaceTypeCubemapLayered",
        "i % w * (int)sizeof(T), i / w % h, i / w / h",
    ),
}
SURFACE_TYPES = ("uchar4", "short", "float", "int2", "uint4")
_CALLS = {
    "1d": "surf1D",
    "2d": "surf2D",
    "3d": "surf3D",
    "a1d": "surf1DLayered",
    "a2d": "surf2DLayered",
    "cube": "surfCubemap",
    "cubes": "surfCubemapLayered",
}


def _surface(kind, type_):
    number, place = SURFACE_KINDS[kind]
    call, name = _CALLS[kind], f"{kind}_{type_}"
    place = place.replace("T", type_)
    guard = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;"
    return f"""
surface<void, {number}> s{name};
__global__ void load_{name}({type_} *values, int w, int h, int n)
{{
    {guard}
    {call}read(values + i, s{name}, {place});
}}
__global__ void value_{name}({type_} *values, int w, int h, int n)
{{
    {guard}
    values[i] = {call}read<{type_}>(s{name}, {place}, cudaBoundaryModeClamp);
}}
__global__ void store_{name}({type_} *values, int w, int h, int n)
{{
    {guard}
    {call}write(values[i], s{name}, {place}, cudaBoundaryModeTrap);
}}"""


SURFACES = "\n".join(
    _surface(kind, type_) for kind in SURFACE_KINDS for type_ in SURFACE_TYPES
)
