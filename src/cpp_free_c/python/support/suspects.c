/* The launches that an error may come from: see suspects.h. */
#include "python/support/suspects.h"

#include "python/support/call_site.h"
#include "python/support/setup.h"

enum { SUSPECTS_MOST = PCU_LAUNCHES_KEPT, SUSPECTS_SHOWN = 12 };

/* A launch and how likely it failed. */
typedef struct {
    pcu_launch_event launch;
    int score;
} suspect;

typedef struct {
    size_t count;
    suspect items[SUSPECTS_MOST];
} suspect_list;

/* -- the order --------------------------------------------------------------------- */

/* Whether the software device has reported a failure in a kernel of this name. */
static bool
suspect_is_reported(const char *name)
{
    static const char mark[] = "in kernel ";
    if (pcu_drv_info.device == NULL) {
        return false;
    }
    const char *found = strstr(pcu_drv_info.device->last_message(), mark);
    if (found == NULL) {
        return false;
    }
    found += sizeof(mark) - 1;
    size_t length = strlen(name);
    return strncmp(found, name, length) == 0 &&
           (found[length] == ',' || found[length] == ' ');
}

static const char *
suspect_kernel_name(const pcu_launch_event *event)
{
    const char *name = NULL;
    if (event->kind == PCU_LAUNCH_ARRAY) {
        return "kernel"; /* the name of all generated kernels */
    }
    if (event->kind == PCU_LAUNCH_KERNEL && event->name != NULL) {
        name = PyUnicode_AsUTF8((PyObject *)event->name);
    }
    if (name == NULL) {
        PyErr_Clear(); /* the name has a lone surrogate: it cannot be compared */
        return "";
    }
    return name;
}

static bool
suspect_is_like(const pcu_launch_event *a, const pcu_launch_event *b)
{
    const pcu_launch_shape *one = &a->shape;
    const pcu_launch_shape *other = &b->shape;
    return a->kind == b->kind && a->kernel == b->kernel && a->name == b->name &&
           memcmp(one->grid, other->grid, sizeof(one->grid)) == 0 &&
           memcmp(one->block, other->block, sizeof(one->block)) == 0;
}

/* Whether the same kernel has finished with the same shape. */
static bool
suspect_was_good(const pcu_context_record *ctx, const pcu_launch_event *launch)
{
    const pcu_launch_event *other;
    for (size_t age = 0; (other = pcu_launch_kept(ctx, age)) != NULL; age++) {
        if (suspect_is_like(other, launch) && pcu_launch_has_passed(ctx, other)) {
            return true;
        }
    }
    return false;
}

/* How likely it is that the launch failed. The kernels of this package and of NVIDIA's
 * libraries are tested; a kernel that was good before, in any shape or in this one, is
 * less likely than a new one. */
static int
suspect_score(const pcu_context_record *ctx, const pcu_launch_event *launch)
{
    int score = 0;
    if (suspect_is_reported(suspect_kernel_name(launch))) {
        score += 16;
    }
    if (launch->kind == PCU_LAUNCH_KERNEL) {
        score += 4;
        score += pcu_launch_is_of_new_kernel(ctx, launch) ? 8 : 0;
    }
    if (launch->kind == PCU_LAUNCH_GRAPH) {
        score += 2;
    }
    if (!suspect_was_good(ctx, launch)) {
        score += 1;
    }
    return score;
}

static bool
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

/* Whether both are records of the same life of one context. */
static bool
suspect_is_same(const pcu_context_record *one, const pcu_context_record *other)
{
    return one->handle == other->handle && one->life == other->life;
}

/* Add the last launches of a record: those that may still run, or all. */
static void
suspects_add(suspect_list *list, const pcu_context_record *ctx, bool all)
{
    const pcu_launch_event *event;
    for (size_t age = 0; (event = pcu_launch_kept(ctx, age)) != NULL; age++) {
        if (!all && pcu_launch_has_passed(ctx, event)) {
            continue;
        }
        suspect item = {*event, 0};
        if (!all) {
            item.score = suspect_score(ctx, event);
        }
        suspect_insert(list, item);
    }
}

/* Add the last launches of a context, or of all for NULL, the newest first. The record
 * itself may have left the registry: its context ends. */
static void
suspects_collect(suspect_list *list, const pcu_context_record *rec, bool all)
{
    if (rec != NULL) {
        suspects_add(list, rec, all);
    }
    const pcu_context_record *ctx = pcu_context_record_first();
    for (; ctx != NULL; ctx = ctx->next) {
        if (ctx != rec && (rec == NULL || suspect_is_same(ctx, rec))) {
            suspects_add(list, ctx, all);
        }
    }
}

