// Draws tickets from one counter, and goes on when ranks are lost. The rank that the command line
// names kills itself with its first ticket.
//
//     weft run -n 4 --on-loss continue -- ./tickets 2

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { TICKETS = 1000 };

struct drawer {
    weft_team *team;
    weft_counter *counter;
    uint64_t mine[TICKETS];
    size_t drawn;
    bool dies;
};

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "tickets: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

// Draws tickets until there are none.
static weft_status
draw(struct drawer *drawer)
{
    weft_status status;
    uint64_t number;

    if (drawer->counter == NULL)
        status = weft_counter_create(drawer->team, &drawer->counter);
    else
        status = weft_counter_move(drawer->counter, drawer->team);
    while (status == WEFT_OK) {
        status = weft_counter_add(drawer->counter, 1, &number);
        if (drawer->dies)
            raise(SIGKILL);
        if (status != WEFT_OK || number >= TICKETS)
            break;
        drawer->mine[drawer->drawn++] = number;
    }
    return status;
}

// Brings together what all have drawn, and gives how many that is.
static weft_status
gather(const struct drawer *drawer, uint64_t *all, size_t *count)
{
    uint32_t members;
    size_t *counts;
    weft_status status;

    check(weft_team_size(drawer->team, &members));
    counts = calloc(members, sizeof *counts);
    if (counts == NULL) {
        fprintf(stderr, "tickets: there is no memory\n");
        exit(1);
    }
    status = weft_all_gatherv(drawer->team, drawer->mine, drawer->drawn, WEFT_U64, all, TICKETS,
                              counts);
    *count = 0;
    for (uint32_t member = 0; member < members; member++)
        *count += counts[member];
    free(counts);
    return status;
}

// Ends the program if a ticket was drawn twice.
static void
compare(const uint64_t *all, size_t count)
{
    bool seen[TICKETS] = { false };

    for (size_t i = 0; i < count; i++) {
        if (seen[all[i]]) {
            fprintf(stderr, "tickets: %llu was drawn twice\n", (unsigned long long)all[i]);
            exit(1);
        }
        seen[all[i]] = true;
    }
}

int
main(int argc, char **argv)
{
    struct drawer drawer = { 0 };
    weft_job *job;
    weft_team *rest;
    weft_status status;
    uint32_t rank, left;
    uint64_t all[TICKETS];
    size_t count = 0;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    drawer.dies = argc > 1 && rank == strtoul(argv[1], NULL, 10);
    check(weft_team_all(job, &drawer.team));
    for (;;) {
        status = draw(&drawer);
        if (status == WEFT_OK)
            status = gather(&drawer, all, &count);
        if (status != WEFT_RANK_LOST)
            break;
        check(weft_team_shrink(drawer.team, &rest));
        check(weft_team_free(drawer.team));
        drawer.team = rest;
    }
    check(status);
    compare(all, count);
    check(weft_team_size(drawer.team, &left));
    printf("rank %u drew %zu tickets; %zu of %d are with %u ranks that are left, no two the same\n",
           rank, drawer.drawn, count, TICKETS, left);
    check(weft_counter_free(drawer.counter));
    check(weft_team_free(drawer.team));
    check(weft_leave(job));
    return 0;
}
