// Messages that are received into a buffer, or selected by sender and key, and the counters that
// tell of them.

#include "check.h"

enum { MOST = 50000, ROOM = 40 };

static const size_t sizes[] = { 0, 5, 100, 2000, MOST };

enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void
fill(unsigned char *bytes, size_t length)
{
    size_t i;

    for (i = 0; i < length; i++)
        bytes[i] = (unsigned char)(7 * i + length);
}

static void
send_all(weft_port *box, unsigned char *bytes)
{
    int i;

    for (i = 0; i < SIZES; i++) {
        fill(bytes, sizes[i]);
        OK(weft_port_send(box, 0, bytes, sizes[i]));
    }
    fill(bytes, MOST);
    OK(weft_port_send(box, 0, bytes, ROOM + 1));
    OK(weft_port_send(box, 0, bytes, MOST));
    OK(weft_port_send(box, 0, "fits", 4));
    OK(weft_port_send(box, 0, "no key", 6));
    OK(weft_port_send_keyed(box, 0, 1, "one", 3));
    OK(weft_port_send_keyed(box, 0, 2, "two", 3));
}

static void
selected(weft_port *box, uint32_t source, const uint64_t *key, const char *expected)
{
    weft_message *message;
    uint64_t found = 99;
    char text[8] = "";
    size_t length;

    OK(weft_mailbox_receive_selected(box, source, key, &message));
    OK(weft_message_length(message, &length));
    if (key != NULL) {
        OK(weft_message_key(message, &found));
        HOLDS(found == *key);
    } else {
        FAILS(weft_message_key(message, &found), WEFT_INVALID, "the message has no key");
    }
    OK(weft_message_read(message, text, length));
    HOLDS(strcmp(text, expected) == 0);
    OK(weft_message_release(message));
}

// In another order than they were sent in.
static void
select_all(weft_port *box)
{
    const uint64_t one = 1, two = 2;
    weft_message *message;

    selected(box, 1, &two, "two");
    selected(box, WEFT_ANY_RANK, &one, "one");
    FAILS(weft_mailbox_receive_selected(box, 99, NULL, &message), WEFT_NO_SUCH_RANK, "no rank 99");
    FAILS(weft_mailbox_receive_selected_within(box, 0, &one, 1000, &message), WEFT_TIMED_OUT,
          "no message came within 1");
    HOLDS(message == NULL);
    selected(box, 1, NULL, "no key");
}

static void
receive_all(weft_port *box, unsigned char *bytes, unsigned char *expected)
{
    static const char long_one[] = "the message from rank 1 has 41 bytes, and there was room for 40";
    size_t length = 99;
    uint32_t source = 99;
    int i;

    for (i = 0; i < SIZES; i++) {
        memset(bytes, 0, MOST);
        fill(expected, sizes[i]);
        OK(weft_mailbox_receive_into(box, bytes, MOST, &length, &source));
        HOLDS(length == sizes[i] && source == 1);
        HOLDS(memcmp(bytes, expected, length) == 0);
    }
    FAILS(weft_mailbox_receive_into(box, bytes, ROOM, NULL, NULL), WEFT_INVALID,
          "the pointer for the length is null");
    FAILS(weft_mailbox_receive_into(box, NULL, 1, &length, NULL), WEFT_INVALID,
          "the pointer to the buffer is null");
    FAILS(weft_mailbox_receive_into(box, bytes, ROOM, &length, NULL), WEFT_TOO_LONG, long_one);
    FAILS(weft_mailbox_receive_into(box, bytes, ROOM, &length, NULL), WEFT_TOO_LONG, "50000 bytes");
    HOLDS(length == MOST);
    OK(weft_mailbox_receive_into_within(box, bytes, ROOM, 60000000000, &length, &source));
    HOLDS(length == 4 && source == 1 && memcmp(bytes, "fits", 4) == 0);
}

// Of a mailbox to which everything has come.
static void
receive_nothing(weft_port *box, unsigned char *bytes)
{
    size_t length = 99;

    memset(bytes, 7, ROOM);
    FAILS(weft_mailbox_receive_into_within(box, bytes, ROOM, 1000, &length, NULL), WEFT_TIMED_OUT,
          "no message came within 1");
    HOLDS(length == 99 && bytes[0] == 7);
    FAILS(weft_mailbox_receive_into_within(box, bytes, ROOM, 1000, NULL, NULL), WEFT_INVALID,
          "the pointer for the length is null");
}

static void
look(const weft_statistic *statistic, void *user)
{
    HOLDS(strlen(statistic->name) > 0 && strlen(statistic->unit) > 0);
    HOLDS(strlen(statistic->help) > 0);
    if (strcmp(statistic->name, "messages_received") == 0)
        HOLDS(strcmp(statistic->unit, "messages") == 0);
    ++*(int *)user;
}

static void
statistics(const weft_job *job, uint32_t rank)
{
    int counters = 0;

    OK(weft_statistics_each(job, look, &counters));
    HOLDS(counters > 0);
    HOLDS(COUNTER(job, rank == 0 ? "messages_received" : "messages_sent") >= SIZES + 6);
    HOLDS(COUNTER(job, "overdrafts") == 0);
    FAILS(weft_statistics_each(job, NULL, NULL), WEFT_INVALID, "the callback is null");
}

int
main(void)
{
    static unsigned char bytes[MOST], expected[MOST];
    weft_job *job;
    weft_port *box;
    uint32_t rank;

    OK(weft_join(&job));
    OK(weft_rank(job, &rank));
    OK(weft_mailbox_create(job, "box", &box));
    if (rank == 1)
        send_all(box, bytes);
    else
        receive_all(box, bytes, expected);
    if (rank == 0) {
        select_all(box);
        receive_nothing(box, bytes);
    }
    statistics(job, rank);
    OK(weft_barrier(job));
    OK(weft_port_destroy(box));
    OK(weft_leave(job));
    return 0;
}
