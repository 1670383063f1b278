/* The methods of Communicator that exchange arrays.
 *
 * Each method reads its arguments, checks the arrays, makes the result if none was
 * given, and enqueues the exchange. Reductions need a type of NCCL; the others move
 * bytes. */

#include "python/array/collective/exchange.h"

#include "python/array/layout.h"
#include "python/support/convert.h"
#include "python/support/docs.h"

/* -- sentences of docstrings ------------------------------------------------------- */

#define DOC_EXCHANGE_FAILED \
    "RuntimeError\n"        \
    "    If the exchange failed, or if the communicator has ended.\n"

#define DOC_NOT_REDUCIBLE                                                         \
    "TypeError\n"                                                                 \
    "    If an argument is not a GPUArray, if dtypes differ, or if NCCL cannot\n" \
    "    reduce the dtype.\n"

#define DOC_NOT_FITTING                                                        \
    "ValueError\n"                                                             \
    "    If a shape, the order in memory, the number of a process or ``op``\n" \
    "    does not fit.\n"

#define DOC_EXCHANGE_OP                                               \
    "op : {\"sum\", \"prod\", \"max\", \"min\", \"avg\"}, optional\n" \
    "    How to join the elements.\n"

#define EXCHANGE_DEFAULTS                  \
    {                                      \
        .recv = Py_None, .stream = Py_None \
    }

/* -- the same shape in every process ----------------------------------------------- */

static int
call_all_reduce(const pcu_exchange *e)
{
    return pcu_nccl.AllReduce(pcu_exchange_source(e), pcu_exchange_target(e), e->count,
                              e->type, e->op, e->self->handle, e->stream);
}

static const pcu_word pcu_exchange_words[] = {
    PCU_WORD("send", pcu_as_object, pcu_exchange_args, send),
    PCU_WORD("recv", pcu_as_object, pcu_exchange_args, recv),
    PCU_WORD("op", pcu_as_object, pcu_exchange_args, op),
    PCU_WORD("stream", pcu_as_object, pcu_exchange_args, stream),
    PCU_WORD("root", pcu_as_int, pcu_exchange_args, peer),
    PCU_WORD("array", pcu_as_object, pcu_exchange_args, send),
    PCU_WORD("peer", pcu_as_int, pcu_exchange_args, peer),
};

PCU_SIGNATURE(all_reduce, pcu_exchange_words,
              "all_reduce($self, /, send, recv=None, op='sum', stream=None)\n"
              "--\n\n"
              "Reduce the elements of all processes, and return the result in each.\n"
              "\nParameters\n----------\n"
              "send : GPUArray\n"
              "    Array of this process, with the same shape and dtype in all.\n"
              "recv : GPUArray, optional\n"
              "    Array for the result, which may be ``send``. The default is a\n"
              "    new array.\n" DOC_EXCHANGE_OP PCU_DOC_STREAM
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    The result.\n"
              "\nRaises\n------\n" DOC_EXCHANGE_FAILED DOC_NOT_REDUCIBLE DOC_NOT_FITTING
              "\nNotes\n-----\n"
              "The call does not wait.")

static PyObject *
exchange_all_reduce(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_exchange e = {.self = (pcu_communicator *)op};
    pcu_exchange_args a = EXCHANGE_DEFAULTS;
    if (pcu_exchange_begin(&e, &all_reduce_signature, &a, args, nargs, kwnames) < 0 ||
        (a.op != NULL && pcu_exchange_set_op(&e, a.op) < 0) ||
        pcu_exchange_as_numbers(&e, e.send->count) < 0) {
        return NULL;
    }
    PyObject *made =
        pcu_exchange_result_new(&e, a.recv, e.send->ndim, e.send->shape, 0, true);
    return pcu_exchange_finish(&e, call_all_reduce, made);
}

static int
call_reduce(const pcu_exchange *e)
{
    return pcu_nccl.Reduce(pcu_exchange_source(e), pcu_exchange_target(e), e->count,
                           e->type, e->op, e->peer, e->self->handle, e->stream);
}

PCU_SIGNATURE(reduce, pcu_exchange_words,
              "reduce($self, /, send, recv=None, op='sum', root=0, stream=None)\n"
              "--\n\n"
              "Reduce the elements of all processes, and return the result in one.\n"
              "\nParameters\n----------\n"
              "send : GPUArray\n"
              "    Array of this process, with the same shape and dtype in all.\n"
              "recv : GPUArray, optional\n"
              "    Array for the result. The default is a new array.\n" DOC_EXCHANGE_OP
              "root : int, optional\n"
              "    Number of a process.\n" PCU_DOC_STREAM
              "\nReturns\n-------\n"
              "GPUArray or None\n"
              "    The result in the process ``root``, None in the others.\n"
              "\nRaises\n------\n" DOC_EXCHANGE_FAILED DOC_NOT_REDUCIBLE DOC_NOT_FITTING
              "\nNotes\n-----\n"
              "The call does not wait.")

