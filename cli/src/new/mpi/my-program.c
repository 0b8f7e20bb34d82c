// Counts the primes below a limit, and finds the widest gap between two neighbours. Each rank looks
// at a part of the numbers. The gap between two parts is seen by the rank of the second one, which
// is told the last prime of the first.

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

enum { LIMIT = 100000, PRIMES = 9592, WIDEST = 72 };

static bool
is_prime(long number)
{
    for (long divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return false;
    return number >= 2;
}

int
main(int count, char **words)
{
    int rank, size;
    long begin, end, own_last, last = 0, primes = 0, widest = 0, gap;

    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    begin = (long)LIMIT * rank / size;
    end = (long)LIMIT * (rank + 1) / size;

    // The last prime up to here goes to the next rank, that of the rank before comes; 0 is none.
    for (own_last = end - 1; own_last > 0 && !is_prime(own_last); own_last--)
        continue;
    MPI_Sendrecv(&own_last, 1, MPI_LONG, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 0, &last, 1,
                 MPI_LONG, rank > 0 ? rank - 1 : MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);

    for (long number = begin; number < end; number++) {
        if (!is_prime(number))
            continue;
        gap = last == 0 ? 0 : number - last;
        widest = gap > widest ? gap : widest;
        last = number;
        primes++;
    }

    // All ranks get the sum of what they counted, and the widest of their gaps.
    MPI_Allreduce(MPI_IN_PLACE, &primes, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &widest, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld primes below %d, the widest gap is %ld (ranks: %d)\n", primes, LIMIT, widest,
               size);
    MPI_Finalize();
    return primes == PRIMES && widest == WIDEST ? 0 : 1;
}
