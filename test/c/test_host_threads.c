/* Unit test of driver/host_threads: the count, the door, many threads, a forked child.
 */
#define _POSIX_C_SOURCE 200112L

#include "driver/host_threads.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 2000, NESTED = 30 };

static void
test_door(void)
{
    pcu_host_threads_open();
    for (int i = 1; i <= NESTED; i++) {
        CHECK_EQ(pcu_host_threads_enter(), 1);
        CHECK_EQ(pcu_host_threads_inside(), i);
    }
    pcu_host_threads_close();
    CHECK_EQ(pcu_host_threads_enter(), 0);
    CHECK_EQ(pcu_host_threads_inside(), NESTED);
    for (int i = NESTED - 1; i >= 0; i--) {
        pcu_host_threads_leave();
        CHECK_EQ(pcu_host_threads_inside(), i);
    }
    pcu_host_threads_open();
    CHECK_EQ(pcu_host_threads_enter(), 1);
    pcu_host_threads_leave();
}

static void *
enter_and_leave(void *turned_away)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (pcu_host_threads_enter()) {
            pcu_host_threads_leave();
        }
        else {
            ++*(int *)turned_away;
        }
    }
    return NULL;
}

static void
run_threads(int turned_away[THREADS])
{
    pthread_t started[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_create(&started[i], NULL, enter_and_leave, &turned_away[i]),
                 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_join(started[i], NULL), 0);
    }
    CHECK_EQ(pcu_host_threads_inside(), 0);
}

static void
test_threads(void)
{
    int turned_away[THREADS] = {0};
    run_threads(turned_away);
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(turned_away[i], 0);
    }
    pcu_host_threads_close();
    run_threads(turned_away);
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(turned_away[i], ROUNDS);
    }
    pcu_host_threads_open();
}

static void
test_forked_child(void)
{
    int status = 1;
    CHECK_EQ(pcu_host_threads_enter(), 1);
    pid_t child = fork();
    if (child == 0) {
        _exit(pcu_host_threads_inside());
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK_EQ(pcu_host_threads_inside(), 1);
    pcu_host_threads_leave();
}

int
main(void)
{
    test_door();
    test_threads();
    test_forked_child();
    return check_report();
}
