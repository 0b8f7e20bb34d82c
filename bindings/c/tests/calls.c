// Calls and what becomes of them: answered, refused, kept, dropped, cancelled, too late. Callbacks
// that wait, on the stack of whoever polls and on threads of their own. Messages to several.

#include "check.h"

enum { SLOW = 3 };

static weft_job *job;
static weft_client *client;
static weft_port *box, *gate;
static weft_request *kept[2];
static unsigned keeps;

// The first byte says what to do with the rest.
static void
serve(weft_request *request, void *user)
{
    weft_message *message;
    weft_message *none;
    weft_iov pieces[2] = { { "<", 1 }, { NULL, 0 } };
    char what;

    HOLDS(user == &keeps);
    OK(weft_request_message(request, &message));
    OK(weft_message_read(message, &what, 1));
    FAILS(weft_message_keep(message, &none), WEFT_INVALID, "its request's");
    FAILS(weft_message_release(message), WEFT_INVALID, "not the caller's");
    switch (what) {
    case 'r':
        OK(weft_message_chunk(message, &pieces[1].base, &pieces[1].length));
        OK(weft_request_replyv(request, pieces, 2));
        FAILS(weft_request_reply(request, "", 0), WEFT_INVALID, "used up");
        FAILS(weft_request_release(request), WEFT_INVALID, "not the caller's");
        break;
    case 'f':
        FAILS(weft_request_fail(request, NULL), WEFT_INVALID, "the text is null");
        OK(weft_request_fail(request, "no such book"));
        break;
    case 'k':
        OK(weft_request_keep(request, &kept[keeps]));
        FAILS(weft_request_keep(request, &kept[keeps]), WEFT_INVALID, "used up");
        keeps++;
        break;
    }
}

static bool
both_kept(void *user)
{
    return *(unsigned *)user == 2;
}

static void
answered(weft_message *answer, uint32_t from, const char *text)
{
    char bytes[16] = "";
    uint32_t source;
    size_t length;

    OK(weft_message_source(answer, &source));
    OK(weft_message_length(answer, &length));
    HOLDS(source == from && length == strlen(text));
    OK(weft_message_read(answer, bytes, length));
    HOLDS(strcmp(bytes, text) == 0);
    OK(weft_message_release(answer));
}

// What comes back, from this rank and from the other.
static void
outcomes(uint32_t to)
{
    weft_message *answer;
    weft_pending_call *call;
    weft_client *nobody;
    weft_iov piece = { "rcd", 3 };
    bool done = false;

    OK(weft_call(client, to, "rab", 3, &answer));
    answered(answer, to, "<ab");
    OK(weft_call_within(client, to, "r", 1, 10000000000, &answer));
    answered(answer, to, "<");
    FAILS(weft_call(client, to, "f", 1, &answer), WEFT_CALL_FAILED, "no such book");
    FAILS(weft_call(client, to, "n", 1, &answer), WEFT_NO_REPLY, "'library'");
    FAILS(weft_call(client, 9, "r", 1, &answer), WEFT_NO_SUCH_RANK, "9");
    FAILS(weft_call(client, to, NULL, 1, &answer), WEFT_INVALID, "null");
    OK(weft_call_begin(client, to, &piece, 1, &call));
    while (!done)
        OK(weft_call_test(call, &done));
    OK(weft_call_test(call, &done));
    HOLDS(done);
    OK(weft_call_wait(call, &answer));
    answered(answer, to, "<cd");
    OK(weft_client_create(job, "nobody", &nobody));
    OK(weft_barrier(job));
    FAILS(weft_call(nobody, 1 - to, "r", 1, &answer), WEFT_NO_SERVICE, "'nobody'");
    OK(weft_barrier(job));
    OK(weft_client_free(nobody));
}

// Rank 1 keeps two requests: rank 0 gives one up, and waits for the other.
static void
deferred(uint32_t rank)
{
    weft_pending_call *calls[2];
    weft_message *answer, *message;
    weft_iov piece = { "kxy", 3 };
    bool done, cancelled = false;

    if (rank == 0) {
        OK(weft_call_begin(client, 1, &piece, 1, &calls[0]));
        OK(weft_call_begin(client, 1, &piece, 1, &calls[1]));
        FAILS(weft_call_within(client, 1, "t", 1, 1, &answer), WEFT_TIMED_OUT, "in time");
        OK(weft_call_test(calls[0], &done));
        HOLDS(!done);
        OK(weft_barrier(job));
        OK(weft_call_cancel(calls[0]));
        OK(weft_barrier(job));
        OK(weft_call_wait(calls[1], &answer));
        answered(answer, 1, "xy");
        return;
    }
    OK(weft_poll_until(job, both_kept, &keeps));
    OK(weft_request_cancelled(kept[0], &cancelled));
    HOLDS(!cancelled);
    OK(weft_barrier(job));
    while (!cancelled) {
        OK(weft_poll(job, NULL));
        OK(weft_request_cancelled(kept[0], &cancelled));
    }
    OK(weft_request_release(kept[0]));
    OK(weft_request_message(kept[1], &message));
    OK(weft_message_chunk(message, &piece.base, &piece.length));
    OK(weft_request_reply(kept[1], piece.base, piece.length));
    FAILS(weft_request_source(kept[1], &rank), WEFT_INVALID, "used up");
    OK(weft_request_release(kept[1]));
    OK(weft_barrier(job));
}