static PyObject *
exchange_reduce(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    pcu_exchange e = {.self = (pcu_communicator *)op};
    pcu_exchange_args a = EXCHANGE_DEFAULTS;
    if (pcu_exchange_begin(&e, &reduce_signature, &a, args, nargs, kwnames) < 0 ||
        (a.op != NULL && pcu_exchange_set_op(&e, a.op) < 0) ||
        pcu_exchange_set_peer(&e, "root", a.peer) < 0 ||
        pcu_exchange_as_numbers(&e, e.send->count) < 0) {
        return NULL;
    }
    if (e.self->rank != e.peer) {
        return pcu_exchange_finish(&e, call_reduce, Py_NewRef(Py_None));
    }
    PyObject *made =
        pcu_exchange_result_new(&e, a.recv, e.send->ndim, e.send->shape, 0, true);
    return pcu_exchange_finish(&e, call_reduce, made);
}

static int
call_broadcast(const pcu_exchange *e)
{
    return pcu_nccl.Broadcast(pcu_exchange_source(e), pcu_exchange_target(e), e->count,
                              e->type, e->peer, e->self->handle, e->stream);
}

PCU_SIGNATURE(
    broadcast, pcu_exchange_words,
    "broadcast($self, /, array, root=0, stream=None)\n"
    "--\n\n"
    "Copy the elements of the array of one process into those of the others.\n"
    "\nParameters\n----------\n"
    "array : GPUArray\n"
    "    Array with the same shape and dtype in all processes.\n"
    "root : int, optional\n"
    "    Number of a process.\n" PCU_DOC_STREAM
    "\nReturns\n-------\n"
    "GPUArray\n"
    "    The array.\n"
    "\nRaises\n------\n" DOC_EXCHANGE_FAILED DOC_NOT_REDUCIBLE DOC_NOT_FITTING
    "\nNotes\n-----\n"
    "The call does not wait.")

static PyObject *
exchange_broadcast(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_exchange e = {.self = (pcu_communicator *)op};
    pcu_exchange_args a = EXCHANGE_DEFAULTS;
    if (pcu_exchange_begin(&e, &broadcast_signature, &a, args, nargs, kwnames) < 0 ||
        pcu_exchange_set_peer(&e, "root", a.peer) < 0) {
        return NULL;
    }
    pcu_exchange_as_bytes(&e, e.send->count);
    e.recv = e.send;
    return pcu_exchange_finish(&e, call_broadcast, Py_NewRef(a.send));
}

/* -- one part for each process ----------------------------------------------------- */

/* The shape of an array with one part of send's shape for each process. */
static int
parts_shape(const pcu_exchange *e, size_t *shape)
{
    if (e->send->ndim >= NPY_MAXDIMS) {
        PyErr_Format(PyExc_ValueError, "%s: send has too many axes", e->routine);
        return -1;
    }
    shape[0] = (size_t)e->self->size;
    memcpy(shape + 1, e->send->shape, (size_t)e->send->ndim * sizeof(*shape));
    return 0;
}

/* The first axis of an array has one part for each process. */
static int
parts_check(const pcu_exchange *e)
{
    const pcu_gpuarray *send = e->send;
    if (send->ndim > 0 && send->shape[0] == (size_t)e->self->size) {
        if (send->contiguous & PCU_ARRAY_C) {
            return 0;
        }
        PyErr_Format(PyExc_ValueError, "%s: send must have the order of C in memory",
                     e->routine);
        return -1;
    }
    PyObject *shape = pcu_shape_tuple_new(send->ndim, send->shape);
    if (shape != NULL) {
        PyErr_Format(PyExc_ValueError,
                     "%s: the first axis of send has one part for each of the %d "
                     "processes; its shape is %S",
                     e->routine, e->self->size, shape);
        Py_DECREF(shape);
    }
    return -1;
}

static size_t
parts_count(const pcu_exchange *e)
{
    return e->send->count / (size_t)e->self->size;
}

static int
call_all_gather(const pcu_exchange *e)
{
    return pcu_nccl.AllGather(pcu_exchange_source(e), pcu_exchange_target(e), e->count,
                              e->type, e->self->handle, e->stream);
}

