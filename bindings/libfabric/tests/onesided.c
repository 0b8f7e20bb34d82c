/* Plain MPI, on any number of ranks: one-sided communication, in all of its epochs. */

#include "check.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 20000, ROUNDS = 200 };

static int ranks, left, right;

/* The first word of each window counts, the others are where their writers say. */
static long *memory;
static MPI_Win window;

static long word_of(int writer, int place)
{
    return 1000000L * (writer + 1) + place;
}

static void fences(void)
{
    long *out = malloc(WORDS * sizeof *out), *in = malloc(WORDS * sizeof *in);
    for (int words = 1; words < WORDS; words *= 7) {
        for (int place = 0; place < words; place++)
            out[place] = word_of(rank, place + words);
        MPI_Win_fence(0, window);
        MPI_Put(out, words, MPI_LONG, right, 1, words, MPI_LONG, window);
        MPI_Win_fence(0, window);
        for (int place = 0; place < words; place++)
            CHECK(memory[1 + place] == word_of(left, place + words));
        memset(in, -1, words * sizeof *in);
        MPI_Get(in, words, MPI_LONG, left, 1, words, MPI_LONG, window);
        MPI_Win_fence(0, window);
        int two_left = (left + ranks - 1) % ranks;
        for (int place = 0; place < words; place++)
            CHECK(in[place] == word_of(two_left, place + words));
    }
    free(out);
    free(in);
}

/* Every second word. */
static void strided(void)
{
    MPI_Datatype every_second;
    MPI_Type_vector(100, 1, 2, MPI_LONG, &every_second);
    MPI_Type_commit(&every_second);
    long out[200];
    for (int place = 0; place < 200; place++)
        out[place] = word_of(rank, place);
    memset(memory, 0, 300 * sizeof *memory);
    MPI_Win_fence(0, window);
    MPI_Put(out, 1, every_second, right, 1, 1, every_second, window);
    MPI_Win_fence(0, window);
    for (int place = 0; place < 199; place++)
        CHECK(memory[1 + place] == (place % 2 == 0 ? word_of(left, place) : 0));
    MPI_Win_fence(0, window);
    MPI_Type_free(&every_second);
}

static void accumulate(void)
{
    double *sums = (double *)(memory + 1), mine[100];
    for (int place = 0; place < 100; place++) {
        mine[place] = rank + 1;
        sums[place] = 0.5;
    }
    MPI_Win_fence(0, window);
    for (int to = 0; to < ranks; to++)
        MPI_Accumulate(mine, 100, MPI_DOUBLE, to, 1, 100, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_fence(0, window);
    for (int place = 0; place < 100; place++)
        CHECK(sums[place] == 0.5 + ranks * (ranks + 1) / 2);
    MPI_Win_fence(0, window);
    int *bits = (int *)(memory + 1), one = 1 << rank, most = rank * 10;
    bits[0] = bits[1] = 0;
    MPI_Win_fence(0, window);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_BOR, window);
    MPI_Win_fence(0, window);
    CHECK(rank != 0 || bits[0] == (1 << ranks) - 1);
    MPI_Win_fence(0, window);
    MPI_Accumulate(&most, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_MAX, window);
    MPI_Win_fence(0, window);
    CHECK(rank != 0 || bits[0] == (ranks > 1 && (1 << ranks) - 1 < (ranks - 1) * 10 ? (ranks - 1) * 10 : (1 << ranks) - 1));
    MPI_Win_fence(0, window);
}

/* Everybody counts at rank 0, under a lock that all share; then each number was drawn once. */
static void counting(void)
{
    long one = 1, *drawn = malloc(ROUNDS * sizeof *drawn);
    memory[0] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Fetch_and_op(&one, &drawn[round], MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
        CHECK(round == 0 || drawn[round] > drawn[round - 1]);
    }
    MPI_Win_unlock_all(window);
    long sum = 0, all = 0, count = (long)ROUNDS * ranks;
    for (int round = 0; round < ROUNDS; round++)
        sum += drawn[round];
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == count * (count - 1) / 2);
    free(drawn);
}

