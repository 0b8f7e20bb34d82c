/*
 * Poisson's equation in a cube by multigrid: V-cycles over grids of which each has half the points of an edge of the finer one. Each
 * rank owns a block of planes and gets those of its neighbours before each half of a smoothing step: messages of all lengths, from
 * planes of the finest grid to a few points. A grid that has no plane for each rank is gathered and solved by all, each for itself.
 *
 * The solution is x^2 + 2 y^2 + 3 z^2, of which the border has the values. Being quadratic it solves the difference equation as
 * well: so the exact answer is known at every point.
 */
#include "common.h"

#include <math.h>

static const char HELP[] =
    "Poisson's equation in a cube by multigrid, on all ranks.\n"
    "\n"
    "  --levels N        grids; the finest has 2^N - 1 points in each direction, 2 to 9 [5]\n"
    "  --repeat N        solutions, one after the other, 1 to 10000 [20]\n"
    "  --digits N        the residual becomes smaller by 10^-N, 1 to 10 [8]\n"
    "  --speedup         rank 0 alone and all ranks together, three times in turn\n"
    "  --help            this text\n"
    "\n"
    "  weft mpirun -n 4 ./mg --levels 6\n"
    "\n"
    "Every point is compared with the exact solution. There are at least as many planes as ranks.\n";

enum { LEVELS_MAX = 9, CYCLES_MAX = 50, SMOOTHINGS = 2 };

static long levels = 5, repeat = 20, digits = 8;

/*
 * A grid, of which this rank has `count` planes after the first `first`, and one more on either side: what is sought, the right-hand
 * side, and the residual. Planes, rows and points count from the border, which is 0.
 */
struct grid {
    double *u, *f, *r;
    long edge, first, count;
    bool divided;
};

/* The finest grid is the first. */
struct solver {
    struct grid grids[LEVELS_MAX];
    double residual;
    int cycles, me, all, above, below;
    MPI_Comm world;
};

static struct solver own, whole;

static long width(const struct grid *grid)
{
    return grid->edge + 2;
}

static long plane(const struct grid *grid)
{
    return width(grid) * width(grid);
}

/* Where a plane of the grid begins in this rank's vectors. */
static long start_of(const struct grid *grid, long z)
{
    return (z - grid->first) * plane(grid);
}

/* Every rank has its part of the finest grid's planes, and of a coarser grid those that lie in it. */
static long planes_before(long level, int owner, int all)
{
    return first_row((1l << levels) - 1, owner, all) >> level;
}

static void make(struct solver *solver, MPI_Comm world)
{
    MPI_Comm_rank(world, &solver->me);
    MPI_Comm_size(world, &solver->all);
    solver->world = world;
    solver->above = solver->me > 0 ? solver->me - 1 : MPI_PROC_NULL;
    solver->below = solver->me + 1 < solver->all ? solver->me + 1 : MPI_PROC_NULL;
    bool divided = solver->all > 1;
    for (long level = 0; level < levels; level++) {
        struct grid *grid = &solver->grids[level];
        grid->edge = (1l << (levels - level)) - 1;
        for (int owner = 0; owner < solver->all; owner++)
            divided &= planes_before(level, owner + 1, solver->all) > planes_before(level, owner, solver->all);
        grid->divided = divided;
        grid->first = divided ? planes_before(level, solver->me, solver->all) : 0;
        grid->count = divided ? planes_before(level, solver->me + 1, solver->all) - grid->first : grid->edge;
        double **vectors[] = {&grid->u, &grid->f, &grid->r};
        for (int i = 0; i < 3; i++)
            *vectors[i] = allocate((grid->count + 2) * plane(grid), sizeof(double));
    }
}

/* The planes before and after those that are owned get what the neighbours have. */
static void exchange(const struct solver *solver, const struct grid *grid, double *vector)
{
    if (!grid->divided)
        return;
    int length = (int)plane(grid);
    double *last = vector + grid->count * length;
    MPI_Sendrecv(vector + length, length, MPI_DOUBLE, solver->above, 1, last + length, length, MPI_DOUBLE, solver->below, 1,
                 solver->world, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, length, MPI_DOUBLE, solver->below, 2, vector, length, MPI_DOUBLE, solver->above, 2, solver->world,
                 MPI_STATUS_IGNORE);
}

