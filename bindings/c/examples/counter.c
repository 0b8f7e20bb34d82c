// All ranks count the primes below 100,000, in pieces of a hundred numbers: who is free takes the
// next one.
//
//     weft run -n 4 -- ./counter

#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

// The numbers, and variables of rank 0: where the next piece begins, and the last prime.
enum { BELOW = 100000, PIECE = 100, NEXT = 0, LAST = 1 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "counter: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static bool
is_prime(uint64_t number)
{
    for (uint64_t divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return false;
    return number >= 2;
}

int
main(void)
{
    weft_job *job;
    weft_team *all;
    uint32_t rank;
    uint64_t from, number, primes = 0, pieces = 0, largest = 0, total, last;

    check(weft_join(&job));
    check(weft_rank(job, &rank));
    check(weft_team_all(job, &all));
    check(weft_barrier(job)); // Nobody begins before all are there.
    for (;;) {
        check(weft_fetch_and_add(job, 0, NEXT, PIECE, &from));
        if (from >= BELOW)
            break;
        for (number = from; number < from + PIECE; number++)
            if (is_prime(number)) {
                primes++;
                largest = number;
            }
        pieces++;
    }
    check(weft_fetch_and_max(job, 0, LAST, largest, NULL));
    total = primes;
    check(weft_all_reduce(all, &total, 1, WEFT_U64, WEFT_SUM));
    if (rank == 0) {
        printf("%llu primes below %d; rank 0 did %llu of %d pieces\n", (unsigned long long)total,
               BELOW, (unsigned long long)pieces, BELOW / PIECE);
        check(weft_fetch_and_add(job, 0, LAST, 0, &last));
        printf("the last of them is %llu\n", (unsigned long long)last);
    }
    check(weft_team_free(all));
    check(weft_leave(job));
    return 0;
}
