// Heat spreads along a rod. Each rank has a piece of it in a region, and reads the ends of its
// neighbours'.
//
//     weft run -n 4 -- ./heat

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

enum { CELLS = 20, STEPS = 40 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "heat: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

// One cell of a piece; 0 beyond the ends of the rod.
static double
cell(weft_region *piece, size_t index)
{
    const void *bytes;
    double value;

    if (piece == NULL)
        return 0;
    check(weft_region_start_read(piece, &bytes));
    value = ((const double *)bytes)[index];
    check(weft_region_end_read(piece));
    return value;
}

// What becomes of a piece between two others in a step.
static void
spread(weft_region *piece, double left, double right)
{
    double old[CELLS], *now;
    void *bytes;

    check(weft_region_start_write(piece, &bytes));
    memcpy(old, bytes, sizeof old);
    now = bytes;
    for (size_t i = 0; i < CELLS; i++) {
        double before = i == 0 ? left : old[i - 1];
        double after = i == CELLS - 1 ? right : old[i + 1];
        now[i] = old[i] + 0.25 * (before - 2 * old[i] + after);
    }
    check(weft_region_end_write(piece));
}

int
main(void)
{
    weft_job *job;
    weft_regions *regions;
    weft_region *left = NULL, *mine, *right = NULL;
    weft_region_name name;
    uint32_t rank, size;
    void *bytes;
    double total = 0;

    check(weft_join_packets(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    check(weft_regions_open(job, &regions));
    // The first region that each rank creates: so all know all names, once they are there.
    check(weft_region_create(regions, CELLS * sizeof(double), WEFT_HINT_UPDATE, &name));
    check(weft_regions_barrier(regions));
    check(weft_region_map(regions, name, &mine));
    if (rank > 0)
        check(weft_region_map(regions, (weft_region_name){ rank - 1, 0 }, &left));
    if (rank + 1 < size)
        check(weft_region_map(regions, (weft_region_name){ rank + 1, 0 }, &right));

    if (rank == 0) {
        check(weft_region_start_write(mine, &bytes));
        ((double *)bytes)[0] = 1000;
        check(weft_region_end_write(mine));
    }
    check(weft_regions_barrier(regions));
    for (int step = 0; step < STEPS; step++) {
        double before = cell(left, CELLS - 1), after = cell(right, 0);

        check(weft_regions_barrier(regions)); // All have read;
        spread(mine, before, after);
        check(weft_regions_barrier(regions)); // all have written.
    }

    for (size_t i = 0; i < CELLS; i++)
        total += cell(mine, i);
    check(weft_regions_reduce(regions, &total, 1, WEFT_F64, WEFT_SUM));
    if (rank == 0)
        printf("after %d steps %.1f degrees are left in the rod\n", STEPS, total);
    check(weft_region_unmap(mine));
    if (left != NULL)
        check(weft_region_unmap(left));
    if (right != NULL)
        check(weft_region_unmap(right));
    check(weft_regions_close(regions));
    check(weft_leave(job));
    return 0;
}
