// What goes wrong is said: each mistake gives its status and its text, and breaks nothing else.

#include "check.h"

static weft_message *kept;

static void
keep(weft_message *message, void *user)
{
    char byte;

    FAILS(weft_message_release(message), WEFT_INVALID, "not the caller's");
    OK(weft_message_keep(message, &kept));
    FAILS(weft_message_read(message, &byte, 1), WEFT_INVALID, "used up");
    FAILS(weft_message_release(message), WEFT_INVALID, "not the caller's");
    *(bool *)user = true;
}

static bool
flag(void *user)
{
    return *(bool *)user;
}

static void
arguments(weft_job *job)
{
    weft_job *packets = NULL;
    weft_port *port;
    weft_packet *packet;
    weft_group *group;
    uint32_t ranks[] = { 0, 0 };
    uint32_t size;

    FAILS(weft_join(NULL), WEFT_INVALID, "the pointer for the result is null");
    FAILS(weft_size(NULL, &size), WEFT_INVALID, "job is null");
    FAILS(weft_size(job, NULL), WEFT_INVALID, "the pointer for the result is null");
    FAILS(weft_leave(packets), WEFT_INVALID, "job is null");
    FAILS(weft_fetch_and_add(job, 0, 64512, 1, NULL), WEFT_NO_SUCH_VARIABLE, "0 to 64511");
    FAILS(weft_fetch_and_add(job, 99, 0, 1, NULL), WEFT_NO_SUCH_RANK, "no rank 99");
    FAILS(weft_fetch_and_add(job, 1u << 20, 0, 1, NULL), WEFT_NO_SUCH_RANK, "1048576");
    FAILS(weft_interrupts_on(job), WEFT_INVALID, "interrupts are not off");
    OK(weft_packet_alloc(job, &packet));
    OK(weft_packet_discard(packet));
    FAILS(weft_packet_discard(NULL), WEFT_INVALID, "null");
    FAILS(weft_group_create(job, ranks, 2, &group), WEFT_BAD_GROUP, "");
    FAILS(weft_group_create(job, NULL, 2, &group), WEFT_INVALID, "ranks is null");
    FAILS(weft_mailbox_create(job, NULL, &port), WEFT_INVALID, "the name is null");
    FAILS(weft_mailbox_create(job, "\xff", &port), WEFT_INVALID, "UTF-8");
    FAILS(weft_port_create(job, "p", NULL, NULL, &port), WEFT_INVALID, "callback is null");
}

static void
handles(weft_job *job, weft_port *box)
{
    weft_port *again;
    weft_message *message;
    uint32_t size;

    FAILS(weft_mailbox_create(job, "box", &again), WEFT_PORT_TAKEN, "'box'");
    FAILS(weft_size((weft_job *)(void *)box, &size), WEFT_INVALID, "this is no job");
    FAILS(weft_port_destroy((weft_port *)(void *)job), WEFT_INVALID, "this is no port");
    FAILS(weft_mailbox_receive_within(box, 1000, &message), WEFT_TIMED_OUT, "within 1");
    OK(weft_mailbox_try_receive(box, &message));
    HOLDS(message == NULL);
    FAILS(weft_port_send(box, 7, "x", 1), WEFT_NO_SUCH_RANK, "no rank 7");
    FAILS(weft_port_send(box, 0, NULL, 1), WEFT_INVALID, "null");
}

// Rank 1 sends 8 bytes in pieces to both ports of rank 0.
static void
sender(weft_port *box, weft_port *port)
{
    weft_iov pieces[] = { { "abc", 3 }, { NULL, 0 }, { "defgh", 5 } };

    OK(weft_port_sendv(box, 0, pieces, 3));
    OK(weft_port_sendv(port, 0, pieces, 3));
    pieces[1].length = 1;
    FAILS(weft_port_sendv(box, 0, pieces, 3), WEFT_INVALID, "the base of a piece is null");
}

static void
reads(weft_message *message)
{
    char bytes[9] = "";
    const void *chunk;
    size_t length;

    FAILS(weft_message_read(message, bytes, 9), WEFT_TOO_SHORT, "8 bytes left, 9 were");
    FAILS(weft_message_read(message, NULL, 1), WEFT_INVALID, "the buffer is null");
    OK(weft_message_read(message, bytes, 2));
    OK(weft_message_skip(message, 1));
    FAILS(weft_message_skip(message, 6), WEFT_TOO_SHORT, "5 bytes left");
    OK(weft_message_chunk(message, &chunk, &length));
    FAILS(weft_message_consume(message, length + 1), WEFT_TOO_SHORT, "cannot be consumed");
    memcpy(bytes + 2, chunk, length);
    OK(weft_message_consume(message, length));
    OK(weft_message_remaining(message, &length));
    HOLDS(length == 0 && strcmp(bytes, "abdefgh") == 0);
    OK(weft_message_release(message));
}

int
main(void)
{
    weft_job *job;
    weft_port *box, *port;
    weft_message *message;
    uint32_t rank;
    bool arrived = false;

    OK(weft_join(&job));
    OK(weft_rank(job, &rank));
    OK(weft_mailbox_create(job, "box", &box));
    OK(weft_port_create(job, "port", keep, &arrived, &port));
    FAILS(weft_mailbox_receive(port, &message), WEFT_INVALID, "weft_mailbox_create");
    if (rank == 0) {
        arguments(job);
        handles(job, box);
        OK(weft_barrier(job));
        OK(weft_mailbox_receive(box, &message));
        reads(message);
        OK(weft_poll_until(job, flag, &arrived));
        reads(kept);
    } else {
        OK(weft_barrier(job));
        sender(box, port);
    }
    OK(weft_port_destroy(box));
    OK(weft_port_destroy(port));
    OK(weft_leave(job));
    return 0;
}
