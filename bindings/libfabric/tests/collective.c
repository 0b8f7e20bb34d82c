/* Collectives of plain MPI against what one would compute who has all: each operation, types and operations of MPI's and of the program's,
   in place or not, all roots, many sizes, several communicators at once, and messages in between. */

#include "check.h"
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4 << 20 };

static const int sizes[] = {0, 1, 2, 7, 64, 1000, 1024, 1025, 4096, 16384, 16385, 50000, 300000, 1 << 20, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Whether they are told to be quick: with more ranks than cores, and a network between them, every operation takes a while. */
static int is_quick;

static int rounds(int all)
{
    return is_quick ? all / 5 : all;
}

static MPI_Comm comm;
static int me, ranks;
static char *one, *two;

static char byte_of(int member, int place, int salt)
{
    return (char)(member * 31 + place * 7 + place / 251 + salt);
}

static void broadcasts(int most)
{
    for (int at = 0; at < SIZES && sizes[at] <= most; at++)
        for (int root = 0; root < ranks; root++) {
            int length = sizes[at];
            for (int place = 0; place < length; place++)
                one[place] = me == root ? byte_of(root, place, at) : -1;
            one[length] = 77;
            MPI_Bcast(one, length, MPI_BYTE, root, comm);
            for (int place = 0; place < length; place++)
                CHECK(one[place] == byte_of(root, place, at));
            CHECK(one[length] == 77);
        }
}

static void gathers(int most)
{
    for (int at = 0; at < SIZES && sizes[at] <= most; at++)
        for (int in_place = 0; in_place < 2; in_place++) {
            int length = sizes[at] / ranks;
            char *own = in_place ? two + me * length : one;
            memset(two, -1, (size_t)length * ranks + 1);
            for (int place = 0; place < length; place++)
                own[place] = byte_of(me, place, at);
            MPI_Allgather(in_place ? MPI_IN_PLACE : one, length, MPI_BYTE, two, length, MPI_BYTE, comm);
            for (int member = 0; member < ranks; member++)
                for (int place = 0; place < length; place++)
                    CHECK(two[member * length + place] == byte_of(member, place, at));
            CHECK(two[length * ranks] == -1);
        }
}

/* A sum of doubles in no order but that of ranks, folded from the last one. */
static double sum_of(int place)
{
    double sum = 1.0 / (ranks - 1 + place + 1);
    for (int member = ranks - 2; member >= 0; member--)
        sum = 1.0 / (member + place + 1) + sum;
    return sum;
}

static void sums(int most, int is_served)
{
    for (int at = 0; at < SIZES && sizes[at] <= most; at++)
        for (int root = -1; root < ranks; root++)
            for (int in_place = 0; in_place < 2; in_place++) {
                int count = sizes[at] / (int)sizeof(double);
                double *own = (double *)(in_place && (root < 0 || root == me) ? two : one);
                double *all = (double *)two;
                if (root > 0 && in_place && sizes[at] > 100000)
                    continue;
                memset(two, -1, (size_t)count * sizeof(double) + 1);
                for (int place = 0; place < count; place++)
                    own[place] = 1.0 / (me + place + 1);
                const void *mine = own == all ? MPI_IN_PLACE : own;
                if (root < 0)
                    MPI_Allreduce(mine, all, count, MPI_DOUBLE, MPI_SUM, comm);
                else
                    MPI_Reduce(mine, all, count, MPI_DOUBLE, MPI_SUM, root, comm);
                if (root >= 0 && root != me)
                    continue;
                for (int place = 0; place < count; place++) {
                    double differs = all[place] - sum_of(place);
                    CHECK(is_served ? differs == 0 : differs < 1e-9 && differs > -1e-9);
                }
                CHECK(two[(size_t)count * sizeof(double)] == -1);
            }
}

static void operations(void)
{
    int own[3] = {me + 1, 1 << me % 30, me % 2}, all[3];
    MPI_Allreduce(own, all, 3, MPI_INT, MPI_MAX, comm);
    CHECK(all[0] == ranks && all[2] == (ranks > 1));
    MPI_Allreduce(own, all, 3, MPI_INT, MPI_MIN, comm);
    CHECK(all[0] == 1 && all[1] == 1 && all[2] == 0);
    MPI_Allreduce(own, all, 2, MPI_INT, MPI_BOR, comm);
    CHECK(all[1] == (1 << ranks) - 1);
    MPI_Allreduce(own, all, 3, MPI_INT, MPI_LAND, comm);
    CHECK(all[0] == 1 && all[2] == 0);
    MPI_Allreduce(own, all, 1, MPI_INT, MPI_PROD, comm);
    int product = 1;
    for (int member = 0; member < ranks; member++)
        product *= member + 1;
    CHECK(all[0] == product);

    struct { double value; int place; } pair = {(me * 7) % ranks, me}, least;
    MPI_Allreduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
    CHECK(least.value == 0 && (least.place * 7) % ranks == 0);
    MPI_Reduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MAXLOC, ranks - 1, comm);
    for (int member = 0; me == ranks - 1 && member < ranks; member++)
        CHECK((member * 7) % ranks <= least.value);

    float fraction = 0.5f, halves;
    long double large = 1.0L, larger;
    _Bool yes = me == 0, any;
    MPI_Allreduce(&fraction, &halves, 1, MPI_FLOAT, MPI_SUM, comm);
    CHECK(halves == 0.5f * ranks);
    MPI_Allreduce(&large, &larger, 1, MPI_LONG_DOUBLE, MPI_SUM, comm);
    CHECK(larger == ranks);
    MPI_Allreduce(&yes, &any, 1, MPI_C_BOOL, MPI_LOR, comm);
    CHECK(any);
}

