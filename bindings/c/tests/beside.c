// Packets beside messages: their callback ends a wait for what callbacks do, as those of messages.

#include "check.h"

static void
arrive(weft_arrival *packet, void *user)
{
    (void)packet;
    *(bool *)user = true;
}

static bool
has_arrived(void *user)
{
    return *(bool *)user;
}

int
main(void)
{
    weft_job *job;
    weft_packet *packet;
    uint32_t rank;
    bool arrived = false;

    OK(weft_join(&job));
    OK(weft_rank(job, &rank));
    OK(weft_interrupts_off(job));
    OK(weft_packet_receive(job, arrive, &arrived));
    OK(weft_packet_alloc(job, &packet));
    OK(weft_packet_unicast(packet, rank));
    OK(weft_poll_until(job, has_arrived, &arrived));
    OK(weft_barrier(job));
    OK(weft_leave(job));
    return 0;
}
