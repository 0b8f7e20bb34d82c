// Two ranks send a message to and fro, and ask for it instead of having a callback.
//
//     weft run -n 2 -- ./pingpong

#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { ROUNDS = 1000, SECOND = 1000000000 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "pingpong: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static void
receive(weft_port *ball, uint32_t expected)
{
    weft_message *message;
    uint32_t round;

    check(weft_mailbox_receive_within(ball, 30ull * SECOND, &message));
    check(weft_message_read(message, &round, sizeof round));
    check(weft_message_release(message));
    if (round != expected) {
        fprintf(stderr, "pingpong: round %u came, %u was due\n", round, expected);
        exit(1);
    }
}

int
main(void)
{
    weft_job *job;
    weft_port *ball;
    uint32_t rank, size, round;
    uint64_t start, end;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    if (size != 2) {
        fprintf(stderr, "pingpong: two ranks play this: weft run -n 2 -- pingpong\n");
        return 1;
    }
    check(weft_mailbox_create(job, "ball", &ball));
    check(weft_now(job, &start));
    for (round = 0; round < ROUNDS; round++) {
        if (rank == 1)
            receive(ball, round);
        check(weft_port_send(ball, 1 - rank, &round, sizeof round));
        if (rank == 0)
            receive(ball, round);
    }
    check(weft_now(job, &end));
    if (rank == 0)
        printf("%d rounds, %.2f us each\n", ROUNDS, (double)(end - start) / 1e3 / ROUNDS);
    check(weft_port_destroy(ball));
    check(weft_leave(job));
    return 0;
}
