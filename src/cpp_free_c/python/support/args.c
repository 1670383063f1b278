/* The argument parser, for vectorcall and for tp_new and tp_init, and the reader of
 * text signatures. Invariant and callers: see args.h. Messages are worded like
 * CPython's. */
#include "python/support/args.h"

#include "python/support/errors.h"
#include "python/support/setup.h"

/* -- reading text signatures ------------------------------------------------------- */

static pcu_signature *args_signatures;

const pcu_word pcu_no_words[1] = {{"", NULL, 0}};

void
pcu_signature_add(pcu_signature *signature)
{
    signature->next = args_signatures;
    args_signatures = signature;
}

/* A text that is read, and what was found in it. */
typedef struct {
    const char *at;
    pcu_signature *signature;
    pcu_parameter parameters[PCU_ARGS_MAX];
} args_reader;

/* Raise SystemError: the reason, and the rest of the line that was not read. */
static int
args_refuse(const args_reader *r, const char *reason)
{
    const char *doc = r->signature->doc;
    PyObject *line = PyUnicode_FromStringAndSize(doc, (Py_ssize_t)strcspn(doc, "\n"));
    PyObject *rest =
        PyUnicode_FromStringAndSize(r->at, (Py_ssize_t)strcspn(r->at, "\n"));
    if (line != NULL && rest != NULL) {
        PyErr_Format(PyExc_SystemError, "signature %U: %s at '%U'", line, reason, rest);
    }
    Py_XDECREF(line);
    Py_XDECREF(rest);
    return -1;
}

static size_t
args_name_length(const char *at)
{
    size_t length = 0;
    while (Py_ISALNUM(at[length]) || at[length] == '_') {
        length++;
    }
    return length;
}

/* Pass over a default value: everything up to the next comma, or the parenthesis that
 * ends the signature. Return -1 if there is none. */
static int
args_skip_default(args_reader *r)
{
    const char *first = r->at;
    int depth = 0;
    char quote = '\0';
    for (; *r->at != '\0'; r->at++) {
        char c = *r->at;
        if (quote != '\0') {
            if (c == quote) {
                quote = '\0';
            }
        }
        else if (c == '\'' || c == '"') {
            quote = c;
        }
        else if (depth == 0 && (c == ',' || c == ')')) {
            return r->at > first ? 0 : -1;
        }
        else if (strchr("([{", c) != NULL) {
            depth++;
        }
        else if (strchr(")]}", c) != NULL) {
            depth--;
        }
    }
    return -1;
}

static const pcu_word *
args_find_word(const pcu_signature *s, const char *name, size_t length)
{
    for (size_t i = 0; i < s->words_count; i++) {
        const pcu_word *word = &s->words[i];
        if (strncmp(word->name, name, length) == 0 && word->name[length] == '\0') {
            return word;
        }
    }
    return NULL;
}

/* Read a parameter, with its default value if it has one. */
static int
args_read_parameter(args_reader *r)
{
    pcu_signature *s = r->signature;
    size_t length = args_name_length(r->at);
    const pcu_word *word = args_find_word(s, r->at, length);
    if (length == 0) {
        return args_refuse(r, "no name");
    }
    if (s->count == PCU_ARGS_MAX) {
        return args_refuse(r, "too many parameters");
    }
    if (word == NULL) {
        return args_refuse(r, "a name that the vocabulary does not have");
    }
    pcu_parameter *parameter = &r->parameters[s->count];
    *parameter = (pcu_parameter){.name = PyUnicode_InternFromString(word->name),
                                 .text = word->name,
                                 .convert = word->convert,
                                 .offset = word->offset};
    if (parameter->name == NULL) {
        return -1;
    }
    r->at += length;
    if (*r->at == '=') {
        r->at++;
        if (args_skip_default(r) < 0) {
            return args_refuse(r, "no default value");
        }
    }
    else if (s->required < s->count) {
        return args_refuse(r,
                           "a parameter without a default behind one with a default");
    }
    else {
        s->required++;
    }
    s->count++;
    return 0;
}

/* Read what stands between two commas: a parameter or a mark. */
static int
args_read_item(args_reader *r)
{
    pcu_signature *s = r->signature;
    if (*r->at == '$') { /* the object, the type or the module */
        r->at += 1 + args_name_length(r->at + 1);
    }
    else if (*r->at == '/') {
        s->positional_only = s->count;
        r->at++;
    }
    else if (*r->at == '*' && s->places < 0) {
        s->places = s->count;
        r->at++;
    }
    else {
        return args_read_parameter(r);
    }
    return 0;
}

