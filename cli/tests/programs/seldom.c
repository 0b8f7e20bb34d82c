/*
 * Rank 0 computes, and has sent a message that nobody wants. Rank 1 waits for another one: it tests the receive, and sleeps for a
 * millisecond, again and again.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, value = 0, done = 0;
    volatile int forever = 1;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%ld has met all\n", (long)getpid());
        fflush(stdout);
        while (forever)
            ;
    }
    MPI_Irecv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    MPI_Finalize();
}
