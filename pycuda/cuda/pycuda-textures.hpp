// Texture and surface references, which CUDA 12 took out of the language.
//
// pycuda.compiler includes this before a source that declares texture<> or surface<>
// variables, where the compiler has none of its own. A reference is a variable in
// constant memory that holds a texture object; a read of it is a read of that object.
// get_texref() and get_surfref() find the variable by its name and look at the second
// half, which tells what was declared. Compiles under nvcc and NVRTC, inside extern "C"
// too.
//
// With PYCUDA_TEXTURES_NO_TEXTURE or PYCUDA_TEXTURES_NO_SURFACE defined the words
// texture and surface stay free for other uses.
#ifndef PYCUDA_TEXTURES_HPP
#define PYCUDA_TEXTURES_HPP

// The types without the words that stand for them.
#if __CUDACC_VER_MAJOR__ >= 12
#define PYCUDA_TEXTURE_REFERENCE ::pycuda::texture_reference
#define PYCUDA_SURFACE_REFERENCE ::pycuda::surface_reference
#else
#define PYCUDA_TEXTURE_REFERENCE texture
#define PYCUDA_SURFACE_REFERENCE surface
#endif

#if __CUDACC_VER_MAJOR__ >= 12

#ifndef cudaTextureType1D
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaTextureTypeCubemapLayered 0xFC
#endif
#ifndef cudaSurfaceType1D
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceTypeCubemap 0x0C
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2
#define cudaSurfaceTypeCubemapLayered 0xFC
#endif

