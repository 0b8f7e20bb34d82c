/*
 * Successive overrelaxation (thesis 8.5.10): Laplace's equation on a grid whose rows the ranks share, by red-black iteration. In
 * each half of an iteration neighbours exchange border rows; after it, all agree on the largest change by a reduction of one double.
 *
 * The border has the values of x^2 - y^2, which solves the differential equation and, being quadratic, the difference equation as
 * well: so the exact answer is known at every point.
 */
#include "common.h"

#include <math.h>

static const char HELP[] =
    "Laplace's equation by red-black overrelaxation, on all ranks.\n"
    "\n"
    "  --rows N          rows of points, 1 to 16384 [1536]\n"
    "  --columns N       points of a row, 1 to 16384 [1536]\n"
    "  --iterations N    the most iterations, 1 to 1000000 [42]\n"
    "  --digits N        converged when no point changes by more than 10^-N, 1 to 15 [6]\n"
    "  --speedup         rank 0 alone and all ranks together, three times in turn\n"
    "  --help            this text\n"
    "\n"
    "  weft mpirun -n 4 ./sor --rows 100 --columns 100 --iterations 1000 --digits 9\n"
    "\n"
    "The points are compared with those of one rank, bit for bit. There are at least as many rows as ranks.\n";

static long rows = 1536, columns = 1536, iterations = 42, digits = 6;

/* Rows of points with the border's columns, and the row above and the row below. */
struct grid {
    double *values;
    long first, count;
    int me, all;
};

/* How an iteration ended. */
struct outcome {
    long iterations;
    double change;
};

/* This rank's points, and at rank 0 what one rank alone came to. */
static struct grid own, whole;
static struct outcome own_outcome, whole_outcome;

static long width(void)
{
    return columns + 2;
}

/* Rows and columns count from the values around the points: these are 0 and rows + 1, or columns + 1. */
static double exact(long row, long column)
{
    double side = (double)((rows > columns ? rows : columns) + 1);
    double x = (double)column / side, y = (double)row / side;
    return x * x - y * y;
}

static double at_first(long row, long column)
{
    if (row == 0 || row == rows + 1 || column == 0 || column == columns + 1)
        return exact(row, column);
    return noise(0, (uint64_t)(row * width() + column));
}

/* The factor with which a grid of this size converges fastest. */
static double best_factor(void)
{
    double radius = (cos(M_PI / (double)(rows + 1)) + cos(M_PI / (double)(columns + 1))) / 2.0;
    return 2.0 / (1.0 + sqrt(1.0 - radius * radius));
}

static void make(struct grid *grid, MPI_Comm world)
{
    MPI_Comm_rank(world, &grid->me);
    MPI_Comm_size(world, &grid->all);
    grid->first = first_row(rows, grid->me, grid->all);
    grid->count = first_row(rows, grid->me + 1, grid->all) - grid->first;
    grid->values = allocate((grid->count + 2) * width(), sizeof *grid->values);
}

/* The row above, the row below, and between them the rows that are owned, get what the neighbours have. */
static void exchange(struct grid *grid, MPI_Comm world)
{
    int above = grid->me > 0 ? grid->me - 1 : MPI_PROC_NULL;
    int below = grid->me + 1 < grid->all ? grid->me + 1 : MPI_PROC_NULL;
    int length = (int)width();
    double *values = grid->values, *last = values + grid->count * width();
    MPI_Sendrecv(values + width(), length, MPI_DOUBLE, above, 1, last + width(), length, MPI_DOUBLE, below, 1, world,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, length, MPI_DOUBLE, below, 2, values, length, MPI_DOUBLE, above, 2, world, MPI_STATUS_IGNORE);
}

/* Relaxes the points of one colour, whose neighbours are all of the other, and returns the largest change. */
static double relax(struct grid *grid, int colour, double factor)
{
    double largest = 0.0;
    for (long i = 1; i <= grid->count; i++) {
        double *row = grid->values + i * width(), *above = row - width(), *below = row + width();
        for (long column = 1 + (grid->first + i + colour + 1) % 2; column <= columns; column += 2) {
            double mean = 0.25 * ((above[column] + below[column]) + (row[column - 1] + row[column + 1]));
            double change = factor * (mean - row[column]);
            row[column] += change;
            largest = fmax(largest, fabs(change));
        }
    }
    return largest;
}