/* Two elements of each member, by the four operations that all of these types have. */
#define USUAL(mpi, c)                                                                                        \
    do {                                                                                                     \
        c mine[2] = {(c)(me + 1), (c)(ranks - me)}, all[2], sum = 0, product = 1;                             \
        for (int member = 0; member < ranks; member++) {                                                     \
            sum += (c)(member + 1);                                                                          \
            product *= (c)(member + 1);                                                                      \
        }                                                                                                    \
        MPI_Allreduce(mine, all, 2, mpi, MPI_SUM, comm);                                                     \
        CHECK(all[0] == sum && all[1] == sum);                                                               \
        MPI_Allreduce(mine, all, 2, mpi, MPI_PROD, comm);                                                    \
        CHECK(all[0] == product && all[1] == product);                                                       \
        MPI_Allreduce(mine, all, 2, mpi, MPI_MIN, comm);                                                     \
        CHECK(all[0] == 1 && all[1] == 1);                                                                   \
        MPI_Allreduce(mine, all, 2, mpi, MPI_MAX, comm);                                                     \
        CHECK(all[0] == (c)ranks && all[1] == (c)ranks);                                                     \
    } while (0)

static void usual_types(void)
{
    USUAL(MPI_INT, int);
    USUAL(MPI_LONG, long);
    USUAL(MPI_LONG_LONG, long long);
    USUAL(MPI_UNSIGNED, unsigned);
    USUAL(MPI_UNSIGNED_LONG, unsigned long);
    USUAL(MPI_INT32_T, int32_t);
    USUAL(MPI_INT64_T, int64_t);
    USUAL(MPI_UINT32_T, uint32_t);
    USUAL(MPI_UINT64_T, uint64_t);
    USUAL(MPI_FLOAT, float);
    USUAL(MPI_DOUBLE, double);
}

/* Says which came first, which a sum does not. */
static void last_of(void *before, void *after, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int place = 0; place < *count; place++)
        ((int *)after)[place] += 10 * ((int *)before)[place];
}

static void own_operations(void)
{
    MPI_Op op;
    int own = me + 1, all = 0, expected = ranks;
    for (int member = ranks - 2; member >= 0; member--)
        expected += 10 * (member + 1);
    MPI_Op_create(last_of, 0, &op);
    MPI_Reduce(&own, &all, 1, MPI_INT, op, 0, comm);
    /* x + 10 y is not associative, so that only where Weft serves it the value is known. */
    if (me == 0 && getenv("WEFT_COLL_VERBOSE"))
        CHECK(all == expected);
    MPI_Op_free(&op);
}

