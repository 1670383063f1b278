/* The command that runs this program again: see rerun.h. */
#include "python/support/rerun.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Return the characters of a word of a shell, in double quotes if it needs them. */
static PyObject *
rerun_word_new(const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-";
    if (word[strspn(word, plain)] == '\0') {
        return PyUnicode_DecodeFSDefault(word);
    }
    char *quoted = PyMem_Malloc(2 * strlen(word) + 3), *at = quoted;
    if (quoted == NULL) {
        return PyErr_NoMemory();
    }
    *at++ = '"';
    for (; *word != '\0'; word++) {
        if (strchr("\\\"$`", *word) != NULL) {
            *at++ = '\\';
        }
        *at++ = *word;
    }
    *at++ = '"';
    *at = '\0';
    PyObject *result = PyUnicode_DecodeFSDefault(quoted);
    PyMem_Free(quoted);
    return result;
}

/* Return the part of a test's name that pytest finds from the current folder, NULL if
 * there is none. The name begins with the path of its file from the root of the tests,
 * which may be above this folder. */
static char *
rerun_reachable(char *name)
{
    char *mark = strstr(name, "::");
    if (mark == NULL) {
        return NULL;
    }
    *mark = '\0';
    while (name != NULL && access(name, R_OK) != 0) {
        name = strchr(name, '/');
        name = name == NULL ? NULL : name + 1;
    }
    *mark = ':';
    return name;
}

/* Return the words for a test with this value of PYTEST_CURRENT_TEST, which is its name
 * and, in brackets, the phase of the test. */
static PyObject *
rerun_test_new(const char *current)
{
    const char *end = strrchr(current, ' ');
    size_t length = end == NULL ? strlen(current) : (size_t)(end - current);
    char *name = PyMem_Malloc(length + 1);
    if (name == NULL) {
        return PyErr_NoMemory();
    }
    memcpy(name, current, length);
    name[length] = '\0';
    const char *reachable = rerun_reachable(name);
    PyObject *words = NULL;
    if (reachable == NULL) {
        words = PyUnicode_FromString("-m pytest");
    }
    else {
        PyObject *word = rerun_word_new(reachable);
        words = word == NULL ? NULL : PyUnicode_FromFormat("-m pytest %U", word);
        Py_XDECREF(word);
    }
    PyMem_Free(name);
    return words;
}

/* Return the name of the module that `python -m` runs, None for another program. */
static PyObject *
rerun_module_new(PyObject *modules)
{
    PyObject *main_module = PyDict_GetItemString(modules, "__main__"); /* borrowed */
    PyObject *spec = NULL, *name = NULL;
    if (main_module != NULL) {
        spec = PyObject_GetAttrString(main_module, "__spec__");
    }
    if (spec != NULL && spec != Py_None) {
        name = PyObject_GetAttrString(spec, "name");
    }
    Py_XDECREF(spec);
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
            return NULL;
        }
        PyErr_Clear(); /* the program has replaced __main__: it is no module */
    }
    if (name == NULL || !PyUnicode_Check(name)) {
        Py_XDECREF(name);
        Py_RETURN_NONE;
    }
    PyObject *end = PyUnicode_FromString(".__main__"), *package = NULL;
    if (end != NULL) {
        Py_ssize_t length = PyUnicode_GET_LENGTH(name);
        Py_ssize_t found = PyUnicode_Tailmatch(name, end, 0, length, 1);
        if (found >= 0) {
            length -= found ? PyUnicode_GET_LENGTH(end) : 0;
            package = PyUnicode_Substring(name, 0, length);
        }
    }
    Py_XDECREF(end);
    Py_DECREF(name);
    return package;
}

/* Return sys.argv[0] if it is a file of Python, else a name that stands for it. */
static PyObject *
rerun_script_new(void)
{
    PyObject *argv = PySys_GetObject("argv"); /* borrowed */
    PyObject *script = NULL;
    if (argv != NULL && PyList_Check(argv) && PyList_GET_SIZE(argv) > 0) {
        script = PyList_GET_ITEM(argv, 0);
    }
    if (script != NULL && PyUnicode_Check(script)) {
        PyObject *end = PyUnicode_FromString(".py");
        if (end == NULL) {
            return NULL;
        }
        Py_ssize_t found =
            PyUnicode_Tailmatch(script, end, 0, PyUnicode_GET_LENGTH(script), 1);
        Py_DECREF(end);
        if (found != 0) {
            return found < 0 ? NULL : Py_NewRef(script);
        }
    }
    return PyUnicode_FromString("script.py");
}

PyObject *
pcu_rerun_words_new(void)
{
    const char *test = getenv("PYTEST_CURRENT_TEST");
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
    /* A program that a test starts has the variable too, but not the module. */
    if (test != NULL && PyDict_GetItemString(modules, "pytest") != NULL) {
        return rerun_test_new(test);
    }
    PyObject *module = rerun_module_new(modules);
    if (module == NULL || module == Py_None) {
        Py_XDECREF(module);
        return module == NULL ? NULL : rerun_script_new();
    }
    PyObject *words = PyUnicode_FromFormat("-m %U", module);
    Py_DECREF(module);
    return words;
}
