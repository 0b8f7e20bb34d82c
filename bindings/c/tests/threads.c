// Several threads wait in one rank: each for what only a callback, on whatever thread, can tell it.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { THREADS = 4, ROUNDS = 200 };

static weft_job *job;
static weft_port *port;
static uint32_t rank;
static atomic_uint heard[THREADS];

struct wait {
    unsigned thread;
    unsigned round;
};

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "threads: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static void
arrived(weft_message *message, void *user)
{
    unsigned thread;

    (void)user;
    check(weft_message_read(message, &thread, sizeof thread));
    atomic_fetch_add(&heard[thread], 1);
}

static bool
round_is_over(void *user)
{
    const struct wait *wait = user;

    return atomic_load(&heard[wait->thread]) > wait->round;
}

// To and fro with the thread of the same number at the other rank.
static void *
play(void *argument)
{
    struct wait wait = { *(unsigned *)argument, 0 };

    for (; wait.round < ROUNDS; wait.round++) {
        if (rank == 1)
            check(weft_poll_until(job, round_is_over, &wait));
        check(weft_port_send(port, 1 - rank, &wait.thread, sizeof wait.thread));
        if (rank == 0)
            check(weft_poll_until(job, round_is_over, &wait));
    }
    return NULL;
}

int
main(void)
{
    pthread_t threads[THREADS];
    unsigned numbers[THREADS], i;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_share_among_threads(job));
    check(weft_port_create(job, "port", arrived, NULL, &port));
    for (i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, play, &numbers[i]) != 0)
            return 1;
    }
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (i = 0; i < THREADS; i++)
        if (atomic_load(&heard[i]) != ROUNDS)
            return 1;
    check(weft_port_destroy(port));
    check(weft_leave(job));
    return 0;
}
