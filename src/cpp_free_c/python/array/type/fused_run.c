/* The type _FusedRun: see fused.h. */
#include "python/array/type/fused.h"

#include "python/array/construction.h"
#include "python/array/memory.h"
#include "python/array/ops/overlap.h"
#include "python/driver/context.h"
#include "python/driver/launch/launch.h"
#include "python/driver/memory/memory.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/support/type.h"

/* The blocks of a call: an array for each, NULL if it has no memory yet. */
typedef struct {
    pcu_state *st;
    Py_ssize_t count;
    PyObject **arrays;   /* strong */
    PyObject *allocator; /* borrowed from an argument; NULL: the default one */
} fused_memory;

/* -- calls of Python --------------------------------------------------------------- */

static PyObject *
memory_dict_new(const fused_memory *memory)
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
memory_update(fused_memory *memory, PyObject *dict)
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
memory_pass_to(fused_memory *memory, PyObject *function)
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

static int
step_allocate(const pcu_fused_step *step, fused_memory *memory)
{
    for (Py_ssize_t i = 0; i < step->begins_count; i++) {
        Py_ssize_t block = step->begins[i].block;
        const pcu_gpuarray *layout = step->begins[i].layout;
        const ptrdiff_t *strides = layout->strides;
        if (memory->arrays[block] != NULL) {
            continue; /* given */
        }
        if (layout->contiguous & PCU_ARRAY_C) {
            strides = NULL;
        }
        PyObject *made = pcu_gpuarray_new(memory->st, NULL, layout->ndim, layout->shape,
                                          strides, layout->dtype, memory->allocator);
        if (made == NULL) {
            return -1;
        }
        ((pcu_gpuarray *)made)->counts_as = layout->counts_as;
        memory->arrays[block] = made;
    }
    return 0;
}

/* The address of an array's first element. */
static int
step_read_address(pcu_gpuarray *array, const pcu_context *ctx, CUdeviceptr *address)
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

