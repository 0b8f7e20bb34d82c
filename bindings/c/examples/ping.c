// Rank 0 sends to rank 1, which answers, and so on: how long does a round trip take?
//
//     weft run -n 2 -- ./ping

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

enum { ROUNDS = 1000 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "ping: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

// Receives a word, which has to be the expected one.
static void
receive(weft_port *box, const char *expected)
{
    char word[4];
    size_t length;

    check(weft_mailbox_receive_into(box, word, sizeof word, &length, NULL));
    if (length != sizeof word || memcmp(word, expected, length) != 0) {
        fprintf(stderr, "ping: it is no %s\n", expected);
        exit(1);
    }
}

int
main(void)
{
    weft_job *job;
    weft_port *box;
    uint32_t rank, size;
    uint64_t begun, end;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    if (size < 2)
        printf("there is nobody to ping: start two ranks, with -n 2\n");
    check(weft_mailbox_create(job, "ping", &box));
    check(weft_barrier(job));
    check(weft_now(job, &begun));
    for (int round = 0; round < ROUNDS && rank < 2 && size > 1; round++) {
        if (rank == 0) {
            check(weft_port_send(box, 1, "ping", 4));
            receive(box, "pong");
        } else {
            receive(box, "ping");
            check(weft_port_send(box, 0, "pong", 4));
        }
    }
    check(weft_now(job, &end));
    if (rank == 0 && size > 1)
        printf("%d round trips, %.3fµs each\n", ROUNDS, (double)(end - begun) / 1e3 / ROUNDS);
    check(weft_port_destroy(box));
    check(weft_leave(job));
    return 0;
}
