// Shared regions: what ranks write others see, names travel, what is wrong is said with a name.

#include "check.h"

static uint32_t rank, size;

// The name of region index of a rank.
static weft_region_name
named(uint32_t home, uint32_t index)
{
    weft_region_name name = { home, index };
    return name;
}

// All ranks add 1 to each word of a region, many times.
static void
count(weft_regions *regions, weft_region_name name, size_t words, int times)
{
    weft_region *region;
    const void *bytes;
    void *room;
    size_t length;

    OK(weft_region_map(regions, name, &region));
    OK(weft_region_size(region, &length));
    HOLDS(length == words * sizeof(uint32_t));
    for (int i = 0; i < times; i++) {
        OK(weft_region_start_write(region, &room));
        for (size_t w = 0; w < words; w++)
            ((uint32_t *)room)[w] += 1;
        OK(weft_region_end_write(region));
        if (i % 3 == 0)
            OK(weft_region_flush(region));
        if (i % 5 == 0)
            OK(weft_region_prefetch(region));
    }
    OK(weft_regions_barrier(regions));
    OK(weft_region_start_read(region, &bytes));
    for (size_t w = 0; w < words; w++)
        HOLDS(((const uint32_t *)bytes)[w] == size * (uint32_t)times);
    OK(weft_region_end_read(region));
    OK(weft_region_unmap(region));
}

static void
brackets(weft_regions *regions)
{
    weft_region *region, *again;
    const void *first, *second;
    void *room;

    OK(weft_region_map(regions, named(1, 0), &region));
    OK(weft_region_map(regions, named(1, 0), &again));
    FAILS(weft_region_end_read(region), WEFT_INVALID, "region 0 of rank 1: no access");
    FAILS(weft_region_end_write(region), WEFT_INVALID, "region 0 of rank 1: no access");
    OK(weft_region_start_read(region, &first));
    OK(weft_region_start_read(region, &second));
    HOLDS(first == second);
    FAILS(weft_region_start_write(region, &room),
          WEFT_INVALID, "region 0 of rank 1: the region is being read");
    FAILS(weft_region_start_write(again, &room),
          WEFT_INVALID, "region 0 of rank 1: the region is being read");
    FAILS(weft_region_end_write(region), WEFT_INVALID, "no access of this kind");
    FAILS(weft_region_flush(region), WEFT_INVALID, "being read");
    FAILS(weft_region_unmap(region), WEFT_INVALID, "region 0 of rank 1: the region is being read");
    FAILS(weft_region_delete(region), WEFT_INVALID, "region 0 of rank 1: the region is being read");
    OK(weft_region_end_read(region));
    OK(weft_region_end_read(region));
    FAILS(weft_region_end_read(region), WEFT_INVALID, "no access");
    OK(weft_region_start_write(region, &room));
    FAILS(weft_region_start_write(region, &room),
          WEFT_INVALID, "region 0 of rank 1: the region is being written");
    FAILS(weft_region_start_read(region, &first),
          WEFT_INVALID, "region 0 of rank 1: the region is being written");
    FAILS(weft_region_unmap(region),
          WEFT_INVALID, "region 0 of rank 1: the region is being written");
    OK(weft_region_end_write(region));
    FAILS(weft_region_end_write(region), WEFT_INVALID, "no access");
    FAILS(weft_region_start_read(NULL, &first), WEFT_INVALID, "region is null");
    FAILS(weft_region_start_read(region, NULL), WEFT_INVALID, "result is null");
    FAILS(weft_region_unmap((weft_region *)(void *)regions), WEFT_INVALID, "this is no region");
    OK(weft_region_unmap(region));
    OK(weft_region_unmap(again));
}

