/* Two ranks send one another very many messages, of which neither asks for any until it has begun all its own; then both end at
   once. Every second request is given up as soon as it is made. All has to arrive, in order, and both end with their own
   statuses. The argument says how many. */

#include <mpi.h>
#include <stdlib.h>
#include "check.h"

static long value(int sender, int message)
{
    return message * 7919L + sender;
}

int main(int argc, char **argv)
{
    int messages = argc > 1 ? atoi(argv[1]) : 100000, kept = 0;
    long *out = malloc(sizeof *out * messages), sum = 0, expected = 0;
    MPI_Request *requests = malloc(sizeof *requests * messages);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int other = 1 - rank;
    for (int i = 0; i < messages; i++) {
        out[i] = value(rank, i);
        MPI_Isend(&out[i], 1, MPI_LONG, other, i % 2, MPI_COMM_WORLD, &requests[kept]);
        if (i % 2 == 0)
            MPI_Request_free(&requests[kept]);
        else
            kept++;
    }
    for (int i = 0; i < messages; i++) {
        long in;
        MPI_Status status;
        MPI_Recv(&in, 1, MPI_LONG, other, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_TAG == i % 2 && in == value(other, i));
        sum += in;
        expected += value(other, i);
    }
    MPI_Waitall(kept, requests, MPI_STATUSES_IGNORE);
    CHECK(sum == expected);
    printf("rank %d has %d messages, which add up to %ld\n", rank, messages, sum);
    MPI_Finalize();
    free(requests), free(out);
    return 40 + rank;
}