static int
step_launch(const pcu_fused_step *step, const fused_memory *memory,
            const pcu_context *ctx)
{
    pcu_function *function = (pcu_function *)step->work;
    pcu_launch_shape shape = step->shape;
    pcu_argument_buffer buffer;
    int rc = 0;
    if (!function->described && pcu_function_describe(function) < 0) {
        return -1;
    }
    pcu_argument_buffer_init(&buffer);
    unsigned char *params = pcu_argument_buffer_reserve(&buffer, step->size, 1);
    if (params == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(params, step->params, step->size);
    for (Py_ssize_t i = 0; rc == 0 && i < step->pointers_count; i++) {
        const pcu_fused_pointer *pointer = &step->pointers[i];
        PyObject *array = memory->arrays[pointer->block];
        CUdeviceptr address = 0;
        if (array == NULL) {
            PyErr_SetString(PyExc_RuntimeError,
                            "a step of a fused function uses a block without memory");
            rc = -1;
        }
        else {
            rc = step_read_address((pcu_gpuarray *)array, ctx, &address);
        }
        address += (CUdeviceptr)pointer->offset;
        memcpy(params + pointer->place, &address, sizeof(address));
    }
    shape.stream = pcu_stream_current();
    if (rc == 0) {
        rc = pcu_launch_run(function, &shape, params, step->size);
    }
    pcu_argument_buffer_free(&buffer);
    return rc;
}

static int
step_run(const pcu_fused_step *step, fused_memory *memory, const pcu_context *ctx)
{
    if (step_allocate(step, memory) < 0) {
        return -1;
    }
    if (Py_IS_TYPE(step->work, memory->st->Function)) {
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
    for (Py_ssize_t i = 0; i < step->ends_count; i++) {
        Py_CLEAR(memory->arrays[step->ends[i]]);
    }
    return 0;
}

/* -- the call ---------------------------------------------------------------------- */

static PyObject *
memory_block_new(const fused_memory *memory, PyObject *number)
{
    PyObject *array = memory->arrays[PyLong_AsSsize_t(number)];
    if (array == NULL) {
        PyErr_SetString(PyExc_RuntimeError,
                        "a result of a fused function has no memory");
    }
    return Py_XNewRef(array);
}

static PyObject *
memory_result_new(fused_memory *memory, PyObject *result)
{
    if (PyLong_Check(result)) {
        return memory_block_new(memory, result);
    }
    if (!PyTuple_Check(result)) {
        return memory_pass_to(memory, result);
    }
    PyObject *made = PyTuple_New(PyTuple_GET_SIZE(result));
    for (Py_ssize_t i = 0; made != NULL && i < PyTuple_GET_SIZE(result); i++) {
        PyObject *item = memory_block_new(memory, PyTuple_GET_ITEM(result, i));
        PyTuple_SET_ITEM(made, i, item);
        if (item == NULL) {
            Py_CLEAR(made);
        }
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
        return k < count ? (pcu_gpuarray *)arrays[k] : NULL;
    }
    return source == Py_None ? NULL : (pcu_gpuarray *)source;
}

PyObject *
pcu_fused_run_call(pcu_fused_run *self, PyObject *const *arrays, Py_ssize_t count,
                   PyObject *given)
{
    PyObject *few[32] = {NULL};
    PyObject *result = NULL;
    fused_memory memory = {
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
    int rc = 0;
    if (given != NULL) {
        rc = memory_update(&memory, given);
    }
    for (Py_ssize_t i = 0; rc == 0 && i < self->count; i++) {
        rc = step_run(&self->items[i], &memory, ctx);
    }
    if (rc == 0) {
        result = memory_result_new(&memory, self->result);
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
        Py_ssize_t own = PyLong_AsSsize_t(PyTuple_GET_ITEM(self->written, i));
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

/* Read a tuple of (block, layout). */
static int
step_read_begins(pcu_state *st, pcu_fused_step *step, PyObject *begins)
{
    step->begins_count = PyTuple_GET_SIZE(begins);
    step->begins = PyMem_Calloc((size_t)step->begins_count + 1, sizeof(*step->begins));
    if (step->begins == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < step->begins_count; i++) {
        pcu_fused_allocation *item = &step->begins[i];
        PyObject *layout;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(begins, i), "nO!:_FusedRun",
                              &item->block, st->GPUArray, &layout)) {
            return -1;
        }
        item->layout = (pcu_gpuarray *)layout;
    }
    return 0;
}

/* Read a tuple of blocks. */
static int
step_read_ends(pcu_fused_step *step, PyObject *ends)
{
    step->ends_count = PyTuple_GET_SIZE(ends);
    step->ends = PyMem_Calloc((size_t)step->ends_count + 1, sizeof(*step->ends));
    if (step->ends == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < step->ends_count; i++) {
        step->ends[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(ends, i));
    }
    return PyErr_Occurred() == NULL ? 0 : -1;
}

/* Pack the values of a kernel, which follow its addresses. */
static int
step_pack(pcu_fused_step *step, PyObject *values)
{
    pcu_function *function = (pcu_function *)step->work;
    pcu_prepared *plan = function->prepared;
    Py_ssize_t pointers = step->pointers_count;
    if (plan == NULL || plan->count != pointers + PyTuple_GET_SIZE(values)) {
        PyErr_SetString(PyExc_TypeError, "the kernel is prepared for other values");
        return -1;
    }
    step->size = plan->size;
    step->params = PyMem_Calloc(1, plan->size + 1);
    if (step->params == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < pointers; i++) {
        step->pointers[i].place = plan->items[i].offset;
    }
    for (Py_ssize_t i = pointers; i < plan->count; i++) {
        if (pcu_prepared_put(function, plan, i, PyTuple_GET_ITEM(values, i - pointers),
                             step->params) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Read what a step with a kernel has: blocks, values, grid and block. */
static int
step_read_kernel(pcu_state *st, pcu_fused_step *step, PyObject *kernel)
{
    PyObject *blocks, *values, *grid, *block;
    if (!PyArg_ParseTuple(kernel, "O!O!OOI:_FusedRun", &PyTuple_Type, &blocks,
                          &PyTuple_Type, &values, &grid, &block, &step->shape.shared) ||
        pcu_as_dims(st, grid, step->shape.grid, "grid") < 0 ||
        pcu_as_dims(st, block, step->shape.block, "block") < 0) {
        return -1;
    }
    step->pointers_count = PyTuple_GET_SIZE(blocks);
    step->pointers =
        PyMem_Calloc((size_t)step->pointers_count + 1, sizeof(*step->pointers));
    if (step->pointers == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < step->pointers_count; i++) {
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(blocks, i), "nn:_FusedRun",
                              &step->pointers[i].block, &step->pointers[i].offset)) {
            return -1;
        }
    }
    return step_pack(step, values);
}

static int
step_read(pcu_state *st, pcu_fused_step *step, PyObject *item)
{
    PyObject *begins, *ends, *kernel;
    if (!PyArg_ParseTuple(item, "OO!O!O!:_FusedRun", &step->work, &PyTuple_Type,
                          &begins, &PyTuple_Type, &ends, &PyTuple_Type, &kernel) ||
        step_read_begins(st, step, begins) < 0 || step_read_ends(step, ends) < 0) {
        return -1;
    }
    if (!Py_IS_TYPE(step->work, st->Function)) {
        return 0;
    }
    return step_read_kernel(st, step, kernel);
}

static bool
run_has_block(const pcu_fused_run *self, PyObject *number)
{
    return PyLong_Check(number) &&
           (size_t)PyLong_AsSsize_t(number) < (size_t)PyTuple_GET_SIZE(self->sources);
}

/* Whether all items of a tuple are blocks. */
static bool
run_has_blocks(const pcu_fused_run *self, PyObject *numbers)
{
    bool known = true;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); i++) {
        known &= run_has_block(self, PyTuple_GET_ITEM(numbers, i));
    }
    return known;
}

/* Whether a step names only blocks that exist. */
static bool
run_has_blocks_of(const pcu_fused_run *self, const pcu_fused_step *step)
{
    size_t blocks = (size_t)PyTuple_GET_SIZE(self->sources);
    bool known = true;
    for (Py_ssize_t i = 0; i < step->begins_count; i++) {
        known &= (size_t)step->begins[i].block < blocks;
    }
    for (Py_ssize_t i = 0; i < step->pointers_count; i++) {
        known &= (size_t)step->pointers[i].block < blocks;
    }
    for (Py_ssize_t i = 0; i < step->ends_count; i++) {
        known &= (size_t)step->ends[i] < blocks;
    }
    return known;
}

static bool
run_is_valid(const pcu_fused_run *self)
{
    bool valid = run_has_blocks(self, self->written);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->sources); i++) {
        PyObject *source = PyTuple_GET_ITEM(self->sources, i);
        valid &= source == Py_None || pcu_is_array(self->st, source) ||
                 (PyLong_Check(source) && PyLong_AsSsize_t(source) >= 0);
    }
    for (Py_ssize_t i = 0; i < self->count; i++) {
        valid &= run_has_blocks_of(self, &self->items[i]);
    }
    if (PyTuple_Check(self->result)) {
        return valid && run_has_blocks(self, self->result);
    }
    return valid &&
           (run_has_block(self, self->result) || PyCallable_Check(self->result));
}