static void
names(weft_regions *regions)
{
    weft_region *region;
    weft_region_name name;
    uint64_t value = 1;

    FAILS(weft_region_map(regions, named(1, 99), &region),
          WEFT_NO_REGION, "no region 99 of rank 1");
    FAILS(weft_region_map(regions, named(0, 99), &region),
          WEFT_NO_REGION, "no region 99 of rank 0");
    FAILS(weft_region_map(regions, named(size, 0), &region), WEFT_NO_REGION, "");
    FAILS(weft_region_map(regions, named(1u << 20, 0), &region), WEFT_NO_SUCH_RANK, "1048576");
    FAILS(weft_region_create(regions, UINT64_MAX, WEFT_HINT_UPDATE, &name),
          WEFT_NO_MEMORY, "18446744073709551615");
    FAILS(weft_region_create(regions, 8, (weft_hint)9, &name), WEFT_INVALID, "no hint 9");
    FAILS(weft_regions_broadcast(regions, size, &value, 1, WEFT_U64), WEFT_NO_SUCH_RANK, "");
    FAILS(weft_regions_reduce(regions, &value, 1, WEFT_F64, WEFT_XOR), WEFT_INVALID, "Xor");
}

static void
together(weft_regions *regions)
{
    weft_region_name name = { 7, 7 };
    double sums[3] = { rank, 1, 0.5 };
    int16_t least = (int16_t)(5 - (int)rank);
    static uint8_t many[100000];

    // How ranks learn of names that they cannot know.
    if (rank == 2)
        OK(weft_region_create(regions, 16, WEFT_HINT_MIGRATORY, &name));
    OK(weft_regions_broadcast(regions, 2, &name, sizeof name, WEFT_U8));
    HOLDS(name.home == 2 && name.index == 1);
    count(regions, name, 4, 10);
    memset(many, (int)rank, sizeof many);
    OK(weft_regions_broadcast(regions, 1, many, sizeof many, WEFT_U8));
    HOLDS(many[0] == 1 && many[sizeof many - 1] == 1);
    OK(weft_regions_broadcast(regions, 1, NULL, 0, WEFT_F32));
    OK(weft_regions_reduce(regions, sums, 3, WEFT_F64, WEFT_SUM));
    HOLDS(sums[0] == 3 && sums[1] == 3 && sums[2] == 1.5);
    OK(weft_regions_reduce(regions, &least, 1, WEFT_I16, WEFT_MIN));
    HOLDS(least == 3);
}

// Rank 0 deletes a region that all have mapped.
static void
deletion(weft_regions *regions)
{
    weft_region *region;
    const void *bytes;
    void *room;

    OK(weft_region_map(regions, named(1, 0), &region));
    OK(weft_regions_barrier(regions));
    if (rank == 0) {
        OK(weft_region_delete(region));
        OK(weft_region_map(regions, named(1, 0), &region));
    }
    OK(weft_regions_barrier(regions));
    FAILS(weft_region_start_read(region, &bytes), WEFT_NO_REGION, "region 0 of rank 1 was deleted");
    FAILS(weft_region_start_write(region, &room), WEFT_NO_REGION, "region 0 of rank 1 was deleted");
    OK(weft_regions_barrier(regions));
    if (rank == 0)
        OK(weft_region_unmap(region));
    else
        FAILS(weft_region_delete(region), WEFT_NO_REGION, "region 0 of rank 1 was deleted");
}

int
main(void)
{
    weft_job *job;
    weft_regions *regions;
    weft_region_name name;

    OK(weft_join_packets(&job));
    OK(weft_rank(job, &rank));
    OK(weft_size(job, &size));
    OK(weft_regions_open(job, &regions));
    OK(weft_region_create(regions, 20000, WEFT_HINT_INVALIDATE, &name));
    HOLDS(name.home == rank && name.index == 0);
    OK(weft_regions_barrier(regions));
    for (uint32_t home = 0; home < size; home++)
        count(regions, named(home, 0), 5000, 10);
    OK(weft_regions_barrier(regions));
    if (rank == 0) {
        brackets(regions);
        names(regions);
    }
    OK(weft_regions_barrier(regions));
    together(regions);
    deletion(regions);
    OK(weft_regions_close(regions));
    OK(weft_leave(job));
    return 0;
}
