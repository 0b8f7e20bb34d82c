/* Rank 0 gives its requests up and ends; rank 1 has something else to do before it receives. All has to arrive, and both end with
   their own statuses. */

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "check.h"

enum { MESSAGES = 20, BIG = 3 << 20, EMPTY = 300000 };

static int length(int i)
{
    return i % 2 ? BIG : 100;
}

int main(int argc, char **argv)
{
    char *bytes = malloc((size_t)MESSAGES * BIG);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; rank == 0 && i < MESSAGES; i++) {
        MPI_Request request;
        memset(bytes + (size_t)i * BIG, i + 1, BIG);
        MPI_Isend(bytes + (size_t)i * BIG, length(i), MPI_BYTE, 1, i, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    /* More than a receiver keeps the bytes of. */
    for (int i = 0; rank == 0 && i < EMPTY; i++) {
        MPI_Request request;
        MPI_Isend(NULL, 0, MPI_BYTE, 1, MESSAGES, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    if (rank == 1) {
        /* Longer than any limit of Weft's that there was. */
        sleep(argc > 1 ? atoi(argv[1]) : 0);
        for (int i = MESSAGES - 1; i >= 0; i--) {
            MPI_Recv(bytes, BIG, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int at = 0; at < length(i); at++)
                CHECK(bytes[at] == i + 1);
        }
        for (int i = 0; i < EMPTY; i++)
            MPI_Recv(NULL, 0, MPI_BYTE, 0, MESSAGES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        puts("all has arrived");
    }
    MPI_Finalize();
    free(bytes);
    return 40 + rank;
}
