/* The type _FusedRun: see fused.h. */
#include "python/array/type/fused.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/memory.h"
#include "python/array/ops/overlap.h"
#include "python/driver/memory/memory.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/support/type.h"

/* -- layouts ---------------------------------------------------------------------- */

static bool
layout_has_dtype(const pcu_gpuarray *array, const pcu_gpuarray *layout)
{
    if (array->dtype != layout->dtype &&
        (array->type != layout->type || !pcu_type_is_number(array->type) ||
         !PyArray_EquivTypes(array->dtype, layout->dtype))) {
        return false;
    }
    return array->type != PCU_T_BOOL || array->counts_as == layout->counts_as;
}

bool
pcu_fused_has_layout(const pcu_gpuarray *array, const pcu_gpuarray *layout)
{
    return array->dtype != NULL && layout_has_dtype(array, layout) &&
           pcu_gpuarray_has_shape(array, layout->ndim, layout->shape) &&
           memcmp(array->strides, layout->strides,
                  (size_t)layout->ndim * sizeof(*layout->strides)) == 0 &&
           (array->count == 0 || (array->address & 15) == (layout->address & 15));
}

/* -- calls of Python --------------------------------------------------------------- */

static PyObject *
memory_dict_new(const pcu_fused_memory *memory)
{
    PyObject *dict = PyDict_New();
    for (Py_ssize_t i = 0; dict != NULL && i < memory->count; i++) {
        PyObject *number;
        if (memory->arrays[i] == NULL) {
            continue;
        }
        number = PyLong_FromSsize_t(i);
        if (number == NULL || PyDict_SetItem(dict, number, memory->arrays[i]) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(number);
    }
    return dict;
}

/* Use the arrays of a dictionary {block: array}. */
static int
memory_update(pcu_fused_memory *memory, PyObject *dict)
{
    PyObject *number;
    PyObject *array;
    Py_ssize_t position = 0;
    while (PyDict_Next(dict, &position, &number, &array)) {
        Py_ssize_t block = PyLong_AsSsize_t(number);
        if (block < 0 || block >= memory->count || !pcu_is_array(memory->st, array)) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_TypeError,
                                "a block of a fused function has no "
                                "array, or another number");
            }
            return -1;
        }
        Py_XSETREF(memory->arrays[block], Py_NewRef(array));
    }
    return 0;
}

/* Call a function with the dictionary of the memory, which it may change. */
static PyObject *
memory_pass_to(pcu_fused_memory *memory, PyObject *function)
{
    PyObject *result = NULL;
    PyObject *dict = memory_dict_new(memory);
    if (dict != NULL) {
        result = PyObject_CallOneArg(function, dict);
    }
    if (result != NULL && memory_update(memory, dict) < 0) {
        Py_CLEAR(result);
    }
    Py_XDECREF(dict);
    return result;
}

/* -- one step ---------------------------------------------------------------------- */

int
pcu_fused_memory_allocate(pcu_fused_memory *memory, Py_ssize_t block,
                          const pcu_gpuarray *layout)
{
    PyObject **place = &memory->arrays[block];
    if (*place != NULL) {
        return 0; /* given */
    }
    *place = pcu_gpuarray_new(memory->st, NULL, layout->ndim, layout->shape,
                              layout->strides, layout->dtype, memory->allocator);
    if (*place == NULL) {
        return -1;
    }
    ((pcu_gpuarray *)*place)->counts_as = layout->counts_as;
    return 0;
}

static int
step_allocate(const pcu_fused_step *step, pcu_fused_memory *memory)
{
    int rc = 0;
    for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_GET_SIZE(step->begins); i++) {
        rc = pcu_fused_memory_allocate(
            memory, pcu_fused_block(step->begins, i),
            (const pcu_gpuarray *)PyTuple_GET_ITEM(step->layouts, i));
    }
    return rc;
}

int
pcu_fused_address(pcu_gpuarray *array, const pcu_context *ctx, CUdeviceptr *address)
{
    if (pcu_gpuarray_check(array, ctx) < 0) {
        return -1;
    }
    *address = array->address;
    if (array->gpudata == NULL || array->gpudata == Py_None ||
        array->gpudata == array->memory) {
        return 0;
    }
    return pcu_as_pointer(array->st, (PyObject *)array, address, "an array"); /* a
                                  program's object, which may change its address */
}

