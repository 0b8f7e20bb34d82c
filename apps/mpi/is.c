/*
 * Integer sort: the ranks divide the range of the keys, each tells each how many keys it has for it, and then sends them. All wait
 * for all in every round, with messages of any size.
 */
#include "common.h"

static const char HELP[] =
    "Numbers sorted, on all ranks.\n"
    "\n"
    "  --keys N          numbers of each rank, 1 to 100000000 [65536]\n"
    "  --bits N          they are less than 2^N, 4 to 26 [16]\n"
    "  --rounds N        other numbers each time, 1 to 100000 [20]\n"
    "  --speedup         rank 0 alone and all ranks together, three times in turn\n"
    "  --help            this text\n"
    "\n"
    "  weft mpirun -n 4 ./is --keys 1000000 --bits 20\n"
    "\n"
    "Every round ranks know how many numbers each of them has, that all are in order, and that none was lost or made up.\n";

static long keys = 65536, bits = 16, rounds = 20, wrong;

/* Sums of all keys and of a function of each key, which stay when keys are sorted. */
struct sums {
    uint64_t plain, mixed;
};

static struct sums sums_of(const int *values, long count)
{
    struct sums sums = {0, 0};
    for (long i = 0; i < count; i++) {
        sums.plain += (uint64_t)values[i];
        sums.mixed += mixed((uint64_t)values[i] + 1);
    }
    return sums;
}

/* The rank whose part of the range a key is in. */
static int owner_of_key(int key, int all)
{
    return (int)(((uint64_t)key * (uint64_t)all) >> bits);
}

/* Sorts by counting: there are as many keys as values, or more. */
static void sort_here(int *values, long count, long *counts)
{
    memset(counts, 0, sizeof *counts << bits);
    for (long i = 0; i < count; i++)
        counts[values[i]]++;
    long at = 0;
    for (long value = 0; value < 1l << bits; value++)
        for (long i = 0; i < counts[value]; i++)
            values[at++] = (int)value;
}

/* One round's buffers. */
struct buffers {
    int *before, *by_owner, *after, *send_counts, *send_places, *receive_counts, *receive_places;
    long *counts;
};

/* Sends each key to its owner; returns how many came. */
static long distribute(struct buffers *buffers, int all, MPI_Comm world)
{
    memset(buffers->send_counts, 0, all * sizeof(int));
    for (long i = 0; i < keys; i++)
        buffers->send_counts[owner_of_key(buffers->before[i], all)]++;
    MPI_Alltoall(buffers->send_counts, 1, MPI_INT, buffers->receive_counts, 1, MPI_INT, world);
    long sent = 0, received = 0;
    for (int other = 0; other < all; other++) {
        buffers->send_places[other] = (int)sent;
        buffers->receive_places[other] = (int)received;
        sent += buffers->send_counts[other];
        received += buffers->receive_counts[other];
    }
    for (long i = 0; i < keys; i++)
        buffers->by_owner[buffers->send_places[owner_of_key(buffers->before[i], all)]++] = buffers->before[i];
    for (int other = 0; other < all; other++)
        buffers->send_places[other] -= buffers->send_counts[other];
    free(buffers->after);
    buffers->after = allocate(received, sizeof(int));
    MPI_Alltoallv(buffers->by_owner, buffers->send_counts, buffers->send_places, MPI_INT, buffers->after, buffers->receive_counts,
                  buffers->receive_places, MPI_INT, world);
    return received;
}

/* True at all ranks if the keys are in order at each, and from rank to rank, and are those of before. */
static bool is_right(const struct buffers *buffers, long received, int me, int all, MPI_Comm world)
{
    struct sums before = sums_of(buffers->before, keys), after = sums_of(buffers->after, received);
    bool ordered = true;
    for (long i = 0; i < received; i++)
        ordered &= owner_of_key(buffers->after[i], all) == me && (i == 0 || buffers->after[i - 1] <= buffers->after[i]);
    uint64_t mine[] = {before.plain - after.plain, before.mixed - after.mixed, (uint64_t)(keys - received), !ordered}, sum[4];
    MPI_Allreduce(mine, sum, 4, MPI_UINT64_T, MPI_SUM, world);
    return !sum[0] && !sum[1] && !sum[2] && !sum[3];
}

static void solve(MPI_Comm world)
{
    int me, all;
    MPI_Comm_rank(world, &me);
    MPI_Comm_size(world, &all);
    struct buffers buffers = {0};
    int **numbers[] = {&buffers.send_counts, &buffers.send_places, &buffers.receive_counts, &buffers.receive_places};
    for (int i = 0; i < 4; i++)
        *numbers[i] = allocate(all, sizeof(int));
    buffers.before = allocate(keys, sizeof(int));
    buffers.by_owner = allocate(keys, sizeof(int));
    buffers.counts = allocate(1l << bits, sizeof(long));
    for (long round = 0; round < rounds; round++) {
        for (long i = 0; i < keys; i++)
            buffers.before[i] = (int)(random_bits((uint64_t)(round * all + me), (uint64_t)i) >> (64 - bits));
        long received = distribute(&buffers, all, world);
        sort_here(buffers.after, received, buffers.counts);
        wrong += !is_right(&buffers, received, me, all, world);
    }
    for (int i = 0; i < 4; i++)
        free(*numbers[i]);
    free(buffers.before);
    free(buffers.by_owner);
    free(buffers.after);
    free(buffers.counts);
}

int main(int argc, char **argv)
{
    const struct number numbers[] = {{"--keys", &keys, 1, 100000000},
                                     {"--bits", &bits, 4, 26},
                                     {"--rounds", &rounds, 1, 100000},
                                     {0}};
    struct options options = {.program = "is", .help = HELP, .numbers = numbers};
    start(&options, argc, argv);
    measure(&options, solve);
    if (rank == 0) {
        printf("is: %ld rounds of %ld keys of %ld bits at each of %d ranks\n", rounds, keys, bits, ranks);
        conclude(!wrong, "%ld rounds are out of order, or have lost or made up keys", wrong);
    }
    end(0);
}
