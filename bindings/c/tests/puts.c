// Puts and gets: where bytes come to lie, what is told, what is refused.

#include "check.h"

enum { LENGTH = 100000 };

static unsigned char bytes[LENGTH];

static void
fill(void)
{
    for (size_t i = 0; i < LENGTH; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
}

// Waits for a notification of a buffer, by asking again and again.
static weft_notification
asked(weft_notifications *news)
{
    weft_notification notice;
    bool any = false;

    while (!any)
        OK(weft_notification_poll(news, &notice, &any));
    return notice;
}

static void
receiver(weft_job *job)
{
    weft_notifications *news;
    weft_buffer *buffer, *second;
    weft_notification notice;
    unsigned char copy[8];
    uint32_t number;
    void *start;
    bool open;

    OK(weft_notifications_create(job, &news));
    FAILS(weft_buffer_offer(job, "b", 9, 8, WEFT_RIGHTS_PUT, news, &buffer),
          WEFT_NO_SUCH_RANK, "no rank 9");
    FAILS(weft_buffer_offer(job, NULL, 1, 8, WEFT_RIGHTS_PUT, news, &buffer),
          WEFT_INVALID, "name is null");
    FAILS(weft_buffer_offer(job, "b", 1, 8, (weft_rights)4, news, &buffer),
          WEFT_INVALID, "no rights 4");
    FAILS(weft_buffer_offer(job, "b", 1, 8, WEFT_RIGHTS_PUT, NULL, &buffer),
          WEFT_INVALID, "notifications is null");
    OK(weft_buffer_offer(job, "buffer", 1, LENGTH, WEFT_RIGHTS_BOTH, news, &buffer));
    OK(weft_buffer_offer(job, "second", 1, 64, WEFT_RIGHTS_GET, news, &second));
    OK(weft_buffer_write(second, 8, "look", 5));
    FAILS(weft_buffer_write(second, 60, "look", 5), WEFT_INVALID, "\"second\"");
    OK(weft_buffer_number(buffer, &number));
    OK(weft_buffer_start(buffer, &start));
    HOLDS((uintptr_t)start % 64 == 0);

    notice = asked(news);
    HOLDS(notice.from == 1 && notice.buffer == number && !notice.closed);
    HOLDS(notice.offset == 0 && notice.length == LENGTH && notice.word == 77);
    // What follows is put among the first bytes, and may be there already.
    HOLDS(memcmp((unsigned char *)start + 32, bytes + 32, LENGTH - 32) == 0);
    OK(weft_buffer_is_open(buffer, &open));
    HOLDS(open);
    OK(weft_notification_wait(news, &notice));
    HOLDS(notice.offset == 16 && notice.length == 8 && notice.word == 0);
    OK(weft_buffer_read(buffer, 16, copy, 8));
    HOLDS(memcmp(copy, "in place", 8) == 0);
    FAILS(weft_buffer_read(buffer, LENGTH - 7, copy, 8), WEFT_INVALID, "\"buffer\"");
    // One is closed here, of which the other side hears; the other there, of which this one does.
    OK(weft_buffer_close(buffer));
    OK(weft_notification_wait(news, &notice));
    HOLDS(notice.closed && notice.from == 1);
    OK(weft_buffer_is_open(second, &open));
    HOLDS(!open);
    OK(weft_buffer_close(second));
    OK(weft_notifications_free(news));
}

static void
sender(weft_job *job)
{
    weft_connection *connection = NULL, *second, *none;
    unsigned char copy[64];
    size_t length;
    weft_status status;

    FAILS(weft_connect(job, "buffer", 9, &connection), WEFT_NO_SUCH_RANK, "no rank 9");
    OK(weft_try_connect(job, "nothing", 0, &none));
    HOLDS(none == NULL);
    while (connection == NULL)
        OK(weft_try_connect(job, "buffer", 0, &connection));
    OK(weft_connect(job, "second", 0, &second));
    OK(weft_connection_length(connection, &length));
    HOLDS(length == LENGTH);
    FAILS(weft_put(second, 0, "x", 1), WEFT_REFUSED, "\"second\" of rank 0");
    FAILS(weft_put(connection, LENGTH - 1, "xy", 2), WEFT_INVALID, "are not inside the 100000");
    FAILS(weft_put(connection, SIZE_MAX, "xy", 2), WEFT_INVALID, "are not inside");
    FAILS(weft_put(connection, 0, NULL, 2), WEFT_INVALID, "null");
    FAILS(weft_get(connection, 0, NULL, 2), WEFT_INVALID, "null");
    OK(weft_get(second, 8, copy, 0));
    do
        OK(weft_get(second, 8, copy, 5));
    while (copy[0] == 0);
    HOLDS(strcmp((char *)copy, "look") == 0);

    OK(weft_put(connection, 0, bytes, LENGTH / 2));
    OK(weft_put_notify(connection, 0, bytes, LENGTH, 77));
    OK(weft_get(connection, LENGTH / 2 - 32, copy, 64));
    HOLDS(memcmp(copy, bytes + LENGTH / 2 - 32, 64) == 0);
    OK(weft_connection_flush(connection));
    OK(weft_put_notify(connection, 16, "in place", 8, 0));
    // Closed by the other side as soon as it has read that.
    do
        status = weft_connection_flush(connection);
    while (status == WEFT_OK);
    FAILS(status, WEFT_REFUSED, "receive buffer \"buffer\" of rank 0");
    FAILS(weft_put(connection, 0, "x", 1), WEFT_REFUSED, "closed");
    OK(weft_connection_close(connection));
    OK(weft_connection_close(second));
}

int
main(void)
{
    weft_job *job;
    uint32_t rank;

    OK(weft_join_packets(&job));
    OK(weft_rank(job, &rank));
    fill();
    if (rank == 0)
        receiver(job);
    else
        sender(job);
    OK(weft_leave(job));
    return 0;
}
