/* The launches that an error may come from: see launch_error.h. */
#include "python/support/launch_error.h"

#include "python/support/launch_ring.h"
#include "python/support/rerun.h"
#include "python/support/setup.h"

enum { SUSPECTS_MOST = PCU_RING_LAUNCHES, SUSPECTS_SHOWN = 5 };

/* A launch and how likely it failed. The references of the copy are strong after
 * suspects_hold. */
typedef struct {
    pcu_launch launch;
    int score;
} suspect;

typedef struct {
    size_t count;
    suspect items[SUSPECTS_MOST];
} suspect_list;

/* -- the order --------------------------------------------------------------------- */

/* 1 if the software device has reported a failure in a kernel of this name. */
static int
suspect_is_reported(const char *name)
{
    static const char mark[] = "in kernel ";
    if (pcu_drv_info.report == NULL) {
        return 0;
    }
    const char *found = strstr(pcu_drv_info.report(), mark);
    if (found == NULL) {
        return 0;
    }
    found += sizeof(mark) - 1;
    size_t length = strlen(name);
    return strncmp(found, name, length) == 0 &&
           (found[length] == ',' || found[length] == ' ');
}

static const char *
suspect_kernel_name(const pcu_launch *launch)
{
    const char *name = NULL;
    if (launch->kind == PCU_LAUNCH_ARRAY) {
        return "kernel"; /* the name of all generated kernels */
    }
    if (launch->kind == PCU_LAUNCH_KERNEL && launch->name != NULL) {
        name = PyUnicode_AsUTF8(launch->name);
    }
    if (name == NULL) {
        PyErr_Clear(); /* the name has a lone surrogate: it cannot be compared */
        return "";
    }
    return name;
}

static int
suspect_is_like(const pcu_launch *a, const pcu_launch *b)
{
    return a->kind == b->kind && a->kernel == b->kernel && a->name == b->name &&
           memcmp(a->shape.grid, b->shape.grid, sizeof(a->shape.grid)) == 0 &&
           memcmp(a->shape.block, b->shape.block, sizeof(a->shape.block)) == 0;
}

/* 1 if the same kernel has finished with the same shape. */
static int
suspect_was_good(const pcu_launch_ring *ring, const pcu_launch *launch)
{
    for (int i = 0; i < PCU_RING_LAUNCHES; i++) {
        const pcu_launch *other = &ring->launches[i];
        if (other->number != 0 && suspect_is_like(other, launch) &&
            pcu_launch_has_passed(ring, other)) {
            return 1;
        }
    }
    return 0;
}

/* How likely it is that the launch failed. The kernels of this package and of NVIDIA's
 * libraries are tested; a kernel that was good before is less likely than a new one. */
static int
suspect_score(const pcu_launch_ring *ring, const pcu_launch *launch)
{
    int score = 0;
    if (suspect_is_reported(suspect_kernel_name(launch))) {
        score += 8;
    }
    if (launch->kind == PCU_LAUNCH_KERNEL) {
        score += 4;
    }
    if (launch->kind == PCU_LAUNCH_GRAPH) {
        score += 2;
    }
    if (!suspect_was_good(ring, launch)) {
        score += 1;
    }
    return score;
}

static int
suspect_is_before(const suspect *a, const suspect *b)
{
    if (a->score != b->score) {
        return a->score > b->score;
    }
    return a->launch.number > b->launch.number;
}

/* Insert a launch where it belongs. A full list drops its last. */
static void
suspect_insert(suspect_list *list, suspect item)
{
    size_t place = list->count;
    if (list->count == SUSPECTS_MOST) {
        place--;
        if (!suspect_is_before(&item, &list->items[place])) {
            return;
        }
    }
    else {
        list->count++;
    }
    while (place > 0 && suspect_is_before(&item, &list->items[place - 1])) {
        list->items[place] = list->items[place - 1];
        place--;
    }
    list->items[place] = item;
}

/* Add the launches of a ring: those that may still run, or all, the newest first. */
static void
suspects_add(suspect_list *list, const pcu_launch_ring *ring, int all)
{
    for (int i = 0; ring != NULL && i < PCU_RING_LAUNCHES; i++) {
        const pcu_launch *launch = &ring->launches[i];
        if (launch->number == 0 || (!all && pcu_launch_has_passed(ring, launch))) {
            continue;
        }
        suspect item = {*launch, 0};
        if (!all) {
            item.score = suspect_score(ring, launch);
        }
        suspect_insert(list, item);
    }
}

/* Add the launches of all wrappers of a context; of all contexts if `rec` is NULL. */
static void
suspects_collect(suspect_list *list, const pcu_context_record *rec, int all)
{
    const pcu_context_record *other = pcu_context_record_first();
    for (; other != NULL; other = other->next) {
        if (rec == NULL || other == rec ||
            (other->handle == rec->handle && other->life == rec->life)) {
            suspects_add(list, other->launches, all);
        }
    }
}

