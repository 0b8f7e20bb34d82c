/*
 * Conjugate gradients on Laplace's equation, a grid whose rows the ranks share. In each iteration neighbours exchange border rows,
 * and all agree twice on a sum of one double: nearly all of a small problem's time is spent waiting for others.
 *
 * The border has the values of x^2 - y^2, which solves the differential equation and, being quadratic, the difference equation as
 * well: so the exact answer is known at every point.
 */
#include "common.h"

#include <math.h>

static const char HELP[] =
    "Laplace's equation by conjugate gradients, on all ranks.\n"
    "\n"
    "  --rows N          rows of points, 1 to 16384 [128]\n"
    "  --columns N       points of a row, 1 to 16384 [128]\n"
    "  --repeat N        solutions, one after the other, 1 to 10000 [10]\n"
    "  --digits N        the residual becomes smaller by 10^-N, 1 to 12 [10]\n"
    "  --speedup         rank 0 alone and all ranks together, three times in turn\n"
    "  --help            this text\n"
    "\n"
    "  weft mpirun -n 4 ./cg --rows 64 --columns 64 --repeat 100\n"
    "\n"
    "Every point is compared with the exact solution. There are at least as many rows as ranks.\n";

static long rows = 128, columns = 128, repeat = 10, digits = 10;

/* Rows of this rank, and the points of vectors over them: what is sought, the residual, the direction, and the matrix times that. */
struct system {
    double *x, *r, *p, *q;
    long first, count, iterations;
    int above, below;
    MPI_Comm world;
};

static struct system own, whole;

static long width(void)
{
    return columns + 2;
}

/* Rows and columns count from the border: the points have 1 to rows, and 1 to columns. */
static double exact(long row, long column)
{
    double side = (double)((rows > columns ? rows : columns) + 1);
    double x = (double)column / side, y = (double)row / side;
    return x * x - y * y;
}

static void make(struct system *system, MPI_Comm world)
{
    int me, all;
    MPI_Comm_rank(world, &me);
    MPI_Comm_size(world, &all);
    system->world = world;
    system->first = first_row(rows, me, all);
    system->count = first_row(rows, me + 1, all) - system->first;
    system->above = me > 0 ? me - 1 : MPI_PROC_NULL;
    system->below = me + 1 < all ? me + 1 : MPI_PROC_NULL;
    double **vectors[] = {&system->x, &system->r, &system->p, &system->q};
    for (int i = 0; i < 4; i++)
        *vectors[i] = allocate((system->count + 2) * width(), sizeof(double));
}

/* The rows above and below those that are owned get what the neighbours have; the grid's own border stays. */
static void exchange(const struct system *system, double *vector)
{
    int length = (int)width();
    double *last = vector + system->count * width();
    MPI_Sendrecv(vector + width(), length, MPI_DOUBLE, system->above, 1, last + width(), length, MPI_DOUBLE, system->below, 1,
                 system->world, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, length, MPI_DOUBLE, system->below, 2, vector, length, MPI_DOUBLE, system->above, 2, system->world,
                 MPI_STATUS_IGNORE);
}

/* The matrix times a vector; the sum of their products at this rank's points. */
static double multiply(const struct system *system, double *restrict vector, double *restrict product)
{
    double sum = 0.0;
    exchange(system, vector);
    for (long i = 1; i <= system->count; i++) {
        const double *row = vector + i * width(), *above = row - width(), *below = row + width();
        double *to = product + i * width();
        for (long column = 1; column <= columns; column++) {
            to[column] = 4.0 * row[column] - above[column] - below[column] - row[column - 1] - row[column + 1];
            sum += row[column] * to[column];
        }
    }
    return sum;
}

static double sum_of_all(const struct system *system, double part)
{
    double sum;
    MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, system->world);
    return sum;
}

/* Begins at zero, but for the border of the grid; returns the square of the residual. */
static double begin(struct system *system)
{
    double square = 0.0;
    for (long i = 0; i < system->count + 2; i++)
        for (long column = 0; column < width(); column++) {
            long row = system->first + i, at = i * width() + column;
            int is_border = row == 0 || row == rows + 1 || column == 0 || column == columns + 1;
            system->x[at] = is_border ? exact(row, column) : 0.0;
            system->p[at] = 0.0;
        }
    multiply(system, system->x, system->r);
    for (long i = 1; i <= system->count; i++)
        for (long column = 1; column <= columns; column++) {
            long at = i * width() + column;
            system->p[at] = system->r[at] = -system->r[at];
            square += system->r[at] * system->r[at];
        }
    return sum_of_all(system, square);
}

/* A step along the direction; returns the square of the residual after it. */
static double descend(struct system *system, double step)
{
    double square = 0.0;
    for (long i = 1; i <= system->count; i++)
        for (long column = 1; column <= columns; column++) {
            long at = i * width() + column;
            system->x[at] += step * system->p[at];
            system->r[at] -= step * system->q[at];
            square += system->r[at] * system->r[at];
        }
    return sum_of_all(system, square);
}

static void solve_once(struct system *system)
{
    double square = begin(system), enough = square * pow(10.0, -2.0 * (double)digits);
    for (system->iterations = 0; square > enough && system->iterations < 10 * (rows + columns); system->iterations++) {
        double product = sum_of_all(system, multiply(system, system->p, system->q));
        double next = descend(system, square / product), share = next / square;
        for (long at = width(); at < (system->count + 1) * width(); at++)
            system->p[at] = system->r[at] + share * system->p[at];
        square = next;
    }
}

static void solve(MPI_Comm world)
{
    for (long i = 0; i < repeat; i++)
        solve_once(world == MPI_COMM_SELF ? &whole : &own);
}

/* The largest distance from the exact solution, of all ranks. */
static double error_of_all(void)
{
    double error = 0.0, largest;
    for (long i = 1; i <= own.count; i++)
        for (long column = 1; column <= columns; column++)
            error = fmax(error, fabs(own.x[i * width() + column] - exact(own.first + i, column)));
    MPI_Allreduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
}

int main(int argc, char **argv)
{
    const struct number numbers[] = {{"--rows", &rows, 1, 16384},
                                     {"--columns", &columns, 1, 16384},
                                     {"--repeat", &repeat, 1, 10000},
                                     {"--digits", &digits, 1, 12},
                                     {0}};
    struct options options = {.program = "cg", .help = HELP, .numbers = numbers};
    start(&options, argc, argv);
    if (rows < ranks)
        misused(&options, "%ld rows are too few for %d ranks", rows, ranks);
    make(&own, MPI_COMM_WORLD);
    if (rank == 0)
        make(&whole, MPI_COMM_SELF);
    measure(&options, solve);
    double error = error_of_all(), most = 100.0 * pow(10.0, (double)-digits);
    if (rank == 0) {
        printf("cg: %ld x %ld points, %ld iterations, %ld times\n", rows, columns, own.iterations, repeat);
        conclude(error <= most, "no point is further than %.3g from the exact solution, and %.3g is allowed", error, most);
    }
    end(0);
}
