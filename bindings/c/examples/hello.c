// Every rank greets all others; rank 0 says whom it hears.
//
//     weft run -n 3 -- ./hello

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

struct greetings {
    uint32_t rank, others;
    atomic_uint heard;
};

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "hello: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

// Runs on whatever thread polls, or on Weft's own: hence the atomic.
static void
greeted(weft_message *message, void *user)
{
    struct greetings *greetings = user;
    char text[64];
    size_t length;
    uint32_t from;

    check(weft_message_source(message, &from));
    check(weft_message_length(message, &length));
    if (length > sizeof text)
        length = sizeof text;
    check(weft_message_read(message, text, length));
    if (greetings->rank == 0)
        printf("rank 0 hears from rank %u: %.*s\n", from, (int)length, text);
    atomic_fetch_add(&greetings->heard, 1);
}

static bool
all_heard(void *user)
{
    struct greetings *greetings = user;

    return atomic_load(&greetings->heard) == greetings->others;
}

int
main(void)
{
    struct greetings greetings = { 0 };
    weft_job *job;
    weft_port *hello;
    weft_iov greeting = { "good morning", 12 };
    uint32_t size;

    check(weft_join(&job));
    check(weft_rank(job, &greetings.rank));
    check(weft_size(job, &size));
    greetings.others = size - 1;
    check(weft_port_create(job, "hello", greeted, &greetings, &hello));
    check(weft_port_broadcast(hello, &greeting, 1));
    check(weft_poll_until(job, all_heard, &greetings));
    check(weft_port_destroy(hello));
    check(weft_leave(job));
    return 0;
}