static int
run_read_steps(pcu_fused_run *self)
{
    Py_ssize_t count = PyTuple_GET_SIZE(self->steps);
    self->items = PyMem_Calloc((size_t)count + 1, sizeof(*self->items));
    if (self->items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->count = count;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (step_read(self->st, &self->items[i], PyTuple_GET_ITEM(self->steps, i)) <
            0) {
            return -1;
        }
    }
    if (PyErr_Occurred() != NULL || !run_is_valid(self)) {
        PyErr_SetString(PyExc_ValueError,
                        "these values are no run of a fused function");
        return -1;
    }
    return 0;
}

static PyObject *
run_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *context, *key, *sources, *written, *steps, *result;
    pcu_state *st = pcu_state_of_type(type);
    if (st == NULL || !PyArg_ParseTuple(args, "OOO!O!O!O:_FusedRun", &context, &key,
                                        &PyTuple_Type, &sources, &PyTuple_Type,
                                        &written, &PyTuple_Type, &steps, &result)) {
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
    if (run_read_steps(self) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

/* -- the type ---------------------------------------------------------------------- */

/* Read a list of arrays. */
static int
run_check_arrays(const pcu_fused_run *self, PyObject *arrays)
{
    bool known = PyList_Check(arrays);
    for (Py_ssize_t i = 0; known && i < PyList_GET_SIZE(arrays); i++) {
        known = pcu_is_array(self->st, PyList_GET_ITEM(arrays, i));
    }
    if (!known) {
        PyErr_SetString(PyExc_TypeError, "arrays must be a list of GPUArrays");
        return -1;
    }
    return 0;
}

typedef struct {
    PyObject *arrays;
    PyObject *given;
} run_args;

static const pcu_word run_words[] = {
    PCU_WORD("arrays", pcu_as_object, run_args, arrays),
    PCU_WORD("given", pcu_as_object, run_args, given),
};

PCU_SIGNATURE(run_run, run_words,
              "run($self, arrays, given=None, /)\n--\n\n"
              "Enqueue the steps and return the result.\n\n"
              "given has arrays for blocks that would be allocated.")

static PyObject *
run_run(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_fused_run *self = (pcu_fused_run *)op;
    run_args a = {.given = Py_None};
    if (pcu_args_parse(self->st, &run_run_signature, args, nargs, kwnames, &a) < 0 ||
        run_check_arrays(self, a.arrays) < 0) {
        return NULL;
    }
    if (a.given != Py_None && !PyDict_Check(a.given)) {
        PyErr_SetString(PyExc_TypeError, "given must be a dict");
        return NULL;
    }
    PyObject *arrays = PyList_AsTuple(a.arrays);
    if (arrays == NULL) {
        return NULL;
    }
    PyObject *result =
        pcu_fused_run_call(self, &PyTuple_GET_ITEM(arrays, 0), PyTuple_GET_SIZE(arrays),
                           a.given == Py_None ? NULL : a.given);
    Py_DECREF(arrays);
    return result;
}

PyDoc_STRVAR(run_conflicts_doc,
             "conflicts($self, arrays, /)\n--\n\n"
             "Return whether an array that the steps change overlaps another one.");

static PyObject *
run_conflicts(PyObject *op, PyObject *arrays)
{
    pcu_fused_run *self = (pcu_fused_run *)op;
    if (run_check_arrays(self, arrays) < 0) {
        return NULL;
    }
    return PyBool_FromLong(pcu_fused_run_conflicts(
        self, ((PyListObject *)arrays)->ob_item, PyList_GET_SIZE(arrays)));
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
    return 0;
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
        PyMem_Free(items[i].begins);
        PyMem_Free(items[i].pointers);
        PyMem_Free(items[i].ends);
    }
    PyMem_Free(items);
    Py_CLEAR(self->key);
    Py_CLEAR(self->sources);
    Py_CLEAR(self->written);
    Py_CLEAR(self->steps);
    Py_CLEAR(self->result);
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
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(run_doc,
             "_FusedRun(context, key, sources, written, steps, result, /)\n--\n\n"
             "The steps of a recorded function, ready to be enqueued.\n\n"
             "key has the layout or the value of each argument, or is None. sources\n"
             "has for each block None, the number of an array among the arguments, or\n"
             "an array from outside. written are blocks from outside that steps may\n"
             "change. A step is a tuple: a prepared Function, another callable, which\n"
             "gets a dict of the blocks, or None; the blocks and layouts that it\n"
             "allocates; the blocks that no later step uses; and for a Function its\n"
             "blocks with offsets, values, grid, block and shared memory. result is a\n"
             "block, a tuple of blocks, or a callable that gets a dict of the blocks.");

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
