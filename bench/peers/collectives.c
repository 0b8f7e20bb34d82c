/* Collectives of plain MPI, timed. Prints one line for each: its name, its size in bytes, and nanoseconds: the median of the samples.

   barrier, allreduce, and others but bcast: many in a row, divided by how many. Sizes are bytes that a rank gives to one, or gets from
   one; of reductions all that it gives. Those of varied lengths have equal ones. Roots take turns. What is timed on request is the
   slowest rank's.
   relay: broadcasts in a row, each by the rank after the one before, so that none begins before the one before has reached its root.
   bcast: after a barrier, the mean of what the ranks spend in it.
   ibarrier, ...: in a row, each waited for at once; those with -50us compute for as long between the start and the wait, which is in
   their time. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { IN_A_ROW = 16, LARGEST = 1 << 20, RANKS = 64, COMPUTED_NS = 50000 };

static int rank, ranks, samples;
static char *buffer, *other;
static int lengths[RANKS], places[RANKS];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static int by_value(const void *one, const void *two)
{
    double difference = *(const double *)one - *(const double *)two;
    return (difference > 0) - (difference < 0);
}

static void print(const char *name, int size, double *values)
{
    qsort(values, samples, sizeof *values, by_value);
    if (rank == 0)
        printf("%s %d %.0f\n", name, size, values[samples / 2]);
}

#define WORLD MPI_COMM_WORLD
#define SAME size, MPI_BYTE
#define NUMBERS size / 8, MPI_DOUBLE, MPI_SUM, WORLD

/* Every collective of a size, by this root if it has one. */
#define CALLS_OF(X)                                                                                          \
    X(barrier, MPI_Barrier(WORLD))                                                                           \
    X(relay, MPI_Bcast(buffer, SAME, root, WORLD))                                                           \
    X(reduce, MPI_Reduce(buffer, other, size / 8, MPI_DOUBLE, MPI_SUM, root, WORLD))                         \
    X(allreduce, MPI_Allreduce(buffer, other, NUMBERS))                                                      \
    X(scan, MPI_Scan(buffer, other, NUMBERS))                                                                \
    X(exscan, MPI_Exscan(buffer, other, NUMBERS))                                                            \
    X(reduce_scatter, MPI_Reduce_scatter_block(buffer, other, size / 8 / ranks, MPI_DOUBLE, MPI_SUM, WORLD)) \
    X(gather, MPI_Gather(buffer, SAME, other, SAME, root, WORLD))                                            \
    X(scatter, MPI_Scatter(buffer, SAME, other, SAME, root, WORLD))                                          \
    X(allgather, MPI_Allgather(buffer, SAME, other, SAME, WORLD))                                            \
    X(alltoall, MPI_Alltoall(buffer, SAME, other, SAME, WORLD))                                              \
    X(gatherv, MPI_Gatherv(buffer, SAME, other, lengths, places, MPI_BYTE, root, WORLD))                     \
    X(scatterv, MPI_Scatterv(buffer, lengths, places, MPI_BYTE, other, SAME, root, WORLD))                   \
    X(allgatherv, MPI_Allgatherv(buffer, SAME, other, lengths, places, MPI_BYTE, WORLD))                     \
    X(alltoallv, MPI_Alltoallv(buffer, lengths, places, MPI_BYTE, other, lengths, places, MPI_BYTE, WORLD))

#define FUNCTION(name, call)                                                                                 \
    static void name(int size, int root)                                                                     \
    {                                                                                                        \
        (void)size, (void)root;                                                                              \
        call;                                                                                                \
    }
CALLS_OF(FUNCTION)

/* Every collective that does not block, by this root if it has one. */
#define STARTED_OF(X)                                                                                        \
    X(ibarrier, MPI_Ibarrier(WORLD, &request))                                                               \
    X(ibcast, MPI_Ibcast(buffer, SAME, root, WORLD, &request))                                               \
    X(ireduce, MPI_Ireduce(buffer, other, size / 8, MPI_DOUBLE, MPI_SUM, root, WORLD, &request))             \
    X(iallreduce, MPI_Iallreduce(buffer, other, NUMBERS, &request))                                          \
    X(iscan, MPI_Iscan(buffer, other, NUMBERS, &request))                                                    \
    X(iexscan, MPI_Iexscan(buffer, other, NUMBERS, &request))                                                \
    X(ireduce_scatter, MPI_Ireduce_scatter_block(buffer, other, size / 8 / ranks, MPI_DOUBLE, MPI_SUM, WORLD, &request)) \
    X(igather, MPI_Igather(buffer, SAME, other, SAME, root, WORLD, &request))                                \
    X(iscatter, MPI_Iscatter(buffer, SAME, other, SAME, root, WORLD, &request))                              \
    X(iallgather, MPI_Iallgather(buffer, SAME, other, SAME, WORLD, &request))                                \
    X(ialltoall, MPI_Ialltoall(buffer, SAME, other, SAME, WORLD, &request))                                  \
    X(igatherv, MPI_Igatherv(buffer, SAME, other, lengths, places, MPI_BYTE, root, WORLD, &request))         \
    X(iscatterv, MPI_Iscatterv(buffer, lengths, places, MPI_BYTE, other, SAME, root, WORLD, &request))       \
    X(iallgatherv, MPI_Iallgatherv(buffer, SAME, other, lengths, places, MPI_BYTE, WORLD, &request))         \
    X(ialltoallv,                                                                                            \
      MPI_Ialltoallv(buffer, lengths, places, MPI_BYTE, other, lengths, places, MPI_BYTE, WORLD, &request))

