/*
 * The edit distance of two texts by a wavefront: a table of which each entry depends on those above, to the left, and between them.
 * Each rank owns a block of columns. It waits for the left border of a block of rows, computes that, and passes its right border
 * on: ranks are busy one after the other, and together only once the wave has reached them all.
 */
#include "common.h"

static const char HELP[] =
    "The edit distance of two texts, on all ranks.\n"
    "\n"
    "  --length N        letters of either text, 1 to 100000 [2000]\n"
    "  --rows N          rows that are passed on at once, 1 to 100000 [4]\n"
    "  --texts N         pairs of texts, 1 to 10000 [4]\n"
    "  --seed N          other texts, 0 to 1000000 [0]\n"
    "  --speedup         rank 0 alone and all ranks together, three times in turn\n"
    "  --help            this text\n"
    "\n"
    "  weft mpirun -n 4 ./wave --length 10000\n"
    "\n"
    "The distances are compared with those of one rank. Texts have at least as many letters as there are ranks.\n";

static long length = 2000, rows = 4, texts = 4, seed;

/* The distances, as one rank alone and as all ranks found them. */
static long *whole, *own;

/* The texts have four letters, and every second text differs from its like in one letter of eight. */
static int letter(long pair, int which, long place)
{
    uint64_t common = random_bits((uint64_t)(2 * seed + 2 * pair), (uint64_t)place);
    uint64_t other = random_bits((uint64_t)(2 * seed + 2 * pair + 1), (uint64_t)place);
    return (int)((which == 1 && other % 8 == 0 ? other >> 8 : common) % 4);
}

static long least(long a, long b)
{
    return a < b ? a : b;
}

/* A row of the block below the one that is there, of which `left` is the border and `corner` the entry above that. */
static void next_row(long *row, long count, const int *across, int down, long corner, long left)
{
    for (long i = 0; i < count; i++) {
        long above = row[i];
        row[i] = least(least(above, left) + 1, corner + (across[i] != down));
        corner = above;
        left = row[i];
    }
}

/* The distance of a pair of texts, at the last rank. */
static long distance(long pair, int me, int all, MPI_Comm world)
{
    long first = first_row(length, me, all), count = first_row(length, me + 1, all) - first;
    long *row = allocate(count, sizeof *row), *border = allocate(rows, sizeof *border), corner = first;
    int *across = allocate(count, sizeof *across);
    for (long i = 0; i < count; i++) {
        row[i] = first + i + 1;
        across[i] = letter(pair, 0, first + i);
    }
    for (long top = 0; top < length; top += rows) {
        long height = least(rows, length - top);
        for (long i = 0; i < height; i++)
            border[i] = top + i + 1;
        if (me > 0)
            MPI_Recv(border, (int)height, MPI_LONG, me - 1, 0, world, MPI_STATUS_IGNORE);
        for (long i = 0; i < height; i++) {
            long left = border[i];
            next_row(row, count, across, letter(pair, 1, top + i), corner, left);
            corner = left;
            border[i] = row[count - 1];
        }
        if (me + 1 < all)
            MPI_Send(border, (int)height, MPI_LONG, me + 1, 0, world);
    }
    long found = row[count - 1];
    free(row);
    free(border);
    free(across);
    return found;
}

static void solve(MPI_Comm world)
{
    int me, all;
    MPI_Comm_rank(world, &me);
    MPI_Comm_size(world, &all);
    long *found = world == MPI_COMM_SELF ? whole : own;
    for (long pair = 0; pair < texts; pair++)
        found[pair] = distance(pair, me, all, world);
    MPI_Bcast(found, (int)texts, MPI_LONG, all - 1, world);
}

int main(int argc, char **argv)
{
    const struct number numbers[] = {{"--length", &length, 1, 100000},
                                     {"--rows", &rows, 1, 100000},
                                     {"--texts", &texts, 1, 10000},
                                     {"--seed", &seed, 0, 1000000},
                                     {0}};
    struct options options = {.program = "wave", .help = HELP, .numbers = numbers};
    start(&options, argc, argv);
    if (length < ranks)
        misused(&options, "%ld letters are too few for %d ranks", length, ranks);
    own = allocate(texts, sizeof *own);
    whole = allocate(texts, sizeof *whole);
    measure(&options, solve);
    if (rank == 0) {
        printf("wave: %ld pairs of %ld letters, passed on by %ld rows\n", texts, length, rows);
        for (long pair = 0; pair < texts; pair++)
            if (own[pair] != whole[pair])
                conclude(false, "pair %ld is %ld apart, and %ld on one rank", pair, own[pair], whole[pair]);
        conclude(true, "%ld distances are those of one rank; the first pair is %ld apart", texts, own[0]);
    }
    end(0);
}