/* Take references, after which Python code may run. */
static void
suspects_hold(const suspect_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        Py_XINCREF(list->items[i].launch.name);
        Py_XINCREF(list->items[i].launch.place.code);
    }
}

static void
suspects_release(suspect_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        Py_CLEAR(list->items[i].launch.name);
        pcu_caller_clear(&list->items[i].launch.place);
    }
}

/* -- records ----------------------------------------------------------------------- */

static PyStructSequence_Field record_fields[] = {
    {"name", "of the kernel; of the array operation, the graph or the function"},
    {"kind", "'kernel', 'array', 'graph' or 'library'"},
    {"grid", "blocks as (x, y, z); None for graphs and libraries"},
    {"block", "threads of a block as (x, y, z); None for graphs and libraries"},
    {"shared", "bytes of dynamic shared memory"},
    {"stream", "the CUstream as an int; 0 is the default stream"},
    {"file", "of the line that launched; None if it is not known"},
    {"line", "the number of that line; 0 if it is not known"},
    {"function", "that contains the line; None if it is not known"},
    {"number", "counts the launches of the process, from 1"},
    {NULL, NULL},
};

enum { RECORD_FIELDS = Py_ARRAY_LENGTH(record_fields) - 1 };

static PyStructSequence_Desc record_desc = {
    .name = "pycuda._driver.LaunchRecord",
    .doc = "A launch that a context has noted.",
    .fields = record_fields,
    .n_in_sequence = RECORD_FIELDS,
};

static PyObject *
record_name_new(const pcu_state *st, const pcu_launch *launch)
{
    if (launch->name != NULL) {
        return Py_NewRef(launch->name);
    }
    if (st->kernel_name_new != NULL) {
        return st->kernel_name_new(launch->kernel);
    }
    return PyUnicode_FromString("array operation");
}

static PyObject *
record_dims_new(const pcu_launch *launch, const unsigned int dims[3])
{
    if (launch->kind == PCU_LAUNCH_GRAPH || launch->kind == PCU_LAUNCH_LIBRARY) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(III)", dims[0], dims[1], dims[2]);
}

/* Put a value in the next place. A NULL value is an error; the record is incomplete
 * then. */
static void
record_put(PyObject *record, Py_ssize_t *place, PyObject *value)
{
    if (value != NULL) {
        PyStructSequence_SetItem(record, (*place)++, value);
    }
}

static PyObject *
record_new(const pcu_state *st, const pcu_launch *launch)
{
    static const char *const kinds[PCU_LAUNCH_KINDS] = {"kernel", "array", "graph",
                                                        "library"};
    Py_ssize_t count = 0;
    PyObject *record = PyStructSequence_New(st->LaunchRecord);
    if (record == NULL) {
        return NULL;
    }
    record_put(record, &count, record_name_new(st, launch));
    record_put(record, &count, PyUnicode_FromString(kinds[launch->kind]));
    record_put(record, &count, record_dims_new(launch, launch->shape.grid));
    record_put(record, &count, record_dims_new(launch, launch->shape.block));
    record_put(record, &count, PyLong_FromUnsignedLong(launch->shape.shared));
    record_put(record, &count, PyLong_FromVoidPtr(launch->shape.stream));
    record_put(record, &count, pcu_caller_file_new(&launch->place));
    record_put(record, &count, PyLong_FromLong(pcu_caller_line(&launch->place)));
    record_put(record, &count, pcu_caller_function_new(&launch->place));
    record_put(record, &count, PyLong_FromUnsignedLong(launch->number));
    if (count != RECORD_FIELDS) {
        Py_CLEAR(record);
    }
    return record;
}

static PyObject *
records_new(const pcu_state *st, suspect_list *list)
{
    suspects_hold(list);
    PyObject *records = PyTuple_New((Py_ssize_t)list->count);
    for (size_t i = 0; records != NULL && i < list->count; i++) {
        PyObject *record = record_new(st, &list->items[i].launch);
        if (record == NULL) {
            Py_CLEAR(records);
            break;
        }
        PyTuple_SET_ITEM(records, (Py_ssize_t)i, record);
    }
    suspects_release(list);
    return records;
}

PyObject *
pcu_launch_recent_new(pcu_state *st)
{
    suspect_list list = {.count = 0};
    if (pcu_ctx_current != NULL) {
        suspects_collect(&list, pcu_ctx_current, 1);
    }
    return records_new(st, &list);
}

int
pcu_launch_suspects_are_known(const pcu_context_record *rec)
{
    return rec != NULL && rec->launches != NULL && rec->launches->lost != NULL;
}

