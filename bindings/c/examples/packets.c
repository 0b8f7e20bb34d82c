// A token goes round all ranks, in packets: how long does one hop take?
//
//     weft run -n 2 -- ./packets

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

enum { ROUNDS = 1000 };

struct ring {
    weft_job *job;
    uint32_t rank;
    uint32_t next;
    uint32_t seen;
};

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "packets: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static void
pass(const struct ring *ring, uint32_t round)
{
    weft_packet *token;

    check(weft_packet_alloc(ring->job, &token));
    check(weft_packet_put(token, &round, sizeof round));
    check(weft_packet_unicast(token, ring->next));
}

// Rank 0 begins the next round; the others pass the token on.
static void
arrived(weft_arrival *arrival, void *user)
{
    struct ring *ring = user;
    weft_view view;
    uint32_t round;

    check(weft_arrival_view(arrival, &view));
    memcpy(&round, view.bytes, sizeof round);
    ring->seen++;
    if (ring->rank == 0)
        round++;
    if (round < ROUNDS)
        pass(ring, round);
}

static bool
done(void *user)
{
    const struct ring *ring = user;

    return ring->seen == ROUNDS;
}

int
main(void)
{
    struct ring ring = { 0 };
    uint32_t ranks;
    uint64_t start, end;

    check(weft_join_packets(&ring.job));
    check(weft_rank(ring.job, &ring.rank));
    check(weft_size(ring.job, &ranks));
    ring.next = (ring.rank + 1) % ranks;
    // The callback runs while this rank polls, and so needs no atomics.
    check(weft_interrupts_off(ring.job));
    check(weft_packet_receive(ring.job, arrived, &ring));
    check(weft_now(ring.job, &start));
    if (ring.rank == 0)
        pass(&ring, 0);
    check(weft_poll_until(ring.job, done, &ring));
    check(weft_now(ring.job, &end));
    if (ring.rank == 0)
        printf("%d rounds of %u ranks, %.2f us a hop\n", ROUNDS, ranks,
               (double)(end - start) / 1e3 / ROUNDS / ranks);
    check(weft_leave(ring.job));
    return 0;
}
