// All members get all messages of an order in one order, each sender's in its own.

#include "check.h"

enum { MESSAGES = 200, MOST_RANKS = 8 };

struct log {
    weft_order *order;
    uint64_t count;
    uint64_t expected;
    uint64_t hash;
    uint32_t next[MOST_RANKS];
    weft_message *kept;
};

static void
heard(weft_message *message, uint64_t number, void *user)
{
    struct log *log = user;
    weft_iov none = { "", 0 };
    uint32_t source, index;

    HOLDS(number == log->count);
    OK(weft_message_source(message, &source));
    if (number == 5)
        FAILS(weft_order_broadcast_and_wait(log->order, &none, 1, NULL), WEFT_WAITS_FOR_ITSELF,
              "handler of the order");
    if (number == 7) {
        OK(weft_message_keep(message, &log->kept));
        message = log->kept;
    }
    OK(weft_message_read(message, &index, sizeof index));
    HOLDS(index == log->next[source]++);
    log->hash = log->hash * 31 + source;
    log->count++;
}

static bool
all_heard(void *user)
{
    const struct log *log = user;

    return log->count == log->expected;
}

// Broadcasts, each a number, and every tenth until it was heard here.
static void
broadcast(struct log *log)
{
    weft_iov pieces[2] = { { NULL, 4 }, { "and more", 8 } };
    uint64_t number;
    uint32_t i;

    for (i = 0; i < MESSAGES; i++) {
        pieces[0].base = &i;
        if (i % 10 == 0) {
            OK(weft_order_broadcast_and_wait(log->order, pieces, 2, &number));
            HOLDS(log->count > number);
        } else {
            OK(weft_order_broadcast(log->order, pieces, 2, NULL));
        }
    }
}

static void
same_everywhere(weft_team *team, uint64_t hash)
{
    uint64_t least = hash, greatest = hash;

    OK(weft_all_reduce(team, &least, 1, WEFT_U64, WEFT_MIN));
    OK(weft_all_reduce(team, &greatest, 1, WEFT_U64, WEFT_MAX));
    HOLDS(least == greatest);
}

static void
read_kept(struct log *log)
{
    char bytes[9] = "";
    size_t left;

    FAILS(weft_message_skip(log->kept, 9), WEFT_TOO_SHORT, "8 bytes left");
    OK(weft_message_skip(log->kept, 4));
    OK(weft_message_read(log->kept, bytes, 4));
    OK(weft_message_remaining(log->kept, &left));
    HOLDS(left == 0 && strcmp(bytes, "more") == 0);
    OK(weft_message_release(log->kept));
}

int
main(void)
{
    struct log log = { 0 }, part = { 0 };
    weft_job *job;
    weft_team *all;
    weft_order *again;
    uint32_t rank, size;
    uint32_t ends[2] = { 2, 0 };
    weft_iov none = { "", 0 };

    OK(weft_join(&job));
    OK(weft_rank(job, &rank));
    OK(weft_size(job, &size));
    OK(weft_interrupts_off(job));
    OK(weft_team_all(job, &all));
    OK(weft_order_create(job, "log", heard, &log, &log.order));
    OK(weft_order_create_in(job, "part", ends, 2, heard, &part, &part.order));
    FAILS(weft_order_create(job, "log", heard, &log, &again), WEFT_PORT_TAKEN, "log");
    FAILS(weft_order_create(job, "x", NULL, NULL, &again), WEFT_INVALID, "callback is null");
    FAILS(weft_order_broadcast(NULL, &none, 1, NULL), WEFT_INVALID, "order is null");
    if (rank == 1)
        FAILS(weft_order_broadcast(part.order, &none, 1, NULL), WEFT_NOT_A_MEMBER, "");
    else
        broadcast(&part);
    broadcast(&log);
    log.expected = (uint64_t)size * MESSAGES;
    part.expected = rank == 1 ? 0 : 2 * MESSAGES;
    OK(weft_poll_until(job, all_heard, &log));
    OK(weft_poll_until(job, all_heard, &part));
    same_everywhere(all, log.hash);
    if (rank != 1)
        read_kept(&part);
    read_kept(&log);
    OK(weft_barrier(job));
    OK(weft_order_destroy(part.order));
    OK(weft_order_destroy(log.order));
    OK(weft_team_free(all));
    OK(weft_interrupts_on(job));
    OK(weft_leave(job));
    return 0;
}
