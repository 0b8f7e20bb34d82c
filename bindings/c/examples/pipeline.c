// One long message goes through all ranks. Each reads what has arrived while the rest is on its way,
// and passes it on; the last one adds it all up.
//
//     weft run -n 3 -- ./pipeline

#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { BYTES = 4 << 20 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "pipeline: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static void
produce(weft_port *stage, uint32_t to)
{
    unsigned char *bytes = malloc(BYTES);
    size_t i;

    if (bytes == NULL) {
        fprintf(stderr, "pipeline: no memory\n");
        exit(1);
    }
    for (i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(i * 7);
    check(weft_port_send(stage, to, bytes, BYTES));
    free(bytes);
}

// Adds one to each byte and sends it on.
static void
transform(weft_port *stage, uint32_t to, const unsigned char *bytes, size_t length)
{
    unsigned char *changed = malloc(length);
    size_t i;

    if (changed == NULL) {
        fprintf(stderr, "pipeline: no memory\n");
        exit(1);
    }
    for (i = 0; i < length; i++)
        changed[i] = (unsigned char)(bytes[i] + 1);
    check(weft_port_send(stage, to, changed, length));
    free(changed);
}

static uint64_t
add(const unsigned char *bytes, size_t length)
{
    uint64_t sum = 0;

    while (length-- > 0)
        sum += *bytes++;
    return sum;
}

// Reads the bytes where they lie: to the next rank, or to the sum if this is the last.
static uint64_t
consume(weft_port *stage, uint32_t next, uint32_t size)
{
    weft_message *message;
    const void *bytes;
    size_t done, length;
    uint64_t sum = 0;

    for (done = 0; done < BYTES;) {
        check(weft_mailbox_receive(stage, &message));
        for (;;) {
            check(weft_message_chunk(message, &bytes, &length));
            if (length == 0)
                break;
            if (next < size)
                transform(stage, next, bytes, length);
            else
                sum += add(bytes, length);
            check(weft_message_consume(message, length));
            done += length;
        }
        check(weft_message_release(message));
    }
    return sum;
}

int
main(void)
{
    weft_job *job;
    weft_port *stage;
    uint32_t rank, size;
    uint64_t sum;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    check(weft_mailbox_create(job, "stage", &stage));
    if (rank == 0 && size > 1) {
        produce(stage, 1);
    } else if (rank > 0) {
        sum = consume(stage, rank + 1, size);
        if (rank + 1 == size)
            printf("%d bytes through %u ranks, sum %llu\n", BYTES, size, (unsigned long long)sum);
    }
    check(weft_port_destroy(stage));
    check(weft_leave(job));
    return 0;
}
