// Doubles the team until the job is full; the members of each team count themselves.
//
//     weft run -n 2 --room 8 -- ./growth

#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "growth: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

// The team with as many members again behind its own, as far as there is room.
static weft_team *
doubled(const weft_job *job, weft_team *team, uint32_t members, uint32_t room)
{
    weft_team *grown;
    uint32_t count = members < room - members ? members : room - members;

    check(weft_team_grow(job, team, count, &grown, NULL));
    check(weft_team_free(team));
    return grown;
}

int
main(void)
{
    weft_job *job;
    weft_team *team;
    uint32_t rank, room, members, counted;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_room(job, &room));
    check(weft_team_all(job, &team));
    for (;;) {
        check(weft_team_size(team, &members));
        counted = 1;
        check(weft_all_reduce(team, &counted, 1, WEFT_U32, WEFT_SUM));
        if (counted != members) {
            fprintf(stderr, "growth: %u of %u members were counted\n", counted, members);
            return 1;
        }
        if (rank == 0)
            printf("%u of %u ranks\n", members, room);
        if (members == room)
            break;
        team = doubled(job, team, members, room);
    }
    check(weft_team_free(team));
    check(weft_leave(job));
    return 0;
}