/* Write the addresses of a kernel's blocks. */
static int
step_put_addresses(const pcu_fused_step *step, const pcu_fused_memory *memory,
                   const pcu_context *ctx, unsigned char *params)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(step->pointers); i++) {
        Py_ssize_t block = pcu_fused_block(step->pointers, i);
        PyObject *array = memory->arrays[block];
        CUdeviceptr address = 0;
        if (array == NULL) {
            PyErr_SetString(PyExc_RuntimeError,
                            "a step of a fused function uses a block without memory");
            return -1;
        }
        if (pcu_fused_address((pcu_gpuarray *)array, ctx, &address) < 0) {
            return -1;
        }
        if (memory->used != NULL) {
            memory->used[block] = address;
        }
        address += (CUdeviceptr)pcu_fused_block(step->offsets, i);
        memcpy(params + step->plan->items[i].offset, &address, sizeof(address));
    }
    return 0;
}

static int
step_launch(const pcu_fused_step *step, const pcu_fused_memory *memory,
            const pcu_context *ctx)
{
    pcu_function *function = (pcu_function *)step->work;
    pcu_launch_shape shape = step->shape;
    size_t size = step->plan->size;
    pcu_argument_buffer buffer;
    if (!function->described && pcu_function_describe(function) < 0) {
        return -1;
    }
    pcu_argument_buffer_init(&buffer);
    unsigned char *params = pcu_argument_buffer_reserve(&buffer, size, 1);
    if (params == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(params, step->params, size);
    int rc = step_put_addresses(step, memory, ctx, params);
    shape.stream = pcu_stream_current();
    if (rc == 0) {
        rc = pcu_launch_run(function, &shape, params, size);
    }
    pcu_argument_buffer_free(&buffer);
    return rc;
}

int
pcu_fused_step_run(const pcu_fused_step *step, pcu_fused_memory *memory,
                   const pcu_context *ctx)
{
    if (step_allocate(step, memory) < 0) {
        return -1;
    }
    if (step->plan != NULL) {
        if (step_launch(step, memory, ctx) < 0) {
            return -1;
        }
    }
    else if (step->work != Py_None) {
        PyObject *done = memory_pass_to(memory, step->work);
        if (done == NULL) {
            return -1;
        }
        Py_DECREF(done);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(step->ends); i++) {
        Py_CLEAR(memory->arrays[pcu_fused_block(step->ends, i)]);
    }
    return 0;
}

/* -- the call ---------------------------------------------------------------------- */

static PyObject *
memory_result_new(pcu_fused_memory *memory, PyObject *result)
{
    if (!PyTuple_Check(result)) {
        return memory_pass_to(memory, result);
    }
    Py_ssize_t count = PyTuple_GET_SIZE(result);
    PyObject *made = PyTuple_New(count);
    for (Py_ssize_t i = 0; made != NULL && i < count; i++) {
        PyObject *array = memory->arrays[pcu_fused_block(result, i)];
        PyTuple_SET_ITEM(made, i, Py_XNewRef(array));
        if (array == NULL) {
            PyErr_SetString(PyExc_RuntimeError,
                            "a result of a fused function has no memory");
            Py_CLEAR(made);
        }
    }
    if (made != NULL && count == 1) {
        Py_SETREF(made, Py_NewRef(PyTuple_GET_ITEM(made, 0)));
    }
    return made;
}

/* The array of a block that comes from outside; NULL: it does not, or the argument is
 * missing. Borrowed. */
static pcu_gpuarray *
run_outer_array(const pcu_fused_run *self, Py_ssize_t block, PyObject *const *arrays,
                Py_ssize_t count)
{
    PyObject *source = PyTuple_GET_ITEM(self->sources, block);
    if (PyLong_Check(source)) {
        Py_ssize_t k = PyLong_AsSsize_t(source);
        return k >= 0 && k < count ? (pcu_gpuarray *)arrays[k] : NULL;
    }
    return source == Py_None ? NULL : (pcu_gpuarray *)source;
}

/* Whether an array may be the memory of a result: it has the layout, and no element of
 * a block that has memory. */
static bool
memory_may_use(const pcu_fused_memory *memory, const pcu_gpuarray *layout,
               const pcu_gpuarray *array)
{
    if (!Py_IS_TYPE((PyObject *)array, memory->st->GPUArray) ||
        !pcu_fused_has_layout(array, layout)) {
        return false;
    }
    for (Py_ssize_t i = 0; i < memory->count; i++) {
        const pcu_gpuarray *other = (const pcu_gpuarray *)memory->arrays[i];
        if (other != NULL && other->count != 0 && array->count != 0 &&
            pcu_gpuarray_may_overlap(array, other)) {
            return false;
        }
    }
    return true;
}

/* Use arrays of the program as memory of results: `outs`, or spare ones. */
static void
run_choose_results(const pcu_fused_run *self, pcu_fused_memory *memory, PyObject *outs)
{
    PyObject *from = outs;
    if (outs == NULL && self->spare_stream == pcu_stream_current()) {
        from = self->spare;
    }
    for (Py_ssize_t i = 0; from != NULL && i < PyTuple_GET_SIZE(self->layouts); i++) {
        PyObject *layout = PyTuple_GET_ITEM(self->layouts, i);
        PyObject **place = &memory->arrays[pcu_fused_block(self->result, i)];
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(from); k++) {
            PyObject *array = PyTuple_GET_ITEM(from, k);
            if (layout != Py_None && *place == NULL && (outs == NULL || k == i) &&
                memory_may_use(memory, (pcu_gpuarray *)layout, (pcu_gpuarray *)array)) {
                *place = Py_NewRef(array);
            }
        }
    }
}

