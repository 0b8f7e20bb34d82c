// Four threads of each rank send, while its program receives.
//
//     weft run -n 2 -- ./threads

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { THREADS = 4 };

struct sender {
    const weft_port *work;
    uint32_t rank, number;
    pthread_t thread;
};

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "threads: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static void *
send_number(void *user)
{
    const struct sender *sender = user;

    check(weft_port_send(sender->work, sender->rank, &sender->number, sizeof sender->number));
    return NULL;
}

static void
start(struct sender *sender)
{
    if (pthread_create(&sender->thread, NULL, send_number, sender) != 0) {
        fprintf(stderr, "threads: cannot start a thread\n");
        exit(1);
    }
}

int
main(void)
{
    struct sender senders[THREADS];
    weft_job *job;
    weft_port *work;
    uint32_t rank, number, sum = 0;
    size_t length;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_share_among_threads(job));
    check(weft_mailbox_create(job, "work", &work));
    for (uint32_t n = 0; n < THREADS; n++) {
        senders[n] = (struct sender){ .work = work, .rank = rank, .number = n };
        start(&senders[n]);
    }
    for (int n = 0; n < THREADS; n++) {
        check(weft_mailbox_receive_into(work, &number, sizeof number, &length, NULL));
        sum += number;
    }
    for (int n = 0; n < THREADS; n++)
        pthread_join(senders[n].thread, NULL);
    printf("rank %u: the numbers of %d threads add up to %u\n", rank, THREADS, sum);
    check(weft_port_destroy(work));
    check(weft_leave(job));
    return 0;
}
