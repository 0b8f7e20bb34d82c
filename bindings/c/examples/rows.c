// All ranks compute rows of a table, and put them where they belong in the memory of rank 0.
//
//     weft run -n 4 -- ./rows

#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { ROWS = 64, COLUMNS = 1000 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "rows: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

// Puts every row that is this rank's, with notice; the word is the row.
static void
compute(weft_job *job, uint32_t rank, uint32_t size)
{
    weft_connection *table;
    uint32_t row[COLUMNS];

    check(weft_connect(job, "table", 0, &table));
    for (uint32_t r = rank; r < ROWS; r += size) {
        for (uint32_t c = 0; c < COLUMNS; c++)
            row[c] = r * c;
        check(weft_put_notify(table, r * sizeof row, row, sizeof row, r));
    }
    check(weft_connection_close(table));
}

// Waits until as many rows are there as come through the buffers, and adds each up as it comes.
static uint64_t
collect(weft_notifications *news, weft_buffer *const *buffers, uint32_t size)
{
    weft_notification notice;
    uint32_t row[COLUMNS];
    uint64_t sum = 0;

    for (uint32_t closed = 0; closed < size;) {
        check(weft_notification_wait(news, &notice));
        closed += notice.closed;
        if (notice.closed)
            continue;
        check(weft_buffer_read(buffers[notice.from], notice.offset, row, notice.length));
        for (uint32_t c = 0; c < COLUMNS; c++)
            sum += row[c];
    }
    return sum;
}

int
main(void)
{
    weft_job *job;
    weft_notifications *news;
    weft_buffer **buffers;
    uint32_t rank, size;
    const size_t length = ROWS * COLUMNS * sizeof(uint32_t);

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    check(weft_notifications_create(job, &news));
    buffers = calloc(size, sizeof *buffers);
    if (buffers == NULL)
        return 1;
    // A buffer has one sender: each rank gets one of its own, itself included.
    for (uint32_t r = 0; rank == 0 && r < size; r++)
        check(weft_buffer_offer(job, "table", r, length, WEFT_RIGHTS_PUT, news, &buffers[r]));
    compute(job, rank, size);
    if (rank == 0) {
        printf("%d rows add up to %llu\n", ROWS, (unsigned long long)collect(news, buffers, size));
        for (uint32_t r = 0; r < size; r++)
            check(weft_buffer_close(buffers[r]));
    }
    free(buffers);
    check(weft_notifications_free(news));
    check(weft_leave(job));
    return 0;
}