/* Keep the arrays that the program gave up for the next call. */
static void
run_keep_donated(pcu_fused_run *self, PyObject *const *arrays, Py_ssize_t count)
{
    Py_ssize_t size = PyTuple_GET_SIZE(self->donated);
    PyObject *spare = PyTuple_New(size);
    for (Py_ssize_t i = 0; spare != NULL && i < size; i++) {
        Py_ssize_t k = pcu_fused_block(self->donated, i);
        if (k < 0 || k >= count) {
            Py_CLEAR(spare);
            break;
        }
        PyTuple_SET_ITEM(spare, i, Py_NewRef(arrays[k]));
    }
    PyErr_Clear(); /* without spare arrays, the next call allocates */
    self->spare_stream = pcu_stream_current();
    Py_XSETREF(self->spare, spare);
}

PyObject *
pcu_fused_run_call(pcu_fused_run *self, PyObject *const *arrays, Py_ssize_t count,
                   PyObject *outs)
{
    PyObject *few[32] = {NULL};
    PyObject *result = NULL;
    pcu_fused_memory memory = {
        .st = self->st, .count = PyTuple_GET_SIZE(self->sources), .arrays = few};
    const pcu_context *ctx = pcu_context_launch_borrow(self->st);
    if (ctx == NULL) {
        return NULL;
    }
    if (memory.count > (Py_ssize_t)Py_ARRAY_LENGTH(few)) {
        memory.arrays = PyMem_Calloc((size_t)memory.count, sizeof(*memory.arrays));
        if (memory.arrays == NULL) {
            return PyErr_NoMemory();
        }
    }
    self->used = ++self->st->fused_calls;
    for (Py_ssize_t i = 0; i < memory.count; i++) {
        memory.arrays[i] =
            Py_XNewRef((PyObject *)run_outer_array(self, i, arrays, count));
    }
    if (count > 0) {
        memory.allocator = ((pcu_gpuarray *)arrays[0])->allocator;
    }
    run_choose_results(self, &memory, outs);
    int rc =
        self->graphs.stream == NULL ? 0 : pcu_fused_graph_launch(self, &memory, ctx);
    for (Py_ssize_t i = 0; rc == 0 && i < self->count; i++) {
        rc = pcu_fused_step_run(&self->items[i], &memory, ctx);
    }
    if (rc >= 0) {
        result = memory_result_new(&memory, self->result);
    }
    if (result != NULL && outs == NULL && PyTuple_GET_SIZE(self->donated) != 0) {
        run_keep_donated(self, arrays, count);
    }
    for (Py_ssize_t i = 0; i < memory.count; i++) {
        Py_XDECREF(memory.arrays[i]);
    }
    if (memory.arrays != few) {
        PyMem_Free(memory.arrays);
    }
    return result;
}

