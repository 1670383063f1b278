/* What the environment chooses: the settings of tables/settings.h.
 *
 * Invariant: a setting is read from the environment whenever it is asked for, so a
 * program may change it while it runs. pcu_drv_load refuses a wrong value of any of
 * them. Callers: any code in driver/ and python/. */
#ifndef DRIVER_SETTING_H
#define DRIVER_SETTING_H

#include <stdbool.h>
#include <stddef.h>

#include "driver/visibility.h"
#include "tables/settings.h"

#define PCU_SETTING_MEMBER(name, variable, words, otherwise) PCU_SETTING_##name,
typedef enum { PCU_SETTINGS(PCU_SETTING_MEMBER) PCU_SETTING_COUNT } pcu_setting;
#undef PCU_SETTING_MEMBER

/* The place of the chosen word in its row, so 0 and 1 for a switch; -1 if the variable
 * has another value. */
PCU_HIDDEN int pcu_setting_find(pcu_setting setting);

/* Write what is wrong with the value of a variable, and what it may be. */
PCU_HIDDEN void pcu_setting_complain(pcu_setting setting, char *text, size_t room);

/* The first setting with a wrong value; PCU_SETTING_COUNT if all are right. */
PCU_HIDDEN pcu_setting pcu_setting_find_wrong(void);

PCU_HIDDEN const char *pcu_setting_variable(pcu_setting setting);

/* Write the word at a place of the setting's row. */
PCU_HIDDEN void pcu_setting_word(pcu_setting setting, int place, char *text,
                                 size_t room);

/* Whether the variable is a switch. */
PCU_HIDDEN bool pcu_setting_is_switch(pcu_setting setting);

/* Whether a mistake of a program that a GPU may forgive is an error: PYCUDA_STRICT is
 * on, or PYCUDA_CHECK names a check. */
PCU_HIDDEN bool pcu_setting_is_strict(void);

/* -- PYCUDA_STAGING ---------------------------------------------------------------- */

/* The pieces of driver/staging.h. The variable has the bytes of all pieces, and may
 * have the number of threads, too: "64M,threads=4". */
typedef struct {
    size_t total;   /* bytes of all pieces of a context; 0: no pieces */
    size_t threads; /* that copy, with the caller's; 0: as many as help */
} pcu_staging_setting;

/* Read the variable: 1 if it is set, 0 if not, -1 if it has another value. The setting
 * has the usual values, except for what the variable sets. */
PCU_HIDDEN int pcu_setting_read_staging(pcu_staging_setting *setting);

/* Whether the variable can be read; else write what is wrong. */
PCU_HIDDEN bool pcu_setting_check_staging(char *text, size_t room);

#endif
