/* Plain MPI on two ranks: messages of 2 GiB, one byte less, and more. */

#include "check.h"
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 1 << 28, MORE = WORDS + 1000 };

static double word(long place, int turn)
{
    return (double)(place * 3 + turn);
}

static void send(double *words, long count, MPI_Datatype type, int turn)
{
    for (long place = 0; place < MORE; place++)
        words[place] = word(place, turn);
    MPI_Send(words, (int)count, type, 0, turn, MPI_COMM_WORLD);
}

/* So many bytes have come, and nothing behind them has changed. */
static void receive(double *words, long count, MPI_Datatype type, long bytes, int turn)
{
    MPI_Status status;
    MPI_Count elements;
    for (long place = 0; place < MORE; place++)
        words[place] = -1;
    MPI_Recv(words, (int)count, type, 1, turn, MPI_COMM_WORLD, &status);
    MPI_Get_elements_x(&status, type, &elements);
    CHECK(elements == count);
    long whole = bytes / (long)sizeof *words;
    for (long place = 0; place < whole; place++)
        CHECK(words[place] == word(place, turn));
    for (long place = whole + (bytes % (long)sizeof *words != 0); place < MORE; place++)
        CHECK(words[place] == -1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *words = malloc(MORE * sizeof *words);
    CHECK(words);
    struct {
        long count, size;
        MPI_Datatype type;
    } messages[] = {
        {INT_MAX, 1, MPI_CHAR},
        {WORDS, sizeof *words, MPI_DOUBLE},
        {MORE, sizeof *words, MPI_DOUBLE},
    };
    for (int turn = 0; turn < 3; turn++) {
        long count = messages[turn].count;
        if (rank == 1)
            send(words, count, messages[turn].type, turn);
        else
            receive(words, count, messages[turn].type, count * messages[turn].size, turn);
    }
    free(words);
    if (rank == 0)
        printf("messages of 2 GiB have come\n");
    MPI_Finalize();
    return 0;
}
