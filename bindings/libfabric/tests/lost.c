/* The last but one rank is killed; the others hear of it, revoke, shrink, and count themselves (ULFM). */

#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, left, error, class, sum = 0, one = 1;
    MPI_Comm others;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 2)
        kill(getpid(), SIGKILL);
    error = MPI_Barrier(MPI_COMM_WORLD);
    MPI_Error_class(error, &class);
    if (class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_REVOKED)
        printf("rank %d: the barrier ended with class %d\n", rank, class);
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    MPIX_Comm_shrink(MPI_COMM_WORLD, &others);
    MPI_Comm_size(others, &left);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, others);
    printf("rank %d: %d of %d are left, and count %d\n", rank, left, size, sum);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
