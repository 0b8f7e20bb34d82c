/* Plain MPI, on any number of ranks: what programs do with point-to-point messages and a few collectives. */

#include "check.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 8 << 20, FLOOD = 20000 };

static int ranks;

static void ring(void)
{
    int token = 0, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    for (int round = 0; round < 100; round++) {
        if (rank == 0) {
            token++;
            MPI_Send(&token, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token++;
            MPI_Send(&token, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
        }
    }
    if (rank == 0)
        CHECK(token == 100 * ranks);
}

static void both_ways(void)
{
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    char *out = malloc(LARGE), *in = malloc(LARGE);
    for (int length = 1; length <= LARGE; length *= 4) {
        MPI_Status status;
        int count;
        memset(out, rank + length % 101, length);
        memset(in, -1, length);
        MPI_Sendrecv(out, length, MPI_CHAR, right, 7, in, length, MPI_CHAR, left, 7,
                     MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        CHECK(count == length && status.MPI_SOURCE == left);
        CHECK(in[0] == (char)(left + length % 101) && in[length - 1] == in[0]);
    }
    /* The largest again, without any order between ranks. */
    MPI_Request requests[2];
    MPI_Isend(out, LARGE, MPI_CHAR, left, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in, LARGE, MPI_CHAR, right, 8, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    free(out);
    free(in);
}

static void wildcards(void)
{
    if (rank != 0) {
        for (int number = 0; number < 50; number++)
            MPI_Send(&number, 1, MPI_INT, 0, 100 + number % 5, MPI_COMM_WORLD);
        return;
    }
    int *next = calloc(ranks, sizeof *next);
    for (int left = 50 * (ranks - 1); left > 0; left--) {
        MPI_Status status;
        int number;
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        CHECK(number == next[status.MPI_SOURCE]++);
        CHECK(status.MPI_TAG == 100 + number % 5);
    }
    free(next);
}

/* A message longer than its receive, short and long, is an error of that receive and of nothing else. */
static void truncation(void)
{
    static int words[300000];
    int other = rank ^ 1;
    if (other >= ranks)
        return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int length = 10; length <= 300000; length *= 30000) {
        for (int place = 0; place < length; place++)
            words[place] = rank % 2 == 0 ? place : -1;
        if (rank % 2 == 0) {
            MPI_Send(words, length, MPI_INT, other, 3, MPI_COMM_WORLD);
            MPI_Send(words, 1, MPI_INT, other, 3, MPI_COMM_WORLD);
        } else {
            int class, half = length / 2;
            int outcome = MPI_Recv(words, half, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Error_class(outcome, &class);
            CHECK(class == MPI_ERR_TRUNCATE);
            CHECK(words[half] == -1);
            CHECK(MPI_Recv(words, 5, MPI_INT, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
            CHECK(words[0] == 0);
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void probes(void)
{
    int other = rank ^ 1, words[1000], count, there;
    MPI_Status status;
    MPI_Message message;
    if (other >= ranks)
        return;
    for (int length = 10; length <= 1000; length += 990) {
        if (rank % 2 == 0) {
            for (int place = 0; place < length; place++)
                words[place] = place + length;
            MPI_Ssend(words, length, MPI_INT, other, 4, MPI_COMM_WORLD);
            MPI_Send(words, length, MPI_INT, other, 5, MPI_COMM_WORLD);
            continue;
        }
        MPI_Iprobe(other, 77, MPI_COMM_WORLD, &there, &status);
        CHECK(!there);
        MPI_Probe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == length && status.MPI_SOURCE == other);
        MPI_Recv(words, count, MPI_INT, other, 4, MPI_COMM_WORLD, &status);
        CHECK(words[count - 1] == count - 1 + length);
        MPI_Mprobe(other, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
        CHECK(status.MPI_TAG == 5);
        memset(words, 0, sizeof words);
        MPI_Mrecv(words, length, MPI_INT, &message, &status);
        CHECK(words[length - 1] == length - 1 + length);
    }
}

/* A receive that was taken back gets nothing; the next one does. */
static void cancelled(void)
{
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Request request;
    MPI_Status status;
    int word = -1, next = -1, is_cancelled;
    MPI_Irecv(&word, 1, MPI_INT, left, 55, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    CHECK(is_cancelled);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 55, &next, 1, MPI_INT, left, 55, MPI_COMM_WORLD, &status);
    CHECK(word == -1 && next == left);
}

/* Rank 0 sends much that nobody has asked for, and all meet before it is received. */
static void flood(void)
{
    int word;
    if (rank == 0 && ranks > 1)
        for (word = 0; word < FLOOD; word++)
            MPI_Send(&word, 1, MPI_INT, 1, word % 2, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        for (int tag = 1; tag >= 0; tag--)
            for (int expected = tag; expected < FLOOD; expected += 2) {
                MPI_Recv(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                CHECK(word == expected);
            }
}

static void together(void)
{
    long sum, one = rank + 1;
    MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == (long)ranks * (ranks + 1) / 2);
    int *out = malloc(ranks * 1000 * sizeof *out), *in = malloc(ranks * 1000 * sizeof *in);
    for (int place = 0; place < ranks * 1000; place++)
        out[place] = rank * 1000000 + place;
    MPI_Alltoall(out, 1000, MPI_INT, in, 1000, MPI_INT, MPI_COMM_WORLD);
    for (int from = 0; from < ranks; from++)
        CHECK(in[from * 1000 + 999] == from * 1000000 + rank * 1000 + 999);
    for (int root = 0; root < ranks; root++) {
        MPI_Bcast(out, ranks * 1000, MPI_INT, root, MPI_COMM_WORLD);
        if (root < ranks - 1 && rank == root + 1)
            for (int place = 0; place < ranks * 1000; place++)
                out[place] = rank * 1000000 + place;
    }
    free(out);
    free(in);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    int members, total;
    MPI_Comm_size(half, &members);
    MPI_Allreduce(&(int){1}, &total, 1, MPI_INT, MPI_SUM, half);
    CHECK(total == members);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    ring();
    both_ways();
    wildcards();
    MPI_Barrier(MPI_COMM_WORLD);
    truncation();
    probes();
    cancelled();
    flood();
    together();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks have had all their messages\n", ranks);
    MPI_Finalize();
    return 0;
}