/* -- records ----------------------------------------------------------------------- */

static PyStructSequence_Field record_fields[] = {
    {"name", "The name of the kernel, the array operation, the graph or the function."},
    {"kind", "'kernel', 'array', 'graph' or 'library'."},
    {"grid", "The blocks as (x, y, z); None for graphs and libraries."},
    {"block", "The threads of a block as (x, y, z); None for graphs and libraries."},
    {"shared", "The dynamic shared memory of a block, in bytes."},
    {"stream", "The CUstream as an int; 0 is the default stream."},
    {"file", "The file of the line that launched; None if it is not known."},
    {"line", "The number of that line; 0 if it is not known."},
    {"function", "The function that contains the line; None if it is not known."},
    {"number", "The number of the launch in the process, from 1."},
    {NULL, NULL},
};

enum { RECORD_FIELDS = Py_ARRAY_LENGTH(record_fields) - 1 };

static PyStructSequence_Desc record_desc = {
    .name = "pycuda._driver.LaunchRecord",
    .doc =
        "A launch that a context has noted.\n"
        "\nParameters\n----------\n"
        "iterable : sequence, optional\n"
        "    The values of the fields.\n"
        "\nSee Also\n--------\n"
        "recent_launches : Returns such records.",
    .fields = record_fields,
    .n_in_sequence = RECORD_FIELDS,
};

static PyObject *
record_name_new(const pcu_state *st, const pcu_launch_event *event)
{
    if (event->name != NULL) {
        return Py_NewRef((PyObject *)event->name);
    }
    if (st->kernel_name_new != NULL) {
        return st->kernel_name_new(event->kernel);
    }
    return PyUnicode_FromString("array operation");
}

