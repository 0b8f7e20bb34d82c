/* Collectives of plain MPI, timed. Prints one line for each: its name, its size in bytes, and nanoseconds: the median of the samples.

   barrier, allreduce: many in a row, divided by how many.
   relay: broadcasts in a row, each by the rank after the one before, so that none begins before the one before has reached its root.
   bcast: after a barrier, the mean of what the ranks spend in it. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { IN_A_ROW = 16, LARGEST = 1 << 20 };

static int rank, ranks, samples;
static char *buffer;

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

static void in_a_row(const char *name, int size)
{
    double values[samples];
    for (int sample = -2; sample < samples; sample++) {
        long word = rank, all;
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = now();
        for (int number = 0; number < IN_A_ROW; number++)
            if (strcmp(name, "barrier") == 0)
                MPI_Barrier(MPI_COMM_WORLD);
            else if (strcmp(name, "allreduce") == 0)
                MPI_Allreduce(&word, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
            else
                MPI_Bcast(buffer, size, MPI_BYTE, number % ranks, MPI_COMM_WORLD);
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
    buffer = calloc(1, LARGEST);
    if (samples < 1 || !buffer)
        MPI_Abort(MPI_COMM_WORLD, 1);
    in_a_row("barrier", 0);
    in_a_row("allreduce", 8);
    static const int sizes[] = {64, 1024, 16384, 65536, LARGEST};
    for (int at = 0; at < 5; at++) {
        in_a_row("relay", sizes[at]);
        one_by_one(sizes[at]);
    }
    MPI_Finalize();
    return 0;
}
