// Atomic operations: by one rank, where each value is known, and by all at once, where the sum is.

#include "check.h"

// Variables of rank 1, the last that programs have among them.
enum { ALONE = 64511, COUNTER = 0, LARGEST, SMALLEST, FLAGS, ORDER };

// Times that each rank counts.
enum { COUNTED = 200 };

static uint64_t
held(weft_job *job, uint32_t index)
{
    uint64_t value;

    OK(weft_fetch_and_add(job, 1, index, 0, &value));
    return value;
}

static void
alone(weft_job *job)
{
    uint64_t before = 99;

    OK(weft_fetch_and_add(job, 1, ALONE, 12, &before));
    HOLDS(before == 0);
    OK(weft_swap(job, 1, ALONE, 40, &before));
    HOLDS(before == 12);
    OK(weft_compare_and_swap(job, 1, ALONE, 12, 1, &before));
    HOLDS(before == 40 && held(job, ALONE) == 40);
    OK(weft_compare_and_swap(job, 1, ALONE, 40, 50, &before));
    HOLDS(before == 40 && held(job, ALONE) == 50);
    OK(weft_fetch_and_min(job, 1, ALONE, 14, &before));
    HOLDS(before == 50 && held(job, ALONE) == 14);
    OK(weft_fetch_and_max(job, 1, ALONE, 60, &before));
    HOLDS(before == 14 && held(job, ALONE) == 60);
    OK(weft_fetch_and_and(job, 1, ALONE, 0x0f, &before));
    HOLDS(before == 60 && held(job, ALONE) == 12);
    OK(weft_fetch_and_or(job, 1, ALONE, 0x03, &before));
    HOLDS(before == 12 && held(job, ALONE) == 15);
    OK(weft_fetch_and_xor(job, 1, ALONE, UINT64_MAX, &before));
    HOLDS(before == 15 && held(job, ALONE) == UINT64_MAX - 15);
    OK(weft_fetch_and_add(job, 1, ALONE, 17, NULL));
    HOLDS(held(job, ALONE) == 1);
}

// Counts without a lock: by compare-and-swap.
static void
count(weft_job *job)
{
    uint64_t found = 0, before;
    int i;

    for (i = 0; i < COUNTED; i++) {
        for (;;) {
            OK(weft_compare_and_swap(job, 1, COUNTER, found, found + 1, &before));
            if (before == found)
                break;
            found = before;
        }
    }
}

static void
together(weft_job *job, uint32_t rank, uint32_t size)
{
    uint64_t before;

    count(job);
    OK(weft_fetch_and_max(job, 1, LARGEST, 10 + rank, NULL));
    OK(weft_fetch_and_max(job, 1, SMALLEST, 1000, NULL));
    OK(weft_fetch_and_or(job, 1, FLAGS, 1u << rank, NULL));
    OK(weft_fetch_and_xor(job, 1, FLAGS, 0x100u << rank, NULL));
    OK(weft_barrier(job));
    OK(weft_fetch_and_min(job, 1, SMALLEST, 10 + rank, NULL));
    OK(weft_fetch_and_and(job, 1, FLAGS, ~(uint64_t)(1u << rank), NULL));
    OK(weft_swap(job, 1, ORDER, 1 + rank, &before));
    HOLDS(before <= size && before != 1 + rank);
    OK(weft_barrier(job));
    HOLDS(held(job, COUNTER) == (uint64_t)COUNTED * size);
    HOLDS(held(job, LARGEST) == 9 + size);
    HOLDS(held(job, SMALLEST) == 10);
    HOLDS(held(job, FLAGS) == ((1u << size) - 1) << 8);
}

static void
mistakes(weft_job *job)
{
    static const char all[] = "there is no variable 64512: programs have 0 to 64511";
    weft_job *none = NULL;

    FAILS(weft_compare_and_swap(job, 0, 64512, 0, 1, NULL), WEFT_NO_SUCH_VARIABLE, all);
    FAILS(weft_swap(job, 0, 64512, 1, NULL), WEFT_NO_SUCH_VARIABLE, all);
    FAILS(weft_fetch_and_min(job, 0, 64512, 1, NULL), WEFT_NO_SUCH_VARIABLE, all);
    FAILS(weft_fetch_and_max(job, 0, 1u << 20, 1, NULL), WEFT_NO_SUCH_VARIABLE, "variable 1048576");
    FAILS(weft_fetch_and_and(job, 99, 0, 1, NULL), WEFT_NO_SUCH_RANK, "no rank 99");
    FAILS(weft_fetch_and_or(job, 1u << 20, 0, 1, NULL), WEFT_NO_SUCH_RANK, "1048576");
    FAILS(weft_fetch_and_xor(none, 0, 0, 1, NULL), WEFT_INVALID, "job is null");
}

int
main(void)
{
    weft_job *job;
    uint32_t rank, size;

    OK(weft_join(&job));
    OK(weft_rank(job, &rank));
    OK(weft_size(job, &size));
    if (rank == 0)
        alone(job);
    mistakes(job);
    together(job, rank, size);
    OK(weft_leave(job));
    return 0;
}
