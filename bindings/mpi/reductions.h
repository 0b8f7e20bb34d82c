/* Collectives that combine elements, for coll.c. */
#ifndef WEFT_REDUCTIONS_H
#define WEFT_REDUCTIONS_H

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

/* Whether a reduction can be served: all ranks say the same of these. One that does not block combines elements where nothing of the
   program's may be called. */
static int reduces(enum call call, int count, MPI_Datatype type, MPI_Op op, struct shape *shape)
{
    return op != MPI_OP_NULL && op != MPI_NO_OP && op != MPI_REPLACE && shape_of(count, type, shape) && shape->plain &&
           (call < IBARRIER || combines(type, op) != combine);
}

/* Describes a reduction to `root`, if it has one, of `count` elements; `parts` times as many if each rank gets its share. */
static int reduction(struct operation *op, enum call call, enum weft_coll_operation operation, int root, int parts, const void *mine,
                     void *into, int count, MPI_Datatype type, MPI_Op how, MPI_Comm comm)
{
    struct team *team = team_for(call, comm);
    struct shape shape;
    if (!has_member(team, root) || !reduces(call, count, type, how, &shape) ||
        !may_serve(team, call, shape.bytes * (size_t)(unsigned)parts))
        return leave(call);
    serve(op, call, operation, team, comm);
    op->how = (struct combining){type, how};
    op->call.root = (size_t)root;
    op->call.mine = mine == MPI_IN_PLACE ? into : mine;
    op->call.into = into;
    op->call.count = shape.bytes ? (size_t)count : 0;
    op->call.size = (size_t)shape.extent;
    op->call.combine = combines(type, how);
    op->call.context = &op->how;
    return 1;
}

#define ELEMENTS const void *mine, void *into, int count, MPI_Datatype type, MPI_Op how

static int reduce(struct operation *op, enum call call, ELEMENTS, int root, MPI_Comm comm)
{
    return reduction(op, call, WEFT_COLL_REDUCE, root, 1, mine, into, count, type, how, comm);
}
SERVED(Reduce, reduce, REDUCE, (ELEMENTS, int root, MPI_Comm comm), (mine, into, count, type, how, root, comm))

static int allreduce(struct operation *op, enum call call, ELEMENTS, MPI_Comm comm)
{
    return reduction(op, call, WEFT_COLL_ALL_REDUCE, 0, 1, mine, into, count, type, how, comm);
}
SERVED(Allreduce, allreduce, ALLREDUCE, (ELEMENTS, MPI_Comm comm), (mine, into, count, type, how, comm))

static int scan(struct operation *op, enum call call, ELEMENTS, MPI_Comm comm)
{
    return reduction(op, call, WEFT_COLL_SCAN, 0, 1, mine, into, count, type, how, comm);
}
SERVED(Scan, scan, SCAN, (ELEMENTS, MPI_Comm comm), (mine, into, count, type, how, comm))

static int exscan(struct operation *op, enum call call, ELEMENTS, MPI_Comm comm)
{
    return reduction(op, call, WEFT_COLL_EXCLUSIVE_SCAN, 0, 1, mine, into, count, type, how, comm);
}
SERVED(Exscan, exscan, EXSCAN, (ELEMENTS, MPI_Comm comm), (mine, into, count, type, how, comm))

static int reduce_scatter_block(struct operation *op, enum call call, ELEMENTS, MPI_Comm comm)
{
    struct team *team = team_for(call, comm);
    return reduction(op, call, WEFT_COLL_REDUCE_SCATTER, 0, team ? team->size : 1, mine, into, count, type, how, comm);
}
SERVED(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER, (ELEMENTS, MPI_Comm comm), (mine, into, count, type, how, comm))

/* Served if all ranks get as much. */
static int reduce_scatter(struct operation *op, enum call call, const void *mine, void *into, const int *counts, MPI_Datatype type,
                          MPI_Op how, MPI_Comm comm)
{
    struct team *team = team_for(call, comm);
    for (int rank = 1; team && rank < team->size; rank++)
        if (counts[rank] != counts[0])
            return leave(call);
    return reduce_scatter_block(op, call, mine, into, team ? counts[0] : 0, type, how, comm);
}
SERVED(Reduce_scatter, reduce_scatter, REDUCE_SCATTER,
       (const void *mine, void *into, const int *counts, MPI_Datatype type, MPI_Op how, MPI_Comm comm),
       (mine, into, counts, type, how, comm))

#endif
