/* Memory pools of other processes, and pointers into them: methods of MemoryPool.
 *
 * Python is the only caller. */
#include "python/driver/memory/pool.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/memory.h"

PyDoc_STRVAR(stream_pool_export_handle_doc,
             "export_handle($self, /)\n--\n\n"
             "Return a file descriptor that names this pool to another process.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    A new descriptor. Send it through a Unix socket, as\n"
             "    ``multiprocessing.reduction.send_handle`` does, and close it.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the pool was made without ``ipc=True``.\n"
             "\nSee Also\n--------\n"
             "MemoryPool.from_handle : Open the pool.");

static PyObject *
stream_pool_export_handle(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_stream_pool *self = (pcu_stream_pool *)op;
    int file = -1;
    int rc = pcu_stream_pool_check(self, "cuMemPoolExportToShareableHandle");
    if (rc == 0) {
        PCU_CALL(
            rc, self->base.st, MemPoolExportToShareableHandle,
            (&file, self->base.source, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    }
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromLong(file);
}

typedef struct {
    int file;
    CUdevice device;
} stream_pool_import_args;

static const pcu_word stream_pool_import_words[] = {
    PCU_WORD("handle", pcu_as_int, stream_pool_import_args, file),
    PCU_WORD("device", pcu_as_device, stream_pool_import_args, device),
};

PCU_SIGNATURE(stream_pool_from_handle, stream_pool_import_words,
              "from_handle($type, /, handle, device=None)\n--\n\n"
              "Open the pool of another process.\n"
              "\nParameters\n----------\n"
              "handle : int\n"
              "    File descriptor from ``export_handle``. The caller closes "
              "it.\n" PCU_DOC_DEVICE_OF_MEMORY
              "\nReturns\n-------\n"
              "MemoryPool\n"
              "    A pool that allocates nothing: use ``import_pointer``.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the descriptor names no pool.\n"
              "\nSee Also\n--------\n"
              "MemoryPool.export_handle : Name the pool.\n"
              "MemoryPool.import_pointer : Use memory of the other process.")

static PyObject *
stream_pool_from_handle(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    stream_pool_import_args a = {.device = -1};
    CUmemoryPool handle = NULL;
    int rc;
    if (st == NULL ||
        pcu_args_parse(st, &stream_pool_from_handle_signature, args, nargs, kwnames,
                       &a) < 0 ||
        (a.device == -1 && pcu_as_device(st, Py_None, &a.device, "device") < 0)) {
        return NULL;
    }
    pcu_stream_pool *self = pcu_stream_pool_new((PyTypeObject *)type);
    if (self == NULL) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, st, MemPoolImportFromShareableHandle,
                     (&handle, (void *)(uintptr_t)(unsigned int)a.file,
                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    if (rc == 0) {
        pcu_stream_pool_adopt(self, handle, a.device);
    }
    else {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

PyDoc_STRVAR(stream_pool_export_pointer_doc,
             "export_pointer($self, memory, /)\n--\n\n"
             "Return bytes that name an allocation of this pool to another process.\n"
             "\nParameters\n----------\n"
             "memory : PooledDeviceAllocation or int\n"
             "    Memory of the pool, or its address.\n"
             "\nReturns\n-------\n"
             "bytes\n"
             "    The name. Send it to a process that opened the pool.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the pool was made without ``ipc=True``.\n"
             "\nSee Also\n--------\n"
             "MemoryPool.import_pointer : Use the memory.\n"
             "\nNotes\n-----\n"
             "Call ``export_handle()`` before. Keep the memory until the other\n"
             "process has freed its allocation.");

static PyObject *
stream_pool_export_pointer(PyObject *op, PyObject *memory)
{
    pcu_stream_pool *self = (pcu_stream_pool *)op;
    CUmemPoolPtrExportData data;
    CUdeviceptr pointer = 0;
    int rc = pcu_stream_pool_check(self, "cuMemPoolExportPointer");
    if (rc == 0) {
        rc = pcu_as_pointer(self->base.st, memory, &pointer, "memory");
    }
    if (rc == 0) {
        PCU_CALL_CURRENT(rc, self->base.st, MemPoolExportPointer, (&data, pointer));
    }
    if (rc < 0) {
        return NULL;
    }
    return PyBytes_FromStringAndSize((const char *)&data, sizeof(data));
}

PyDoc_STRVAR(stream_pool_import_pointer_doc,
             "import_pointer($self, data, /)\n--\n\n"
             "Return an allocation of another process.\n"
             "\nParameters\n----------\n"
             "data : bytes\n"
             "    Result of ``export_pointer``.\n"
             "\nReturns\n-------\n"
             "StreamAllocation\n"
             "    The memory, which is freed in the default stream.\n"
             "\nRaises\n------\n"
             "ValueError\n"
             "    If ``data`` has another length.\n"
             "LogicError\n"
             "    If the pool is not that of the allocation.\n"
             "\nSee Also\n--------\n"
             "MemoryPool.export_pointer : Name the memory.\n"
             "\nNotes\n-----\n"
             "The pool must come from ``from_handle``.");

static PyObject *
stream_pool_import_pointer(PyObject *op, PyObject *given)
{
    pcu_stream_pool *self = (pcu_stream_pool *)op;
    CUmemPoolPtrExportData data;
    CUdeviceptr pointer = 0;
    Py_buffer view;
    int rc = pcu_stream_pool_check(self, "cuMemPoolImportPointer");
    if (rc < 0 || PyObject_GetBuffer(given, &view, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    if (view.len != sizeof(data)) {
        PyErr_Format(PyExc_ValueError,
                     "data must be the %zu bytes of export_pointer(), not %zd bytes",
                     sizeof(data), view.len);
        rc = -1;
    }
    else {
        memcpy(&data, view.buf, sizeof(data));
    }
    PyBuffer_Release(&view);
    if (rc == 0) {
        PCU_CALL_CURRENT(rc, self->base.st, MemPoolImportPointer,
                         (&pointer, self->base.source, &data));
    }
    if (rc < 0) {
        return NULL;
    }
    return pcu_stream_allocation_new(self->base.st, self->base.ctx, pointer, 0, NULL,
                                     NULL, op);
}

static PyMethodDef stream_pool_sharing_methods[] = {
    STREAM_POOL_METHOD(from_handle, METH_CLASS | METH_FASTCALL | METH_KEYWORDS),
    STREAM_POOL_METHOD(export_handle, METH_NOARGS),
    STREAM_POOL_METHOD(export_pointer, METH_O),
    STREAM_POOL_METHOD(import_pointer, METH_O),
    {NULL, NULL, 0, NULL},
};

int
pcu_stream_pool_sharing_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    return pcu_add_methods(st->MemoryPool, stream_pool_sharing_methods);
}
