/* The words of checks, values as text, reports. See checks.h. */
#define _GNU_SOURCE
#include "device/base/checks.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- the words of the variables ---------------------------------------------------- */

enum { OLDER_ALL = EMU_CHECK_INIT | EMU_CHECK_RACE | EMU_CHECK_BARRIER };

static const struct {
    const char *word;
    unsigned check;
} words[] = {
    {"memory", EMU_CHECK_MEMORY},   {"init", EMU_CHECK_INIT}, {"race", EMU_CHECK_RACE},
    {"barrier", EMU_CHECK_BARRIER}, {"sync", EMU_CHECK_SYNC}, {"leak", EMU_CHECK_LEAK},
};

/* The check of a word; 0: none has it. */
static unsigned
checks_find(const char *word, size_t length, unsigned all)
{
    if (length == 3 && strncmp(word, "all", length) == 0) {
        return all;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i].word) == length &&
            strncmp(words[i].word, word, length) == 0) {
            return words[i].check & all;
        }
    }
    return 0;
}

/* Parse words, of which `all` are known. */
static bool
checks_parse(const char *text, unsigned all, unsigned *checks)
{
    *checks = 0;
    while (text != NULL && *text != 0) {
        const size_t length = strcspn(text, ",");
        const unsigned found = checks_find(text, length, all);

        if (found == 0) {
            return false;
        }
        *checks |= found;
        text += length;
        text += *text == ',';
    }
    return true;
}

bool
emu_checks_parse(const char *text, unsigned *checks)
{
    return checks_parse(text, EMU_CHECK_ALL, checks);
}

bool
emu_checks_parse_older(const char *text, unsigned *checks)
{
    return checks_parse(text, OLDER_ALL, checks);
}

unsigned
emu_checks_wanted(void)
{
    unsigned checks, older;

    if (!emu_checks_parse(getenv("PYCUDA_CHECK"), &checks)) {
        checks = 0;
    }
    if (!emu_checks_parse_older(getenv("PYCUDA_EMULATOR_CHECK"), &older)) {
        older = 0;
    }
    if (older & EMU_CHECK_INIT) {
        older |= EMU_CHECK_READS;
    }
    return checks | older;
}

/* -- values as text ---------------------------------------------------------------- */

/* Below this, a pattern of bits is rather a small integer than a floating-point number.
 */
#define LEAST_REAL 1e-30

/* The bytes as one hexadecimal number, the highest address first. */
static size_t
value_hex(const uint8_t *bytes, size_t size, char *text)
{
    size_t length = (size_t)snprintf(text, EMU_VALUE_ROOM, "0x");

    while (size-- > 0) {
        length += (size_t)snprintf(text + length, EMU_VALUE_ROOM - length, "%02x",
                                   bytes[size]);
    }
    return length;
}

/* Write " (int 5)", or " (int 1065353216, float 1)" if the number may be one. */
static void
value_numbers(long long number, const char *type, double real, char *text, size_t room)
{
    if (real > -LEAST_REAL && real < LEAST_REAL) {
        (void)snprintf(text, room, " (int %lld)", number);
    }
    else {
        (void)snprintf(text, room, " (int %lld, %s %g)", number, type, real);
    }
}

void
emu_value_text(const void *value, size_t size, char text[EMU_VALUE_ROOM])
{
    int8_t byte;
    int16_t half;
    int32_t word;
    int64_t wide;
    float single;
    double twofold;
    size_t length;

    text[0] = 0;
    if (size == 0 || size > EMU_VALUE_MOST) {
        return;
    }
    length = value_hex(value, size, text);
    text += length;
    switch (size) {
        case 1:
            memcpy(&byte, value, sizeof(byte));
            value_numbers(byte, "", 0, text, EMU_VALUE_ROOM - length);
            break;
        case 2:
            memcpy(&half, value, sizeof(half));
            value_numbers(half, "", 0, text, EMU_VALUE_ROOM - length);
            break;
        case 4:
            memcpy(&word, value, sizeof(word));
            memcpy(&single, value, sizeof(single));
            value_numbers(word, "float", (double)single, text, EMU_VALUE_ROOM - length);
            break;
        case 8:
            memcpy(&wide, value, sizeof(wide));
            memcpy(&twofold, value, sizeof(twofold));
            value_numbers(wide, "double", twofold, text, EMU_VALUE_ROOM - length);
            break;
        default:
            break;
    }
}

/* -- the file of reports ----------------------------------------------------------- */

enum { REPORT_LOG_ROOM = 8192 };

bool
emu_report_log_is_open(void)
{
    const char *path = getenv("PYCUDA_CHECK_LOG");

    return path != NULL && *path != 0;
}

bool
emu_report_log(const char *kind, const char *text)
{
    const char *path = getenv("PYCUDA_CHECK_LOG");
    char block[REPORT_LOG_ROOM];
    size_t length = strlen(text);
    int written, file;
    ssize_t done;

    if (!emu_report_log_is_open()) {
        return false;
    }
    file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) {
        return false;
    }
    while (length > 0 && text[length - 1] == '\n') {
        length--;
    }
    if (length > REPORT_LOG_ROOM - 128) {
        length = REPORT_LOG_ROOM - 128;
    }
    written = snprintf(block, sizeof block, "== %.32s %ld\n%.*s\n\n", kind,
                       (long)getpid(), (int)length, text);
    done = write(file, block, (size_t)written); /* one write: blocks never mix */
    (void)close(file);
    return done == written;
}