bool
pcu_fused_run_conflicts(const pcu_fused_run *self, PyObject *const *arrays,
                        Py_ssize_t count)
{
    Py_ssize_t blocks = PyTuple_GET_SIZE(self->sources);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->written); i++) {
        Py_ssize_t own = pcu_fused_block(self->written, i);
        const pcu_gpuarray *array = run_outer_array(self, own, arrays, count);
        for (Py_ssize_t k = 0; array != NULL && k < blocks; k++) {
            const pcu_gpuarray *other = run_outer_array(self, k, arrays, count);
            if (other != NULL && k != own && array->count != 0 && other->count != 0 &&
                pcu_gpuarray_may_overlap(array, other)) {
                return true;
            }
        }
    }
    return false;
}

/* -- construction ------------------------------------------------------------------ */

/* Check that all items of a tuple are blocks. */
static int
run_check_blocks(const pcu_fused_run *self, PyObject *blocks)
{
    Py_ssize_t most = PyTuple_GET_SIZE(self->sources);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(blocks); i++) {
        Py_ssize_t block = pcu_fused_block(blocks, i);
        if (block < 0 || block >= most) {
            if (!PyErr_Occurred()) {
                PyErr_Format(PyExc_IndexError, "there is no block %zd", block);
            }
            return -1;
        }
    }
    return 0;
}

/* Check that all items of a tuple are GPUArrays. */
static int
run_check_arrays(const pcu_fused_run *self, PyObject *arrays)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arrays); i++) {
        PyObject *array = PyTuple_GET_ITEM(arrays, i);
        if (!pcu_is_array(self->st, array)) {
            PyErr_Format(PyExc_TypeError, "a fused function uses arrays, not %s",
                         Py_TYPE(array)->tp_name);
            return -1;
        }
    }
    return 0;
}