static double spacing(const struct grid *grid)
{
    return 1.0 / (double)(grid->edge + 1);
}

static double sum_around(const double *at, long row, long plane)
{
    return at[-1] + at[1] + at[-row] + at[row] + at[-plane] + at[plane];
}

/* Gauss and Seidel's step, first for every second point, then for the others. */
static void smooth(const struct solver *solver, struct grid *grid)
{
    double square = spacing(grid) * spacing(grid);
    for (int colour = 0; colour < 2; colour++) {
        for (long z = grid->first + 1; z <= grid->first + grid->count; z++)
            for (long y = 1; y <= grid->edge; y++)
                for (long x = 1 + (z + y + colour) % 2; x <= grid->edge; x += 2) {
                    long at = start_of(grid, z) + y * width(grid) + x;
                    grid->u[at] = (sum_around(grid->u + at, width(grid), plane(grid)) + square * grid->f[at]) / 6.0;
                }
        exchange(solver, grid, grid->u);
    }
}

/* What is left of the right-hand side; returns the sum of its squares at this rank's points. */
static double find_residual(struct grid *grid)
{
    double scale = 1.0 / (spacing(grid) * spacing(grid)), sum = 0.0;
    for (long z = grid->first + 1; z <= grid->first + grid->count; z++)
        for (long y = 1; y <= grid->edge; y++)
            for (long x = 1; x <= grid->edge; x++) {
                long at = start_of(grid, z) + y * width(grid) + x;
                double around = sum_around(grid->u + at, width(grid), plane(grid));
                grid->r[at] = grid->f[at] - scale * (6.0 * grid->u[at] - around);
                sum += grid->r[at] * grid->r[at];
            }
    return sum;
}

/* The residual around a point: 8 times itself, 4 times its neighbours, twice those at edges, once those at corners; of 64. */
static double weighted(const double *at, long row, long plane)
{
    double sum = 0.0;
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++)
                sum += (double)(8 >> (abs(x) + abs(y) + abs(z))) * at[z * plane + y * row + x];
    return sum / 64.0;
}

/* All planes of a grid that is not divided, of which each rank has made those that lie in its part of the finer one. */
static void gather(struct solver *solver, long level)
{
    struct grid *grid = &solver->grids[level];
    int counts[solver->all], places[solver->all];
    for (int owner = 0; owner < solver->all; owner++) {
        long before = planes_before(level, owner, solver->all), after = planes_before(level, owner + 1, solver->all);
        counts[owner] = (int)((after - before) * plane(grid));
        places[owner] = (int)(before * plane(grid));
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, grid->f + plane(grid), counts, places, MPI_DOUBLE, solver->world);
}

/* The residual of a grid becomes the right-hand side of the next. */
static void restrict_residual(struct solver *solver, long level)
{
    struct grid *fine = &solver->grids[level], *coarse = &solver->grids[level + 1];
    exchange(solver, fine, fine->r);
    for (long z = fine->first / 2 + 1; z <= (fine->first + fine->count) / 2; z++)
        for (long y = 1; y <= coarse->edge; y++)
            for (long x = 1; x <= coarse->edge; x++) {
                const double *at = fine->r + start_of(fine, 2 * z) + 2 * y * width(fine) + 2 * x;
                coarse->f[start_of(coarse, z) + y * width(coarse) + x] = weighted(at, width(fine), plane(fine));
            }
    if (fine->divided && !coarse->divided)
        gather(solver, level + 1);
}

/* The value at a point of the finer grid: the mean of those around it, which are one, two, four or eight. */
static double between(const struct grid *grid, long x, long y, long z)
{
    double sum = 0.0;
    for (long i = z / 2; i <= (z + 1) / 2; i++)
        for (long j = y / 2; j <= (y + 1) / 2; j++)
            for (long k = x / 2; k <= (x + 1) / 2; k++)
                sum += grid->u[start_of(grid, i) + j * width(grid) + k];
    return sum / (double)(1 << (x % 2 + y % 2 + z % 2));
}

