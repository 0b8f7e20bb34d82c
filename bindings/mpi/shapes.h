/* Elements of MPI's types in memory, for coll.c: how they lie there, and copies of them in one piece. */
#ifndef WEFT_SHAPES_H
#define WEFT_SHAPES_H

/* How `count` elements of a type lie in memory, if it is a type. */
struct shape {
    size_t bytes;
    /* In one piece that begins where the buffer does. */
    int whole;
    /* One of MPI's own, or in one piece: elements may be copied with the gaps between them. */
    int plain;
    MPI_Aint extent;
};

/* The usual types: MPI's, C's, and what stands in the names of functions. */
#define USUAL_TYPES(X)                                                                                       \
    X(MPI_INT, int, int) X(MPI_LONG, long, long) X(MPI_LONG_LONG, long long, long_long)                       \
    X(MPI_UNSIGNED, unsigned, unsigned) X(MPI_UNSIGNED_LONG, unsigned long, unsigned_long)                    \
    X(MPI_INT32_T, int32_t, int32) X(MPI_INT64_T, int64_t, int64) X(MPI_UINT32_T, uint32_t, uint32)           \
    X(MPI_UINT64_T, uint64_t, uint64) X(MPI_FLOAT, float, float) X(MPI_DOUBLE, double, double)

/* Bytes of a type that is known without asking; 0 of others. */
static size_t usual_size(MPI_Datatype type)
{
#define SIZE(mpi, c, name)                                                                                   \
    if (type == mpi)                                                                                         \
        return sizeof(c);
    SIZE(MPI_BYTE, char, byte)
    SIZE(MPI_CHAR, char, char)
    USUAL_TYPES(SIZE)
    return 0;
}

static int shape_of(int count, MPI_Datatype type, struct shape *shape)
{
    MPI_Aint lower, extent, true_lower, true_extent;
    int size, integers, addresses, types, combiner;
    size_t usual = usual_size(type);
    if (usual > 0 && count >= 0) {
        *shape = (struct shape){.bytes = usual * (size_t)count, .whole = 1, .plain = 1, .extent = (MPI_Aint)usual};
        return 1;
    }
    if (count < 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) != MPI_SUCCESS || size == MPI_UNDEFINED)
        return 0;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
    shape->bytes = (size_t)size * (size_t)count;
    shape->whole = lower == 0 && true_lower == 0 && extent == size && true_extent == size;
    shape->plain = shape->whole;
    if (!shape->plain) {
        PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
        shape->plain = combiner == MPI_COMBINER_NAMED && lower == 0 && true_lower == 0;
    }
    shape->extent = extent;
    return 1;
}

/* Room for elements in one piece: where they belong, or memory of its own, which `release` frees. */
static void *room(void *buffer, const struct shape *shape, MPI_Comm comm)
{
    void *own = shape->whole ? buffer : malloc(shape->bytes);
    if (!own)
        PMPI_Abort(comm, 1);
    return own;
}

/* Elements that one call of MPI_Pack may have, which counts bytes in int. */
static int elements_at_once(int count, const struct shape *shape)
{
    size_t size = count && shape->bytes ? shape->bytes / (size_t)count : 1;
    return INT32_MAX / (int)size;
}

static void pack(const void *buffer, int count, MPI_Datatype type, const struct shape *shape, char *into, MPI_Comm comm)
{
    int most = elements_at_once(count, shape);
    size_t size = count ? shape->bytes / (size_t)count : 0;
    for (int done = 0; done < count; done += most) {
        int some = count - done < most ? count - done : most, at = 0;
        PMPI_Pack((const char *)buffer + shape->extent * done, some, type, into + size * (size_t)done, (int)size * some, &at, comm);
    }
}

/* The elements in one piece: where they are, or a copy, which `release` frees. */
static void *packed(const void *buffer, int count, MPI_Datatype type, const struct shape *shape, MPI_Comm comm)
{
    char *own = room((void *)buffer, shape, comm);
    if (!shape->whole)
        pack(buffer, count, type, shape, own, comm);
    return own;
}

static void unpack(const void *copy, void *buffer, int count, MPI_Datatype type, const struct shape *shape, MPI_Comm comm)
{
    int most = elements_at_once(count, shape);
    size_t size = count ? shape->bytes / (size_t)count : 0;
    for (int done = 0; !shape->whole && done < count; done += most) {
        int some = count - done < most ? count - done : most, at = 0;
        PMPI_Unpack((const char *)copy + size * (size_t)done, (int)size * some, &at, (char *)buffer + shape->extent * done, some, type,
                    comm);
    }
}

static void release(void *copy, const void *buffer)
{
    if (copy != buffer)
        free(copy);
}

#endif
