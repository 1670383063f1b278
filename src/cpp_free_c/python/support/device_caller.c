/* The lines of the program, for the checks of the software device.
 *
 * While a check is on, the software device asks for the line of the call that it serves
 * (device/base/site.h). It asks in the thread of the call, also when that has released
 * the interpreter lock: its frames do not change until the call returns. So nothing
 * here makes objects or counts references. After the interpreter has ended, no line is
 * known. */
#include "python/support/device_caller.h"

#include "python/support/caller.h"

/* A text that grows up to its room; it always has room for the terminator. */
typedef struct {
    char *text;
    size_t room, length;
} device_caller_text;

static void
text_put(device_caller_text *out, Py_UCS4 character)
{
    unsigned char bytes[4];
    size_t count = 0;
    if (character < 0x80) {
        bytes[count++] = (unsigned char)character;
    }
    else if (character < 0x800) {
        bytes[count++] = (unsigned char)(0xC0 | character >> 6);
        bytes[count++] = (unsigned char)(0x80 | (character & 0x3F));
    }
    else if (character < 0x10000) {
        bytes[count++] = (unsigned char)(0xE0 | character >> 12);
        bytes[count++] = (unsigned char)(0x80 | (character >> 6 & 0x3F));
        bytes[count++] = (unsigned char)(0x80 | (character & 0x3F));
    }
    else {
        bytes[count++] = (unsigned char)(0xF0 | character >> 18);
        bytes[count++] = (unsigned char)(0x80 | (character >> 12 & 0x3F));
        bytes[count++] = (unsigned char)(0x80 | (character >> 6 & 0x3F));
        bytes[count++] = (unsigned char)(0x80 | (character & 0x3F));
    }
    if (out->length + count < out->room) {
        memcpy(out->text + out->length, bytes, count);
        out->length += count;
        out->text[out->length] = '\0';
    }
}

static void
text_put_string(device_caller_text *out, PyObject *string)
{
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(string); i++) {
        text_put(out, PyUnicode_READ_CHAR(string, i));
    }
}

static void
text_put_ascii(device_caller_text *out, const char *text)
{
    while (*text != '\0') {
        text_put(out, (unsigned char)*text++);
    }
}

/* Write "file:line in function" and return its length; 0: the line is not known. */
static size_t
device_caller_write(char *text, size_t room)
{
    device_caller_text out = {text, room, 0};
    PyThreadState *thread = PyGILState_GetThisThreadState();
    char number[16];
    const pcu_state *st = pcu_drv_info.caller_state;
    pcu_caller found;
    if (thread == NULL || st == NULL || st->caller_rules == NULL) {
        return 0;
    }
    pcu_caller_find_in(st, thread, &found);
    if (found.code == NULL) {
        return 0;
    }
    text_put_string(&out, found.code->co_filename);
    (void)PyOS_snprintf(number, sizeof(number), ":%d in ", pcu_caller_line(&found));
    text_put_ascii(&out, number);
#if PY_VERSION_HEX < 0x030B0000
    text_put_string(&out, found.code->co_name);
#else
    text_put_string(&out, found.code->co_qualname);
#endif
    return out.length;
}

void
pcu_device_caller_begin(const pcu_state *st)
{
    pcu_drv_info.caller_state = st;
    if (pcu_drv_info.set_caller != NULL) {
        pcu_drv_info.set_caller(device_caller_write);
    }
}

void
pcu_device_caller_finish(void)
{
    pcu_drv_info.caller_state = NULL;
    if (pcu_drv_info.set_caller != NULL) {
        pcu_drv_info.set_caller(NULL);
    }
}

void
pcu_device_caller_asks(int asked)
{
    if (pcu_drv_info.set_asked != NULL) {
        pcu_drv_info.set_asked(asked);
    }
}
