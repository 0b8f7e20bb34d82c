/*
 * QR factorization by Householder reflections with column pivoting (thesis 8.5.8). The ranks share the columns, one each in turn. In
 * each iteration all agree which column has the largest norm, by an all-reduce of two integers and two doubles; its owner makes
 * the Householder vector of it and broadcasts that; all reflect their columns. The vector gets shorter by one each time.
 */
#include "common.h"

#include <math.h>
#include <stddef.h>

static const char HELP[] =
    "QR factorization of a random matrix by Householder reflections with column pivoting, on all ranks.\n"
    "\n"
    "  --rows N       rows, 1 to 8192 [1024]\n"
    "  --columns N    columns, 1 to 8192 [1024]\n"
    "  --seed N       which matrix [1]\n"
    "  --speedup      rank 0 alone and all ranks together, three times in turn\n"
    "  --help         this text\n"
    "\n"
    "  weft mpirun -n 4 ./qr --rows 512 --columns 512\n"
    "\n"
    "R is compared with that of one rank, bit for bit, and R'R with A'A.\n";

static long rows = 1024, columns = 1024, seed = 1;

/* What a rank proposes: the longest of its columns. Two doubles and two integers. */
struct candidate {
    double norm2; /* the square of its norm, from the current row down */
    double head;  /* its element in the current row */
    int32_t column, owner;
};

/* A factorization: R's columns where the matrix's were, and in which order they were taken. */
struct factors {
    double *values;
    int32_t *order;
};

static struct factors own, whole;

static MPI_Datatype candidate_type;
static MPI_Op longest_op;

static double element(long row, long column)
{
    return noise(seed, column * rows + row);
}

/* Columns are dealt out, one to each rank in turn: so all have some until the end. */
static long columns_of(int owner, int owners)
{
    return (columns - owner + owners - 1) / owners;
}

/* Four sums, which are added in the end: one would wait for itself. */
static double product(const double *a, const double *b, long count)
{
    double sums[4] = {0};
    long i = 0;
    for (; i + 4 <= count; i += 4)
        for (int lane = 0; lane < 4; lane++)
            sums[lane] += a[i + lane] * b[i + lane];
    for (; i < count; i++)
        sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* The longer of two columns; of two as long the one that comes first, so that all ranks take the same. */
static bool is_longer(const struct candidate *a, const struct candidate *b)
{
    return a->norm2 > b->norm2 || (a->norm2 == b->norm2 && a->column < b->column);
}

static void longest(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    const struct candidate *offered = in;
    struct candidate *best = inout;
    for (int i = 0; i < *count; i++)
        if (is_longer(&offered[i], &best[i]))
            best[i] = offered[i];
}

static void declare_candidates(void)
{
    int counts[] = {2, 2};
    MPI_Aint places[] = {offsetof(struct candidate, norm2), offsetof(struct candidate, column)};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT32_T};
    MPI_Type_create_struct(2, counts, places, types, &candidate_type);
    MPI_Type_commit(&candidate_type);
    MPI_Op_create(longest, true, &longest_op);
}

/* The columns of one rank while they are factorized. */
struct part {
    double *values;
    double *norms2; /* from the current row down; below 0 once the column has been taken */
    long count;
    int me, all;
};

static struct candidate best_here(const struct part *part, long step)
{
    struct candidate best = {.norm2 = -1.0, .column = INT32_MAX, .owner = part->me};
    for (long i = 0; i < part->count; i++) {
        struct candidate here = {
            .norm2 = part->norms2[i],
            .head = part->values[i * rows + step],
            .column = (int32_t)(part->me + i * part->all),
            .owner = part->me,
        };
        if (part->norms2[i] >= 0.0 && is_longer(&here, &best))
            best = here;
    }
    return best;
}

/* What becomes of the head of the column that is taken: its norm, with the sign that loses no digits. */
static double new_head(const struct candidate *chosen)
{
    double norm = sqrt(chosen->norm2);
    return chosen->head > 0.0 ? -norm : norm;
}

/* Makes the Householder vector of the column that this rank owns. */
static void take(struct part *part, const struct candidate *chosen, long step, double *vector)
{
    long place = chosen->column / part->all, length = rows - step;
    double *column = part->values + place * rows + step;
    memcpy(vector, column, length * sizeof *vector);
    vector[0] -= new_head(chosen);
    memset(column, 0, length * sizeof *column);
    column[0] = new_head(chosen);
    part->norms2[place] = -1.0;
}

/* Reflects the columns that are left. */
static void reflect(struct part *part, const double *vector, const struct candidate *chosen, long step)
{
    long length = rows - step;
    /* Half the square of the vector's norm. */
    double half = chosen->norm2 + fabs(chosen->head) * sqrt(chosen->norm2);
    for (long i = 0; i < part->count; i++) {
        if (part->norms2[i] < 0.0)
            continue;
        double *column = part->values + i * rows + step;
        double scale = half > 0.0 ? product(vector, column, length) / half : 0.0;
        for (long row = 0; row < length; row++)
            column[row] -= scale * vector[row];
        part->norms2[i] = product(column + 1, column + 1, length - 1);
    }
}

