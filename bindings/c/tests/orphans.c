// Rank 2 dies while it writes a region of rank 1. Rank 0 waits to read it, rank 1 for a barrier;
// both are told. That may be in the barrier before, which a rank leaves later than others do.

#include <signal.h>

#include "check.h"

int
main(void)
{
    weft_job *job;
    weft_regions *regions;
    weft_region_name name;
    weft_region *region;
    weft_status status;
    uint32_t rank;
    const void *bytes;
    void *room;

    OK(weft_join_packets(&job));
    OK(weft_rank(job, &rank));
    OK(weft_regions_open(job, &regions));
    OK(weft_region_create(regions, 64, WEFT_HINT_INVALIDATE, &name));
    OK(weft_regions_barrier(regions));
    name.home = 1;
    OK(weft_region_map(regions, name, &region));
    if (rank == 2) {
        OK(weft_region_start_write(region, &room));
        *(int *)room = 1;
    }
    status = weft_regions_barrier(regions);
    if (rank == 2)
        raise(SIGKILL);
    if (status == WEFT_OK)
        status = rank == 0 ? weft_region_start_read(region, &bytes) : weft_regions_barrier(regions);
    printf("rank %u: %s\n", rank, weft_status_name(status));
    fflush(stdout);
    _Exit(strstr(weft_error_text(), "rank 2") == NULL);
}