/* Pack the values of a kernel, which follow its addresses. */
static int
step_pack(pcu_fused_step *step, PyObject *values)
{
    pcu_function *function = (pcu_function *)step->work;
    Py_ssize_t first = PyTuple_GET_SIZE(step->pointers);
    if (function->prepared == NULL ||
        function->prepared->count != first + PyTuple_GET_SIZE(values)) {
        PyErr_SetString(PyExc_TypeError, "the kernel is prepared for other values");
        return -1;
    }
    step->plan = function->prepared;
    step->plan->references++;
    step->params = PyMem_Calloc(1, step->plan->size + 1);
    if (step->params == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = first; i < step->plan->count; i++) {
        if (pcu_prepared_put(function, step->plan, i,
                             PyTuple_GET_ITEM(values, i - first), step->params) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
run_read_step(const pcu_fused_run *self, pcu_fused_step *step, PyObject *item)
{
    PyTypeObject *const tuple = &PyTuple_Type;
    PyObject *values, *grid, *block;
    if (!PyArg_ParseTuple(item, "OO!O!O!O!O!O!OOI:_FusedRun", &step->work, tuple,
                          &step->begins, tuple, &step->layouts, tuple, &step->ends,
                          tuple, &step->pointers, tuple, &step->offsets, tuple, &values,
                          &grid, &block, &step->shape.shared) ||
        run_check_blocks(self, step->begins) < 0 ||
        run_check_arrays(self, step->layouts) < 0 ||
        run_check_blocks(self, step->ends) < 0 ||
        run_check_blocks(self, step->pointers) < 0) {
        return -1;
    }
    if (PyTuple_GET_SIZE(step->begins) != PyTuple_GET_SIZE(step->layouts) ||
        PyTuple_GET_SIZE(step->pointers) != PyTuple_GET_SIZE(step->offsets)) {
        PyErr_SetString(PyExc_ValueError, "a step has tuples of other lengths");
        return -1;
    }
    if (!Py_IS_TYPE(step->work, self->st->Function)) {
        return 0;
    }
    if (pcu_as_dims(self->st, grid, step->shape.grid, "grid") < 0 ||
        pcu_as_dims(self->st, block, step->shape.block, "block") < 0) {
        return -1;
    }
    return step_pack(step, values);
}

static int
run_read(pcu_fused_run *self)
{
    Py_ssize_t count = PyTuple_GET_SIZE(self->steps);
    if (run_check_blocks(self, self->written) < 0 ||
        (PyTuple_Check(self->result) && run_check_blocks(self, self->result) < 0)) {
        return -1;
    }
    if (PyTuple_GET_SIZE(self->layouts) != 0 &&
        (!PyTuple_Check(self->result) ||
         PyTuple_GET_SIZE(self->layouts) != PyTuple_GET_SIZE(self->result))) {
        PyErr_SetString(PyExc_ValueError, "results and layouts differ in number");
        return -1;
    }
    self->items = PyMem_Calloc((size_t)count + 1, sizeof(*self->items));
    if (self->items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->count = count;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (run_read_step(self, &self->items[i], PyTuple_GET_ITEM(self->steps, i)) <
            0) {
            return -1;
        }
    }
    return 0;
}

/* Read what graphs need. */
static int
run_read_graphs(pcu_fused_run *self, PyObject *given)
{
    const pcu_fused_graphs *graphs = &self->graphs;
    if (given == Py_None) {
        return 0;
    }
    if (pcu_fused_graphs_read(self->st, &self->graphs, given) < 0 ||
        run_check_blocks(self, graphs->blocks) < 0 ||
        run_check_arrays(self, graphs->layouts) < 0 ||
        run_check_blocks(self, graphs->fixed) < 0 ||
        run_check_blocks(self, graphs->ins) < 0) {
        return -1;
    }
    return run_check_blocks(self, graphs->outs);
}

static PyObject *
run_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *context, *key, *sources, *written, *steps, *result, *layouts, *donated;
    PyObject *graphs;
    PyTypeObject *const tuple = &PyTuple_Type;
    pcu_state *st = pcu_state_of_type(type);
    if (st == NULL ||
        !PyArg_ParseTuple(args, "O!OO!O!O!OO!O!O:_FusedRun", st->Context, &context,
                          &key, tuple, &sources, tuple, &written, tuple, &steps,
                          &result, tuple, &layouts, tuple, &donated, &graphs)) {
        return NULL;
    }
    pcu_fused_run *self = (pcu_fused_run *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->st = st;
    self->context = Py_NewRef(context);
    self->key = Py_NewRef(key);
    self->sources = Py_NewRef(sources);
    self->written = Py_NewRef(written);
    self->steps = Py_NewRef(steps);
    self->result = Py_NewRef(result);
    self->layouts = Py_NewRef(layouts);
    self->donated = Py_NewRef(donated);
    if (run_read(self) < 0 || run_read_graphs(self, graphs) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* -- the type ---------------------------------------------------------------------- */

typedef struct {
    PyObject *arrays;
    PyObject *outs;
} run_args;

static const pcu_word run_words[] = {
    PCU_WORD("arrays", pcu_as_object, run_args, arrays),
    PCU_WORD("outs", pcu_as_object, run_args, outs),
};

PCU_SIGNATURE(run_run, run_words,
              "run($self, arrays, outs=None, /)\n--\n\n"
              "Enqueue the steps and return the result.\n\n"
              "Results are in the arrays of outs where these fit.")

static PyObject *
run_run(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_fused_run *self = (pcu_fused_run *)op;
    run_args a = {.outs = Py_None};
    if (pcu_args_parse(self->st, &run_run_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (!PyTuple_Check(a.arrays) || (a.outs != Py_None && !PyTuple_Check(a.outs))) {
        PyErr_SetString(PyExc_TypeError, "run() takes tuples");
        return NULL;
    }
    if (run_check_arrays(self, a.arrays) < 0) {
        return NULL;
    }
    return pcu_fused_run_call(self, &PyTuple_GET_ITEM(a.arrays, 0),
                              PyTuple_GET_SIZE(a.arrays),
                              a.outs == Py_None ? NULL : a.outs);
}

PyDoc_STRVAR(run_conflicts_doc,
             "conflicts($self, arrays, /)\n--\n\n"
             "Return whether an array that the steps change overlaps another one.");

static PyObject *
run_conflicts(PyObject *op, PyObject *arrays)
{
    pcu_fused_run *self = (pcu_fused_run *)op;
    if (!PyTuple_Check(arrays)) {
        PyErr_SetString(PyExc_TypeError, "conflicts() takes a tuple");
        return NULL;
    }
    if (run_check_arrays(self, arrays) < 0) {
        return NULL;
    }
    return PyBool_FromLong(pcu_fused_run_conflicts(self, &PyTuple_GET_ITEM(arrays, 0),
                                                   PyTuple_GET_SIZE(arrays)));
}

static int
run_traverse(PyObject *op, visitproc visit, void *arg)
{
    pcu_fused_run *self = (pcu_fused_run *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->context);
    Py_VISIT(self->key);
    Py_VISIT(self->sources);
    Py_VISIT(self->steps);
    Py_VISIT(self->result);
    Py_VISIT(self->layouts);
    Py_VISIT(self->spare);
    return pcu_fused_graphs_traverse(&self->graphs, visit, arg);
}

static int
run_clear(PyObject *op)
{
    pcu_fused_run *self = (pcu_fused_run *)op;
    pcu_fused_step *items = self->items;
    Py_ssize_t count = self->count;
    self->items = NULL;
    self->count = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyMem_Free(items[i].params);
        pcu_prepared_release(items[i].plan);
    }
    PyMem_Free(items);
    Py_CLEAR(self->key);
    Py_CLEAR(self->sources);
    Py_CLEAR(self->written);
    Py_CLEAR(self->steps);
    Py_CLEAR(self->result);
    Py_CLEAR(self->layouts);
    Py_CLEAR(self->donated);
    Py_CLEAR(self->spare);
    pcu_fused_graphs_clear(&self->graphs);
    Py_CLEAR(self->context);
    return 0;
}

static void
run_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (((pcu_fused_run *)op)->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    (void)run_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyMethodDef run_methods[] = {
    PCU_METHOD("run", run_run),
    {"conflicts", run_conflicts, METH_O, run_conflicts_doc},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef run_members[] = {
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_fused_run, weakrefs),
     Py_READONLY, NULL},
    {"used", Py_T_PYSSIZET, offsetof(pcu_fused_run, used), Py_READONLY,
     "The number of the last call among those of all fused functions."},
    {"graphs", Py_T_PYSSIZET, offsetof(pcu_fused_run, graphs.made), Py_READONLY,
     "The number of captures so far."},
    {"graph_launches", Py_T_PYSSIZET, offsetof(pcu_fused_run, graphs.hits), Py_READONLY,
     "The number of calls that launched a graph that was there."},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(
    run_doc,
    "_FusedRun(context, key, sources, written, steps, result, layouts, donated,\n"
    "          graphs, /)\n--\n\n"
    "The steps of a recorded function, ready to be enqueued.\n\n"
    "key has the layout or the value of each argument, or is None. sources\n"
    "has for each block None, the number of an array among the arguments, or\n"
    "an array from outside. written are blocks from outside that steps may\n"
    "change. A step is a tuple: a prepared Function, another callable, which\n"
    "gets a dict of the blocks, or None; the blocks that it allocates; their\n"
    "layouts; the blocks that no later step uses; the blocks whose addresses\n"
    "a kernel gets; the bytes from there on; its other values; grid, block\n"
    "and shared memory. result is a tuple of blocks, of which a single one is\n"
    "returned without a tuple, or a callable that gets a dict of the blocks.\n"
    "layouts has for each result None or the layout that an array of the\n"
    "program needs; donated are the arrays that calls give up. graphs is None,\n"
    "or what graphs need: a Stream to capture, the blocks of results that have\n"
    "new memory, their layouts, the arguments whose addresses have to be the\n"
    "same, those that it copies first, and the results that it copies then.");

static PyType_Slot run_slots[] = {
    {Py_tp_doc, (void *)run_doc},   {Py_tp_new, run_new},
    {Py_tp_traverse, run_traverse}, {Py_tp_clear, run_clear},
    {Py_tp_dealloc, run_dealloc},   {Py_tp_methods, run_methods},
    {Py_tp_members, run_members},   {0, NULL},
};

static PyType_Spec run_spec = {"pycuda._driver._FusedRun", sizeof(pcu_fused_run), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, run_slots};

int
pcu_fused_run_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->_FusedRun, &run_spec, NULL);
}
