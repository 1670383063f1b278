"""The kernels of test_textures.py: CUDA C++ for nvcc or NVRTC."""

_HEAD = """
#pragma nv_diag_suppress 177, 550 /* not every kernel uses all coordinates */
typedef cudaTextureObject_t tex_t;
typedef cudaSurfaceObject_t surf_t;

/* c holds x of all points, then y, then z; k the layers or integer coordinates */
#define KERNEL(name, T, call)                                                     \\
    extern "C" __global__ void name(tex_t t, const float *c, const int *k, T *out, \\
                                    int n)                                         \\
    {                                                                              \\
        int i = blockIdx.x * blockDim.x + threadIdx.x;                             \\
        if (i >= n) return;                                                        \\
        float x = c[i], y = c[n + i], z = c[2 * n + i];                            \\
        int l = k[i];                                                              \\
        out[i] = call;                                                             \\
    }
#define FETCHES(T)                                                      \\
    KERNEL(fetch_1d_##T, T, tex1D<T>(t, x))                             \\
    KERNEL(fetch_2d_##T, T, (tex2D<T>(t, x, y)))                        \\
    KERNEL(fetch_3d_##T, T, (tex3D<T>(t, x, y, z)))                     \\
    KERNEL(fetch_a1d_##T, T, (tex1DLayered<T>(t, x, l)))                \\
    KERNEL(fetch_a2d_##T, T, (tex2DLayered<T>(t, x, y, l)))             \\
    KERNEL(fetch_cube_##T, T, (texCubemap<T>(t, x, y, z)))              \\
    KERNEL(fetch_acube_##T, T, (texCubemapLayered<T>(t, x, y, z, l)))   \\
    KERNEL(fetch_linear_##T, T, (tex1Dfetch<T>(t, l)))
FETCHES(float4) FETCHES(int4) FETCHES(uint4)

KERNEL(lod_1d, float4, tex1DLod<float4>(t, x, y))
KERNEL(lod_2d, float4, (tex2DLod<float4>(t, x, y, z)))
KERNEL(lod_a2d, float4, (tex2DLayeredLod<float4>(t, x, y, l, z)))
KERNEL(lod_cube, float4, (texCubemapLod<float4>(t, x, y, z, 0.0f)))
KERNEL(grad_1d, float4, (tex1DGrad<float4>(t, x, z, 0.5f * z)))
KERNEL(grad_2d, float4, (tex2DGrad<float4>(t, x, y, make_float2(z, 0.0f),
                                           make_float2(0.0f, 0.5f * z))))
KERNEL(grad_3d, float4, (tex3DGrad<float4>(t, x, y, z, make_float4(x, y, z, 0.0f),
                                           make_float4(z, x, y, 0.0f))))
KERNEL(resident_2d, float4, [&] {
    bool there = false;
    float4 v = tex2D<float4>(t, x, y, &there);
    return there ? v : make_float4(-1, -1, -1, -1);
}())
KERNEL(gather_2d_0, float4, (tex2Dgather<float4>(t, x, y, 0)))
KERNEL(gather_2d_1, float4, (tex2Dgather<float4>(t, x, y, 1)))
KERNEL(gather_2d_2, float4, (tex2Dgather<float4>(t, x, y, 2)))
KERNEL(gather_2d_3, float4, (tex2Dgather<float4>(t, x, y, 3)))
KERNEL(gather_2d_uint, uint4, (tex2Dgather<uint4>(t, x, y, 0)))

/* Offsets, packed halves and a scalar destination exist in PTX alone. */
KERNEL(offset_2d, float4, [&] {
    float4 v;
    asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], {2, -1};"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(t), "f"(x), "f"(y));
    return v;
}())
KERNEL(texel_2d, float4, [&] {
    float4 v;
    asm volatile("tex.2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(t), "r"((int)x), "r"((int)y));
    return v;
}())
KERNEL(halves_2d, uint2, [&] {
    uint2 v;
    asm volatile("tex.2d.v2.f16x2.f32 {%0, %1}, [%2, {%3, %4}];"
                 : "=r"(v.x), "=r"(v.y) : "l"(t), "f"(x), "f"(y));
    return v;
}())

#define QUERY(name, what)                                                     \\
    extern "C" __global__ void name(tex_t t, unsigned *out)                   \\
    {                                                                         \\
        unsigned v;                                                           \\
        asm volatile(what " %0, [%1];" : "=r"(v) : "l"(t));                   \\
        *out = v;                                                             \\
    }
QUERY(query_width, "txq.width.b32") QUERY(query_height, "txq.height.b32")
QUERY(query_depth, "txq.depth.b32")
QUERY(surface_width, "suq.width.b32") QUERY(surface_height, "suq.height.b32")
QUERY(surface_depth, "suq.depth.b32")

/* a surface access of T at every element of an array of w x h x d of them */
#define SURFACE(name, T, mode, load, store)                                       \\
    extern "C" __global__ void load_##name(surf_t s, T *v, int w, int h, int n,   \\
                                           int3 o)                                \\
    {                                                                             \\
        int i = blockIdx.x * blockDim.x + threadIdx.x;                            \\
        if (i >= n) return;                                                       \\
        int x = (i % w + o.x) * (int)sizeof(T), y = i / w % h + o.y;              \\
        int z = i / w / h + o.z;                                                  \\
        v[i] = load;                                                              \\
    }                                                                             \\
    extern "C" __global__ void store_##name(surf_t s, const T *v, int w, int h,   \\
                                            int n, int3 o)                        \\
    {                                                                             \\
        int i = blockIdx.x * blockDim.x + threadIdx.x;                            \\
        if (i >= n) return;                                                       \\
        int x = (i % w + o.x) * (int)sizeof(T), y = i / w % h + o.y;              \\
        int z = i / w / h + o.z;                                                  \\
        store;                                                                    \\
    }
#define MODES(g, T, load, store)                                                \\
    SURFACE(g##_##T##_trap, T, trap, load(cudaBoundaryModeTrap, T),             \\
            store(cudaBoundaryModeTrap))                                        \\
    SURFACE(g##_##T##_clamp, T, clamp, load(cudaBoundaryModeClamp, T),          \\
            store(cudaBoundaryModeClamp))                                       \\
    SURFACE(g##_##T##_zero, T, zero, load(cudaBoundaryModeZero, T),             \\
            store(cudaBoundaryModeZero))
#define L1(m, T) (surf1Dread<T>(s, x, m))
#define S1(m) surf1Dwrite(v[i], s, x, m)
#define L2(m, T) (surf2Dread<T>(s, x, y, m))
#define S2(m) surf2Dwrite(v[i], s, x, y, m)
#define L3(m, T) (surf3Dread<T>(s, x, y, z, m))
#define S3(m) surf3Dwrite(v[i], s, x, y, z, m)
#define LA1(m, T) (surf1DLayeredread<T>(s, x, z, m))
#define SA1(m) surf1DLayeredwrite(v[i], s, x, z, m)
#define LA2(m, T) (surf2DLayeredread<T>(s, x, y, z, m))
#define SA2(m) surf2DLayeredwrite(v[i], s, x, y, z, m)
#define LC(m, T) (surfCubemapread<T>(s, x, y, z, m))
#define SC(m) surfCubemapwrite(v[i], s, x, y, z, m)
#define SURFACES(T) MODES(1d, T, L1, S1) MODES(2d, T, L2, S2) MODES(3d, T, L3, S3) \\
    MODES(a1d, T, LA1, SA1) MODES(a2d, T, LA2, SA2) MODES(cube, T, LC, SC)
SURFACES(uchar1) SURFACES(short1) SURFACES(int1) SURFACES(longlong1) SURFACES(char4)
SURFACES(ushort2) SURFACES(float2) SURFACES(uint4) SURFACES(longlong2)

#define REDUCE(name, what, C, T)                                              \\
    extern "C" __global__ void name(surf_t s, const T *v, int n)              \\
    {                                                                         \\
        int i = blockIdx.x * blockDim.x + threadIdx.x;                        \\
        if (i >= n) return;                                                   \\
        asm volatile("sured.b." what ".2d." C ".trap [%0, {%1, %2}], %3;"     \\
                     :: "l"(s), "r"((i % 4) * (int)sizeof(T)), "r"(i / 4 % 2), \\
                        REGISTER_##T (v[i]) : "memory");                       \\
    }
#define REGISTER_int "r"
#define REGISTER_unsigned "r"
REDUCE(reduce_add, "add", "u32", unsigned) REDUCE(reduce_min, "min", "s32", int)
REDUCE(reduce_max, "max", "u32", unsigned) REDUCE(reduce_or, "or", "b32", unsigned)
REDUCE(reduce_and, "and", "b32", unsigned)
extern "C" __global__ void reduce_odd(surf_t s)
{
    asm volatile("sured.b.add.2d.u32.trap [%0, {2, 0}], 1;" :: "l"(s) : "memory");
}
"""

TYPES = [
    f"{base}{channels}"
    for base in ("char", "uchar", "short", "ushort", "int", "uint", "float")
    for channels in (1, 2, 4)
]

SOURCE = _HEAD + "\n".join(
    f"KERNEL(typed_{t}, {t}, (tex2D<{t}>(t, x, y)))" for t in TYPES
)