static void solve(MPI_Comm world)
{
    struct factors factors = world == MPI_COMM_SELF ? whole : own;
    struct part part = {.values = factors.values};
    MPI_Comm_rank(world, &part.me);
    MPI_Comm_size(world, &part.all);
    part.count = columns_of(part.me, part.all);
    part.norms2 = allocate(part.count, sizeof *part.norms2);
    for (long i = 0; i < part.count; i++) {
        double *column = part.values + i * rows;
        for (long row = 0; row < rows; row++)
            column[row] = element(row, part.me + i * part.all);
        part.norms2[i] = product(column, column, rows);
    }
    double *vector = allocate(rows, sizeof *vector);
    for (long step = 0; step < rows && step < columns; step++) {
        struct candidate mine = best_here(&part, step), chosen;
        MPI_Allreduce(&mine, &chosen, 1, candidate_type, longest_op, world);
        if (chosen.owner == part.me)
            take(&part, &chosen, step, vector);
        MPI_Bcast(vector, (int)(rows - step), MPI_DOUBLE, chosen.owner, world);
        reflect(&part, vector, &chosen, step);
        factors.order[step] = chosen.column;
    }
    free(vector);
    free(part.norms2);
}

/* All columns at rank 0, in the matrix's order. */
static double *gather(void)
{
    int *counts = allocate(ranks, sizeof *counts), *places = allocate(ranks, sizeof *places), place = 0;
    for (int owner = 0; owner < ranks; owner++) {
        counts[owner] = (int)(columns_of(owner, ranks) * rows);
        places[owner] = place;
        place += counts[owner];
    }
    double *dealt = rank == 0 ? allocate(rows * columns, sizeof *dealt) : NULL;
    MPI_Gatherv(own.values, counts[rank], MPI_DOUBLE, dealt, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    double *all = rank == 0 ? allocate(rows * columns, sizeof *all) : NULL;
    for (long column = 0; rank == 0 && column < columns; column++) {
        const double *from = dealt + places[column % ranks] + column / ranks * rows;
        memcpy(all + column * rows, from, rows * sizeof *all);
    }
    free(dealt);
    free(counts);
    free(places);
    return all;
}

/* How far R'R is from A'A at most, of each column with itself and with two others, in units of their norms. */
static double largest_error(const double *all)
{
    double *a = allocate(rows, sizeof *a), *b = allocate(rows, sizeof *b), largest = 0.0;
    for (long pair = 0; pair < 3 * columns; pair++) {
        long i = pair / 3, j = pair % 3 ? (long)(random_bits(seed + 1, pair) % columns) : i;
        for (long row = 0; row < rows; row++) {
            a[row] = element(row, i);
            b[row] = element(row, j);
        }
        double expected = product(a, b, rows), found = product(all + i * rows, all + j * rows, rows);
        double norms = sqrt(product(a, a, rows) * product(b, b, rows));
        largest = fmax(largest, fabs(found - expected) / norms);
    }
    free(a);
    free(b);
    return largest;
}

/* Rank 0 says what was found, and whether it is right. */
static void report(const double *all)
{
    long steps = rows < columns ? rows : columns;
    double first = all[own.order[0] * rows], last = all[own.order[steps - 1] * rows + steps - 1];
    printf("qr: %ld x %ld; R's diagonal begins with %.15g and ends with %.15g\n", rows, columns, first, last);
    for (long step = 0; step < steps; step++)
        if (own.order[step] != whole.order[step])
            conclude(false, "column %d was taken in step %ld, and %d on one rank", (int)own.order[step], step,
                     (int)whole.order[step]);
    for (long i = 0; i < rows * columns; i++)
        if (memcmp(&all[i], &whole.values[i], sizeof *all))
            conclude(false, "row %ld of column %ld is %.17g, and %.17g on one rank", i % rows, i / rows, all[i], whole.values[i]);
    double error = largest_error(all), most = 1e-15 * (double)(rows + columns);
    conclude(error <= most, "all bits of R are those of one rank; R'R differs from A'A by %.1e at most (%.1e is allowed)", error, most);
}

int main(int argc, char **argv)
{
    const struct number numbers[] = {
        {"--rows", &rows, 1, 8192}, {"--columns", &columns, 1, 8192}, {"--seed", &seed, 0, INT32_MAX}, {0}};
    struct options options = {.program = "qr", .help = HELP, .numbers = numbers};
    start(&options, argc, argv);
    declare_candidates();
    own.values = allocate(columns_of(rank, ranks) * rows, sizeof *own.values);
    own.order = allocate(columns, sizeof *own.order);
    whole.values = rank == 0 ? allocate(rows * columns, sizeof *whole.values) : NULL;
    whole.order = allocate(columns, sizeof *whole.order);
    measure(&options, solve);
    double *all = gather();
    if (rank == 0)
        report(all);
    end(0);
}