PCU_SIGNATURE(all_gather, pcu_exchange_words,
              "all_gather($self, /, send, recv=None, stream=None)\n"
              "--\n\n"
              "Collect the arrays of all processes.\n"
              "\nParameters\n----------\n"
              "send : GPUArray\n"
              "    Array of this process, with the same shape and dtype in all.\n"
              "    It may be its part ``recv[rank]``.\n"
              "recv : GPUArray, optional\n"
              "    Array for the result, of shape ``(size, *send.shape)``. The\n"
              "    default is a new array.\n" PCU_DOC_STREAM
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    The result.\n"
              "\nRaises\n------\n" DOC_EXCHANGE_FAILED DOC_NOT_REDUCIBLE DOC_NOT_FITTING
              "\nNotes\n-----\n"
              "The call does not wait.")

static PyObject *
exchange_all_gather(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_exchange e = {.self = (pcu_communicator *)op};
    pcu_exchange_args a = EXCHANGE_DEFAULTS;
    size_t shape[NPY_MAXDIMS + 1];
    if (pcu_exchange_begin(&e, &all_gather_signature, &a, args, nargs, kwnames) < 0 ||
        parts_shape(&e, shape) < 0) {
        return NULL;
    }
    ptrdiff_t offset = -(ptrdiff_t)pcu_gpuarray_nbytes(e.send) * e.self->rank;
    PyObject *made =
        pcu_exchange_result_new(&e, a.recv, e.send->ndim + 1, shape, offset, true);
    pcu_exchange_as_bytes(&e, e.send->count);
    return pcu_exchange_finish(&e, call_all_gather, made);
}

static int
call_reduce_scatter(const pcu_exchange *e)
{
    return pcu_nccl.ReduceScatter(pcu_exchange_source(e), pcu_exchange_target(e),
                                  e->count, e->type, e->op, e->self->handle, e->stream);
}

PCU_SIGNATURE(
    reduce_scatter, pcu_exchange_words,
    "reduce_scatter($self, /, send, recv=None, op='sum', stream=None)\n"
    "--\n\n"
    "Reduce the elements of all processes, and return a part of the result in each.\n"
    "\nParameters\n----------\n"
    "send : GPUArray\n"
    "    Array of shape (size, ...).\n"
    "recv : GPUArray, optional\n"
    "    Array for the result, which may be ``send[rank]``. The default\n"
    "    is a new array.\n" DOC_EXCHANGE_OP PCU_DOC_STREAM
    "\nReturns\n-------\n"
    "GPUArray\n"
    "    The part, in the shape of ``send`` without the first axis.\n"
    "\nRaises\n------\n" DOC_EXCHANGE_FAILED DOC_NOT_REDUCIBLE DOC_NOT_FITTING
    "\nNotes\n-----\n"
    "The call does not wait.")

static PyObject *
exchange_reduce_scatter(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames)
{
    pcu_exchange e = {.self = (pcu_communicator *)op};
    pcu_exchange_args a = EXCHANGE_DEFAULTS;
    if (pcu_exchange_begin(&e, &reduce_scatter_signature, &a, args, nargs, kwnames) <
            0 ||
        (a.op != NULL && pcu_exchange_set_op(&e, a.op) < 0) || parts_check(&e) < 0 ||
        pcu_exchange_as_numbers(&e, parts_count(&e)) < 0) {
        return NULL;
    }
    ptrdiff_t part = (ptrdiff_t)pcu_gpuarray_nbytes(e.send) / e.self->size;
    PyObject *made = pcu_exchange_result_new(
        &e, a.recv, e.send->ndim - 1, e.send->shape + 1, part * e.self->rank, true);
    return pcu_exchange_finish(&e, call_reduce_scatter, made);
}

/* Send part i of send to process i, and put what it sends into part i of recv. */
static int
call_all_to_all(const pcu_exchange *e)
{
    const char *source = pcu_exchange_source(e);
    char *target = pcu_exchange_target(e);
    int status = pcu_nccl.GroupStart();
    for (int peer = 0; peer < e->self->size && status == PCU_NCCL_SUCCESS; peer++) {
        size_t offset = e->count * (size_t)peer;
        status = pcu_nccl.Send(source + offset, e->count, e->type, peer,
                               e->self->handle, e->stream);
        if (status == PCU_NCCL_SUCCESS) {
            status = pcu_nccl.Recv(target + offset, e->count, e->type, peer,
                                   e->self->handle, e->stream);
        }
    }
    int ended = pcu_nccl.GroupEnd();
    if (status == PCU_NCCL_SUCCESS) {
        status = ended;
    }
    return status;
}

