/* The keywords of calls that set launch attributes. See launch_keywords.h. */
#include "python/driver/launch/launch_keywords.h"

#include "python/driver/launch/launch_config.h"

/* Add the attributes of a LaunchConfig that the list does not have yet. */
static int
launch_add_config(pcu_state *st, pcu_launch_attributes *list, PyObject *config)
{
    const pcu_launch_attributes *added = pcu_launch_config_list(st, config);
    if (added == NULL) {
        return -1;
    }
    for (unsigned int i = 0; i < added->count; i++) {
        const CUlaunchAttribute *item = &added->items[i];
        if (pcu_launch_attribute_find(list, item->id) == NULL &&
            pcu_launch_attribute_store(list, item->id, &item->value) < 0) {
            return -1;
        }
    }
    return 0;
}

int
pcu_launch_keyword(pcu_state *st, pcu_launch_attributes *list, PyObject *name,
                   PyObject *value)
{
    const char *text;
    unsigned int id;
    if (name == st->str_launch_config) {
        if (value == Py_None) {
            return 0;
        }
        return launch_add_config(st, list, value);
    }
    if (name == st->str_cooperative) {
        id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        text = "cooperative";
    }
    else if (name == st->str_cluster) {
        id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        text = "cluster";
    }
    else if (name == st->str_programmatic) {
        id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        text = "programmatic";
    }
    else if (name == st->str_priority) {
        id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
        text = "priority";
    }
    else {
        return 1;
    }
    if (value == Py_None) {
        return 0;
    }
    return pcu_launch_attribute_set(st, list, id, value, text, NULL);
}

PyObject *
pcu_launch_keyword_name(pcu_state *st, PyObject *name)
{
    PyObject *known[] = {st->str_cooperative, st->str_cluster, st->str_programmatic,
                         st->str_priority, st->str_launch_config};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(known); i++) {
        if (name == known[i] || PyUnicode_Compare(name, known[i]) == 0) {
            return known[i];
        }
    }
    return NULL;
}
