// Lets in whoever comes by the job's door, until the job is full.
//
//     weft run -n 2 --room 4 --door door -- ./door        and twice, in other terminals,
//     WEFT_DOOR=door ./door

#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "door: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static int
compare(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

    return (a > b) - (a < b);
}

// Says which ranks are in the team.
static void
say_who_is_there(const weft_team *team, uint32_t rank, uint32_t members)
{
    uint32_t *ranks = calloc(members, sizeof *ranks);

    if (ranks == NULL) {
        fprintf(stderr, "door: there is no memory\n");
        exit(1);
    }
    check(weft_all_gather(team, &rank, 1, WEFT_U32, ranks));
    qsort(ranks, members, sizeof *ranks, compare);
    printf("rank %u has met ranks [", rank);
    for (uint32_t i = 0; i < members; i++)
        printf("%s%u", i == 0 ? "" : ", ", ranks[i]);
    printf("]\n");
    free(ranks);
}

int
main(void)
{
    weft_job *job;
    weft_team *team, *grown;
    uint32_t rank, room, members;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_room(job, &room));
    check(weft_team_all(job, &team));
    check(weft_team_size(team, &members));
    while (members < room) {
        if (rank == 0)
            printf("%u of %u ranks\n", members, room);
        check(weft_team_admit(job, team, 1, room - members, &grown, NULL));
        check(weft_team_free(team));
        team = grown;
        check(weft_team_size(team, &members));
    }
    say_who_is_there(team, rank, members);
    check(weft_team_free(team));
    check(weft_leave(job));
    return 0;
}
