// Two ranks let in two others, which were started with the door as their argument.

#include "check.h"

enum { FOUNDERS = 2, ROOM = 4 };

// Founders' part: the team of four.
static weft_team *
admit(const weft_job *job, const weft_team *founders)
{
    weft_team *grown, *same;
    uint32_t left = 9, size;

    FAILS(weft_team_admit(job, founders, 2, 1, &grown, &left), WEFT_INVALID,
          "at least 2 are more than 1");
    FAILS(weft_team_admit(job, NULL, 1, 1, &grown, &left), WEFT_INVALID, "team is null");
    FAILS(weft_team_admit(NULL, founders, 1, 1, &grown, &left), WEFT_INVALID, "job is null");
    FAILS(weft_team_admit(job, founders, 1, 1, NULL, &left), WEFT_INVALID,
          "the pointer for the result is null");
    // Nobody.
    OK(weft_team_admit(job, founders, 0, 0, &same, &left));
    OK(weft_team_size(same, &size));
    HOLDS(size == FOUNDERS && left == 9);
    OK(weft_team_admit(job, same, ROOM - FOUNDERS, ROOM, &grown, &left));
    HOLDS(left == 9);
    OK(weft_team_free(same));
    return grown;
}

int
main(int argc, char **argv)
{
    weft_job *job;
    weft_team *team, *first, *full;
    uint32_t me, size, ranks = 1, left = 9;

    if (argc > 1) {
        FAILS(weft_join_at(NULL, false, &job), WEFT_INVALID, "the door is null");
        FAILS(weft_join_at("nothing", false, &job), WEFT_CANNOT_JOIN, "there is no door \"nothing\"");
        OK(weft_join_at(argv[1], false, &job));
    } else {
        OK(weft_join(&job));
    }
    OK(weft_rank(job, &me));
    HOLDS((me >= FOUNDERS) == (argc > 1));
    OK(weft_team_all(job, &first));
    team = me < FOUNDERS ? admit(job, first) : first;
    OK(weft_team_size(team, &size));
    HOLDS(size == ROOM);
    OK(weft_all_reduce(team, &ranks, 1, WEFT_U32, WEFT_SUM));
    HOLDS(ranks == ROOM);
    FAILS(weft_team_admit(job, team, 0, 1, &full, &left), WEFT_JOB_FULL, "but for 0");
    HOLDS(left == 0);
    if (me < FOUNDERS)
        OK(weft_team_free(team));
    OK(weft_team_free(first));
    OK(weft_leave(job));
    printf("rank %u has left\n", me);
    return 0;
}
