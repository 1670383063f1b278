/* What the environment chooses. See setting.h. */
#include "driver/setting.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SETTING_ROW(name, variable, words, otherwise) {variable, words, otherwise},
static const struct {
    const char *variable;
    const char *words;
    int otherwise; /* the place of the word for a variable that is not set */
} settings[] = {PCU_SETTINGS(SETTING_ROW)};
#undef SETTING_ROW

/* What a switch accepts: pairs for off and on. */
static const char *const switch_values[][2] = {
    {"0", "1"}, {"off", "on"}, {"false", "true"}, {"no", "yes"}};

bool
pcu_setting_is_switch(pcu_setting setting)
{
    return strcmp(settings[setting].words, PCU_SWITCH_WORDS) == 0;
}

static int
setting_find_switch(const char *value)
{
    for (size_t i = 0; i < sizeof(switch_values) / sizeof(switch_values[0]); i++) {
        for (int on = 0; on < 2; on++) {
            if (strcasecmp(value, switch_values[i][on]) == 0) {
                return on;
            }
        }
    }
    return -1;
}

static int
setting_find_word(const char *words, const char *value)
{
    size_t length = strlen(value);
    for (int place = 0; *words != '\0'; place++) {
        size_t word = strcspn(words, " ");
        if (word == length && strncasecmp(words, value, length) == 0) {
            return place;
        }
        words += word;
        words += strspn(words, " ");
    }
    return -1;
}

int
pcu_setting_find(pcu_setting setting)
{
    const char *value = getenv(settings[setting].variable);
    if (value == NULL || value[0] == '\0') {
        return settings[setting].otherwise;
    }
    if (pcu_setting_is_switch(setting)) {
        return setting_find_switch(value);
    }
    return setting_find_word(settings[setting].words, value);
}

/* The place of the chosen word, or of the usual one for a wrong value. */
static int
setting_or_default(pcu_setting setting)
{
    int found = pcu_setting_find(setting);
    if (found < 0) {
        found = settings[setting].otherwise;
    }
    return found;
}

/* Write the words as "a, b or c". */
static void
setting_list_words(const char *words, char *text, size_t room)
{
    size_t used = 0;
    while (*words != '\0' && used + 1 < room) {
        size_t word = strcspn(words, " ");
        const char *rest = words + word + strspn(words + word, " ");
        const char *joint = "";
        if (*rest != '\0') {
            joint = strchr(rest, ' ') == NULL ? " or " : ", ";
        }
        int n = snprintf(text + used, room - used, "%.*s%s", (int)word, words, joint);
        if (n < 0) {
            break;
        }
        used += (size_t)n;
        words = rest;
    }
}

void
pcu_setting_complain(pcu_setting setting, char *text, size_t room)
{
    const char *variable = settings[setting].variable;
    const char *value = getenv(variable);
    char words[128] = "1 (or on, true, yes) or 0 (or off, false, no)";
    if (value == NULL) {
        value = "";
    }
    if (!pcu_setting_is_switch(setting)) {
        setting_list_words(settings[setting].words, words, sizeof(words));
    }
    (void)snprintf(text, room, "%s is '%s'; set it to %s, or unset it", variable, value,
                   words);
}

pcu_setting
pcu_setting_find_wrong(void)
{
    int setting = 0;
    while (setting < PCU_SETTING_COUNT && pcu_setting_find((pcu_setting)setting) >= 0) {
        setting++;
    }
    return (pcu_setting)setting;
}

void
pcu_setting_word(pcu_setting setting, int place, char *text, size_t room)
{
    const char *word = settings[setting].words;
    while (place-- > 0) {
        word += strcspn(word, " ");
        word += strspn(word, " ");
    }
    (void)snprintf(text, room, "%.*s", (int)strcspn(word, " "), word);
}

const char *
pcu_setting_variable(pcu_setting setting)
{
    return settings[setting].variable;
}

bool
pcu_setting_is_strict(void)
{
    const char *value = getenv(settings[PCU_SETTING_STRICT].variable);
    if (value == NULL || value[0] == '\0') {
        const char *checks = getenv("PYCUDA_CHECK");
        return checks != NULL && checks[0] != '\0';
    }
    return setting_or_default(PCU_SETTING_STRICT) == 1;
}

/* -- PYCUDA_STAGING ---------------------------------------------------------------- */

static const pcu_staging_setting staging_defaults = {.total = (size_t)64 << 20};

/* Read a number with K, M or G at the end. Return the text behind it, NULL if it is no
 * number. */
static const char *
staging_parse_size(const char *text, size_t *size)
{
    static const char suffixes[] = "KMG";
    char *end = NULL;
    if (!isdigit((unsigned char)*text)) {
        return NULL;
    }
    unsigned long long value = strtoull(text, &end, 10);
    const char *suffix = NULL;
    if (*end != '\0') {
        suffix = strchr(suffixes, toupper((unsigned char)*end));
    }
    unsigned int shift = 0;
    if (suffix != NULL) {
        shift = 10 * (unsigned int)(suffix - suffixes + 1);
        end++;
    }
    if (value > (SIZE_MAX / 2) >> shift) {
        return NULL;
    }
    *size = (size_t)value << shift;
    return end;
}

static bool
staging_parse(const char *text, pcu_staging_setting *setting)
{
    static const char word[] = ",threads=";
    *setting = staging_defaults;
    text = staging_parse_size(text, &setting->total);
    if (text != NULL && strncmp(text, word, sizeof(word) - 1) == 0) {
        text = staging_parse_size(text + sizeof(word) - 1, &setting->threads);
        return text != NULL && *text == '\0' && setting->threads != 0;
    }
    return text != NULL && *text == '\0';
}

int
pcu_setting_read_staging(pcu_staging_setting *setting)
{
    const char *value = getenv("PYCUDA_STAGING");
    *setting = staging_defaults;
    if (value == NULL || value[0] == '\0') {
        return 0;
    }
    if (!staging_parse(value, setting)) {
        *setting = staging_defaults;
        return -1;
    }
    return 1;
}

bool
pcu_setting_check_staging(char *text, size_t room)
{
    pcu_staging_setting setting;
    if (pcu_setting_read_staging(&setting) >= 0) {
        return true;
    }
    (void)snprintf(
        text, room,
        "PYCUDA_STAGING is '%s'; set it to a number of bytes, such as 64M or 0, or to "
        "bytes and threads, such as 64M,threads=4, or unset it",
        getenv("PYCUDA_STAGING"));
    return false;
}
