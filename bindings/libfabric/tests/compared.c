/* Collectives that libweft-coll.so serves, each beside what the MPI library itself makes of the same: types with gaps and without,
   none, one and many elements, in place or not, all roots, operations of the program's own whose order matters. With -DSTARTED those
   that do not block, each waited for at once. */

#include "check.h"
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef STARTED
static MPI_Request request;
#define ENDED(call) (call, MPI_Wait(&request, MPI_STATUS_IGNORE))
#define MPI_Allreduce(...) ENDED(MPI_Iallreduce(__VA_ARGS__, &request))
#define MPI_Scan(...) ENDED(MPI_Iscan(__VA_ARGS__, &request))
#define MPI_Exscan(...) ENDED(MPI_Iexscan(__VA_ARGS__, &request))
#define MPI_Reduce_scatter_block(...) ENDED(MPI_Ireduce_scatter_block(__VA_ARGS__, &request))
#define MPI_Reduce_scatter(...) ENDED(MPI_Ireduce_scatter(__VA_ARGS__, &request))
#define MPI_Gather(...) ENDED(MPI_Igather(__VA_ARGS__, &request))
#define MPI_Scatter(...) ENDED(MPI_Iscatter(__VA_ARGS__, &request))
#define MPI_Allgather(...) ENDED(MPI_Iallgather(__VA_ARGS__, &request))
#define MPI_Alltoall(...) ENDED(MPI_Ialltoall(__VA_ARGS__, &request))
#define MPI_Gatherv(...) ENDED(MPI_Igatherv(__VA_ARGS__, &request))
#define MPI_Scatterv(...) ENDED(MPI_Iscatterv(__VA_ARGS__, &request))
#define MPI_Allgatherv(...) ENDED(MPI_Iallgatherv(__VA_ARGS__, &request))
#define MPI_Alltoallv(...) ENDED(MPI_Ialltoallv(__VA_ARGS__, &request))
#endif

enum { ROOM = 1 << 20, MEMBERS = 16 };

static const int counts[] = {0, 1, 3, 100, 2000, 25000};
/* All of them, or the first few if the ranks are told to be quick: with a network between them. */
static int numbers = sizeof counts / sizeof *counts;

static MPI_Comm comm;
static int me, ranks;
/* What a rank gives, and what it gets of either. */
static unsigned char *given, *ours, *theirs;

static void fill(void)
{
    static unsigned salt;
    salt++;
    for (int at = 0; at < ROOM / 4; at++) {
        /* Small whole numbers are added in any order, as floats and doubles, too. */
        ((int32_t *)given)[at] = (int32_t)((unsigned)at * 7 + (unsigned)me * 31 + salt) % 1000;
    }
    memset(ours, 0x5a, ROOM);
    memset(theirs, 0x5a, ROOM);
}

static void fill_doubles(void)
{
    fill();
    for (int at = 0; at < ROOM / 8; at++)
        ((double *)given)[at] = (at * 3 + me * 5) % 100;
}

/* In place both begin with what this rank gives. */
static void put_in_place(int in_place)
{
    if (in_place) {
        memcpy(ours, given, ROOM);
        memcpy(theirs, given, ROOM);
    }
}

