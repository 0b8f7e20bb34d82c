/* Collectives of varied lengths, for coll.c. The rank that gives some bytes and the rank that takes them both know how many
   they are, and nobody else has to. */
#ifndef WEFT_VARIED_H
#define WEFT_VARIED_H

/* Describes parts that this rank gives to each, and rooms for those of each. */
static void give_parts(struct operation *op, const struct parts *parts)
{
    op->parts = *parts;
    op->call.mine = parts->base;
    op->call.parts = parts->places;
    gather_parts(parts, op->comm);
}

static void take_parts(struct operation *op, const struct parts *rooms)
{
    op->rooms = *rooms;
    op->call.into = rooms->base;
    op->call.rooms = rooms->places;
}

/* One rank's elements, where they are among those of all. */
static void give_own(struct operation *op, const struct parts *rooms, int rank)
{
    struct shape own;
    void *elements = elements_of(rooms, rank, &own);
    give(op, elements, rooms->counts[rank], rooms->type, &own);
}

static int gatherv(struct operation *op, enum call call, const void *mine, int count, MPI_Datatype type, void *all, const int *counts,
                   const int *places, MPI_Datatype all_type, int root, MPI_Comm comm)
{
    struct team *team = team_for(call, comm);
    struct shape own = {0};
    struct parts rooms;
    int is_root = team && team->rank == root, in_place = is_root && mine == MPI_IN_PLACE;
    if (!has_member(team, root) || !may_serve(team, call, ANY) || (!in_place && !shape_of(count, type, &own)) ||
        (is_root && !parts_of(&rooms, all, counts, places, all_type, team->size, comm)))
        return leave(call);
    serve(op, call, WEFT_COLL_GATHER_VARIED, team, comm);
    if (is_root && !in_place && own.bytes != rooms.places[root].bytes)
        differs(comm, "MPI_Gatherv", own.bytes, rooms.places[root].bytes);
    with_bytes(op, root, in_place ? rooms.places[root].bytes : own.bytes);
    if (in_place)
        give_own(op, &rooms, root);
    else
        give(op, mine, count, type, &own);
    if (is_root)
        take_parts(op, &rooms);
    return 1;
}
SERVED(Gatherv, gatherv, GATHERV,
       (const void *mine, int count, MPI_Datatype type, void *all, const int *counts, const int *places, MPI_Datatype all_type,
        int root, MPI_Comm comm),
       (mine, count, type, all, counts, places, all_type, root, comm))

static int scatterv(struct operation *op, enum call call, const void *all, const int *counts, const int *places, MPI_Datatype all_type,
                    void *mine, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    struct team *team = team_for(call, comm);
    struct shape own = {0};
    struct parts parts;
    int is_root = team && team->rank == root, in_place = is_root && mine == MPI_IN_PLACE;
    if (!has_member(team, root) || !may_serve(team, call, ANY) || (!in_place && !shape_of(count, type, &own)) ||
        (is_root && !parts_of(&parts, all, counts, places, all_type, team->size, comm)))
        return leave(call);
    serve(op, call, WEFT_COLL_SCATTER_VARIED, team, comm);
    if (is_root && !in_place && own.bytes != parts.places[root].bytes)
        differs(comm, "MPI_Scatterv", parts.places[root].bytes, own.bytes);
    with_bytes(op, root, in_place ? parts.places[root].bytes : own.bytes);
    if (is_root)
        give_parts(op, &parts);
    /* What stays in place is copied to where it is. */
    if (in_place)
        op->call.into = parts.base + parts.places[root].at;
    else
        take(op, mine, count, type, &own);
    return 1;
}
SERVED(Scatterv, scatterv, SCATTERV,
       (const void *all, const int *counts, const int *places, MPI_Datatype all_type, void *mine, int count, MPI_Datatype type,
        int root, MPI_Comm comm),
       (all, counts, places, all_type, mine, count, type, root, comm))

static int allgatherv(struct operation *op, enum call call, const void *mine, int count, MPI_Datatype type, void *all,
                      const int *counts, const int *places, MPI_Datatype all_type, MPI_Comm comm)
{
    struct team *team = team_for(call, comm);
    struct shape own = {0};
    struct parts rooms;
    size_t whole = 0;
    int in_place = mine == MPI_IN_PLACE;
    if (!team || (!in_place && !shape_of(count, type, &own)) || !parts_of(&rooms, all, counts, places, all_type, team->size, comm))
        return leave(call);
    for (int rank = 0; rank < team->size; rank++)
        whole += rooms.places[rank].bytes;
    if (!may_serve(team, call, whole / (size_t)team->size)) {
        end_parts(&rooms);
        return leave(call);
    }
    serve(op, call, WEFT_COLL_ALL_GATHER_VARIED, team, comm);
    size_t room = rooms.places[team->rank].bytes;
    if (!in_place && own.bytes != room)
        differs(comm, "MPI_Allgatherv", own.bytes, room);
    with_bytes(op, 0, room);
    if (in_place)
        give_own(op, &rooms, team->rank);
    else
        give(op, mine, count, type, &own);
    take_parts(op, &rooms);
    return 1;
}
SERVED(Allgatherv, allgatherv, ALLGATHERV,
       (const void *mine, int count, MPI_Datatype type, void *all, const int *counts, const int *places, MPI_Datatype all_type,
        MPI_Comm comm),
       (mine, count, type, all, counts, places, all_type, comm))

/* In place it is the MPI library's, at all ranks. */
static int alltoallv(struct operation *op, enum call call, const void *mine, const int *counts, const int *places, MPI_Datatype type,
                     void *into, const int *into_counts, const int *into_places, MPI_Datatype into_type, MPI_Comm comm)
{
    struct team *team = team_for(call, comm);
    struct parts parts = {0}, rooms = {0};
    if (!team || mine == MPI_IN_PLACE || !may_serve(team, call, ANY) ||
        !parts_of(&parts, mine, counts, places, type, team->size, comm) ||
        !parts_of(&rooms, into, into_counts, into_places, into_type, team->size, comm)) {
        end_parts(&parts);
        end_parts(&rooms);
        return leave(call);
    }
    serve(op, call, WEFT_COLL_ALL_TO_ALL_VARIED, team, comm);
    if (parts.places[team->rank].bytes != rooms.places[team->rank].bytes)
        differs(comm, "MPI_Alltoallv", parts.places[team->rank].bytes, rooms.places[team->rank].bytes);
    give_parts(op, &parts);
    take_parts(op, &rooms);
    return 1;
}
SERVED(Alltoallv, alltoallv, ALLTOALLV,
       (const void *mine, const int *counts, const int *places, MPI_Datatype type, void *into, const int *into_counts,
        const int *into_places, MPI_Datatype into_type, MPI_Comm comm),
       (mine, counts, places, type, into, into_counts, into_places, into_type, comm))

#endif
