/* Messages of all lengths around the ring of all ranks, for ever: some eager, some that ask first, some fetched by their receivers. */

#include <mpi.h>
#include <stdlib.h>

enum { LONGEST = 300000 };

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *sent = calloc(2, LONGEST), *received = sent + LONGEST;
    for (int number = 0;; number++)
        MPI_Sendrecv(sent, (int)(number * 7919LL % LONGEST), MPI_BYTE, (rank + 1) % ranks, 1, received, LONGEST, MPI_BYTE,
                     (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
