/* Sessions alone, without MPI_Init: neither MPI_COMM_WORLD nor MPI_COMM_SELF is there. As many of them, one after the other, as the
   argument says. Needs MPI 4. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int is_so, const char *what)
{
    if (!is_so) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void work(MPI_Comm comm, int rank, int size)
{
    static char out[300000], in[300000];
    int to = (rank + 1) % size, from = (rank + size - 1) % size, all[64];
    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (char)(i * 7 + rank);
    MPI_Sendrecv(out, sizeof out, MPI_BYTE, to, 5, in, sizeof in, MPI_BYTE, from, 5, comm, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < sizeof in; i++)
        must(in[i] == (char)(i * 7 + from), "another byte");
    for (int i = 0; i < 20; i++) {
        int v = rank == i % size ? i : -1, sum = 0, top = 0;
        MPI_Barrier(comm);
        MPI_Bcast(&v, 1, MPI_INT, i % size, comm);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Reduce(&rank, &top, 1, MPI_INT, MPI_MAX, 0, comm);
        MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
        must(v == i && sum == size * (size - 1) / 2 && (rank > 0 || top == size - 1), "another result");
        for (int r = 0; r < size; r++)
            must(all[r] == r, "another rank's number");
    }
}

int main(int argc, char **argv)
{
    int rank = 0, size = 0, initialized, rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int round = 0; round < rounds; round++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        char name[32];
        must(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS, "no session");
        must(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS, "no group");
        snprintf(name, sizeof name, "round-%d", round);
        must(MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS, "no communicator");
        MPI_Initialized(&initialized);
        must(!initialized, "a world");
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        work(comm, rank, size);
        MPI_Comm_free(&comm);
        MPI_Group_free(&group);
        must(MPI_Session_finalize(&session) == MPI_SUCCESS, "a session that does not end");
    }
    if (rank == 0)
        printf("%d ranks have had %d sessions\n", size, rounds);
    return 0;
}