/* Steps of a computation that take COMPUTED_NS on a core of its own. */
static long steps;

static void compute(void)
{
    for (volatile long step = 0; step < steps; step++)
        ;
}

static void find_steps(void)
{
    double least = 0;
    steps = 100000;
    for (int round = 0; round < 20; round++) {
        double begin = now();
        compute();
        double took = now() - begin;
        if (round == 0 || took < least)
            least = took;
    }
    steps = (long)(steps * COMPUTED_NS / least);
}

#define STARTED(name, call)                                                                                  \
    static void name(int size, int root)                                                                     \
    {                                                                                                        \
        MPI_Request request;                                                                                 \
        (void)size, (void)root;                                                                              \
        call;                                                                                                \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                               \
    }                                                                                                        \
    static void name##_computing(int size, int root)                                                         \
    {                                                                                                        \
        MPI_Request request;                                                                                 \
        (void)size, (void)root;                                                                              \
        call;                                                                                                \
        compute();                                                                                           \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                                               \
    }
STARTED_OF(STARTED)

static void print_slowest(const char *name, int size, double *values)
{
    double slowest[samples];
    MPI_Reduce(values, slowest, samples, MPI_DOUBLE, MPI_MAX, 0, WORLD);
    print(name, size, slowest);
}

static void in_a_row(const char *name, void (*call)(int, int), int size, void (*print)(const char *, int, double *))
{
    for (int rank = 0; rank < ranks; rank++) {
        lengths[rank] = size;
        places[rank] = rank * size;
    }
    double values[samples];
    for (int sample = -2; sample < samples; sample++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = now();
        for (int number = 0; number < IN_A_ROW; number++)
            call(size, number % ranks);
        if (sample >= 0)
            values[sample] = (now() - begin) / IN_A_ROW;
    }
    print(name, size, values);
}

static void one_by_one(int size)
{
    double mine[samples], values[samples];
    for (int sample = -2; sample < samples; sample++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = now();
        MPI_Bcast(buffer, size, MPI_BYTE, 0, MPI_COMM_WORLD);
        if (sample >= 0)
            mine[sample] = (now() - begin) / ranks;
    }
    MPI_Reduce(mine, values, samples, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    print("bcast", size, values);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    samples = argc > 1 ? atoi(argv[1]) : 101;
    buffer = calloc((size_t)ranks, LARGEST);
    other = calloc((size_t)ranks, LARGEST);
    if (samples < 1 || ranks > RANKS || !buffer || !other)
        MPI_Abort(MPI_COMM_WORLD, 1);
    in_a_row("barrier", barrier, 0, print);
    in_a_row("allreduce", allreduce, 8, print);
    static const int sizes[] = {64, 1024, 16384, 65536, LARGEST};
    for (int at = 0; at < 5; at++) {
        in_a_row("relay", relay, sizes[at], print);
        one_by_one(sizes[at]);
    }
    /* All, or one of them, on request: which are faster says which are served. */
#define ROW(name, call)                                                                                      \
    if (strcmp(argv[2], "all") == 0 || strcmp(argv[2], #name) == 0)                                          \
        in_a_row(#name, name, each[at], print_slowest);
    static const int each[] = {8, 64, 512, 4096, 32768, 131072};
    for (int at = 0; argc > 2 && at < 6; at++) {
        CALLS_OF(ROW)
    }
#define STARTED_ROW(name, call)                                                                              \
    if (strcmp(argv[2], "started") == 0 || strcmp(argv[2], #name) == 0) {                                    \
        in_a_row(#name, name, started[at], print_slowest);                                                   \
        in_a_row(#name "-50us", name##_computing, started[at], print_slowest);                               \
    }
    static const int started[] = {8, 64, 512, 8192, 131072};
    find_steps();
    for (int at = 0; argc > 2 && at < 5; at++) {
        STARTED_OF(STARTED_ROW)
    }
    MPI_Finalize();
    return 0;
}
