/* A rank starts a child and talks with it, if it is let to. */

#include <mpi.h>
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm parent, both;
    int number = 41;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        CHECK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &both, MPI_ERRCODES_IGNORE) == MPI_SUCCESS);
        MPI_Send(&number, 1, MPI_INT, 0, 1, both);
        MPI_Recv(&number, 1, MPI_INT, 0, 2, both, MPI_STATUS_IGNORE);
        CHECK(number == 42);
        puts("a child has answered");
        MPI_Comm_disconnect(&both);
    } else {
        MPI_Recv(&number, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
        number++;
        MPI_Send(&number, 1, MPI_INT, 0, 2, parent);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return 0;
}
