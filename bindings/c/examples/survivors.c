// Ranks add up a series in rounds, and go on without those that are lost: a round that fails is
// done again, by the team of those that live. The rank that the command line names kills itself
// halfway.
//
//     weft run -n 4 --on-loss continue -- ./survivors 2

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { ROUNDS = 8, STEPS = 100000 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "survivors: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

// This member's share of one round of the integral of 4 / (1 + x * x) from 0 to 1.
static double
share(int round, const weft_team *team)
{
    const double width = 1.0 / ROUNDS / STEPS;
    uint32_t i, member, members;
    double x, sum = 0;

    check(weft_team_rank(team, &member));
    check(weft_team_size(team, &members));
    for (i = member; i < STEPS; i += members) {
        x = ((double)round * STEPS + i + 0.5) * width;
        sum += 4 / (1 + x * x);
    }
    return sum * width;
}

// The sum of one round, with a smaller team if it takes one.
static double
sum_of(int round, weft_team **team)
{
    weft_team *rest;
    weft_status status;
    double sum = share(round, *team);

    while ((status = weft_all_reduce(*team, &sum, 1, WEFT_F64, WEFT_SUM)) == WEFT_RANK_LOST) {
        check(weft_team_shrink(*team, &rest));
        check(weft_team_free(*team));
        *team = rest;
        sum = share(round, rest);
    }
    check(status);
    return sum;
}

int
main(int argc, char **argv)
{
    weft_job *job;
    weft_team *team;
    uint32_t rank, left;
    double pi = 0;
    int round;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_team_all(job, &team));
    for (round = 0; round < ROUNDS; round++) {
        if (round == ROUNDS / 2 && argc > 1 && rank == strtoul(argv[1], NULL, 10))
            raise(SIGKILL);
        pi += sum_of(round, &team);
    }
    check(weft_team_size(team, &left));
    printf("rank %u: pi is %.9f, and %u ranks are left\n", rank, pi, left);
    check(weft_team_free(team));
    check(weft_leave(job));
    return 0;
}
