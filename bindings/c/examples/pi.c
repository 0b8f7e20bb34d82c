// All ranks integrate 4 / (1 + x * x) from 0 to 1, which is pi.
//
//     weft run -n 4 -- ./pi

#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { STRIPS = 100000 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "pi: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

int
main(void)
{
    const double width = 1.0 / STRIPS;
    weft_job *job;
    weft_team *all;
    uint32_t rank, size;
    double x, area = 0;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    check(weft_team_all(job, &all));
    for (uint32_t strip = rank; strip < STRIPS; strip += size) {
        x = (strip + 0.5) * width;
        area += 4 / (1 + x * x) * width;
    }
    check(weft_all_reduce(all, &area, 1, WEFT_F64, WEFT_SUM)); // Now every rank has the sum.
    if (rank == 0)
        printf("pi is %.9f\n", area);
    check(weft_team_free(all));
    check(weft_leave(job));
    return 0;
}