static PyObject *
record_dims_new(const pcu_launch_event *event, const unsigned int dims[3])
{
    if (event->kind == PCU_LAUNCH_GRAPH || event->kind == PCU_LAUNCH_LIBRARY) {
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
record_new(const pcu_state *st, const pcu_launch_event *event)
{
    static const char *const kinds[PCU_LAUNCH_KINDS] = {"kernel", "array", "graph",
                                                        "library"};
    const pcu_launch_shape *shape = &event->shape;
    pcu_line line = pcu_call_site_line(st, event->site);
    Py_ssize_t count = 0;
    PyObject *record = PyStructSequence_New(st->LaunchRecord);
    if (record == NULL) {
        return NULL;
    }
    if (line.file == NULL) {
        line.file = line.function = Py_None;
    }
    record_put(record, &count, record_name_new(st, event));
    record_put(record, &count, PyUnicode_FromString(kinds[event->kind]));
    record_put(record, &count, record_dims_new(event, shape->grid));
    record_put(record, &count, record_dims_new(event, shape->block));
    record_put(record, &count, PyLong_FromUnsignedLong(shape->shared));
    record_put(record, &count, PyLong_FromVoidPtr(shape->stream));
    record_put(record, &count, Py_NewRef(line.file));
    record_put(record, &count, PyLong_FromLong(line.line));
    record_put(record, &count, Py_NewRef(line.function));
    record_put(record, &count, PyLong_FromUnsignedLongLong(event->number));
    if (count != RECORD_FIELDS) {
        Py_CLEAR(record);
    }
    return record;
}

static PyObject *
records_new(const pcu_state *st, const suspect_list *list)
{
    PyObject *records = PyTuple_New((Py_ssize_t)list->count);
    for (size_t i = 0; records != NULL && i < list->count; i++) {
        PyObject *record = record_new(st, &list->items[i].launch);
        if (record == NULL) {
            Py_CLEAR(records);
            break;
        }
        PyTuple_SET_ITEM(records, (Py_ssize_t)i, record);
    }
    return records;
}

PyObject *
pcu_launch_recent_new(pcu_state *st)
{
    suspect_list list = {.count = 0};
    if (pcu_ctx_current != NULL) {
        suspects_collect(&list, pcu_ctx_current, true);
    }
    return records_new(st, &list);
}

bool
pcu_suspects_are_known(const pcu_context_record *rec)
{
    return rec != NULL && rec->lost != NULL;
}

PyObject *
pcu_suspects_new(pcu_state *st, pcu_context_record *rec)
{
    suspect_list list = {.count = 0};
    if (pcu_suspects_are_known(rec)) {
        return Py_NewRef((PyObject *)rec->lost);
    }
    if (rec != NULL) {
        suspects_collect(&list, rec, false);
    }
    if (list.count == 0) {
        suspects_collect(&list, NULL, false);
    }
    PyObject *launches = records_new(st, &list);
    if (launches != NULL && rec != NULL) {
        pcu_suspects_forget(rec);
        rec->lost = Py_NewRef(launches);
    }
    return launches;
}

void
pcu_suspects_forget(pcu_context_record *rec)
{
    PyObject *lost = rec->lost;
    rec->told = false;
    rec->lost = NULL; /* the release may run code that fails and asks */
    Py_XDECREF(lost);
}

PyObject *
pcu_launch_name_keep(pcu_state *st, PyObject *name)
{
    PyObject *plain = PyUnicode_FromObject(name); /* a derived type may keep objects */
    if (plain == NULL) {
        return NULL;
    }
    PyObject *kept = PyDict_SetDefault(st->launch_names, plain, plain);
    Py_DECREF(plain);
    return kept;
}

/* -- text -------------------------------------------------------------------------- */

/* The fields of a record that equal launches have in common: all but shared memory,
 * stream and number. The order is that of record_fields. */
static const unsigned char text_common[] = {0, 1, 2, 3, 6, 7, 8};
enum { TEXT_STREAM = 5 };

/* Launches of one kernel in one shape at one line of the program. */
typedef struct {
    PyObject *record; /* the likeliest, borrowed */
    Py_ssize_t count;
    bool one_stream;
} text_group;

/* 1 if both are launches of one group, 0 if not, -1 on error. */
static int
text_is_equal(PyObject *a, PyObject *b)
{
    int equal = 1;
    for (size_t i = 0; equal == 1 && i < Py_ARRAY_LENGTH(text_common); i++) {
        equal = PyObject_RichCompareBool(PySequence_Fast_GET_ITEM(a, text_common[i]),
                                         PySequence_Fast_GET_ITEM(b, text_common[i]),
                                         Py_EQ);
    }
    return equal;
}

/* Add a launch to its group, or a new group. Return the number of groups, -1 on error.
 */
static Py_ssize_t
text_group_add(text_group *groups, Py_ssize_t count, PyObject *record)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        text_group *group = &groups[i];
        int equal = text_is_equal(group->record, record);
        if (equal < 0) {
            return -1;
        }
        if (equal == 1) {
            PyObject *stream = PySequence_Fast_GET_ITEM(record, TEXT_STREAM);
            group->count++;
            equal = PyObject_RichCompareBool(
                PySequence_Fast_GET_ITEM(group->record, TEXT_STREAM), stream, Py_EQ);
            group->one_stream &= equal == 1;
            return equal < 0 ? -1 : count;
        }
    }
    groups[count] = (text_group){.record = record, .count = 1, .one_stream = true};
    return count + 1;
}

/* A group as a line. */
static PyObject *
text_line_new(const text_group *group, Py_ssize_t number)
{
    PyObject *shape = NULL;
    PyObject *stream = NULL;
    PyObject *times = NULL;
    PyObject *line = NULL;
    PyObject *const *field = PySequence_Fast_ITEMS(group->record);
    if (field[2] == Py_None) {
        shape = PyUnicode_FromString("");
    }
    else {
        shape = PyUnicode_FromFormat(", grid %S, block %S", field[2], field[3]);
    }
    void *handle = PyLong_AsVoidPtr(field[5]);
    if (!group->one_stream) {
        stream = PyUnicode_FromString(", several streams");
    }
    else if (handle == NULL) {
        stream = PyUnicode_FromString("");
    }
    else {
        stream = PyUnicode_FromFormat(", stream %p", handle);
    }
    if (group->count == 1) {
        times = PyUnicode_FromString("");
    }
    else {
        times = PyUnicode_FromFormat(", %zd launches", group->count);
    }
    bool made = shape != NULL && stream != NULL && times != NULL;
    if (made && field[6] == Py_None) {
        line = PyUnicode_FromFormat("\n  %zd. %U %U%U%U%U", number, field[1], field[0],
                                    shape, stream, times);
    }
    else if (made) {
        line = PyUnicode_FromFormat("\n  %zd. %U %U%U%U%U, at %U:%S in %U", number,
                                    field[1], field[0], shape, stream, times, field[6],
                                    field[7], field[8]);
    }
    Py_XDECREF(shape);
    Py_XDECREF(stream);
    Py_XDECREF(times);
    return line;
}

/* Whether the checks of the software device are on: their reports name the launch and
 * the line of the source. */