// A callback that waits for a call, and sends what it gave.
static void
relay(weft_message *message, void *user)
{
    weft_message *answer;
    char text[4] = "r";

    (void)user;
    OK(weft_message_read(message, text + 1, 3));
    OK(weft_call(client, 0, text, 4, &answer));
    OK(weft_message_read(answer, text, 4));
    OK(weft_message_release(answer));
    OK(weft_port_send(box, 0, text, 4));
}

// Waits for a message that comes only when all of these wait.
static void
wait_at_gate(weft_message *message, void *user)
{
    weft_message *pass;

    (void)message;
    (void)user;
    OK(weft_fetch_and_add(job, 0, 0, 1, NULL));
    OK(weft_mailbox_receive(gate, &pass));
    OK(weft_message_release(pass));
    OK(weft_port_send(box, 0, "done", 4));
}

static void
receive(const char *text)
{
    weft_message *message;

    OK(weft_mailbox_receive(box, &message));
    answered(message, 1, text);
}

static void
waiting(uint32_t rank)
{
    weft_port *relays, *slow;
    uint64_t waiting = 0;
    int i;

    OK(weft_port_create(job, "relay", relay, NULL, &relays));
    OK(weft_port_create_popup(job, "slow", wait_at_gate, NULL, &slow));
    if (rank == 0) {
        OK(weft_port_send(relays, 1, "abc", 3));
        receive("<abc");
        for (i = 0; i < SLOW; i++)
            OK(weft_port_send(slow, 1, "", 0));
        while (waiting < SLOW)
            OK(weft_fetch_and_add(job, 0, 0, 0, &waiting));
        for (i = 0; i < SLOW; i++)
            OK(weft_port_send(gate, 1, "", 0));
        for (i = 0; i < SLOW; i++)
            receive("done");
    }
    OK(weft_barrier(job));
    OK(weft_port_destroy(slow));
    OK(weft_port_destroy(relays));
}

// From rank 1, to all and to a group that has both.
static void
to_several(uint32_t rank)
{
    weft_iov pieces[2] = { { "to ", 3 }, { "all", 3 } };
    uint32_t members[2] = { 1, 0 };
    uint64_t before, after;
    weft_group *both;
    uint32_t span;

    OK(weft_span_begin(job, "to several", &span));
    FAILS(weft_span_begin(job, NULL, &span), WEFT_INVALID, "null");
    OK(weft_now(job, &before));
    OK(weft_group_create(job, members, 2, &both));
    if (rank == 1) {
        OK(weft_port_broadcast(box, pieces, 2));
        OK(weft_port_multicast(box, both, pieces + 1, 1));
        FAILS(weft_port_multicast(box, NULL, pieces, 1), WEFT_INVALID, "null");
    } else {
        receive("to all");
        receive("all");
    }
    OK(weft_barrier(job));
    OK(weft_group_free(both));
    OK(weft_now(job, &after));
    HOLDS(before < after && weft_version()[0] != '\0');
    OK(weft_span_end(job, span));
}

static void
mistakes(weft_service *service)
{
    weft_service *again;
    weft_client *none = (weft_client *)(void *)service;
    weft_message *answer;

    FAILS(weft_service_create(job, "library", serve, NULL, &again), WEFT_PORT_TAKEN, "'library'");
    FAILS(weft_service_create(job, "x", NULL, NULL, &again), WEFT_INVALID, "callback is null");
    FAILS(weft_call(none, 0, "", 0, &answer), WEFT_INVALID, "this is no client");
    FAILS(weft_client_free(none), WEFT_INVALID, "this is no client");
    FAILS(weft_request_release((weft_request *)(void *)service), WEFT_INVALID, "no request");
}

int
main(void)
{
    weft_service *service;
    uint32_t rank;

    OK(weft_join(&job));
    OK(weft_rank(job, &rank));
    // Callbacks run while this rank waits or polls, and so need no atomics.
    OK(weft_interrupts_off(job));
    OK(weft_service_create(job, "library", serve, &keeps, &service));
    OK(weft_client_create(job, "library", &client));
    OK(weft_mailbox_create(job, "box", &box));
    OK(weft_mailbox_create(job, "gate", &gate));
    mistakes(service);
    outcomes(rank);
    outcomes(1 - rank);
    deferred(rank);
    OK(weft_barrier(job));
    waiting(rank);
    to_several(rank);
    OK(weft_client_free(client));
    OK(weft_service_destroy(service));
    OK(weft_port_destroy(box));
    OK(weft_port_destroy(gate));
    OK(weft_interrupts_on(job));
    OK(weft_leave(job));
    return 0;
}
