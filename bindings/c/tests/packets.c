// The packet layer as C has it: groups, packets that are kept, and all that is refused.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

enum { KEPT = 3 };

static weft_arrival *kept[KEPT];
static unsigned arrivals;

static void
expect(int line, weft_status got, weft_status expected, const char *text)
{
    if (got == expected && strstr(weft_error_text(), text) != NULL)
        return;
    fprintf(stderr, "line %d: %s (%s), expected %s (%s)\n", line, weft_status_name(got),
            weft_error_text(), weft_status_name(expected), text);
    exit(1);
}

#define OK(call) expect(__LINE__, (call), WEFT_OK, "")
#define FAILS(call, status, text) expect(__LINE__, (call), (status), (text))

static void
keep(weft_arrival *arrival, void *user)
{
    weft_view view;

    (void)user;
    OK(weft_arrival_view(arrival, &view));
    OK(weft_arrival_keep(arrival, &kept[arrivals++]));
    FAILS(weft_arrival_view(arrival, &view), WEFT_INVALID, "used up");
}

static bool
all(void *user)
{
    (void)user;
    return arrivals == KEPT;
}

// Looks at a packet and releases it.
static void
look(weft_arrival *arrival, const char *text, bool multicast)
{
    weft_view view;

    OK(weft_arrival_view(arrival, &view));
    if (view.length != 3 || memcmp(view.bytes, text, 3) != 0 || view.source != 0 ||
        view.multicast != multicast)
        expect(__LINE__, WEFT_OTHER, WEFT_OK, "another packet");
    OK(weft_arrival_release(arrival));
}

static weft_packet *
packet(weft_job *job, const char *text)
{
    weft_packet *packet;

    OK(weft_packet_alloc(job, &packet));
    OK(weft_packet_put(packet, text, 1));
    OK(weft_packet_put(packet, text + 1, 2));
    return packet;
}

static void
refused(weft_job *job, const weft_group *others)
{
    static char big[1 << 20];
    weft_packet *one;
    weft_port *port;
    size_t capacity;

    OK(weft_packet_capacity(job, &capacity));
    one = packet(job, "abc");
    FAILS(weft_packet_put(one, big, capacity - 2), WEFT_TOO_LONG, "do not fit");
    OK(weft_packet_put(one, big, capacity - 3));
    OK(weft_packet_discard(one));
    FAILS(weft_packet_unicast(packet(job, "abc"), 2), WEFT_NO_SUCH_RANK, "no rank 2");
    FAILS(weft_packet_unicast(packet(job, "abc"), 70000), WEFT_NO_SUCH_RANK, "70000");
    FAILS(weft_packet_multicast(packet(job, "abc"), others), WEFT_NOT_A_MEMBER, "not a member");
    FAILS(weft_mailbox_create(job, "box", &port), WEFT_INVALID, "weft_join");
    FAILS(weft_barrier(job), WEFT_INVALID, "weft_join");
}

int
main(void)
{
    weft_job *job;
    weft_group *both, *second;
    uint32_t rank, ranks[] = { 1, 0 };
    uint64_t ready = 0;

    OK(weft_join_packets(&job));
    OK(weft_rank(job, &rank));
    OK(weft_packet_receive(job, keep, NULL));
    OK(weft_interrupts_off(job));
    OK(weft_group_create(job, ranks, 2, &both));
    OK(weft_group_create(job, ranks, 1, &second));
    // What came before its group was there would be seen after the others.
    OK(weft_fetch_and_add(job, 0, 0, rank, NULL));
    while (rank == 0 && ready == 0)
        OK(weft_fetch_and_add(job, 0, 0, 0, &ready));
    if (rank == 0) {
        refused(job, second);
        OK(weft_packet_unicast(packet(job, "one"), 1));
        OK(weft_packet_multicast(packet(job, "two"), both));
        OK(weft_packet_broadcast(packet(job, "all")));
    } else {
        OK(weft_poll_until(job, all, NULL));
        look(kept[2], "all", true);
        look(kept[0], "one", false);
        look(kept[1], "two", true);
    }
    OK(weft_interrupts_on(job));
    OK(weft_group_free(both));
    OK(weft_group_free(second));
    OK(weft_leave(job));
    return 0;
}
