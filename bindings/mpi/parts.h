/* Elements of varied lengths in memory, for coll.c. */
#ifndef WEFT_PARTS_H
#define WEFT_PARTS_H

/* The elements for each rank, or from each: where they are, or room for copies in one piece, which `end_parts` frees. */
struct parts {
    struct shape element;
    struct weft_coll_part *places;
    char *base;
    int size;
    /* As the program says it. */
    void *buffer;
    const int *counts, *displacements;
    MPI_Datatype type;
};

/* Finds elements that lie as counts and places say. False if they cannot be, which the MPI library says better. */
static int parts_of(struct parts *parts, const void *buffer, const int *counts, const int *places, MPI_Datatype type, int size,
                    MPI_Comm comm)
{
    MPI_Aint lowest = 0;
    size_t copied = 0;
    *parts = (struct parts){.size = size, .buffer = (void *)buffer, .counts = counts, .displacements = places, .type = type};
    if (!counts || !places || !shape_of(1, type, &parts->element))
        return 0;
    const struct shape *element = &parts->element;
    for (int rank = 0; rank < size; rank++) {
        if (counts[rank] < 0)
            return 0;
        if (counts[rank] > 0 && places[rank] * element->extent < lowest)
            lowest = places[rank] * element->extent;
    }
    parts->places = malloc((size_t)(unsigned)size * sizeof *parts->places);
    if (!parts->places)
        PMPI_Abort(comm, 1);
    for (int rank = 0; rank < size; rank++) {
        size_t bytes = (size_t)counts[rank] * element->bytes;
        size_t at = element->whole ? (size_t)(places[rank] * element->extent - lowest) : copied;
        parts->places[rank] = (struct weft_coll_part){.at = bytes ? at : 0, .bytes = bytes};
        copied += bytes;
    }
    parts->base = element->whole ? (char *)buffer + lowest : malloc(copied);
    if (copied > 0 && !parts->base)
        PMPI_Abort(comm, 1);
    return 1;
}

/* How a rank's elements lie, among those of others with gaps between them. */
static void *elements_of(const struct parts *parts, int rank, struct shape *shape)
{
    *shape = parts->element;
    shape->bytes = parts->places[rank].bytes;
    return (char *)parts->buffer + parts->displacements[rank] * shape->extent;
}

/* Copies elements with gaps between them to one piece, or from there. */
static void gather_parts(const struct parts *parts, MPI_Comm comm)
{
    for (int rank = 0; !parts->element.whole && rank < parts->size; rank++) {
        struct shape shape;
        void *elements = elements_of(parts, rank, &shape);
        pack(elements, parts->counts[rank], parts->type, &shape, parts->base + parts->places[rank].at, comm);
    }
}

static void spread_parts(const struct parts *parts, MPI_Comm comm)
{
    for (int rank = 0; !parts->element.whole && rank < parts->size; rank++) {
        struct shape shape;
        void *elements = elements_of(parts, rank, &shape);
        unpack(parts->base + parts->places[rank].at, elements, parts->counts[rank], parts->type, &shape, comm);
    }
}

static void end_parts(struct parts *parts)
{
    if (!parts->element.whole)
        free(parts->base);
    free(parts->places);
}

#endif