PCU_SIGNATURE(all_to_all, pcu_exchange_words,
              "all_to_all($self, /, send, recv=None, stream=None)\n"
              "--\n\n"
              "Send a part to each process, and return what the processes sent here.\n"
              "\nParameters\n----------\n"
              "send : GPUArray\n"
              "    Array of shape (size, ...): part ``send[i]`` goes to process\n"
              "    ``i``.\n"
              "recv : GPUArray, optional\n"
              "    Array for the result, of the same shape. The default is a new\n"
              "    array.\n" PCU_DOC_STREAM
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    The result.\n"
              "\nRaises\n------\n" DOC_EXCHANGE_FAILED DOC_NOT_REDUCIBLE DOC_NOT_FITTING
              "\nNotes\n-----\n"
              "The call does not wait.")

static PyObject *
exchange_all_to_all(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_exchange e = {.self = (pcu_communicator *)op};
    pcu_exchange_args a = EXCHANGE_DEFAULTS;
    if (pcu_exchange_begin(&e, &all_to_all_signature, &a, args, nargs, kwnames) < 0 ||
        parts_check(&e) < 0) {
        return NULL;
    }
    PyObject *made =
        pcu_exchange_result_new(&e, a.recv, e.send->ndim, e.send->shape, 0, false);
    pcu_exchange_as_bytes(&e, parts_count(&e));
    return pcu_exchange_finish(&e, call_all_to_all, made);
}

/* -- two processes ----------------------------------------------------------------- */

static int
call_send(const pcu_exchange *e)
{
    return pcu_nccl.Send(pcu_exchange_source(e), e->count, e->type, e->peer,
                         e->self->handle, e->stream);
}

static int
call_recv(const pcu_exchange *e)
{
    return pcu_nccl.Recv((void *)(uintptr_t)e->send->address, e->count, e->type,
                         e->peer, e->self->handle, e->stream);
}

/* send() and recv() differ in the function of NCCL. Return the array. */
static PyObject *
exchange_with_peer(PyObject *op, const pcu_signature *signature,
                   pcu_exchange_function function, PyObject *const *args,
                   Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_exchange e = {.self = (pcu_communicator *)op};
    pcu_exchange_args a = EXCHANGE_DEFAULTS;
    if (pcu_exchange_begin(&e, signature, &a, args, nargs, kwnames) < 0 ||
        pcu_exchange_set_peer(&e, "peer", a.peer) < 0) {
        return NULL;
    }
    pcu_exchange_as_bytes(&e, e.send->count);
    return pcu_exchange_finish(&e, function, Py_NewRef(a.send));
}

PCU_SIGNATURE(send, pcu_exchange_words,
              "send($self, /, array, peer, stream=None)\n"
              "--\n\n"
              "Send the elements to another process, which calls ``recv``.\n"
              "\nParameters\n----------\n"
              "array : GPUArray\n"
              "    The array.\n"
              "peer : int\n"
              "    Number of the other process.\n" PCU_DOC_STREAM
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    The array.\n"
              "\nRaises\n------\n" DOC_EXCHANGE_FAILED DOC_NOT_REDUCIBLE DOC_NOT_FITTING
              "\nNotes\n-----\n"
              "The call does not wait.")

static PyObject *
exchange_send(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return exchange_with_peer(op, &send_signature, call_send, args, nargs, kwnames);
}

PCU_SIGNATURE(recv, pcu_exchange_words,
              "recv($self, /, array, peer, stream=None)\n"
              "--\n\n"
              "Fill the array with what another process sends with ``send``.\n"
              "\nParameters\n----------\n"
              "array : GPUArray\n"
              "    Array of as many bytes.\n"
              "peer : int\n"
              "    Number of the other process.\n" PCU_DOC_STREAM
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    The array.\n"
              "\nRaises\n------\n" DOC_EXCHANGE_FAILED DOC_NOT_REDUCIBLE DOC_NOT_FITTING
              "\nNotes\n-----\n"
              "The call does not wait.")

static PyObject *
exchange_recv(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return exchange_with_peer(op, &recv_signature, call_recv, args, nargs, kwnames);
}

#define EXCHANGE_METHOD(name)                                \
    {                                                        \
#        name, (PyCFunction)(void (*)(void))exchange_##name, \
            METH_FASTCALL | METH_KEYWORDS, name##_doc        \
    }

PyMethodDef pcu_communicator_operations[] = {
    EXCHANGE_METHOD(all_reduce),     EXCHANGE_METHOD(reduce),
    EXCHANGE_METHOD(broadcast),      EXCHANGE_METHOD(all_gather),
    EXCHANGE_METHOD(reduce_scatter), EXCHANGE_METHOD(all_to_all),
    EXCHANGE_METHOD(send),           EXCHANGE_METHOD(recv),
    {NULL, NULL, 0, NULL},
};
