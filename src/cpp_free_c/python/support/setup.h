/* The setup functions of the module, in the order in which module.c calls them. Each
 * one adds the types and functions of one file. */
#ifndef PYTHON_SUPPORT_SETUP_H
#define PYTHON_SUPPORT_SETUP_H

#include "python/support/base.h"

#define PCU_SETUPS(X) \
    X(errors)         \
    X(enums)          \
    X(library)        \
    X(context)        \
    X(device)         \
    X(stream)         \
    X(event)          \
    X(devmem)         \
    X(managed)        \
    X(ipc)            \
    X(hostmem)        \
    X(hostarray)      \
    X(memcpy)         \
    X(handlers)       \
    X(cumodule)       \
    X(function)       \
    X(array)          \
    X(memcpynd)       \
    X(texture)        \
    X(texref)         \
    X(mempool)        \
    X(dlpack)         \
    X(linker)         \
    X(gl)             \
    X(profiler)       \
    X(curand)         \
    X(gpuarray)

#define PCU_SETUP(name) \
    PCU_HIDDEN PCU_RAISES int pcu_##name##_setup(PyObject *m, pcu_state *st);
PCU_SETUPS(PCU_SETUP)
#undef PCU_SETUP

#endif
