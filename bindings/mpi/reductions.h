/* Collectives that combine elements, for coll.c. */
#ifndef WEFT_REDUCTIONS_H
#define WEFT_REDUCTIONS_H

/* How elements are combined. */
struct combining {
    MPI_Datatype type;
    MPI_Op op;
};

static void combine(const void *before, void *after, size_t count, void *context)
{
    const struct combining *how = context;
    PMPI_Reduce_local((void *)before, after, (int)count, how->type, how->op);
}

/* The usual operations on the usual types. Few elements are combined here sooner than the MPI library finds its function. */
#define COMBINE(c, name, how)                                                                                \
    static void name(const void *before, void *after, size_t count, void *context)                           \
    {                                                                                                        \
        (void)context;                                                                                       \
        for (size_t at = 0; at < count * sizeof(c); at += sizeof(c)) {                                       \
            c one, two;                                                                                      \
            memcpy(&one, (const char *)before + at, sizeof one);                                             \
            memcpy(&two, (char *)after + at, sizeof two);                                                    \
            two = how;                                                                                       \
            memcpy((char *)after + at, &two, sizeof two);                                                    \
        }                                                                                                    \
    }
#define COMBINE_ALL(mpi, c, name)                                                                            \
    COMBINE(c, sum_##name, one + two)                                                                        \
    COMBINE(c, product_##name, one * two)                                                                     \
    COMBINE(c, least_##name, one < two ? one : two)                                                          \
    COMBINE(c, most_##name, one > two ? one : two)
USUAL_TYPES(COMBINE_ALL)

/* What combines elements; only `combine` reads what is given beside. */
static weft_coll_combine *combines(MPI_Datatype type, MPI_Op op)
{
#define FIND(mpi, c, name)                                                                                   \
    if (type == mpi)                                                                                         \
        return op == MPI_SUM    ? sum_##name                                                                 \
               : op == MPI_PROD ? product_##name                                                             \
               : op == MPI_MIN  ? least_##name                                                               \
               : op == MPI_MAX  ? most_##name                                                                \
                                : combine;
    USUAL_TYPES(FIND)
    return combine;
}

/* Whether a reduction can be served: all ranks say the same of these. */
static int reduces(int count, MPI_Datatype type, MPI_Op op, struct shape *shape)
{
    return op != MPI_OP_NULL && op != MPI_NO_OP && op != MPI_REPLACE && shape_of(count, type, shape) && shape->plain;
}

EXPORTED int MPI_Allreduce(const void *mine, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct team *team = team_of(comm);
    struct combining how = {type, op};
    struct shape shape;
    if (!team || !reduces(count, type, op, &shape)) {
        leave(ALLREDUCE);
        return PMPI_Allreduce(mine, into, count, type, op, comm);
    }
    serve(ALLREDUCE);
    if (shape.bytes == 0)
        return MPI_SUCCESS;
    const void *own = mine == MPI_IN_PLACE ? into : mine;
    return outcome(comm, weft->all_reduce(team->name, own, into, (size_t)count, (size_t)shape.extent,
                                          combines(type, op), &how));
}

EXPORTED int MPI_Reduce(const void *mine, void *into, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    struct team *team = team_of(comm);
    struct combining how = {type, op};
    struct shape shape;
    if (!has_member(team, root) || !reduces(count, type, op, &shape)) {
        leave(REDUCE);
        return PMPI_Reduce(mine, into, count, type, op, root, comm);
    }
    serve(REDUCE);
    if (shape.bytes == 0)
        return MPI_SUCCESS;
    const void *own = mine == MPI_IN_PLACE ? into : mine;
    return outcome(comm, weft->reduce(team->name, (size_t)root, own, into, (size_t)count, (size_t)shape.extent,
                                      combines(type, op), &how));
}

/* A scan, with each rank's own elements or without. */
static int scan(enum call call, const void *mine, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct team *team = team_of(comm);
    struct combining how = {type, op};
    struct shape shape;
    int is_exclusive = call == EXSCAN;
    if (!team || !reduces(count, type, op, &shape) || !may_serve(team, call, shape.bytes)) {
        leave(call);
        return (is_exclusive ? PMPI_Exscan : PMPI_Scan)(mine, into, count, type, op, comm);
    }
    serve(call);
    if (shape.bytes == 0)
        return MPI_SUCCESS;
    const void *own = mine == MPI_IN_PLACE ? into : mine;
    return outcome(comm, weft->scan(team->name, is_exclusive, own, into, (size_t)count, (size_t)shape.extent,
                                    combines(type, op), &how));
}

EXPORTED int MPI_Scan(const void *mine, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return scan(SCAN, mine, into, count, type, op, comm);
}

EXPORTED int MPI_Exscan(const void *mine, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return scan(EXSCAN, mine, into, count, type, op, comm);
}

/* Whether a reduction of which each rank gets `count` elements is served; if so, does it. */
static int reduce_scatter(struct team *team, const void *mine, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                          int *result)
{
    struct combining how = {type, op};
    struct shape shape;
    if (!team || !reduces(count, type, op, &shape) || !may_serve(team, REDUCE_SCATTER, shape.bytes * (size_t)team->size)) {
        leave(REDUCE_SCATTER);
        return 0;
    }
    serve(REDUCE_SCATTER);
    *result = MPI_SUCCESS;
    if (shape.bytes > 0) {
        const void *own = mine == MPI_IN_PLACE ? into : mine;
        *result = outcome(comm, weft->reduce_scatter(team->name, own, into, (size_t)count, (size_t)shape.extent,
                                                     combines(type, op), &how));
    }
    return 1;
}

EXPORTED int MPI_Reduce_scatter_block(const void *mine, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int result;
    return reduce_scatter(team_of(comm), mine, into, count, type, op, comm, &result)
               ? result
               : PMPI_Reduce_scatter_block(mine, into, count, type, op, comm);
}

/* Served if all ranks get as much. */
EXPORTED int MPI_Reduce_scatter(const void *mine, void *into, const int *counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    struct team *team = team_of(comm);
    int result, are_equal = 1;
    for (int rank = 1; team && rank < team->size; rank++)
        are_equal &= counts[rank] == counts[0];
    return reduce_scatter(are_equal ? team : NULL, mine, into, team ? counts[0] : 0, type, op, comm, &result)
               ? result
               : PMPI_Reduce_scatter(mine, into, counts, type, op, comm);
}

#endif
