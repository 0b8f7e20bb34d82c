// All ranks draw tickets from one counter; whoever ends last tells the others what they add up to.
//
//     weft run -n 4 -- ./counter

#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

// Counters of rank 0: the tickets, how many ranks have ended, and the sum of all tickets drawn.
enum { TICKETS = 0, FINISHED = 1, SUM = 2, LAST = 100000 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "counter: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

// Draws until there are none left; returns the sum of those drawn.
static uint64_t
draw(weft_job *job)
{
    uint64_t ticket, sum = 0;

    for (;;) {
        check(weft_fetch_and_add(job, 0, TICKETS, 1, &ticket));
        if (ticket >= LAST)
            return sum;
        sum += ticket;
    }
}

int
main(void)
{
    weft_job *job;
    weft_port *news;
    weft_message *message;
    weft_iov piece;
    uint32_t rank, size;
    uint64_t finished, sum;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    check(weft_mailbox_create(job, "news", &news));
    check(weft_fetch_and_add(job, 0, SUM, draw(job), NULL));
    check(weft_fetch_and_add(job, 0, FINISHED, 1, &finished));
    if (finished + 1 == size) {
        check(weft_fetch_and_add(job, 0, SUM, 0, &sum));
        piece.base = &sum;
        piece.length = sizeof sum;
        check(weft_port_broadcast(news, &piece, 1));
    } else {
        check(weft_mailbox_receive(news, &message));
        check(weft_message_read(message, &sum, sizeof sum));
        check(weft_message_release(message));
    }
    printf("rank %u: the tickets add up to %llu\n", rank, (unsigned long long)sum);
    check(weft_port_destroy(news));
    check(weft_leave(job));
    return 0;
}
