/* Collectives of varied lengths, for coll.c. The rank that gives some bytes and the rank that takes them both know how many
   they are, and nobody else has to. */
#ifndef WEFT_VARIED_H
#define WEFT_VARIED_H

/* The elements for each rank, or from each: where they are, or room for copies in one piece, which `end_parts` frees. */
struct parts {
    struct shape element;
    struct weft_coll_part *places;
    char *base;
    int size;
};

/* Finds elements that lie as counts and places say. False if they cannot be, which the MPI library says better. */
static int parts_of(struct parts *parts, const void *buffer, const int *counts, const int *places, MPI_Datatype type, int size,
                    MPI_Comm comm)
{
    MPI_Aint lowest = 0;
    size_t copied = 0;
    *parts = (struct parts){.size = size};
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

/* Copies elements with gaps between them to one piece, or from there. */
static void gather_parts(struct parts *parts, const void *buffer, const int *counts, const int *places, MPI_Datatype type, MPI_Comm comm)
{
    for (int rank = 0; !parts->element.whole && rank < parts->size; rank++) {
        struct shape shape = parts->element;
        shape.bytes = parts->places[rank].bytes;
        pack((const char *)buffer + places[rank] * shape.extent, counts[rank], type, &shape, parts->base + parts->places[rank].at, comm);
    }
}

static void spread_parts(struct parts *parts, void *buffer, const int *counts, const int *places, MPI_Datatype type, MPI_Comm comm)
{
    for (int rank = 0; !parts->element.whole && rank < parts->size; rank++) {
        struct shape shape = parts->element;
        shape.bytes = parts->places[rank].bytes;
        unpack(parts->base + parts->places[rank].at, (char *)buffer + places[rank] * shape.extent, counts[rank], type, &shape, comm);
    }
}

static void end_parts(struct parts *parts)
{
    if (!parts->element.whole)
        free(parts->base);
    free(parts->places);
}

EXPORTED int MPI_Gatherv(const void *mine, int count, MPI_Datatype type, void *all, const int *counts, const int *places,
                         MPI_Datatype all_type, int root, MPI_Comm comm)
{
    struct team *team = team_of(comm);
    struct shape own;
    struct parts rooms;
    int is_root = team && team->rank == root, in_place = is_root && mine == MPI_IN_PLACE;
    if (!has_member(team, root) || !may_serve(team, GATHERV, ANY) || (!in_place && !shape_of(count, type, &own)) ||
        (is_root && !parts_of(&rooms, all, counts, places, all_type, team->size, comm))) {
        leave(GATHERV);
        return PMPI_Gatherv(mine, count, type, all, counts, places, all_type, root, comm);
    }
    serve(GATHERV);
    if (in_place) {
        mine = (char *)all + places[root] * rooms.element.extent;
        count = counts[root];
        type = all_type;
        own = rooms.element;
        own.bytes *= (size_t)count;
    }
    if (is_root && own.bytes != rooms.places[root].bytes)
        return differs(comm, "MPI_Gatherv", own.bytes, rooms.places[root].bytes);
    void *block = packed(mine, count, type, &own, comm);
    int error = weft->gather_varied(team->name, (size_t)root, block, own.bytes, is_root ? rooms.base : NULL,
                                    is_root ? rooms.places : NULL);
    release(block, mine);
    if (is_root) {
        if (!error)
            spread_parts(&rooms, all, counts, places, all_type, comm);
        end_parts(&rooms);
    }
    return outcome(comm, error);
}

EXPORTED int MPI_Scatterv(const void *all, const int *counts, const int *places, MPI_Datatype all_type, void *mine, int count,
                          MPI_Datatype type, int root, MPI_Comm comm)
{
    struct team *team = team_of(comm);
    struct shape own;
    struct parts parts;
    int is_root = team && team->rank == root, in_place = is_root && mine == MPI_IN_PLACE;
    if (!has_member(team, root) || !may_serve(team, SCATTERV, ANY) || (!in_place && !shape_of(count, type, &own)) ||
        (is_root && !parts_of(&parts, all, counts, places, all_type, team->size, comm))) {
        leave(SCATTERV);
        return PMPI_Scatterv(all, counts, places, all_type, mine, count, type, root, comm);
    }
    serve(SCATTERV);
    if (is_root && !in_place && own.bytes != parts.places[root].bytes)
        return differs(comm, "MPI_Scatterv", parts.places[root].bytes, own.bytes);
    if (is_root)
        gather_parts(&parts, all, counts, places, all_type, comm);
    size_t length = in_place ? parts.places[root].bytes : own.bytes;
    /* What stays in place is copied to where it is. */
    void *block = in_place ? parts.base + parts.places[root].at : room(mine, &own, comm);
    int error = weft->scatter_varied(team->name, (size_t)root, is_root ? parts.base : NULL, is_root ? parts.places : NULL, block, length);
    if (!in_place) {
        if (!error)
            unpack(block, mine, count, type, &own, comm);
        release(block, mine);
    }
    if (is_root)
        end_parts(&parts);
    return outcome(comm, error);
}

EXPORTED int MPI_Allgatherv(const void *mine, int count, MPI_Datatype type, void *all, const int *counts, const int *places,
                            MPI_Datatype all_type, MPI_Comm comm)
{
    struct team *team = team_of(comm);
    struct shape own;
    struct parts rooms;
    size_t whole = 0;
    int in_place = mine == MPI_IN_PLACE;
    if (!team || (!in_place && !shape_of(count, type, &own)) ||
        !parts_of(&rooms, all, counts, places, all_type, team->size, comm)) {
        leave(ALLGATHERV);
        return PMPI_Allgatherv(mine, count, type, all, counts, places, all_type, comm);
    }
    for (int rank = 0; rank < team->size; rank++)
        whole += rooms.places[rank].bytes;
    if (!may_serve(team, ALLGATHERV, whole / (size_t)team->size)) {
        end_parts(&rooms);
        leave(ALLGATHERV);
        return PMPI_Allgatherv(mine, count, type, all, counts, places, all_type, comm);
    }
    serve(ALLGATHERV);
    if (in_place) {
        mine = (char *)all + places[team->rank] * rooms.element.extent;
        count = counts[team->rank];
        type = all_type;
        own = rooms.element;
        own.bytes *= (size_t)count;
    }
    if (own.bytes != rooms.places[team->rank].bytes)
        return differs(comm, "MPI_Allgatherv", own.bytes, rooms.places[team->rank].bytes);
    void *block = packed(mine, count, type, &own, comm);
    int error = weft->all_gather_varied(team->name, block, own.bytes, rooms.base, rooms.places);
    release(block, mine);
    if (!error)
        spread_parts(&rooms, all, counts, places, all_type, comm);
    end_parts(&rooms);
    return outcome(comm, error);
}

/* In place it is the MPI library's, at all ranks. */
EXPORTED int MPI_Alltoallv(const void *mine, const int *counts, const int *places, MPI_Datatype type, void *into,
                           const int *into_counts, const int *into_places, MPI_Datatype into_type, MPI_Comm comm)
{
    struct team *team = team_of(comm);
    struct parts parts = {0}, rooms = {0};
    if (!team || mine == MPI_IN_PLACE || !may_serve(team, ALLTOALLV, ANY) ||
        !parts_of(&parts, mine, counts, places, type, team->size, comm) ||
        !parts_of(&rooms, into, into_counts, into_places, into_type, team->size, comm)) {
        end_parts(&parts);
        end_parts(&rooms);
        leave(ALLTOALLV);
        return PMPI_Alltoallv(mine, counts, places, type, into, into_counts, into_places, into_type, comm);
    }
    serve(ALLTOALLV);
    if (parts.places[team->rank].bytes != rooms.places[team->rank].bytes)
        return differs(comm, "MPI_Alltoallv", parts.places[team->rank].bytes, rooms.places[team->rank].bytes);
    gather_parts(&parts, mine, counts, places, type, comm);
    int error = weft->all_to_all_varied(team->name, parts.base, parts.places, rooms.base, rooms.places);
    if (!error)
        spread_parts(&rooms, into, into_counts, into_places, into_type, comm);
    end_parts(&parts);
    end_parts(&rooms);
    return outcome(comm, error);
}

#endif
