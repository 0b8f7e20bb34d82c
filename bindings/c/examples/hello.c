// Every rank greets all others; each waits for the greetings of all others.
//
//     weft run -n 4 -- ./hello

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

static uint32_t ranks;
static atomic_uint heard;

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
    char text[64];
    size_t length;
    uint32_t from;

    (void)user;
    check(weft_message_source(message, &from));
    check(weft_message_length(message, &length));
    if (length > sizeof text)
        length = sizeof text;
    check(weft_message_read(message, text, length));
    printf("from rank %u: %.*s\n", from, (int)length, text);
    atomic_fetch_add(&heard, 1);
}

static bool
all_heard(void *user)
{
    (void)user;
    return atomic_load(&heard) == ranks - 1;
}

int
main(void)
{
    weft_job *job;
    weft_port *hello;
    weft_iov greeting = { "good morning", 12 };

    check(weft_join(&job));
    check(weft_size(job, &ranks));
    check(weft_port_create(job, "hello", greeted, NULL, &hello));
    check(weft_port_broadcast(hello, &greeting, 1));
    check(weft_poll_until(job, all_heard, NULL));
    check(weft_port_destroy(hello));
    check(weft_leave(job));
    return 0;
}