/* Types with gaps, different ones at different ranks. */
static void shapes(void)
{
    MPI_Datatype column;
    int matrix[6][4], row[6], all[64 * 6];
    MPI_Type_vector(6, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    memset(matrix, -1, sizeof matrix);
    for (int place = 0; place < 6; place++)
        row[place] = place * 3;
    if (me == 0) {
        MPI_Bcast(row, 6, MPI_INT, 0, comm);
    } else {
        MPI_Bcast(&matrix[0][1], 1, column, 0, comm);
        for (int place = 0; place < 6; place++)
            CHECK(matrix[place][1] == place * 3 && matrix[place][2] == -1 && matrix[place][0] == -1);
    }
    for (int place = 0; place < 6; place++)
        matrix[place][2] = place + 10 * me;
    MPI_Allgather(&matrix[0][2], 1, column, all, 6, MPI_INT, comm);
    for (int member = 0; member < ranks; member++)
        for (int place = 0; place < 6; place++)
            CHECK(all[member * 6 + place] == place + 10 * member);
    MPI_Type_free(&column);
}

/* One rank is ahead of the others, by more operations than may be stored. */
static void one_ahead(void)
{
    int word;
    for (int round = 0; round < rounds(500); round++) {
        word = me == 0 ? round : -1;
        MPI_Bcast(&word, 1, MPI_INT, 0, comm);
        CHECK(word == round);
        word = round + me;
        MPI_Reduce(me == round % ranks ? MPI_IN_PLACE : &word, &word, 1, MPI_INT, MPI_MAX, round % ranks, comm);
        CHECK(me != round % ranks || word == round + ranks - 1);
    }
}

/* Messages that are sent before a collective and received behind it, and one that others send meanwhile. */
static void between_messages(void)
{
    int out[1000], in[1000], left = (me + ranks - 1) % ranks, right = (me + 1) % ranks;
    for (int round = 0; round < rounds(30); round++) {
        int count = round % 3 == 0 ? 1000 : 1;
        MPI_Request requests[2];
        for (int place = 0; place < count; place++)
            out[place] = me + place + round;
        MPI_Isend(out, count, MPI_INT, right, round, comm, &requests[0]);
        MPI_Barrier(comm);
        MPI_Irecv(in, count, MPI_INT, left, round, comm, &requests[1]);
        int sum = me;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == ranks * (ranks - 1) / 2);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int place = 0; place < count; place++)
            CHECK(in[place] == left + place + round);
    }
}

/* Nobody leaves before all are there. */
static void barriers(void)
{
    for (int round = 0; round < rounds(100); round++) {
        int word = round;
        if (me == round % ranks) {
            for (int other = 0; other < ranks; other++)
                if (other != me)
                    MPI_Send(&word, 1, MPI_INT, other, 5, comm);
            MPI_Barrier(comm);
        } else {
            MPI_Barrier(comm);
            int there;
            MPI_Iprobe(round % ranks, 5, comm, &there, MPI_STATUS_IGNORE);
            MPI_Recv(&word, 1, MPI_INT, round % ranks, 5, comm, MPI_STATUS_IGNORE);
            CHECK(word == round);
        }
    }
}

static void all_of(MPI_Comm which, int most, int is_served)
{
    comm = which;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &ranks);
    MPI_Barrier(comm);
    broadcasts(most);
    gathers(most);
    sums(most, is_served && ranks > 1);
    operations();
    usual_types();
    if (is_served && ranks > 1)
        own_operations();
    shapes();
    one_ahead();
    if (ranks > 1) {
        between_messages();
        barriers();
    }
}

/* Communicators that overlap, used in turns, made and freed. */
static void communicators(int is_served)
{
    int world_rank, world;
    MPI_Comm same, half, reverse;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    MPI_Comm_dup(MPI_COMM_WORLD, &same);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reverse);
    for (int round = 0; round < rounds(50); round++) {
        int word = world_rank, all;
        MPI_Allreduce(&word, &all, 1, MPI_INT, MPI_SUM, half);
        int expected = 0;
        for (int rank = world_rank % 2; rank < world; rank += 2)
            expected += rank;
        CHECK(all == expected);
        word = world_rank == world - 1 ? round : -1;
        MPI_Bcast(&word, 1, MPI_INT, 0, reverse);
        CHECK(word == round);
        MPI_Barrier(same);
    }
    all_of(half, 20000, is_served);
    all_of(reverse, 20000, is_served);
    MPI_Comm_free(&half);
    MPI_Comm_free(&reverse);
    for (int round = 0; round < rounds(300); round++) {
        MPI_Comm another;
        int word = round;
        MPI_Comm_dup(same, &another);
        MPI_Bcast(&word, 1, MPI_INT, round % world, another);
        MPI_Comm_free(&another);
    }
    MPI_Comm_free(&same);
}

/* Between two groups of ranks the MPI library does it. */
static void between_groups(void)
{
    int world_rank, world, word, all = 0;
    MPI_Comm half, inter;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    if (world < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank % 2, 3, &inter);
    word = world_rank % 2;
    MPI_Allreduce(&word, &all, 1, MPI_INT, MPI_SUM, inter);
    CHECK(all == (world_rank % 2 ? 0 : world / 2));
    MPI_Barrier(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    one = malloc(MOST + 64);
    two = malloc(MOST + 64);
    CHECK(one && two);
    is_quick = argc > 1 && strcmp(argv[1], "quick") == 0;
    int is_served = getenv("WEFT_COLL_VERBOSE") != NULL;
    all_of(MPI_COMM_WORLD, size < 4 ? MOST : 300000, is_served);
    all_of(MPI_COMM_SELF, 1024, is_served);
    communicators(is_served);
    between_groups();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks have done all together\n", size);
    free(one);
    free(two);
    MPI_Finalize();
    return 0;
}
