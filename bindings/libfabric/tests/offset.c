/* Elements in one piece that begin behind their address, in every call that sends: other ranks have to get those, and not what
   lies where the buffer begins. Below its pml cm, Open MPI 4.1 takes the wrong ones for persistent sends and in all-to-all of
   several kinds (open-mpi/ompi#11751). */

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"

enum { COUNT = 8, BEHIND = 4, ROOM = 64, MOST = 8, DIMENSIONS = 6 };

static int size, to, from;
static int buffer[ROOM], got[ROOM];
static MPI_Datatype behind;

static void fill(void)
{
    for (int i = 0; i < ROOM; i++) {
        buffer[i] = 1000 * rank + i;
        got[i] = -1;
    }
}

static void check(const char *call, int sender, const int *ints)
{
    for (int i = 0; i < COUNT; i++)
        if (ints[i] != 1000 * sender + BEHIND + i) {
            fprintf(stderr, "%s: rank %d has %d of rank %d, in place of %d\n", call, rank, ints[i], sender, 1000 * sender + BEHIND + i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

/* A call that sends the elements to the next rank, beside a receive of the ints. */
#define SENDS(name, ...)                                                               \
    do {                                                                               \
        MPI_Request request, receive;                                                  \
        fill();                                                                        \
        MPI_Irecv(got, COUNT, MPI_INT, from, 1, MPI_COMM_WORLD, &receive);             \
        MPI_Barrier(MPI_COMM_WORLD);                                                   \
        __VA_ARGS__;                                                                   \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                         \
        MPI_Wait(&receive, MPI_STATUS_IGNORE);                                         \
        if (request != MPI_REQUEST_NULL)                                               \
            MPI_Request_free(&request);                                                \
        check(name, from, got);                                                        \
    } while (0)

#define ARGUMENTS buffer, 1, behind, to, 1, MPI_COMM_WORLD, &request

static void sends(void)
{
    SENDS("MPI_Isend", MPI_Isend(ARGUMENTS));
    SENDS("MPI_Issend", MPI_Issend(ARGUMENTS));
    SENDS("MPI_Send_init", MPI_Send_init(ARGUMENTS); MPI_Start(&request));
    SENDS("MPI_Ssend_init", MPI_Ssend_init(ARGUMENTS); MPI_Start(&request));
    SENDS("MPI_Rsend_init", MPI_Rsend_init(ARGUMENTS); MPI_Start(&request));
    /* Addresses that begin nowhere. */
    MPI_Aint address;
    MPI_Datatype there;
    int count = COUNT;
    MPI_Get_address(buffer + BEHIND, &address);
    MPI_Type_create_hindexed(1, &count, &address, MPI_INT, &there);
    MPI_Type_commit(&there);
    SENDS("MPI_Send_init of MPI_BOTTOM", MPI_Send_init(MPI_BOTTOM, 1, there, to, 1, MPI_COMM_WORLD, &request); MPI_Start(&request));
    MPI_Type_free(&there);
}

/* A call in which all send the same elements to all. */
#define EXCHANGES(name, call)                            \
    do {                                                 \
        fill();                                          \
        memset(all, -1, sizeof(int) * COUNT * size);     \
        call;                                            \
        for (int sender = 0; sender < size; sender++)    \
            check(name, sender, all + sender * COUNT);   \
    } while (0)

/* A topology may give a rank more neighbours than there are ranks: behind the types that there are lies none. */
static void neighbours(void)
{
    int all[ROOM], ones[MOST], zeros[MOST], counts[MOST], bytes[MOST];
    int sides[DIMENSIONS], is_round[DIMENSIONS], itself[2 * DIMENSIONS], ends[MOST], edges[MOST * 2 * DIMENSIONS];
    int degree = 2 * DIMENSIONS;
    MPI_Datatype types[2 * MOST * DIMENSIONS], ints_types[2 * MOST * DIMENSIONS];
    MPI_Comm worlds[3];
    for (int i = 0; i < size * degree; i++) {
        types[i] = i < size ? behind : (MPI_Datatype)(uintptr_t)1;
        ints_types[i] = i < size ? MPI_INT : (MPI_Datatype)(uintptr_t)1;
        edges[i] = i / degree;
    }
    for (int i = 0; i < size; i++) {
        ones[i] = 1;
        zeros[i] = 0;
        counts[i] = COUNT;
        bytes[i] = (int)sizeof(int) * i * COUNT;
        ends[i] = degree * (i + 1);
    }
    for (int i = 0; i < degree; i++)
        itself[i] = rank;
    for (int i = 0; i < DIMENSIONS; i++) {
        sides[i] = i == 0 ? size : 1;
        is_round[i] = 0;
    }
    MPI_Cart_create(MPI_COMM_WORLD, DIMENSIONS, sides, is_round, 0, &worlds[0]);
    MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &worlds[1]);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, itself, itself, degree, itself, itself, MPI_INFO_NULL, 0,
                                   &worlds[2]);
    for (int i = 0; i < 3; i++) {
        EXCHANGES("MPI_Alltoallw among neighbours",
                  MPI_Alltoallw(buffer, ones, zeros, types, all, counts, bytes, ints_types, worlds[i]));
        MPI_Comm_free(&worlds[i]);
    }
}

static void exchanges(void)
{
    int *all = malloc(sizeof(int) * COUNT * size), *ones = malloc(sizeof(int) * size), *zeros = calloc(size, sizeof(int));
    int *counts = malloc(sizeof(int) * size), *ints = malloc(sizeof(int) * size), *bytes = malloc(sizeof(int) * size);
    MPI_Datatype *types = malloc(sizeof *types * size), *ints_types = malloc(sizeof *types * size), same;
    for (int i = 0; i < size; i++) {
        ones[i] = 1;
        counts[i] = COUNT;
        ints[i] = i * COUNT;
        bytes[i] = (int)sizeof(int) * ints[i];
        types[i] = behind;
        ints_types[i] = MPI_INT;
    }
    EXCHANGES("MPI_Alltoallv", MPI_Alltoallv(buffer, ones, zeros, behind, all, counts, ints, MPI_INT, MPI_COMM_WORLD));
    EXCHANGES("MPI_Alltoallw", MPI_Alltoallw(buffer, ones, zeros, types, all, counts, bytes, ints_types, MPI_COMM_WORLD));
    /* The same element for all, as the next one lies no further. */
    MPI_Type_create_resized(behind, 0, 0, &same);
    MPI_Type_commit(&same);
    EXCHANGES("MPI_Alltoall", MPI_Alltoall(buffer, 1, same, all, COUNT, MPI_INT, MPI_COMM_WORLD));
    MPI_Type_free(&same);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, all, counts, bytes, ints_types, MPI_COMM_WORLD);
    free(all), free(ones), free(zeros), free(counts), free(ints), free(bytes), free(types), free(ints_types);
}

int main(int argc, char **argv)
{
    MPI_Aint at = BEHIND * sizeof(int);
    int count = COUNT;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    MPI_Type_create_hindexed(1, &count, &at, MPI_INT, &behind);
    MPI_Type_commit(&behind);
    sends();
    exchanges();
    neighbours();
    MPI_Type_free(&behind);
    MPI_Finalize();
    if (rank == 0)
        printf("%d ranks have sent what lies behind\n", size);
    return 0;
}