/* Keep what was read. The function's name is copied out of the text. */
static int
args_keep(args_reader *r, size_t name_length)
{
    pcu_signature *s = r->signature;
    size_t size = sizeof(pcu_parameter) * (size_t)s->count;
    char *memory = PyMem_Malloc(size + name_length + 1);
    if (memory == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(memory, r->parameters, size);
    memcpy(memory + size, s->doc, name_length);
    memory[size + name_length] = '\0';
    s->function = memory + size;
    s->parameters = (const pcu_parameter *)memory;
    return 0;
}

static int
args_read_signature(pcu_signature *signature)
{
    args_reader r = {.at = signature->doc, .signature = signature};
    size_t name_length = strcspn(signature->doc, "(\n");
    signature->count = signature->required = signature->positional_only = 0;
    signature->places = -1;
    r.at += name_length;
    if (*r.at != '(') {
        return args_refuse(&r, "no function");
    }
    r.at++;
    while (*r.at != ')') {
        if (args_read_item(&r) < 0) {
            return -1;
        }
        if (*r.at == ',') {
            r.at += strspn(r.at + 1, " \n") + 1;
        }
        else if (*r.at != ')') {
            return args_refuse(&r, "no comma");
        }
    }
    if (strncmp(r.at, ")\n--\n\n", 6) != 0) {
        return args_refuse(&r, "no line of two dashes");
    }
    if (signature->places < 0) {
        signature->places = signature->count;
    }
    return args_keep(&r, name_length);
}

int
pcu_args_setup(PyObject *Py_UNUSED(m), pcu_state *Py_UNUSED(st))
{
    for (pcu_signature *s = args_signatures; s != NULL; s = s->next) {
        if (s->parameters == NULL && args_read_signature(s) < 0) {
            return -1;
        }
    }
    return 0;
}

/* -- parsing calls ----------------------------------------------------------------- */

/* The number of the parameter of that name. Keywords in a program's text are interned,
 * so most are found by their addresses. */
static int
args_find(const pcu_signature *s, PyObject *keyword)
{
    for (int i = s->positional_only; i < s->count; i++) {
        if (s->parameters[i].name == keyword) {
            return i;
        }
    }
    for (int i = s->positional_only; i < s->count; i++) {
        if (PyUnicode_CompareWithASCIIString(keyword, s->parameters[i].text) == 0) {
            return i;
        }
    }
    return -1;
}

static int
args_place(const pcu_signature *s, PyObject **values, PyObject *keyword,
           PyObject *value)
{
    if (!PyUnicode_Check(keyword)) { /* CPython does not check f(**{1: 2}) for types */
        PyErr_Format(PyExc_TypeError, "%s() keywords must be strings", s->function);
        return -1;
    }
    int i = args_find(s, keyword);
    if (i < 0) {
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'",
                     s->function, keyword);
        return -1;
    }
    if (values[i] != NULL) {
        PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'",
                     s->function, s->parameters[i].text);
        return -1;
    }
    values[i] = value;
    return 0;
}

static int
args_refuse_count(const pcu_signature *s, Py_ssize_t nargs)
{
    const char *amount = s->required == s->count ? "exactly" : "at most";
    const char *kind = s->places < s->count ? "positional " : "";
    if (s->places == 0 && s->count > 0) {
        PyErr_Format(PyExc_TypeError, "%s() takes keywords only", s->function);
    }
    else {
        PyErr_Format(PyExc_TypeError, "%s() takes %s %d %sargument%s (%zd given)",
                     s->function, amount, s->places, kind, s->places == 1 ? "" : "s",
                     nargs);
    }
    return -1;
}

static int
args_refuse_missing(const pcu_signature *s, int i)
{
    PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s' (pos %d)",
                 s->function, s->parameters[i].text, i + 1);
    return -1;
}

/* Convert the values in order; NULL stands for a parameter that was not given. */
static int
args_convert(pcu_state *st, const pcu_signature *s, PyObject *const *values, int count,
             void *out)
{
    for (int i = 0; i < count; i++) {
        const pcu_parameter *p = &s->parameters[i];
        if (values[i] == NULL) {
            if (i < s->required) {
                return args_refuse_missing(s, i);
            }
            continue;
        }
        int rc = p->convert(st, values[i], (char *)out + p->offset, p->text);
        if (rc == PCU_NOT_AN_ARRAY) { /* _sort does the work of sort */
            return pcu_refuse_array(s->function + (*s->function == '_'), values[i]);
        }
        if (rc < 0) {
            return -1;
        }
    }
    if (count < s->required) {
        return args_refuse_missing(s, count);
    }
    return 0;
}

int
pcu_args_parse(pcu_state *st, const pcu_signature *s, PyObject *const *args,
               Py_ssize_t nargs, PyObject *kwnames, void *out)
{
    PyObject *values[PCU_ARGS_MAX];
    if (nargs > s->places) {
        return args_refuse_count(s, nargs);
    }
    if (kwnames == NULL) {
        return args_convert(st, s, args, (int)nargs, out);
    }
    for (int i = 0; i < s->count; i++) {
        values[i] = i < nargs ? args[i] : NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames); i++) {
        if (args_place(s, values, PyTuple_GET_ITEM(kwnames, i), args[nargs + i]) < 0) {
            return -1;
        }
    }
    return args_convert(st, s, values, s->count, out);
}

int
pcu_args_parse_tuple(pcu_state *st, const pcu_signature *s, PyObject *args,
                     PyObject *kwargs, void *out)
{
    PyObject *values[PCU_ARGS_MAX];
    Py_ssize_t nargs = PyTuple_GET_SIZE(args);
    if (nargs > s->places) {
        return args_refuse_count(s, nargs);
    }
    for (int i = 0; i < s->count; i++) {
        values[i] = i < nargs ? PyTuple_GET_ITEM(args, i) : NULL;
    }
    PyObject *keyword;
    PyObject *value;
    Py_ssize_t position = 0;
    while (kwargs != NULL && PyDict_Next(kwargs, &position, &keyword, &value)) {
        if (args_place(s, values, keyword, value) < 0) {
            return -1;
        }
    }
    return args_convert(st, s, values, s->count, out);
}
