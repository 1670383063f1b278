/* The twin of every C test: its frame must report a check that fails. test_core_c.py
 * expects this program to exit with 1 and to name both lines. */
#include "check.h"

int
main(void)
{
    CHECK(1 + 1 == 2);
    CHECK(1 + 1 == 3);
    CHECK_EQ(2 * 3, 7);
    return check_report();
}
