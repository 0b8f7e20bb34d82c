/* Plain MPI on two ranks: very many messages that nobody has asked for, and very many receives that nobody has sent to. */

#include "check.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MESSAGES = 200000, WORDS = 128, LAST = MESSAGES, BOUND = 120 << 20 };

static int words[MESSAGES][WORDS];
static MPI_Request requests[MESSAGES];

/* What of this process is in memory, in bytes. */
static long resident(void)
{
    long all, there;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld", &all, &there) == 2);
    fclose(file);
    return there * sysconf(_SC_PAGESIZE);
}

/* A permutation of the messages: the factor is a prime that does not divide their number. */
static int shuffled(int place)
{
    return (int)((long)place * 7919 % MESSAGES);
}

static void fill(void)
{
    for (int message = 0; message < MESSAGES; message++)
        for (int place = 0; place < WORDS; place++)
            words[message][place] = rank == 0 ? -1 : message ^ place;
}

static void check(void)
{
    for (int message = 0; message < MESSAGES; message++)
        for (int place = 0; place < WORDS; place++)
            CHECK(words[message][place] == (message ^ place));
}

/* Messages are 512 bytes each, and what is kept of them while nobody wants them is bounded. */
static void unexpected(void)
{
    int word = 0;
    if (rank == 1) {
        for (int message = 0; message < MESSAGES; message++)
            MPI_Isend(words[message], WORDS, MPI_INT, 0, message, MPI_COMM_WORLD, &requests[message]);
        MPI_Send(&word, 1, MPI_INT, 0, LAST, MPI_COMM_WORLD);
        MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
        return;
    }
    long before = resident();
    MPI_Recv(&word, 1, MPI_INT, 1, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(resident() - before < BOUND);
    /* Those from somebody and those from anybody in turn. */
    for (int place = 0; place < MESSAGES; place++) {
        int message = shuffled(place), source = place % 2 == 0 ? 1 : MPI_ANY_SOURCE;
        MPI_Recv(words[message], WORDS, MPI_INT, source, message, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    check();
}

static void posted(void)
{
    if (rank == 0)
        for (int message = 0; message < MESSAGES; message++)
            MPI_Irecv(words[message], WORDS, MPI_INT, message % 2 == 0 ? 1 : MPI_ANY_SOURCE, message,
                      MPI_COMM_WORLD, &requests[message]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        for (int place = 0; place < MESSAGES; place++) {
            int message = shuffled(place);
            MPI_Send(words[message], WORDS, MPI_INT, 0, message, MPI_COMM_WORLD);
        }
    } else {
        MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
        check();
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fill();
    unexpected();
    fill();
    MPI_Barrier(MPI_COMM_WORLD);
    posted();
    if (rank == 0)
        printf("%d messages have found their receives, twice\n", MESSAGES);
    MPI_Finalize();
    return 0;
}