static void correct(const struct solver *solver, struct grid *fine, const struct grid *coarse)
{
    for (long z = fine->first + 1; z <= fine->first + fine->count; z++)
        for (long y = 1; y <= fine->edge; y++)
            for (long x = 1; x <= fine->edge; x++)
                fine->u[start_of(fine, z) + y * width(fine) + x] += between(coarse, x, y, z);
    exchange(solver, fine, fine->u);
}

/* Down to the grid of one point, whose equation is solved at once, and up again. */
static void cycle(struct solver *solver, long level)
{
    struct grid *grid = &solver->grids[level];
    if (level + 1 == levels) {
        smooth(solver, grid);
        return;
    }
    for (int i = 0; i < SMOOTHINGS; i++)
        smooth(solver, grid);
    find_residual(grid);
    struct grid *coarse = &solver->grids[level + 1];
    memset(coarse->u, 0, (coarse->count + 2) * plane(coarse) * sizeof(double));
    restrict_residual(solver, level);
    cycle(solver, level + 1);
    correct(solver, grid, coarse);
    for (int i = 0; i < SMOOTHINGS; i++)
        smooth(solver, grid);
}

static double exact(long x, long y, long z)
{
    double step = spacing(&own.grids[0]), a = (double)x * step, b = (double)y * step, c = (double)z * step;
    return a * a + 2.0 * b * b + 3.0 * c * c;
}

/* Begins at zero, but for the border of the cube. */
static void begin(struct solver *solver)
{
    struct grid *grid = &solver->grids[0];
    long last = grid->edge + 1;
    for (long z = grid->first; z <= grid->first + grid->count + 1; z++)
        for (long y = 0; y <= last; y++)
            for (long x = 0; x <= last; x++) {
                bool is_border = x == 0 || y == 0 || z == 0 || x == last || y == last || z == last;
                long at = start_of(grid, z) + y * width(grid) + x;
                grid->u[at] = is_border ? exact(x, y, z) : 0.0;
                grid->f[at] = -12.0;
            }
}

static double residual_of_all(struct solver *solver)
{
    double part = find_residual(&solver->grids[0]), sum;
    MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, solver->world);
    return sqrt(sum);
}

static void solve_once(struct solver *solver)
{
    begin(solver);
    double first = residual_of_all(solver), enough = first * pow(10.0, (double)-digits);
    solver->residual = first;
    for (solver->cycles = 0; solver->residual > enough && solver->cycles < CYCLES_MAX; solver->cycles++) {
        cycle(solver, 0);
        solver->residual = residual_of_all(solver);
    }
    solver->residual /= first;
}

static void solve(MPI_Comm world)
{
    for (long i = 0; i < repeat; i++)
        solve_once(world == MPI_COMM_SELF ? &whole : &own);
}

/* The largest distance from the exact solution, of all ranks. */
static double error_of_all(void)
{
    const struct grid *grid = &own.grids[0];
    double error = 0.0, largest;
    for (long z = grid->first + 1; z <= grid->first + grid->count; z++)
        for (long y = 1; y <= grid->edge; y++)
            for (long x = 1; x <= grid->edge; x++)
                error = fmax(error, fabs(grid->u[start_of(grid, z) + y * width(grid) + x] - exact(x, y, z)));
    MPI_Allreduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
}

int main(int argc, char **argv)
{
    const struct number numbers[] = {
        {"--levels", &levels, 2, LEVELS_MAX}, {"--repeat", &repeat, 1, 10000}, {"--digits", &digits, 1, 10}, {0}};
    struct options options = {.program = "mg", .help = HELP, .numbers = numbers};
    start(&options, argc, argv);
    if ((1l << levels) - 1 < ranks)
        misused(&options, "%ld levels have too few planes for %d ranks", levels, ranks);
    make(&own, MPI_COMM_WORLD);
    if (rank == 0)
        make(&whole, MPI_COMM_SELF);
    measure(&options, solve);
    double error = error_of_all(), most = 100.0 * pow(10.0, (double)-digits);
    if (rank == 0) {
        long edge = own.grids[0].edge;
        printf("mg: %ld x %ld x %ld points, %d cycles, %ld times\n", edge, edge, edge, own.cycles, repeat);
        conclude(error <= most && own.cycles < CYCLES_MAX,
                 "no point is further than %.3g from the exact solution, and %.3g is allowed; the residual is %.1e of the first",
                 error, most, own.residual);
    }
    end(0);
}