static void same(const char *what, int count, int root)
{
    for (int at = 0; at < ROOM; at++)
        if (ours[at] != theirs[at]) {
            fprintf(stderr, "rank %d of %d: %s of %d, root %d: byte %d is %d and not %d\n", me, ranks, what, count, root, at,
                    ours[at], theirs[at]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

static MPI_Datatype gaps, backwards, pair;
static MPI_Op chained;

/* x -> a x + b, one after the other: associative, and does not commute. */
static void chain(void *before, void *after, int *count, MPI_Datatype *type)
{
    uint32_t *one = before, *two = after;
    (void)type;
    for (int at = 0; at < 2 * *count; at += 2) {
        two[at + 1] += two[at] * one[at + 1];
        two[at] *= one[at];
    }
}

static void make_types(void)
{
    MPI_Datatype column;
    MPI_Type_vector(3, 1, 2, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, 7 * sizeof(int), &gaps);
    MPI_Type_commit(&gaps);
    MPI_Type_free(&column);
    int lengths[2] = {2, 1}, places[2] = {2, 0};
    MPI_Type_indexed(2, lengths, places, MPI_INT, &backwards);
    MPI_Type_commit(&backwards);
    MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(chain, 0, &chained);
}

/* One side gives the elements as one type, and the other takes them as another of the same signature. */
static void blocks(MPI_Datatype type, int per_element, int in_place)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    for (int at = 0; at < numbers; at++) {
        int count = counts[at];
        if ((size_t)extent * (size_t)count * (size_t)ranks > ROOM)
            continue;
        for (int root = 0; root < ranks; root++) {
            int is_in_place = in_place && me == root;
            fill();
            put_in_place(is_in_place);
            const void *mine = is_in_place ? MPI_IN_PLACE : given;
            MPI_Gather(mine, count * per_element, MPI_INT, ours, count, type, root, comm);
            PMPI_Gather(mine, count * per_element, MPI_INT, theirs, count, type, root, comm);
            same("gather", count, root);
            fill();
            MPI_Scatter(given, count, type, is_in_place ? MPI_IN_PLACE : ours, count * per_element, MPI_INT, root, comm);
            PMPI_Scatter(given, count, type, is_in_place ? MPI_IN_PLACE : theirs, count * per_element, MPI_INT, root, comm);
            same("scatter", count, root);
        }
        fill();
        put_in_place(in_place);
        const void *mine = in_place ? MPI_IN_PLACE : given;
        MPI_Alltoall(mine, count, type, ours, count, type, comm);
        PMPI_Alltoall(mine, count, type, theirs, count, type, comm);
        same("alltoall", count, -1);
        fill();
        put_in_place(in_place);
        MPI_Allgather(mine, count, type, ours, count, type, comm);
        PMPI_Allgather(mine, count, type, theirs, count, type, comm);
        same("allgather", count, -1);
    }
}

/* Lengths that differ from rank to rank, some of them 0, and places that go backwards. */
static void lengths_of(int count, int whose, int *lengths, int *places)
{
    int sum = 0;
    for (int rank = ranks - 1; rank >= 0; rank--) {
        lengths[rank] = (rank + whose) % 3 * count / 2;
        places[rank] = sum;
        sum += lengths[rank] + 1;
    }
}

static void varied(MPI_Datatype type, int per_element, int in_place)
{
    MPI_Aint lower, extent;
    int lengths[MEMBERS], places[MEMBERS], into_lengths[MEMBERS], into_places[MEMBERS];
    MPI_Type_get_extent(type, &lower, &extent);
    for (int at = 0; at < numbers; at++) {
        int count = counts[at];
        if ((size_t)extent * (size_t)(count + 2) * (size_t)ranks > ROOM)
            continue;
        lengths_of(count, 1, lengths, places);
        int length = lengths[me] * per_element;
        for (int root = 0; root < ranks; root++) {
            int is_in_place = in_place && me == root;
            fill();
            put_in_place(is_in_place);
            const void *mine = is_in_place ? MPI_IN_PLACE : given;
            MPI_Gatherv(mine, length, MPI_INT, ours, lengths, places, type, root, comm);
            PMPI_Gatherv(mine, length, MPI_INT, theirs, lengths, places, type, root, comm);
            same("gatherv", count, root);
            fill();
            MPI_Scatterv(given, lengths, places, type, is_in_place ? MPI_IN_PLACE : ours, length, MPI_INT, root, comm);
            PMPI_Scatterv(given, lengths, places, type, is_in_place ? MPI_IN_PLACE : theirs, length, MPI_INT, root, comm);
            same("scatterv", count, root);
        }
        fill();
        put_in_place(in_place);
        MPI_Allgatherv(in_place ? MPI_IN_PLACE : given, length, MPI_INT, ours, lengths, places, type, comm);
        PMPI_Allgatherv(in_place ? MPI_IN_PLACE : given, length, MPI_INT, theirs, lengths, places, type, comm);
        same("allgatherv", count, -1);
        /* Of two ranks both ways are as long. */
        lengths_of(count, me, lengths, places);
        lengths_of(count, me, into_lengths, into_places);
        fill();
        MPI_Alltoallv(given, lengths, places, type, ours, into_lengths, into_places, type, comm);
        PMPI_Alltoallv(given, lengths, places, type, theirs, into_lengths, into_places, type, comm);
        same("alltoallv", count, -1);
    }
}

static void reductions(MPI_Datatype type, MPI_Op op, void (*prepare)(void), int in_place)
{
    MPI_Aint lower, extent;
    int each[MEMBERS];
    MPI_Type_get_extent(type, &lower, &extent);
    const void *mine = in_place ? MPI_IN_PLACE : given;
    for (int at = 0; at < numbers; at++) {
        int count = counts[at];
        if ((size_t)extent * (size_t)count * (size_t)ranks > ROOM)
            continue;
#define BOTH(name, ...)                                                                                      \
    do {                                                                                                     \
        prepare();                                                                                           \
        put_in_place(in_place);                                                                              \
        MPI_##name(mine, ours, __VA_ARGS__);                                                                 \
        PMPI_##name(mine, theirs, __VA_ARGS__);                                                              \
    } while (0)
        BOTH(Scan, count, type, op, comm);
        same("scan", count, -1);
        BOTH(Exscan, count, type, op, comm);
        /* What rank 0 has is undefined. */
        if (me > 0)
            same("exscan", count, -1);
        size_t got = (size_t)count * (size_t)extent;
        BOTH(Reduce_scatter_block, count, type, op, comm);
        CHECK(memcmp(ours, theirs, got) == 0);
        for (int rank = 0; rank < ranks; rank++)
            each[rank] = count;
        BOTH(Reduce_scatter, each, type, op, comm);
        CHECK(memcmp(ours, theirs, got) == 0);
        /* Of lengths that differ it is the MPI library's. */
        each[0] = 0;
        BOTH(Reduce_scatter, each, type, op, comm);
        CHECK(memcmp(ours, theirs, me ? got : 0) == 0);
        BOTH(Allreduce, count, type, op, comm);
        CHECK(memcmp(ours, theirs, got) == 0);
    }
}

static void all_of(MPI_Comm which)
{
    comm = which;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &ranks);
    /* Those that do not block are served if a blocking one was. */
    MPI_Barrier(comm);
    for (int in_place = 0; in_place < 2; in_place++) {
        blocks(MPI_INT, 1, in_place);
        blocks(gaps, 3, in_place);
        blocks(backwards, 3, in_place);
        varied(MPI_INT, 1, in_place);
        varied(gaps, 3, in_place);
        reductions(MPI_INT, MPI_SUM, fill, in_place);
        reductions(MPI_UINT64_T, MPI_BXOR, fill, in_place);
        reductions(MPI_DOUBLE, MPI_SUM, fill_doubles, in_place);
        reductions(MPI_2INT, MPI_MAXLOC, fill, in_place);
        reductions(pair, chained, fill, in_place);
    }
}

/* Ranks that get ahead of their root, and calls that not all wait for. */
static void one_ahead(void)
{
    for (int round = 0; round < 300; round++) {
        int word = me + round, all[MEMBERS] = {0}, root = round % ranks;
        MPI_Gather(&word, 1, MPI_INT, all, 1, MPI_INT, root, comm);
        for (int rank = 0; me == root && rank < ranks; rank++)
            CHECK(all[rank] == rank + round);
        MPI_Scatter(all, 1, MPI_INT, &word, 1, MPI_INT, root, comm);
        CHECK(word == me + round);
    }
}

int main(int argc, char **argv)
{
    int size;
    MPI_Comm reverse;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MEMBERS);
    given = malloc(ROOM);
    ours = malloc(ROOM);
    theirs = malloc(ROOM);
    CHECK(given && ours && theirs);
    if (argc > 1 && strcmp(argv[1], "quick") == 0)
        numbers = 4;
    make_types();
    all_of(MPI_COMM_WORLD);
    one_ahead();
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
    comm = reverse;
    MPI_Comm_rank(comm, &me);
    MPI_Barrier(comm);
    blocks(gaps, 3, 0);
    reductions(pair, chained, fill, 0);
    varied(MPI_INT, 1, 0);
    MPI_Comm_free(&reverse);
    MPI_Op_free(&chained);
    MPI_Type_free(&gaps);
    MPI_Type_free(&backwards);
    MPI_Type_free(&pair);
    if (rank == 0)
        printf("%d ranks have had the same of both\n", size);
    MPI_Finalize();
    return 0;
}
