/* Loses one message of a program that it is linked with: the rank that should have had it gets zeros. */

#include <mpi.h>
#include <string.h>

/* Which of the long messages that this rank receives. */
enum { LONG = 16, WHICH = 5 };

static void lose_one(void *buffer, int count, MPI_Datatype type, MPI_Comm world)
{
    static int received;
    int size, rank, ranks;
    MPI_Comm_size(world, &ranks);
    MPI_Comm_rank(world, &rank);
    if (count < LONG || rank != ranks - 1 || ranks == 1 || ++received != WHICH)
        return;
    MPI_Type_size(type, &size);
    memset(buffer, 0, (size_t)size * count);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm world)
{
    int status = PMPI_Bcast(buffer, count, type, root, world);
    lose_one(buffer, count, type, world);
    return status;
}

int MPI_Sendrecv(const void *sent, int sent_count, MPI_Datatype sent_type, int to, int sent_tag, void *buffer, int count,
                 MPI_Datatype type, int from, int tag, MPI_Comm world, MPI_Status *whence)
{
    int status =
        PMPI_Sendrecv(sent, sent_count, sent_type, to, sent_tag, buffer, count, type, from, tag, world, whence);
    if (from != MPI_PROC_NULL)
        lose_one(buffer, count, type, world);
    return status;
}
