/*
 * A matrix transposed again and again, as between the steps of a Fourier transformation of more dimensions than one: each rank owns
 * a block of rows, and has another block for each of them all. All talk to all at once, with messages of one size.
 */
#include "common.h"

static const char HELP[] =
    "A matrix transposed, on all ranks.\n"
    "\n"
    "  --rows N          rows and columns, 1 to 16384 [256]\n"
    "  --rounds N        times that it is transposed, 1 to 100000 [100]\n"
    "  --speedup         rank 0 alone and all ranks together, three times in turn\n"
    "  --help            this text\n"
    "\n"
    "  weft mpirun -n 4 ./transpose --rows 1024\n"
    "\n"
    "Something else is added to each entry after each round, and in the end each is compared with what it has to be.\n";

static long rows = 256, rounds = 100, wrong;

/* The matrix is made larger, so that blocks of all ranks have `edge` rows and columns. */
struct matrix {
    int64_t *entries, *out, *in;
    long edge, width;
    int me, all;
    MPI_Comm world;
};

static struct matrix make(MPI_Comm world)
{
    struct matrix matrix = {.world = world};
    MPI_Comm_rank(world, &matrix.me);
    MPI_Comm_size(world, &matrix.all);
    matrix.edge = (rows + matrix.all - 1) / matrix.all;
    matrix.width = matrix.edge * matrix.all;
    int64_t **buffers[] = {&matrix.entries, &matrix.out, &matrix.in};
    for (int i = 0; i < 3; i++)
        *buffers[i] = allocate(matrix.edge * matrix.width, sizeof(int64_t));
    return matrix;
}

/* Each rank sends each the block that is there in the end, turned already. */
static void transpose(struct matrix *matrix)
{
    long edge = matrix->edge, block = edge * edge;
    for (int other = 0; other < matrix->all; other++)
        for (long row = 0; row < edge; row++)
            for (long column = 0; column < edge; column++)
                matrix->out[other * block + column * edge + row] = matrix->entries[row * matrix->width + other * edge + column];
    MPI_Alltoall(matrix->out, (int)block, MPI_INT64_T, matrix->in, (int)block, MPI_INT64_T, matrix->world);
    for (int other = 0; other < matrix->all; other++)
        for (long row = 0; row < edge; row++)
            memcpy(matrix->entries + row * matrix->width + other * edge, matrix->in + other * block + row * edge,
                   edge * sizeof(int64_t));
}

/* What is added to an entry after a round, but for the round's number. */
static int64_t share(long row, long column)
{
    return row - 2 * column;
}

/* An entry in the end: the shares that were added to it, of which every second one, counted from the last, was added at its own place. */
static int64_t expected(long row, long column)
{
    int64_t first = rounds % 2 ? column * rows + row : row * rows + column;
    return first + (rounds + 1) / 2 * share(row, column) + rounds / 2 * share(column, row) + rounds * (rounds + 1) / 2;
}

/* Calls `visit` for each of this rank's entries that are not there only to make blocks equal. */
static void for_each(struct matrix *matrix, long round, void (*visit)(int64_t *entry, long row, long column, long round))
{
    long first = matrix->me * matrix->edge;
    for (long row = first; row < first + matrix->edge && row < rows; row++)
        for (long column = 0; column < rows; column++)
            visit(matrix->entries + (row - first) * matrix->width + column, row, column, round);
}

static void set(int64_t *entry, long row, long column, long round)
{
    *entry = row * rows + column + round;
}

static void add(int64_t *entry, long row, long column, long round)
{
    *entry += share(row, column) + round;
}

static void check(int64_t *entry, long row, long column, long round)
{
    (void)round;
    wrong += *entry != expected(row, column);
}

static void solve(MPI_Comm world)
{
    struct matrix matrix = make(world);
    for_each(&matrix, 0, set);
    for (long round = 1; round <= rounds; round++) {
        transpose(&matrix);
        for_each(&matrix, round, add);
    }
    for_each(&matrix, 0, check);
    free(matrix.entries);
    free(matrix.out);
    free(matrix.in);
}

int main(int argc, char **argv)
{
    const struct number numbers[] = {{"--rows", &rows, 1, 16384}, {"--rounds", &rounds, 1, 100000}, {0}};
    struct options options = {.program = "transpose", .help = HELP, .numbers = numbers};
    start(&options, argc, argv);
    measure(&options, solve);
    long all_wrong;
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("transpose: %ld x %ld entries, %ld times\n", rows, rows, rounds);
        conclude(!all_wrong, "%ld entries are not what they have to be", all_wrong);
    }
    end(0);
}
