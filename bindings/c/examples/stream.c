// Rank 0 sends 16 MiB to rank 1, which sums them up, piece by piece, before all of them have been
// sent.
//
//     weft run -n 2 -- ./stream

#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

// More than a sender may have unread at a port, and a variable of rank 0: the pieces read so far.
enum { BYTES = 16 << 20, READ = 0 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "stream: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static void
fail(const char *text)
{
    fprintf(stderr, "stream: %s\n", text);
    exit(1);
}

static void
send_all(weft_job *job, weft_port *box)
{
    unsigned char *bytes = malloc(BYTES);
    uint64_t pieces;

    if (bytes == NULL)
        fail("there is no memory");
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)i;
    check(weft_port_send(box, 1, bytes, BYTES));
    free(bytes);
    check(weft_fetch_and_add(job, 0, READ, 0, &pieces));
    if (pieces == 0)
        fail("all of it was sent before any was read");
    printf("all is sent, and some of it has been read\n");
}

static void
read_all(weft_job *job, weft_port *box)
{
    weft_message *message;
    const void *bytes;
    const unsigned char *piece;
    size_t length;
    uint64_t pieces, sum = 0;

    check(weft_mailbox_receive(box, &message)); // Its first packet is there.
    for (;;) {
        check(weft_message_chunk(message, &bytes, &length)); // The next bytes, where they are.
        if (length == 0)
            break; // There are no more.
        piece = bytes;
        for (size_t i = 0; i < length; i++)
            sum += piece[i];
        check(weft_fetch_and_add(job, 0, READ, 1, NULL));
        check(weft_message_consume(message, length));
    }
    check(weft_message_release(message));
    if (sum != BYTES / 256 * (255 * 256 / 2))
        fail("the sum is wrong");
    check(weft_fetch_and_add(job, 0, READ, 0, &pieces));
    printf("%d bytes came in %llu pieces\n", BYTES, (unsigned long long)pieces);
}

int
main(void)
{
    weft_job *job;
    weft_port *box;
    uint32_t rank, size;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    check(weft_mailbox_create(job, "stream", &box));
    if (size < 2)
        printf("there is nobody to send to: start two ranks, with -n 2\n");
    else if (rank == 0)
        send_all(job, box);
    else if (rank == 1)
        read_all(job, box);
    check(weft_port_destroy(box));
    check(weft_leave(job));
    return 0;
}