extern "C++" {
namespace pycuda {

// What an element is: the driver's format (0: none it knows), channels, and the type of
// a read that promotes to floating point.
template <class T> struct texel {
    static constexpr unsigned format = 0, channels = 0;
    typedef T promoted;
};

#define PYCUDA_TEXEL(T, number, count, P)                                        \
    template <> struct texel<T> {                                                \
        static constexpr unsigned format = number, channels = count;             \
        typedef P promoted;                                                      \
    };
#define PYCUDA_TEXELS(T, number, P)                                              \
    PYCUDA_TEXEL(T##1, number, 1, P##1)                                          \
    PYCUDA_TEXEL(T##2, number, 2, P##2)                                          \
    PYCUDA_TEXEL(T##4, number, 4, P##4)
PYCUDA_TEXEL(unsigned char, 0x01, 1, float)
PYCUDA_TEXEL(unsigned short, 0x02, 1, float)
PYCUDA_TEXEL(unsigned int, 0x03, 1, unsigned int)
PYCUDA_TEXEL(char, 0x08, 1, float)
PYCUDA_TEXEL(signed char, 0x08, 1, float)
PYCUDA_TEXEL(short, 0x09, 1, float)
PYCUDA_TEXEL(int, 0x0a, 1, int)
PYCUDA_TEXEL(float, 0x20, 1, float)
PYCUDA_TEXELS(uchar, 0x01, float)
PYCUDA_TEXELS(ushort, 0x02, float)
PYCUDA_TEXELS(uint, 0x03, uint)
PYCUDA_TEXELS(char, 0x08, float)
PYCUDA_TEXELS(short, 0x09, float)
PYCUDA_TEXELS(int, 0x0a, int)
PYCUDA_TEXELS(float, 0x20, float)
#undef PYCUDA_TEXEL
#undef PYCUDA_TEXELS

// What a read gives, and what tex2Dgather gives: four of one channel.
template <class T, int mode> struct texture_read {
    typedef T type;
};
template <class T> struct texture_read<T, 1> {
    typedef typename texel<T>::promoted type;
};
template <class T> struct texture_four;
#define PYCUDA_FOUR(V, T)                                                        \
    template <> struct texture_four<T> {                                         \
        typedef V##4 type;                                                       \
    };                                                                           \
    template <> struct texture_four<V##1> {                                      \
        typedef V##4 type;                                                       \
    };                                                                           \
    template <> struct texture_four<V##2> {                                      \
        typedef V##4 type;                                                       \
    };                                                                           \
    template <> struct texture_four<V##4> {                                      \
        typedef V##4 type;                                                       \
    };
PYCUDA_FOUR(char, char)
PYCUDA_FOUR(uchar, unsigned char)
PYCUDA_FOUR(short, short)
PYCUDA_FOUR(ushort, unsigned short)
PYCUDA_FOUR(int, int)
PYCUDA_FOUR(uint, unsigned int)
PYCUDA_FOUR(float, float)
#undef PYCUDA_FOUR
template <> struct texture_four<signed char> {
    typedef char4 type;
};

// The bytes that get_texref() reads; see python/driver/texture/reference.c. The mark
// spells "tref".
template <class T, int dim = cudaTextureType1D,
          enum cudaTextureReadMode mode = cudaReadModeElementType>
struct texture_reference {
    unsigned long long object;
    unsigned int mark;
    unsigned int declared;

    __host__ __device__ constexpr texture_reference()
        : object(0), mark(0x66657274u),
          declared(texel<T>::format | texel<T>::channels << 8 |
                   (unsigned)mode << 16 | (unsigned)dim << 24)
    {
    }
};

// The mark spells "sref".
template <class T = void, int dim = cudaSurfaceType1D> struct surface_reference {
    unsigned long long object;
    unsigned int mark;
    unsigned int declared;

    __host__ __device__ constexpr surface_reference()
        : object(0), mark(0x66657273u), declared((unsigned)dim << 24)
    {
    }
};

}  // namespace pycuda

// Reads of a texture: the name, the kind of texture, the parameters after it, and how
// they are passed on.
#define PYCUDA_READ(name, dim, parameters, arguments)                            \
    template <class T, enum cudaTextureReadMode mode>                            \
    static __device__ __forceinline__                                            \
        typename ::pycuda::texture_read<T, mode>::type                           \
        name(const ::pycuda::texture_reference<T, dim, mode> &texref,            \
             PYCUDA_ALL parameters)                                              \
    {                                                                            \
        return ::name<typename ::pycuda::texture_read<T, mode>::type>(           \
            (cudaTextureObject_t)texref.object, PYCUDA_ALL arguments);           \
    }
#define PYCUDA_ALL(...) __VA_ARGS__
PYCUDA_READ(tex1Dfetch, 1, (int x), (x))
PYCUDA_READ(tex1D, 1, (float x), (x))
PYCUDA_READ(tex2D, 2, (float x, float y), (x, y))
PYCUDA_READ(tex3D, 3, (float x, float y, float z), (x, y, z))
PYCUDA_READ(tex1DLayered, 0xF1, (float x, int layer), (x, layer))
PYCUDA_READ(tex2DLayered, 0xF2, (float x, float y, int layer), (x, y, layer))
PYCUDA_READ(texCubemap, 0x0C, (float x, float y, float z), (x, y, z))
PYCUDA_READ(texCubemapLayered, 0xFC, (float x, float y, float z, int layer),
            (x, y, z, layer))
PYCUDA_READ(tex1DLod, 1, (float x, float level), (x, level))
PYCUDA_READ(tex2DLod, 2, (float x, float y, float level), (x, y, level))
PYCUDA_READ(tex3DLod, 3, (float x, float y, float z, float level), (x, y, z, level))
PYCUDA_READ(tex1DLayeredLod, 0xF1, (float x, int layer, float level),
            (x, layer, level))
PYCUDA_READ(tex2DLayeredLod, 0xF2, (float x, float y, int layer, float level),
            (x, y, layer, level))
PYCUDA_READ(texCubemapLod, 0x0C, (float x, float y, float z, float level),
            (x, y, z, level))
PYCUDA_READ(texCubemapLayeredLod, 0xFC,
            (float x, float y, float z, int layer, float level),
            (x, y, z, layer, level))
PYCUDA_READ(tex1DGrad, 1, (float x, float dx, float dy), (x, dx, dy))
PYCUDA_READ(tex2DGrad, 2, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy))
PYCUDA_READ(tex3DGrad, 3, (float x, float y, float z, float4 dx, float4 dy),
            (x, y, z, dx, dy))
