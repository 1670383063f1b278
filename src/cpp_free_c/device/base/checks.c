/* The words of the variables that turn checks on. See checks.h. */
#include "device/base/checks.h"

#include <stdlib.h>
#include <string.h>

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
