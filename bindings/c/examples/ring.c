// A token goes round the ranks ten times, and counts its hops. Callbacks pass it on.
//
//     weft run -n 4 -- ./ring

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { LAPS = 10 };

struct ring {
    weft_port *port;
    uint32_t size, next;
    atomic_uint seen;
};

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "ring: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static void
arrived(weft_message *token, void *user)
{
    struct ring *ring = user;
    uint32_t hops;

    check(weft_message_read(token, &hops, sizeof hops));
    hops++;
    if (hops < LAPS * ring->size)
        check(weft_port_send(ring->port, ring->next, &hops, sizeof hops));
    else
        printf("the token came round %d times, in %u hops\n", LAPS, hops);
    atomic_fetch_add(&ring->seen, 1);
}

static bool
all_seen(void *user)
{
    struct ring *ring = user;

    return atomic_load(&ring->seen) == LAPS;
}

int
main(void)
{
    struct ring ring = { 0 };
    weft_job *job;
    uint32_t rank, hops = 0;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &ring.size));
    ring.next = (rank + 1) % ring.size;
    check(weft_port_create(job, "ring", arrived, &ring, &ring.port));
    check(weft_barrier(job)); // All have their port now, with which callbacks send.
    if (rank == 0)
        check(weft_port_send(ring.port, ring.next, &hops, sizeof hops));
    check(weft_poll_until(job, all_seen, &ring));
    check(weft_port_destroy(ring.port));
    check(weft_leave(job));
    return 0;
}
