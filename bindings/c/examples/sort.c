// Ranks draw numbers and sort all of them: the least come to rank 0, the next to rank 1.
//
//     weft run -n 4 -- ./sort

#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { NUMBERS = 1000 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "sort: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static void *
room(size_t count, size_t size)
{
    void *bytes = calloc(count, size);

    if (bytes == NULL) {
        fprintf(stderr, "sort: there is no memory\n");
        exit(1);
    }
    return bytes;
}

static int
compare(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

    return (a > b) - (a < b);
}

// Draws a rank's numbers: those for rank 0 first, then those for rank 1, and counts them.
static void
draw(uint32_t *numbers, size_t *counts, uint32_t rank, uint32_t size)
{
    uint64_t state = rank + 1;

    for (int i = 0; i < NUMBERS; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        numbers[i] = (uint32_t)(state >> 32);
        counts[((uint64_t)numbers[i] * size) >> 32]++;
    }
    qsort(numbers, NUMBERS, sizeof *numbers, compare);
}

// The number in the middle of all, from whichever rank has it, and how many there are.
static void
find_middle(const weft_team *all, const uint32_t *mine, uint64_t place, uint64_t length,
            uint64_t found[2])
{
    uint32_t size;
    uint64_t middle;

    check(weft_team_size(all, &size));
    middle = (uint64_t)NUMBERS * size / 2;
    found[0] = length;
    found[1] = place <= middle && middle < place + length ? mine[middle - place] : 0;
    check(weft_all_reduce(all, found, 2, WEFT_U64, WEFT_SUM));
}

int
main(void)
{
    weft_job *job;
    weft_team *all;
    uint32_t rank, size, span, *numbers, *mine;
    uint64_t place, found[2];
    size_t *counts, *came, length = 0;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    check(weft_team_all(job, &all));
    numbers = room(NUMBERS, sizeof *numbers);
    mine = room((size_t)NUMBERS * size, sizeof *mine);
    counts = room(size, sizeof *counts);
    came = room(size, sizeof *came);
    draw(numbers, counts, rank, size);
    // Nobody knows how many numbers others have for it: they say so themselves.
    check(weft_all_to_allv(all, numbers, counts, WEFT_U32, mine, (size_t)NUMBERS * size, came));
    for (uint32_t from = 0; from < size; from++)
        length += came[from];
    check(weft_span_begin(job, "sort", &span));
    qsort(mine, length, sizeof *mine, compare);
    check(weft_span_end(job, span));
    // The place of the first of mine is the number of those at the ranks before.
    place = length;
    check(weft_exscan(all, &place, 1, WEFT_U64, WEFT_SUM));
    if (rank == 0)
        place = 0; // There are none before.
    find_middle(all, mine, place, length, found);
    if (rank == 0)
        printf("%llu numbers are sorted; the one in the middle is %llu\n",
               (unsigned long long)found[0], (unsigned long long)found[1]);
    free(came);
    free(counts);
    free(mine);
    free(numbers);
    check(weft_team_free(all));
    check(weft_leave(job));
    return 0;
}
