/*
 * All-pairs shortest paths (thesis 8.5.2): Floyd and Warshall's algorithm on a distance matrix whose rows the ranks share. In each
 * iteration the owner of a row broadcasts it, and all try the ways through its node. An owner broadcasts one row after the other, so its
 * broadcasts may be under way together.
 */
#include "common.h"

static const char HELP[] =
    "Shortest paths between all pairs of nodes of a random graph, on all ranks (Floyd and Warshall).\n"
    "\n"
    "  --nodes N     nodes, 2 to 16384 [1024]\n"
    "  --degree N    edges that leave each node besides the one to the next, 0 to 1000 [4]\n"
    "  --seed N      which graph [1]\n"
    "  --speedup     rank 0 alone and all ranks together, three times in turn\n"
    "  --help        this text\n"
    "\n"
    "  weft mpirun -n 4 ./asp --nodes 2048 --speedup\n"
    "\n"
    "The distances are compared with those of one rank, and with Dijkstra's algorithm.\n";

enum { UNREACHABLE = INT32_MAX / 2, LONGEST_EDGE = 1000, SOURCES = 32 };

static long nodes = 1024, degree = 4, seed = 1;

/* Rows of distances: this rank's, and at rank 0 what one rank alone came to. */
static int32_t *own, *whole;

/* Where the edges of a node lead, and how long they are. The last leads to the next node, so that all nodes reach each other. */
static long edge_to(long node, long edge)
{
    if (edge == degree)
        return (node + 1) % nodes;
    return (long)(random_bits(seed, 2 * (node * degree + edge)) % nodes);
}

static int32_t edge_length(long node, long edge)
{
    uint64_t index = edge == degree ? 2 * (nodes * degree + node) : 2 * (node * degree + edge) + 1;
    return 1 + (int32_t)(random_bits(seed, index) % LONGEST_EDGE);
}

static void edges_of(long node, int32_t *row)
{
    for (long to = 0; to < nodes; to++)
        row[to] = UNREACHABLE;
    for (long edge = 0; edge <= degree; edge++) {
        int32_t *length = &row[edge_to(node, edge)], given = edge_length(node, edge);
        *length = *length < given ? *length : given;
    }
    row[node] = 0;
}

/* Lets a row try the ways through a node whose own row is `through`. */
static void relax(int32_t *restrict row, int32_t to_node, const int32_t *restrict through)
{
    for (long to = 0; to < nodes; to++) {
        int32_t by_node = to_node + through[to];
        row[to] = row[to] < by_node ? row[to] : by_node;
    }
}

static void solve(MPI_Comm world)
{
    int me, all;
    MPI_Comm_rank(world, &me);
    MPI_Comm_size(world, &all);
    long first = first_row(nodes, me, all), count = first_row(nodes, me + 1, all) - first;
    int32_t *rows = world == MPI_COMM_SELF ? whole : own, *pivot = allocate(nodes, sizeof *pivot);
    for (long i = 0; i < count; i++)
        edges_of(first + i, rows + i * nodes);
    for (long node = 0; node < nodes; node++) {
        int owner = owner_of(node, nodes, all);
        if (owner == me)
            memcpy(pivot, rows + (node - first) * nodes, nodes * sizeof *pivot);
        MPI_Bcast(pivot, (int)nodes, MPI_INT32_T, owner, world);
        for (long i = 0; i < count; i++) {
            int32_t to_node = rows[i * nodes + node];
            if (to_node < UNREACHABLE)
                relax(rows + i * nodes, to_node, pivot);
        }
    }
    free(pivot);
}

/* Dijkstra's algorithm from one source, on the edges themselves: whether it finds the same distances. */
static bool dijkstra_agrees(long source, const int32_t *distances)
{
    int32_t *nearest = allocate(nodes, sizeof *nearest);
    bool *done = allocate(nodes, sizeof *done);
    for (long node = 0; node < nodes; node++)
        nearest[node] = node == source ? 0 : UNREACHABLE;
    for (long turn = 0; turn < nodes; turn++) {
        long next = -1;
        for (long node = 0; node < nodes; node++)
            if (!done[node] && (next < 0 || nearest[node] < nearest[next]))
                next = node;
        done[next] = true;
        for (long edge = 0; edge <= degree; edge++) {
            long to = edge_to(next, edge);
            int32_t length = nearest[next] + edge_length(next, edge);
            nearest[to] = nearest[to] < length ? nearest[to] : length;
        }
    }
    bool agrees = !memcmp(nearest, distances, nodes * sizeof *nearest);
    free(nearest);
    free(done);
    return agrees;
}

/* All rows at rank 0. */
static int32_t *gather(void)
{
    int *counts = allocate(ranks, sizeof *counts), *places = allocate(ranks, sizeof *places);
    for (int owner = 0; owner < ranks; owner++) {
        places[owner] = (int)(first_row(nodes, owner, ranks) * nodes);
        counts[owner] = (int)(first_row(nodes, owner + 1, ranks) * nodes) - places[owner];
    }
    int32_t *all = rank == 0 ? allocate(nodes * nodes, sizeof *all) : NULL;
    MPI_Gatherv(own, counts[rank], MPI_INT32_T, all, counts, places, MPI_INT32_T, 0, MPI_COMM_WORLD);
    free(counts);
    free(places);
    return all;
}

/* Rank 0 says what was found, and whether it is right. */
static void report(const int32_t *all)
{
    int64_t sum = 0;
    long farthest = 0;
    for (long i = 0; i < nodes * nodes; i++) {
        sum += all[i];
        farthest = all[i] > all[farthest] ? i : farthest;
    }
    printf("asp: %ld nodes, %ld edges; farthest apart are %ld and %ld: %d; all distances add up to %lld\n", nodes,
           nodes * (degree + 1), farthest / nodes, farthest % nodes, (int)all[farthest], (long long)sum);
    for (long i = 0; i < nodes * nodes; i++)
        if (all[i] != whole[i])
            conclude(false, "from %ld to %ld it is %d, and %d on one rank", i / nodes, i % nodes, (int)all[i], (int)whole[i]);
    long sources = nodes < SOURCES ? nodes : SOURCES;
    for (long i = 0; i < sources; i++) {
        long source = i * nodes / sources;
        if (!dijkstra_agrees(source, all + source * nodes))
            conclude(false, "from %ld Dijkstra's algorithm finds other distances", source);
    }
    conclude(true, "all %ld distances are those of one rank, and from %ld nodes Dijkstra's", nodes * nodes, sources);
}

int main(int argc, char **argv)
{
    const struct number numbers[] = {
        {"--nodes", &nodes, 2, 16384}, {"--degree", &degree, 0, 1000}, {"--seed", &seed, 0, INT32_MAX}, {0}};
    struct options options = {.program = "asp", .help = HELP, .numbers = numbers};
    start(&options, argc, argv);
    long count = first_row(nodes, rank + 1, ranks) - first_row(nodes, rank, ranks);
    own = allocate(count * nodes, sizeof *own);
    whole = rank == 0 ? allocate(nodes * nodes, sizeof *whole) : NULL;
    measure(&options, solve);
    int32_t *all = gather();
    if (rank == 0)
        report(all);
    end(0);
}
