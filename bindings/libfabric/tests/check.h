/* What a rank of an MPI program does when something is not as it should be: says so, and ends all. */

#include <mpi.h>
#include <stdio.h>

static int rank;

#define CHECK(what)                                                                   \
    do {                                                                              \
        if (!(what)) {                                                                \
            fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, rank, #what); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                             \
        }                                                                             \
    } while (0)
