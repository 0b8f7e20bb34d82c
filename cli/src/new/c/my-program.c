// Counts the primes below a limit, and finds the widest gap between two neighbours. Each rank looks
// at a part of the numbers. The gap between two parts is seen by the rank of the second one, which
// is told the last prime of the first.

#include "my-program.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 100000, PRIMES = 9592, WIDEST = 72 };

static void
check(weft_status status)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "my-program: %s: %s\n", weft_status_name(status), weft_error_text());
    exit(1);
}

static bool
is_prime(uint64_t number)
{
    uint64_t divisor;

    for (divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return false;
    return number >= 2;
}

int32_t
program(const weft_job *job, void *user)
{
    weft_port *box;
    weft_team *all;
    uint32_t rank, size;
    size_t length;
    uint64_t begin, end, number, gap, last = 0, primes = 0, widest = 0;

    (void)user;
    check(weft_rank(job, &rank));
    check(weft_size(job, &size));
    check(weft_mailbox_create(job, "last", &box));
    check(weft_team_all(job, &all));
    begin = (uint64_t)LIMIT * rank / size;
    end = (uint64_t)LIMIT * (rank + 1) / size;

    // The last prime up to here goes to the next rank, that of the rank before comes; 0 is none.
    for (number = end - 1; number > 0 && !is_prime(number); number--)
        continue;
    if (rank + 1 < size)
        check(weft_port_send(box, rank + 1, &number, sizeof number));
    if (rank > 0)
        check(weft_mailbox_receive_into(box, &last, sizeof last, &length, NULL));

    for (number = begin; number < end; number++) {
        if (!is_prime(number))
            continue;
        gap = last == 0 ? 0 : number - last;
        widest = gap > widest ? gap : widest;
        last = number;
        primes++;
    }

    // All ranks get the sum of what they counted, and the widest of their gaps.
    check(weft_all_reduce(all, &primes, 1, WEFT_U64, WEFT_SUM));
    check(weft_all_reduce(all, &widest, 1, WEFT_U64, WEFT_MAX));
    if (rank == 0)
        printf("%d primes below %d, the widest gap is %d (ranks: %u)\n", (int)primes, LIMIT,
               (int)widest, size);
    check(weft_team_free(all));
    check(weft_port_destroy(box));
    return primes == PRIMES && widest == WIDEST ? 0 : 1;
}
