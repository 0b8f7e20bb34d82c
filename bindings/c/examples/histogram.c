// All ranks draw numbers, count them in buckets, and each gets the counts of its own buckets.
//
//     weft run -n 4 -- ./histogram

#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { NUMBERS = 10000, BUCKETS = 8 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "histogram: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static void
count(uint64_t *counts, uint32_t rank, uint32_t size)
{
    uint64_t number = rank + 1;

    for (int i = 0; i < NUMBERS; i++) {
        number = number * 6364136223846793005 + 1442695040888963407;
        counts[((number >> 32) * size * BUCKETS) >> 32]++;
    }
}

int
main(void)
{
    weft_job *job;
    weft_team *all;
    uint32_t rank, size;
    uint64_t *counts, *from_all, mine[BUCKETS] = { 0 }, total = 0;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    check(weft_team_all(job, &all));
    counts = calloc(size, sizeof mine);
    from_all = calloc(size, sizeof mine);
    if (counts == NULL || from_all == NULL) {
        fprintf(stderr, "histogram: there is no memory\n");
        return 1;
    }
    count(counts, rank, size);
    // The first eight buckets go to rank 0, the next to rank 1; from each rank come the counts of
    // ours.
    check(weft_all_to_all(all, counts, BUCKETS, WEFT_U64, from_all));
    for (uint32_t i = 0; i < size * BUCKETS; i++)
        mine[i % BUCKETS] += from_all[i];
    for (int i = 0; i < BUCKETS; i++)
        total += mine[i];
    check(weft_all_reduce(all, &total, 1, WEFT_U64, WEFT_SUM));
    if (rank == 0) {
        printf("%llu numbers; in the first %d buckets are [", (unsigned long long)total, BUCKETS);
        for (int i = 0; i < BUCKETS; i++)
            printf("%s%llu", i == 0 ? "" : ", ", (unsigned long long)mine[i]);
        printf("]\n");
    }
    free(from_all);
    free(counts);
    check(weft_team_free(all));
    check(weft_leave(job));
    return 0;
}
