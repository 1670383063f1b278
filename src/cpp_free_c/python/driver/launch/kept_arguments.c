/* The arguments of a kernel that a graph must keep as objects, because a note of their
 * address does not keep them alive. Allocations of this package are kept by their
 * addresses: pcu_captured_launch in python/driver/graph_resources.c. */
#include "python/driver/launch/launch.h"

#include "python/driver/memory/gpuarray.h"
#include "python/driver/texture/texture_object.h"

PyObject *
pcu_argument_memory(pcu_state *st, PyObject *arg)
{
    if (PyLong_Check(arg) || PyFloat_Check(arg) || PyComplex_Check(arg) ||
        PyArray_IsScalar(arg, Generic)) {
        return NULL;
    }
    if (pcu_is_array(st, arg)) {
        return ((pcu_gpuarray *)arg)->memory;
    }
    return arg;
}

/* Whether the release of the object goes through pcu_release_handle, and the object
 * keeps nothing else alive. */
static bool
argument_is_seen(pcu_state *st, PyObject *memory)
{
    return Py_IS_TYPE(memory, st->DeviceAllocation) ||
           Py_IS_TYPE(memory, st->PooledDeviceAllocation);
}

int
pcu_arguments_keep(pcu_graph_resources *resources, PyObject *const *args,
                   Py_ssize_t nargs)
{
    pcu_state *st = resources->st;
    int rc = 0;
    for (Py_ssize_t i = 0; rc == 0 && i < nargs; i++) {
        PyObject *memory = pcu_argument_memory(st, args[i]);
        if (memory != NULL && !argument_is_seen(st, memory)) {
            rc = pcu_graph_resources_keep(resources, memory);
            uint64_t word = pcu_texture_source_word(st, memory);
            if (rc == 0 && word != 0) {
                rc = pcu_graph_resources_keep_word(resources, word);
            }
        }
    }
    return rc;
}

int
pcu_captured_arguments(pcu_state *st, PyObject *const *args, Py_ssize_t nargs)
{
    int rc = 0;
    for (Py_ssize_t i = 0; rc == 0 && i < nargs; i++) {
        PyObject *memory = pcu_argument_memory(st, args[i]);
        if (memory != NULL && !argument_is_seen(st, memory)) {
            rc = pcu_captured_object(memory);
            uint64_t word = pcu_texture_source_word(st, memory);
            if (rc == 0 && word != 0) {
                rc = pcu_captured_address(word);
            }
        }
    }
    return rc;
}
