/* Plain MPI with four threads in each of two ranks, all of them sending and receiving. */

#include "check.h"
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 200, WORDS = 30000 };

static void *exchange(void *argument)
{
    int number = *(int *)argument, other = 1 - rank;
    static _Thread_local int out[WORDS], in[WORDS];
    for (int round = 0; round < ROUNDS; round++) {
        /* Short ones, and long ones now and then. */
        int words = round % 20 == 0 ? WORDS : round % 50;
        for (int place = 0; place < words; place++)
            out[place] = place + 1000 * number + round + rank;
        memset(in, -1, sizeof in);
        MPI_Sendrecv(out, words, MPI_INT, other, number, in, WORDS, MPI_INT, other, number,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int place = 0; place < words; place++)
            CHECK(in[place] == place + 1000 * number + round + other);
        CHECK(words == WORDS || in[words] == -1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int given, numbers[THREADS];
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(given == MPI_THREAD_MULTIPLE);
    for (int number = 0; number < THREADS; number++) {
        numbers[number] = number;
        CHECK(pthread_create(&threads[number], NULL, exchange, &numbers[number]) == 0);
    }
    for (int number = 0; number < THREADS; number++)
        pthread_join(threads[number], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d threads have had all their messages\n", THREADS);
    MPI_Finalize();
    return 0;
}