/* A spin lock out of compare-and-swap, around a counter that is read and written. */
static void swapping(void)
{
    long free_ = 0, taken = rank + 1, seen, value;
    memory[0] = memory[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    for (int round = 0; round < ROUNDS / 10; round++) {
        do {
            MPI_Compare_and_swap(&taken, &free_, &seen, MPI_LONG, 0, 0, window);
            MPI_Win_flush(0, window);
        } while (seen != free_);
        MPI_Get(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, window);
        MPI_Win_flush(0, window);
        value++;
        MPI_Put(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, window);
        MPI_Win_flush(0, window);
        MPI_Fetch_and_op(&free_, &seen, MPI_LONG, 0, 0, MPI_REPLACE, window);
        MPI_Win_flush(0, window);
        CHECK(seen == taken);
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, window);
    MPI_Win_unlock(0, window);
    CHECK(value == (long)(ROUNDS / 10) * ranks);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Read, change and write under a lock of one's own. */
static void exclusive(void)
{
    memory[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS / 10; round++) {
        int to = (rank + round) % ranks;
        long value, one = 1, before;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, window);
        MPI_Get(&value, 1, MPI_LONG, to, 1, 1, MPI_LONG, window);
        MPI_Win_flush(to, window);
        MPI_Get_accumulate(&one, 1, MPI_LONG, &before, 1, MPI_LONG, to, 1, 1, MPI_LONG, MPI_SUM, window);
        MPI_Win_unlock(to, window);
        CHECK(value == before);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    long mine, all;
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    MPI_Get(&mine, 1, MPI_LONG, rank, 1, 1, MPI_LONG, window);
    MPI_Win_unlock(rank, window);
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == (long)(ROUNDS / 10) * ranks);
}

/* Post, start, complete and wait between neighbours. */
static void neighbours(void)
{
    MPI_Group all, sources, targets;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &left, &sources);
    MPI_Group_incl(all, 1, &right, &targets);
    for (int round = 0; round < 10; round++) {
        long words[500];
        for (int place = 0; place < 500; place++)
            words[place] = word_of(rank, place + round);
        MPI_Win_post(sources, 0, window);
        MPI_Win_start(targets, 0, window);
        MPI_Put(words, 500, MPI_LONG, right, 1, 500, MPI_LONG, window);
        MPI_Win_complete(window);
        MPI_Win_wait(window);
        for (int place = 0; place < 500; place++)
            CHECK(memory[1 + place] == word_of(left, place + round));
    }
    MPI_Group_free(&sources);
    MPI_Group_free(&targets);
    MPI_Group_free(&all);
}

/* Memory that joins a window and leaves it. */
static void dynamic(void)
{
    MPI_Win loose;
    MPI_Aint mine, theirs;
    long words[10] = {0}, value = word_of(rank, 1);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &loose);
    MPI_Win_attach(loose, words, sizeof words);
    MPI_Get_address(words, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, left, 0, &theirs, 1, MPI_AINT, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_fence(0, loose);
    MPI_Put(&value, 1, MPI_LONG, right, MPI_Aint_add(theirs, 3 * sizeof value), 1, MPI_LONG, loose);
    MPI_Win_fence(0, loose);
    CHECK(words[3] == word_of(left, 1) && words[2] == 0 && words[4] == 0);
    MPI_Win_detach(loose, words);
    MPI_Win_free(&loose);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    /* Once in memory of MPI's, and once in the program's own. */
    for (int own = 0; own < 2; own++) {
        MPI_Aint bytes = (WORDS + 1) * sizeof *memory;
        if (own) {
            memory = calloc(WORDS + 1, sizeof *memory);
            MPI_Win_create(memory, bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        } else {
            MPI_Win_allocate(bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
        }
        fences();
        strided();
        accumulate();
        counting();
        swapping();
        exclusive();
        neighbours();
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_free(&window);
        if (own)
            free(memory);
    }
    dynamic();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks have had all of each other's memory\n", ranks);
    MPI_Finalize();
    return 0;
}