static bool
text_is_of_check(void)
{
    const char *checks = getenv("PYCUDA_CHECK");
    return pcu_drv_info.device != NULL && checks != NULL && checks[0] != '\0';
}

/* The words that name this program in a command. */
static PyObject *
text_program_new(void)
{
    PyObject *module = PyImport_ImportModule("pycuda._program");
    PyObject *words = NULL;
    if (module != NULL) {
        words = PyObject_CallMethod(module, "words_to_rerun", NULL);
        Py_DECREF(module);
    }
    if (words == NULL && !PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyErr_Clear(); /* the program has changed what Python knows of it */
        words = PyUnicode_FromString("script.py");
    }
    return words;
}

/* What the user can do. `located`: the report names the line of the source. */
static PyObject *
text_advice_new(bool located)
{
    const char *exact = "";
    const char *recovery = "pycuda.tools.recover_context() makes a new context.";
    if (pcu_drv_info.device == NULL) {
        recovery =
            "Restart the process, unless pycuda.tools.recover_context() can make a new "
            "context.";
    }
    if (text_is_of_check()) {
        return PyUnicode_FromString("");
    }
    if (located) {
        return PyUnicode_FromFormat("\n%s", recovery);
    }
    PyObject *words = text_program_new();
    if (words == NULL) {
        return NULL;
    }
    if (!pcu_drv_info.launch_blocking) {
        exact =
            "Set PYCUDA_LAUNCH_BLOCKING=1 to get the error from the launch that "
            "failed. ";
    }
    PyObject *advice = PyUnicode_FromFormat(
        "\n%sRun 'python -m pycuda.explain %U' to find the line of the CUDA "
        "source.\n%s",
        exact, words, recovery);
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

/* Append the groups of launches as lines. */
static void
text_append_groups(PyObject **text, PyObject *launches)
{
    text_group groups[SUSPECTS_MOST];
    Py_ssize_t count = 0;
    Py_ssize_t more = 0;
    for (Py_ssize_t i = 0; count >= 0 && i < PyTuple_GET_SIZE(launches); i++) {
        count = text_group_add(groups, count, PyTuple_GET_ITEM(launches, i));
    }
    if (count < 0) {
        Py_CLEAR(*text);
    }
    for (Py_ssize_t i = 0; i < count && *text != NULL; i++) {
        if (i < SUSPECTS_SHOWN) {
            text_append(text, text_line_new(&groups[i], i + 1));
        }
        else {
            more += groups[i].count;
        }
    }
    if (more != 0 && *text != NULL) {
        text_append(text,
                    PyUnicode_FromFormat("\n  and %zd more, see error.launches", more));
    }
}

PyObject *
pcu_suspects_text_new(PyObject *launches, const char *message)
{
    /* only reports of the software device have indented lines */
    bool reported = strstr(message, "\n  ") != NULL;
    bool located = strstr(message, "\n  at ") != NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(launches);
    PyObject *text = NULL;
    if (count == 0 && reported) {
        text = PyUnicode_FromString("");
    }
    else if (count == 0) {
        text = PyUnicode_FromString(
            "\nNo launch of this package was unfinished: the error comes from a copy "
            "or fill, or from a launch of another library.");
    }
    else if (pcu_drv_info.launch_blocking && count == 1) {
        text = PyUnicode_FromString("\nThe launch that failed:");
    }
    else {
        text = PyUnicode_FromString(
            "\nAn earlier launch failed. Launches since the "
            "last good wait, the likeliest first:");
    }
    if (text != NULL) {
        text_append_groups(&text, launches);
    }
    if (text != NULL) {
        text_append(&text, text_advice_new(located));
    }
    return text;
}

PyObject *
pcu_unfinished_text_new(pcu_state *st, pcu_context_record *rec)
{
    suspect_list list = {.count = 0};
    suspects_collect(&list, rec, false);
    PyObject *launches = records_new(st, &list);
    PyObject *text = NULL;
    if (launches != NULL) {
        text = PyUnicode_FromString("");
    }
    if (text != NULL) {
        text_append_groups(&text, launches);
    }
    Py_XDECREF(launches);
    return text;
}

int
pcu_suspects_setup(PyObject *m, pcu_state *st)
{
    st->launch_names = PyDict_New();
    st->LaunchRecord = PyStructSequence_NewType(&record_desc);
    if (st->launch_names == NULL || st->LaunchRecord == NULL) {
        return -1;
    }
    return PyModule_AddType(m, st->LaunchRecord);
}