PyObject *
pcu_launch_suspects_new(pcu_state *st, const pcu_context_record *rec)
{
    suspect_list list = {.count = 0};
    if (pcu_launch_suspects_are_known(rec)) {
        return Py_NewRef(rec->launches->lost);
    }
    if (rec != NULL) {
        suspects_collect(&list, rec, 0);
    }
    if (list.count == 0) {
        suspects_collect(&list, NULL, 0);
    }
    PyObject *launches = records_new(st, &list);
    if (launches != NULL && rec != NULL && rec->launches != NULL) {
        Py_XSETREF(rec->launches->lost, Py_NewRef(launches));
    }
    return launches;
}

/* -- text -------------------------------------------------------------------------- */

/* One launch as a line. The order of the fields is that of record_fields. */
static PyObject *
text_line_new(PyObject *record, Py_ssize_t number)
{
    PyObject *shape = NULL;
    PyObject *stream = NULL;
    PyObject *line = NULL;
    PyObject *const *field = PySequence_Fast_ITEMS(record);
    if (field[2] == Py_None) {
        shape = PyUnicode_FromString("");
    }
    else {
        shape = PyUnicode_FromFormat(", grid %S, block %S", field[2], field[3]);
    }
    void *handle = PyLong_AsVoidPtr(field[5]);
    if (handle == NULL) {
        stream = PyUnicode_FromString("");
    }
    else {
        stream = PyUnicode_FromFormat(", stream %p", handle);
    }
    if (shape != NULL && stream != NULL && field[6] == Py_None) {
        line = PyUnicode_FromFormat("\n  %zd. %U %U%U%U", number, field[1], field[0],
                                    shape, stream);
    }
    else if (shape != NULL && stream != NULL) {
        line =
            PyUnicode_FromFormat("\n  %zd. %U %U%U%U, at %U:%S in %U", number, field[1],
                                 field[0], shape, stream, field[6], field[7], field[8]);
    }
    Py_XDECREF(shape);
    Py_XDECREF(stream);
    return line;
}

/* Whether the checks of the software device are on: their reports name the launch and
 * the line of the source. */
static int
text_is_of_check(void)
{
    const char *checks = getenv("PYCUDA_CHECK");
    return pcu_drv_info.emulated && checks != NULL && checks[0] != '\0';
}

static PyObject *
text_advice_new(void)
{
    const char *exact = "";
    if (text_is_of_check()) {
        return PyUnicode_FromString("");
    }
    PyObject *words = pcu_rerun_words_new();
    if (words == NULL) {
        return NULL;
    }
    if (!pcu_drv_info.launch_blocking) {
        exact =
            "Set PYCUDA_LAUNCH_BLOCKING=1 to get the error from the launch that "
            "failed. ";
    }
    PyObject *advice = PyUnicode_FromFormat(
        "\n%sRun 'python -m pycuda.explain %U' to find the line of the CUDA source.",
        exact, words);
    Py_DECREF(words);
    return advice;
}

/* Append to *text, which becomes NULL on error. Steals `more`. */
static void
text_append(PyObject **text, PyObject *more)
{
    if (more == NULL) {
        Py_CLEAR(*text);
    }
    else if (*text != NULL) {
        PyUnicode_Append(text, more);
    }
    Py_XDECREF(more);
}

PyObject *
pcu_launch_suspects_text_new(PyObject *launches)
{
    Py_ssize_t count = PyTuple_GET_SIZE(launches);
    PyObject *text = NULL;
    if (count == 0) {
        text = PyUnicode_FromString(
            "\nNo launch of this package was unfinished: the error comes from a "
            "launch of another library.");
    }
    else if (pcu_drv_info.launch_blocking && count == 1) {
        text = PyUnicode_FromString("\nThe launch that failed:");
    }
    else {
        text = PyUnicode_FromString(
            "\nAn earlier launch failed. Launches since the "
            "last good wait, the likeliest first:");
    }
    for (Py_ssize_t i = 0; i < count && i < SUSPECTS_SHOWN && text != NULL; i++) {
        text_append(&text, text_line_new(PyTuple_GET_ITEM(launches, i), i + 1));
    }
    if (count > SUSPECTS_SHOWN && text != NULL) {
        text_append(&text, PyUnicode_FromFormat("\n  and %zd more, see error.launches",
                                                count - SUSPECTS_SHOWN));
    }
    if (text != NULL) {
        text_append(&text, text_advice_new());
    }
    return text;
}

int
pcu_launch_error_setup(PyObject *m, pcu_state *st)
{
    st->LaunchRecord = PyStructSequence_NewType(&record_desc);
    if (st->LaunchRecord == NULL) {
        return -1;
    }
    return PyModule_AddType(m, st->LaunchRecord);
}
