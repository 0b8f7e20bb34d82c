/* What `weft compare` runs under an MPI: the same three loops as bench/src/micro/pair, between two ranks.
 *
 *   pair ROUNDS          prints, from rank 0, a line for each figure:
 *   latency    nanoseconds one way of 8 bytes
 *   rate       messages of 64 bytes a second
 *   bandwidth  bytes a second in messages of 1 MiB
 * each followed by its median and the processor time of both ranks in nanoseconds a message.
 *
 * Rank i runs on core i. Sends are non-blocking, 64 at a time (8 large ones), receives are posted before
 * they are waited for: what MPI programs do that want to be fast. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LATENCY_BYTES = 8, RATE_BYTES = 64, BANDWIDTH_BYTES = 1 << 20 };
enum { LATENCY_TRIPS = 100, RATE_MESSAGES = 4096, BANDWIDTH_MESSAGES = 8 };
enum { WINDOW = 64 };

static int rank;
static char *buffer;

static void ping_pong(int bytes, int trips)
{
    for (int trip = 0; trip < trips; trip++) {
        if (rank == 0) {
            MPI_Send(buffer, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(buffer, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
    }
}

/* So many messages from rank 0 to rank 1, and one back when the last is there. */
static void stream(int bytes, int messages)
{
    MPI_Request requests[WINDOW];
    for (int first = 0; first < messages; first += WINDOW) {
        int many = messages - first < WINDOW ? messages - first : WINDOW;
        for (int i = 0; i < many; i++) {
            char *place = buffer + (size_t)i * bytes;
            if (rank == 0)
                MPI_Isend(place, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Irecv(place, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    }
    if (rank == 0)
        MPI_Recv(buffer, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(buffer, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
}

static double processor_time(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Measures one thing `rounds` times and prints it. A figure is `factor` times the seconds of a round, or
 * `factor` in that time. */
static void measure(const char *name, void (*round)(int, int), int bytes, int count, int rounds, double factor,
                    int is_rate, int messages)
{
    double *samples = malloc(rounds * sizeof *samples);
    if (!samples)
        MPI_Abort(MPI_COMM_WORLD, 1);
    round(bytes, count);
    double before = processor_time();
    for (int i = 0; i < rounds; i++) {
        double start = MPI_Wtime();
        round(bytes, count);
        double took = MPI_Wtime() - start;
        samples[i] = is_rate ? factor / took : factor * took;
    }
    double used = processor_time() - before, all = 0;
    MPI_Reduce(&used, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    qsort(samples, rounds, sizeof *samples, ascending);
    if (rank == 0) {
        printf("%s %.3f %.3f\n", name, samples[rounds / 2], all * 1e9 / ((double)rounds * messages));
        fflush(stdout);
    }
    free(samples);
}

int main(int argc, char **argv)
{
    int size, rounds = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    buffer = calloc(WINDOW, BANDWIDTH_BYTES);
    if (size != 2 || rounds < 1 || !buffer) {
        fprintf(stderr, "pair: two ranks and a number of rounds, please\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    cpu_set_t core;
    CPU_ZERO(&core);
    CPU_SET(rank % sysconf(_SC_NPROCESSORS_ONLN), &core);
    sched_setaffinity(0, sizeof core, &core);
    memset(buffer, 7, (size_t)WINDOW * BANDWIDTH_BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    measure("latency", ping_pong, LATENCY_BYTES, LATENCY_TRIPS, rounds, 1e9 / (2 * LATENCY_TRIPS), 0,
            2 * LATENCY_TRIPS);
    measure("rate", stream, RATE_BYTES, RATE_MESSAGES, rounds, RATE_MESSAGES, 1, RATE_MESSAGES);
    measure("bandwidth", stream, BANDWIDTH_BYTES, BANDWIDTH_MESSAGES, rounds,
            (double)BANDWIDTH_MESSAGES * BANDWIDTH_BYTES, 1, BANDWIDTH_MESSAGES);
    MPI_Finalize();
    free(buffer);
    return 0;
}
