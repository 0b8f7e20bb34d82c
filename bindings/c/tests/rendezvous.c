// Large messages that wait for their reader: what nobody reads is not sent, and two ranks that send to
// each other before they read do not stop.

#include "check.h"

enum { LENGTH = 3000000, FROM = 100000, ROUNDS = 3 };

static unsigned char bytes[LENGTH], got[LENGTH];

static void
read_all(const weft_port *box)
{
    weft_message *message;

    OK(weft_mailbox_receive(box, &message));
    OK(weft_message_read(message, got, LENGTH));
    HOLDS(memcmp(bytes, got, LENGTH) == 0);
    OK(weft_message_release(message));
}

static void
skip_one(const weft_job *job, const weft_port *box)
{
    weft_message *message;
    size_t length;
    uint64_t before = COUNTER(job, "bytes_received");

    OK(weft_mailbox_receive(box, &message));
    OK(weft_message_length(message, &length));
    HOLDS(length == LENGTH);
    OK(weft_message_release(message));
    OK(weft_barrier(job));
    HOLDS(COUNTER(job, "bytes_received") - before < FROM);
}

int
main(void)
{
    weft_job *job;
    weft_port *box;
    uint32_t rank;

    for (size_t i = 0; i < LENGTH; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 256);
    OK(weft_join(&job));
    OK(weft_rank(job, &rank));
    OK(weft_mailbox_create(job, "box", &box));
    OK(weft_port_rendezvous_from(box, FROM));
    FAILS(weft_port_rendezvous_from(NULL, FROM), WEFT_INVALID, "port");
    OK(weft_barrier(job));
    if (rank == 0) {
        OK(weft_port_send(box, 1, bytes, LENGTH));
        OK(weft_barrier(job));
    } else {
        skip_one(job, box);
    }
    for (int round = 0; round < ROUNDS; round++) {
        OK(weft_port_send(box, 1 - rank, bytes, LENGTH));
        read_all(box);
    }
    // At once again.
    OK(weft_port_rendezvous_from(box, 0));
    OK(weft_port_send(box, rank, bytes, LENGTH));
    read_all(box);
    OK(weft_barrier(job));
    OK(weft_port_destroy(box));
    OK(weft_leave(job));
    return 0;
}
