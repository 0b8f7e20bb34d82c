/* Ranks that disagree about how long a collective is, which MPI forbids: the job ends. */

#include "check.h"
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int one[64] = {0}, all[128], lengths[2] = {1, 1}, places[2] = {0, 1};
    MPI_Request request = MPI_REQUEST_NULL;
    const char *call = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(call, "gather") == 0)
        MPI_Gather(one, 20 + rank, MPI_INT, all, 20, MPI_INT, 0, MPI_COMM_WORLD);
    else if (strcmp(call, "gatherv") == 0)
        MPI_Gatherv(one, 1 + rank, MPI_INT, all, lengths, places, MPI_INT, 0, MPI_COMM_WORLD);
    else if (strcmp(call, "scan") == 0)
        MPI_Scan(one, all, 1 + rank, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(call, "iallreduce") == 0)
        MPI_Iallreduce(one, all, 40 + rank, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    else if (strcmp(call, "ibcast") == 0)
        MPI_Ibcast(one, 1 + rank, MPI_INT, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Alltoall(one, 1 + !rank, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
