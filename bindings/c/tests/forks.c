// A rank forks: a child that ends, or runs another program, harms nobody; one that calls Weft is told
// that it must not, at once, whatever it calls.

#define _POSIX_C_SOURCE 200809L

#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum child { ENDS, EXECUTES, CALLS };

static void
child(enum child does, weft_job *job, weft_port *box)
{
    weft_job *again;
    weft_message *message;
    uint32_t rank;

    if (does == EXECUTES) {
        execlp("sh", "sh", "-c", "exit 4", (char *)NULL);
        exit(1);
    }
    if (does == CALLS) {
        FAILS(weft_rank(job, &rank), WEFT_INVALID, "a child of a rank");
        FAILS(weft_barrier(job), WEFT_INVALID, "a child of a rank");
        FAILS(weft_port_send(box, 0, "x", 1), WEFT_INVALID, "a child of a rank");
        FAILS(weft_mailbox_receive(box, &message), WEFT_INVALID, "a child of a rank");
        FAILS(weft_leave(job), WEFT_INVALID, "a child of a rank");
        FAILS(weft_join(&again), WEFT_INVALID, "a child of a rank");
        FAILS(weft_join_packets(&again), WEFT_INVALID, "a child of a rank");
    }
    exit(4);
}

int
main(void)
{
    weft_job *job;
    weft_port *box;
    weft_team *all;
    weft_message *message;
    uint32_t rank, size;
    uint64_t sum;
    int status;

    OK(weft_join(&job));
    OK(weft_rank(job, &rank));
    OK(weft_size(job, &size));
    OK(weft_mailbox_create(job, "box", &box));
    OK(weft_team_all(job, &all));
    for (enum child does = ENDS; does <= CALLS; does++) {
        pid_t forked = fork();

        HOLDS(forked >= 0);
        if (forked == 0)
            child(does, job, box);
        sum = rank;
        OK(weft_all_reduce(all, &sum, 1, WEFT_U64, WEFT_SUM));
        HOLDS(sum == (uint64_t)size * (size - 1) / 2);
        HOLDS(waitpid(forked, &status, 0) == forked);
        HOLDS(WIFEXITED(status) && WEXITSTATUS(status) == 4);
        OK(weft_port_send(box, (rank + 1) % size, "y", 1));
        OK(weft_mailbox_receive(box, &message));
        OK(weft_message_release(message));
    }
    OK(weft_team_free(all));
    OK(weft_port_destroy(box));
    OK(weft_leave(job));
    return 0;
}