static void solve(MPI_Comm world)
{
    struct grid *grid = world == MPI_COMM_SELF ? &whole : &own;
    for (long i = 0; i < grid->count + 2; i++)
        for (long column = 0; column < width(); column++)
            grid->values[i * width() + column] = at_first(grid->first + i, column);
    double factor = best_factor(), tolerance = pow(10.0, (double)-digits);
    struct outcome outcome = {.change = INFINITY};
    /* Cosines and powers may differ in the last bit between the hosts of a job. */
    MPI_Bcast(&factor, 1, MPI_DOUBLE, 0, world);
    MPI_Bcast(&tolerance, 1, MPI_DOUBLE, 0, world);
    while (outcome.iterations < iterations && outcome.change > tolerance) {
        double change = 0.0;
        for (int colour = 0; colour < 2; colour++) {
            exchange(grid, world);
            change = fmax(change, relax(grid, colour, factor));
        }
        MPI_Allreduce(&change, &outcome.change, 1, MPI_DOUBLE, MPI_MAX, world);
        outcome.iterations++;
    }
    *(world == MPI_COMM_SELF ? &whole_outcome : &own_outcome) = outcome;
}

/* All rows at rank 0, without those above and below. */
static double *gather(void)
{
    int *counts = allocate(ranks, sizeof *counts), *places = allocate(ranks, sizeof *places);
    for (int owner = 0; owner < ranks; owner++) {
        places[owner] = (int)(first_row(rows, owner, ranks) * width());
        counts[owner] = (int)(first_row(rows, owner + 1, ranks) * width()) - places[owner];
    }
    double *all = rank == 0 ? allocate(rows * width(), sizeof *all) : NULL;
    MPI_Gatherv(own.values + width(), counts[rank], MPI_DOUBLE, all, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    free(counts);
    free(places);
    return all;
}

/* Rank 0 says what was found, and whether it is right. */
static void report(const double *all)
{
    double error = 0.0;
    for (long i = 0; i < rows * width(); i++)
        error = fmax(error, fabs(all[i] - exact(1 + i / width(), i % width())));
    printf("sor: %ld x %ld points, %ld iterations; largest change %.15g, from the exact solution %.15g\n", rows, columns,
           own_outcome.iterations, own_outcome.change, error);
    if (own_outcome.iterations != whole_outcome.iterations || own_outcome.change != whole_outcome.change)
        conclude(false, "%ld iterations to a change of %.17g, and %ld to %.17g on one rank", own_outcome.iterations,
                 own_outcome.change, whole_outcome.iterations, whole_outcome.change);
    const double *expected = whole.values + width();
    for (long i = 0; i < rows * width(); i++)
        if (memcmp(&all[i], &expected[i], sizeof *all))
            conclude(false, "row %ld, column %ld is %.17g, and %.17g on one rank", 1 + i / width(), i % width(), all[i], expected[i]);
    conclude(true, "all bits of %ld points are those of one rank", rows * columns);
}

int main(int argc, char **argv)
{
    const struct number numbers[] = {{"--rows", &rows, 1, 16384},
                                     {"--columns", &columns, 1, 16384},
                                     {"--iterations", &iterations, 1, 1000000},
                                     {"--digits", &digits, 1, 15},
                                     {0}};
    struct options options = {.program = "sor", .help = HELP, .numbers = numbers};
    start(&options, argc, argv);
    if (rows < ranks)
        misused(&options, "%ld rows are too few for %d ranks", rows, ranks);
    make(&own, MPI_COMM_WORLD);
    if (rank == 0)
        make(&whole, MPI_COMM_SELF);
    measure(&options, solve);
    double *all = gather();
    if (rank == 0)
        report(all);
    end(0);
}