PYCUDA_READ(tex1DLayeredGrad, 0xF1, (float x, int layer, float dx, float dy),
            (x, layer, dx, dy))
PYCUDA_READ(tex2DLayeredGrad, 0xF2,
            (float x, float y, int layer, float2 dx, float2 dy),
            (x, y, layer, dx, dy))
PYCUDA_READ(texCubemapGrad, 0x0C, (float x, float y, float z, float4 dx, float4 dy),
            (x, y, z, dx, dy))
PYCUDA_READ(texCubemapLayeredGrad, 0xFC,
            (float x, float y, float z, int layer, float4 dx, float4 dy),
            (x, y, z, layer, dx, dy))
#undef PYCUDA_READ

template <class T, enum cudaTextureReadMode mode>
static __device__ __forceinline__ typename ::pycuda::texture_four<
    typename ::pycuda::texture_read<T, mode>::type>::type
tex2Dgather(const ::pycuda::texture_reference<T, 2, mode> &texref, float x, float y,
            int comp = 0)
{
    typedef typename ::pycuda::texture_read<T, mode>::type read;
    return ::tex2Dgather<typename ::pycuda::texture_four<read>::type>(
        (cudaTextureObject_t)texref.object, x, y, comp);
}

// Surfaces: a read into a pointer, a read that returns, a write. x counts bytes.
#define PYCUDA_SURFACE(name, dim, parameters, arguments)                         \
    template <class T, class S>                                                  \
    static __device__ __forceinline__ void name##read(                           \
        T *value, const ::pycuda::surface_reference<S, dim> &surfref,            \
        PYCUDA_ALL parameters,                                                   \
        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                \
    {                                                                            \
        *value = ::name##read<T>((cudaSurfaceObject_t)surfref.object,            \
                                 PYCUDA_ALL arguments, mode);                    \
    }                                                                            \
    template <class T, class S>                                                  \
    static __device__ __forceinline__ T name##read(                              \
        const ::pycuda::surface_reference<S, dim> &surfref,                      \
        PYCUDA_ALL parameters,                                                   \
        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                \
    {                                                                            \
        return ::name##read<T>((cudaSurfaceObject_t)surfref.object,              \
                               PYCUDA_ALL arguments, mode);                      \
    }                                                                            \
    template <class T, class S>                                                  \
    static __device__ __forceinline__ void name##write(                          \
        T value, const ::pycuda::surface_reference<S, dim> &surfref,             \
        PYCUDA_ALL parameters,                                                   \
        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                \
    {                                                                            \
        ::name##write(value, (cudaSurfaceObject_t)surfref.object,                \
                      PYCUDA_ALL arguments, mode);                               \
    }
PYCUDA_SURFACE(surf1D, 1, (int x), (x))
PYCUDA_SURFACE(surf2D, 2, (int x, int y), (x, y))
PYCUDA_SURFACE(surf3D, 3, (int x, int y, int z), (x, y, z))
PYCUDA_SURFACE(surf1DLayered, 0xF1, (int x, int layer), (x, layer))
PYCUDA_SURFACE(surf2DLayered, 0xF2, (int x, int y, int layer), (x, y, layer))
PYCUDA_SURFACE(surfCubemap, 0x0C, (int x, int y, int face), (x, y, face))
PYCUDA_SURFACE(surfCubemapLayered, 0xFC, (int x, int y, int layerFace),
               (x, y, layerFace))
#undef PYCUDA_SURFACE
#undef PYCUDA_ALL
}  // extern "C++"

// The word brings the memory space, so that "texture<float, 2> image;" is a variable of
// the device.
#ifndef PYCUDA_TEXTURES_NO_TEXTURE
#define texture __constant__ ::pycuda::texture_reference
#endif
#ifndef PYCUDA_TEXTURES_NO_SURFACE
#define surface __constant__ ::pycuda::surface_reference
#endif

#endif  // CUDA 12
#endif
