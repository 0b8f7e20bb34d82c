/* Four threads in each rank, each with collectives on a communicator of its own, made while others are used. */

#include "check.h"
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 100 };

static int ranks;
static MPI_Comm comms[THREADS];

static void *together(void *argument)
{
    int number = *(int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        int word = rank == round % ranks ? round * 10 + number : -1, sum;
        MPI_Bcast(&word, 1, MPI_INT, round % ranks, comms[number]);
        CHECK(word == round * 10 + number);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comms[number]);
        CHECK(sum == ranks * (ranks - 1) / 2);
        if (round % 20 == number) {
            /* Threads of a rank agree about new communicators in any order. */
            MPI_Comm another;
            MPI_Comm_dup(comms[number], &another);
            MPI_Barrier(another);
            MPI_Comm_free(&another);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int given, numbers[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(given == MPI_THREAD_MULTIPLE);
    for (int number = 0; number < THREADS; number++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[number]);
    for (int number = 0; number < THREADS; number++) {
        numbers[number] = number;
        CHECK(pthread_create(&threads[number], NULL, together, &numbers[number]) == 0);
    }
    for (int number = 0; number < THREADS; number++)
        pthread_join(threads[number], NULL);
    for (int number = 0; number < THREADS; number++)
        MPI_Comm_free(&comms[number]);
    if (rank == 0)
        printf("%d threads have done all together\n", THREADS);
    MPI_Finalize();
    return 0;
}
