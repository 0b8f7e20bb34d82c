// All ranks add up parts of a series, and an all-reduce gives each of them pi. The next part is
// computed while the sum of the last is on its way.
//
//     weft run -n 4 -- ./overlap

#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { PARTS = 8, STEPS = 100000 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "overlap: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

// This member's share of one part of the integral of 4 / (1 + x * x) from 0 to 1.
static double
share(int part, uint32_t member, uint32_t members)
{
    const double width = 1.0 / PARTS / STEPS;
    double x, sum = 0;
    int i;

    for (i = (int)member; i < STEPS; i += (int)members) {
        x = ((double)part * STEPS + i + 0.5) * width;
        sum += 4 / (1 + x * x);
    }
    return sum * width;
}

int
main(void)
{
    weft_job *job;
    weft_team *all;
    weft_pending *last = NULL, *next;
    uint32_t member, members;
    double mine, sum, pi = 0;
    int part;

    check(weft_join(&job));
    check(weft_team_all(job, &all));
    check(weft_team_rank(all, &member));
    check(weft_team_size(all, &members));
    for (part = 0; part <= PARTS; part++) {
        next = NULL;
        if (part < PARTS) {
            mine = share(part, member, members);
            check(weft_all_reduce_begin(all, &mine, 1, WEFT_F64, WEFT_SUM, &next));
        }
        if (last != NULL) {
            check(weft_pending_wait(last, &sum));
            pi += sum;
        }
        last = next;
    }
    printf("rank %u: pi is %.9f, nearly\n", member, pi);
    check(weft_team_free(all));
    check(weft_leave(job));
    return 0;
}
