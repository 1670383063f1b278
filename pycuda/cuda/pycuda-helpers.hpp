// Textures and surfaces of elements that the hardware has not: double and complex.
//
// Such an element is 2 or 4 integers in memory, as np_to_array and
// matrix_to_array(allow_double_hack=True) make it. A texture of them is declared with a
// type from here,
//
//     texture<fp_tex_double, 2> image;  ...  double v = fp_tex2D(image, x, y);
//
// and read with a function from here, which takes the plain elements too. Coordinates
// of surfaces count elements, not bytes. No filter works on such elements. Compiles
// under nvcc and NVRTC, inside extern "C" too.
#ifndef PYCUDA_HELPERS_HPP
#define PYCUDA_HELPERS_HPP

#include <pycuda-complex.hpp>
#include <pycuda-textures.hpp>

extern "C++" {

typedef float fp_tex_float;
typedef int2 fp_tex_double;
typedef uint2 fp_tex_cfloat;
typedef int4 fp_tex_cdouble;

namespace pycuda {

// What stands for an element in memory, and the way there and back.
template <class T> struct fp_element {
    typedef T stored;
    static __device__ __forceinline__ T load(stored v) { return v; }
    static __device__ __forceinline__ stored store(T v) { return v; }
};
template <> struct fp_element<double> {
    typedef fp_tex_double stored;
    static __device__ __forceinline__ double load(stored v)
    {
        return __hiloint2double(v.y, v.x);
    }
    static __device__ __forceinline__ stored store(double v)
    {
        return make_int2(__double2loint(v), __double2hiint(v));
    }
};
template <> struct fp_element<complex<float> > {
    typedef fp_tex_cfloat stored;
    static __device__ __forceinline__ complex<float> load(stored v)
    {
        return complex<float>(__int_as_float((int)v.x), __int_as_float((int)v.y));
    }
    static __device__ __forceinline__ stored store(const complex<float> &v)
    {
        return make_uint2((unsigned)__float_as_int(v._M_re),
                          (unsigned)__float_as_int(v._M_im));
    }
};
template <> struct fp_element<complex<double> > {
    typedef fp_tex_cdouble stored;
    static __device__ __forceinline__ complex<double> load(stored v)
    {
        return complex<double>(__hiloint2double(v.y, v.x), __hiloint2double(v.w, v.z));
    }
    static __device__ __forceinline__ stored store(const complex<double> &v)
    {
        return make_int4(__double2loint(v._M_re), __double2hiint(v._M_re),
                         __double2loint(v._M_im), __double2hiint(v._M_im));
    }
};

}  // namespace pycuda

#define PYCUDA_FP_TEX_FUNCS(TYPE, STORED)                                        \
    template <enum cudaTextureReadMode mode>                                     \
    static __device__ __forceinline__ TYPE fp_tex1Dfetch(                        \
        PYCUDA_TEXTURE_REFERENCE<STORED, 1, mode> tex, int i)                    \
    {                                                                            \
        return ::pycuda::fp_element<TYPE>::load(tex1Dfetch(tex, i));             \
    }                                                                            \
    template <enum cudaTextureReadMode mode>                                     \
    static __device__ __forceinline__ TYPE fp_tex2D(                             \
        PYCUDA_TEXTURE_REFERENCE<STORED, 2, mode> tex, int i, int j)             \
    {                                                                            \
        return ::pycuda::fp_element<TYPE>::load(tex2D(tex, (float)i, (float)j)); \
    }                                                                            \
    template <enum cudaTextureReadMode mode>                                     \
    static __device__ __forceinline__ TYPE fp_tex2DLayered(                      \
        PYCUDA_TEXTURE_REFERENCE<STORED, cudaTextureType2DLayered, mode> tex,    \
        int i, int j, int layer)                                                 \
    {                                                                            \
        return ::pycuda::fp_element<TYPE>::load(                                 \
            tex2DLayered(tex, (float)i, (float)j, layer));                       \
    }                                                                            \
    template <enum cudaTextureReadMode mode>                                     \
    static __device__ __forceinline__ TYPE fp_tex3D(                             \
        PYCUDA_TEXTURE_REFERENCE<STORED, 3, mode> tex, int i, int j, int k)      \
    {                                                                            \
        return ::pycuda::fp_element<TYPE>::load(                                 \
            tex3D(tex, (float)i, (float)j, (float)k));                           \
    }                                                                            \
    static __device__ __forceinline__ void fp_surf2DLayeredread(                 \
        TYPE *var, PYCUDA_SURFACE_REFERENCE<void, cudaSurfaceType2DLayered> surf, \
        int i, int j, int layer,                                                 \
        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                \
    {                                                                            \
        typedef ::pycuda::fp_element<TYPE>::stored stored;                       \
        stored v;                                                                \
        surf2DLayeredread(&v, surf, i * (int)sizeof(stored), j, layer, mode);    \
        *var = ::pycuda::fp_element<TYPE>::load(v);                              \
    }                                                                            \
    static __device__ __forceinline__ void fp_surf2DLayeredwrite(                \
        TYPE var, PYCUDA_SURFACE_REFERENCE<void, cudaSurfaceType2DLayered> surf, \
        int i, int j, int layer,                                                 \
        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                \
    {                                                                            \
        typedef ::pycuda::fp_element<TYPE>::stored stored;                       \
        stored v = ::pycuda::fp_element<TYPE>::store(var);                       \
        surf2DLayeredwrite(v, surf, i * (int)sizeof(stored), j, layer, mode);    \
    }                                                                            \
    static __device__ __forceinline__ void fp_surf3Dread(                        \
        TYPE *var, PYCUDA_SURFACE_REFERENCE<void, cudaSurfaceType3D> surf,       \
        int i, int j, int k,                                                     \
        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                \
    {                                                                            \
        typedef ::pycuda::fp_element<TYPE>::stored stored;                       \
        stored v;                                                                \
        surf3Dread(&v, surf, i * (int)sizeof(stored), j, k, mode);               \
        *var = ::pycuda::fp_element<TYPE>::load(v);                              \
    }                                                                            \
    static __device__ __forceinline__ void fp_surf3Dwrite(                       \
        TYPE var, PYCUDA_SURFACE_REFERENCE<void, cudaSurfaceType3D> surf,        \
        int i, int j, int k,                                                     \
        enum cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                \
    {                                                                            \
        typedef ::pycuda::fp_element<TYPE>::stored stored;                       \
        stored v = ::pycuda::fp_element<TYPE>::store(var);                       \
        surf3Dwrite(v, surf, i * (int)sizeof(stored), j, k, mode);               \
    }

// The functions for an element that textures have: programs may add types of their own.
#define PYCUDA_GENERATE_FP_TEX_FUNCS(TYPE) PYCUDA_FP_TEX_FUNCS(TYPE, TYPE)

PYCUDA_GENERATE_FP_TEX_FUNCS(float)
PYCUDA_GENERATE_FP_TEX_FUNCS(int)
PYCUDA_GENERATE_FP_TEX_FUNCS(unsigned int)
PYCUDA_GENERATE_FP_TEX_FUNCS(short)
PYCUDA_GENERATE_FP_TEX_FUNCS(unsigned short)
PYCUDA_GENERATE_FP_TEX_FUNCS(char)
PYCUDA_GENERATE_FP_TEX_FUNCS(unsigned char)
PYCUDA_FP_TEX_FUNCS(double, fp_tex_double)
PYCUDA_FP_TEX_FUNCS(::pycuda::complex<float>, fp_tex_cfloat)
PYCUDA_FP_TEX_FUNCS(::pycuda::complex<double>, fp_tex_cdouble)

}  // extern "C++"

#endif
