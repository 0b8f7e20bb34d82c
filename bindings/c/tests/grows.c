// A job of two ranks grows to four, and one of its rank too many is refused.

#include "check.h"

enum { FOUNDERS = 2, ROOM = 4 };

static void
heard(weft_message *message, uint64_t number, void *user)
{
    (void)message;
    (void)number;
    (void)user;
}

// Founders' part: the team of four.
static weft_team *
grow(const weft_job *job, const weft_team *founders)
{
    weft_team *grown;
    uint32_t left = 9;

    FAILS(weft_team_grow(job, founders, ROOM, &grown, &left), WEFT_JOB_FULL,
          "there is no room for 4 more ranks, but for 2: `weft run --room` says");
    HOLDS(left == ROOM - FOUNDERS);
    FAILS(weft_team_grow(job, founders, ROOM, &grown, NULL), WEFT_JOB_FULL, "but for 2");
    FAILS(weft_team_grow(job, founders, 1, NULL, &left), WEFT_INVALID,
          "the pointer for the result is null");
    FAILS(weft_team_grow(job, NULL, 1, &grown, &left), WEFT_INVALID, "team is null");
    FAILS(weft_team_grow(NULL, founders, 1, &grown, &left), WEFT_INVALID, "job is null");
    left = 9;
    OK(weft_team_grow(job, founders, ROOM - FOUNDERS, &grown, &left));
    HOLDS(left == 9);
    return grown;
}

int
main(void)
{
    weft_job *job;
    weft_team *team, *first, *full;
    weft_order *order;
    uint32_t me, number, size, room, ranks = 1;
    uint64_t before;

    OK(weft_join(&job));
    OK(weft_rank(job, &me));
    OK(weft_size(job, &size));
    OK(weft_room(job, &room));
    HOLDS(size == FOUNDERS && room == ROOM);
    FAILS(weft_room(job, NULL), WEFT_INVALID, "null");
    OK(weft_team_all(job, &first));
    team = me < FOUNDERS ? grow(job, first) : first;
    OK(weft_team_rank(team, &number));
    OK(weft_team_size(team, &size));
    HOLDS(number == me && size == ROOM);
    // A variable of a rank that came, which all add to.
    OK(weft_fetch_and_add(job, ROOM - 1, 5, me, &before));
    OK(weft_all_reduce(team, &ranks, 1, WEFT_U32, WEFT_SUM));
    HOLDS(ranks == ROOM);
    OK(weft_fetch_and_add(job, ROOM - 1, 5, 0, &before));
    HOLDS(before == 0 + 1 + 2 + 3);
    if (me >= FOUNDERS)
        FAILS(weft_order_create(job, "late", heard, NULL, &order), WEFT_NOT_A_MEMBER,
              "came when the job had begun: orders, and what is built on them,");
    // To members of the full team.
    FAILS(weft_team_grow(job, team, 1, &full, NULL), WEFT_JOB_FULL, "but for 0");
    OK(weft_team_barrier(team));
    if (me < FOUNDERS)
        OK(weft_team_free(team));
    OK(weft_team_free(first));
    OK(weft_leave(job));
    printf("rank %u has left\n", me);
    return 0;
}
