/* libweft-coll.so: MPI_Barrier, MPI_Bcast, MPI_Reduce, MPI_Allreduce and MPI_Allgather by Weft's packet-wise multicast
   (thesis 7.4.2), for MPI programs whose library runs on libweft-fi.so. Preloaded, or linked before the MPI library; compiled by
   that library's own mpicc, because mpi.h differs.

   A call is served if all ranks of its communicator are this job's; what else there is goes to the MPI library, by its PMPI
   names. Whatever decides that is the same at all ranks: who is in the communicator, and what MPI wants to be the
   same at all of them, such as how many bytes a broadcast has; a datatype's shape may differ, and is packed where it has to be. */

#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "provider.h"
#include "weft-coll.h"

#define EXPORTED __attribute__((visibility("default")))

/* What stands at a communicator once it was used. */
struct team {
    int served;
    uint64_t name;
    int size;
};

enum call { BARRIER, BCAST, REDUCE, ALLREDUCE, ALLGATHER, CALLS };

static const char *const names[CALLS] = {"barriers", "broadcasts", "reduces", "allreduces", "allgathers"};
/* By Weft, and by the MPI library. */
static unsigned long served[CALLS], left[CALLS];

static const struct weft_coll *weft;
/* Around the key below, and the number of sessions that are open: a program may end its last one and open another, and then needs
   another key. */
static pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER;
static int begun;
static int keyval = MPI_KEYVAL_INVALID;

/* The communicator of the call that this thread is in. A program that has sessions only has neither of MPI's own. */
static _Thread_local MPI_Comm called = MPI_COMM_NULL;

/* Reads completions, as whatever the program calls of its MPI library does. */
static void progress(void)
{
    int flag;
    PMPI_Iprobe(0, 0, called, &flag, MPI_STATUS_IGNORE);
}

static int end_team(MPI_Comm comm, int key, void *value, void *extra)
{
    struct team *team = value;
    (void)comm, (void)key, (void)extra;
    if (team->served)
        weft->close(team->name);
    free(team);
    return MPI_SUCCESS;
}

static void begin(void)
{
    const struct weft_coll *(*table)(uint32_t);
    if (__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&beginning);
    if (!begun) {
        table = (const struct weft_coll *(*)(uint32_t))of_provider("weft_coll_table");
        weft = table ? table(WEFT_COLL_VERSION) : NULL;
        if (weft)
            weft->beside(progress);
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_team, &keyval, NULL);
        __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&beginning);
}

/* Whether there is MPI_COMM_WORLD. */
static int has_world(void)
{
    int initialized = 0, finalized = 0;
    PMPI_Initialized(&initialized);
    PMPI_Finalized(&finalized);
    return initialized && !finalized;
}

/* Whether all ranks of a communicator are of the world that this rank was started in, which is a job of Weft's. A program that has
   sessions only knows no other ranks than those. */
static int is_of_world(MPI_Comm comm, int size)
{
    MPI_Group group, world;
    int all = 1;
    if (!has_world())
        return 1;
    int *ranks = malloc(2 * (size_t)size * sizeof *ranks);
    if (!ranks)
        return 0;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int rank = 0; rank < size; rank++)
        ranks[rank] = rank;
    PMPI_Group_translate_ranks(group, size, ranks, world, ranks + size);
    for (int rank = 0; rank < size; rank++)
        all &= ranks[size + rank] != MPI_UNDEFINED;
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    free(ranks);
    return all;
}

/* Agrees with all ranks of a communicator on whether it is served, and on the name of its team. */
static void agree(MPI_Comm comm, struct team *team)
{
    enum { RANK, NAME, WORDS = NAME + WEFT_COLL_NAME };
    int place;
    uint32_t rank, ranks;
    uint64_t mine[WORDS] = {UINT64_MAX};
    uint64_t *all = malloc((size_t)team->size * sizeof mine);
    uint32_t *members = malloc((size_t)team->size * sizeof *members);
    int can = all && members;
    PMPI_Comm_rank(comm, &place);
    if (can && weft && is_of_world(comm, team->size) && weft->place(&rank, &ranks) == 0 &&
        (place > 0 || weft->name((size_t)team->size, mine + NAME) == 0))
        mine[RANK] = rank;
    /* Who has no memory for this cannot go on. */
    if (!can || PMPI_Allgather(mine, WORDS, MPI_UINT64_T, all, WORDS, MPI_UINT64_T, comm) != MPI_SUCCESS) {
        fprintf(stderr, "weft-coll: a communicator's ranks cannot agree on how its collectives run\n");
        PMPI_Abort(comm, 1);
    }
    team->served = 1;
    team->name = all[NAME];
    for (int member = 0; member < team->size; member++) {
        uint64_t its = all[member * WORDS + RANK];
        members[member] = (uint32_t)its;
        team->served &= its != UINT64_MAX;
    }
    if (!team->served && place == 0 && mine[RANK] != UINT64_MAX)
        weft->close(team->name);
    if (team->served && weft->open(all + NAME, members, (size_t)team->size) != 0) {
        fprintf(stderr, "weft-coll: the team of a communicator of %d ranks cannot be opened\n", team->size);
        PMPI_Abort(comm, 1);
    }
    free(all);
    free(members);
}

/* The team of a communicator; NULL if it is not served. */
static struct team *team_of(MPI_Comm comm)
{
    int found, inter, size;
    struct team *team;
    if (comm == MPI_COMM_NULL)
        return NULL;
    called = comm;
    begin();
    if (PMPI_Comm_get_attr(comm, keyval, &team, &found) != MPI_SUCCESS)
        return NULL;
    if (!found) {
        if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter)
            return NULL;
        PMPI_Comm_size(comm, &size);
        if (size < 2)
            return NULL;
        team = calloc(1, sizeof *team);
        if (!team)
            PMPI_Abort(comm, 1);
        team->size = size;
        agree(comm, team);
        PMPI_Comm_set_attr(comm, keyval, team);
    }
    return team->served ? team : NULL;
}

/* Counts a call that is served, and one that is left to the MPI library. */
static void serve(enum call call)
{
    __atomic_fetch_add(&served[call], 1, __ATOMIC_RELAXED);
}

static void leave(enum call call)
{
    __atomic_fetch_add(&left[call], 1, __ATOMIC_RELAXED);
}

/* What a call returns. */
static int outcome(MPI_Comm comm, int error)
{
    if (error == 0)
        return MPI_SUCCESS;
    PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

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

/* The elements in one piece: where they are, or a copy, which `release` frees. */
static void *packed(const void *buffer, int count, MPI_Datatype type, const struct shape *shape, MPI_Comm comm)
{
    int at = 0;
    void *own = room((void *)buffer, shape, comm);
    if (!shape->whole)
        PMPI_Pack(buffer, count, type, own, (int)shape->bytes, &at, comm);
    return own;
}

static void unpack(const void *copy, void *buffer, int count, MPI_Datatype type, const struct shape *shape, MPI_Comm comm)
{
    int at = 0;
    if (!shape->whole)
        PMPI_Unpack(copy, (int)shape->bytes, &at, buffer, count, type, comm);
}

static void release(void *copy, const void *buffer)
{
    if (copy != buffer)
        free(copy);
}

EXPORTED int MPI_Barrier(MPI_Comm comm)
{
    struct team *team = team_of(comm);
    if (!team) {
        leave(BARRIER);
        return PMPI_Barrier(comm);
    }
    serve(BARRIER);
    return outcome(comm, weft->barrier(team->name));
}

EXPORTED int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    struct team *team = team_of(comm);
    struct shape shape;
    int rank;
    /* MPI_Pack counts in int. */
    if (!team || root < 0 || root >= team->size || !shape_of(count, type, &shape) || shape.bytes > INT32_MAX) {
        leave(BCAST);
        return PMPI_Bcast(buffer, count, type, root, comm);
    }
    serve(BCAST);
    if (shape.bytes == 0)
        return MPI_SUCCESS;
    PMPI_Comm_rank(comm, &rank);
    void *bytes = rank == root ? packed(buffer, count, type, &shape, comm) : room(buffer, &shape, comm);
    int error = weft->broadcast(team->name, (size_t)root, bytes, shape.bytes);
    if (rank != root && !error)
        unpack(bytes, buffer, count, type, &shape, comm);
    release(bytes, buffer);
    return outcome(comm, error);
}

EXPORTED int MPI_Allgather(const void *mine, int count, MPI_Datatype type, void *all, int all_count,
                           MPI_Datatype all_type, MPI_Comm comm)
{
    struct team *team = team_of(comm);
    struct shape own, each;
    int rank;
    if (!team || !shape_of(all_count, all_type, &each) || each.bytes * (size_t)team->size > INT32_MAX ||
        (mine != MPI_IN_PLACE && (!shape_of(count, type, &own) || own.bytes != each.bytes))) {
        leave(ALLGATHER);
        return PMPI_Allgather(mine, count, type, all, all_count, all_type, comm);
    }
    serve(ALLGATHER);
    if (each.bytes == 0)
        return MPI_SUCCESS;
    PMPI_Comm_rank(comm, &rank);
    if (mine == MPI_IN_PLACE) {
        mine = (char *)all + (MPI_Aint)rank * all_count * each.extent;
        count = all_count;
        type = all_type;
        own = each;
    }
    struct shape blocks = each;
    blocks.bytes = each.bytes * (size_t)team->size;
    void *block = packed(mine, count, type, &own, comm), *bytes = room(all, &blocks, comm);
    int error = weft->all_gather(team->name, block, each.bytes, bytes);
    release(block, mine);
    if (!error)
        unpack(bytes, all, all_count * team->size, all_type, &blocks, comm);
    release(bytes, all);
    return outcome(comm, error);
}

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
    if (!team || root < 0 || root >= team->size || !reduces(count, type, op, &shape)) {
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

/* Says what was served, if that is wanted, at rank 0. */
static void report(int rank)
{
    const char *verbose = getenv("WEFT_COLL_VERBOSE");
    if (verbose && strcmp(verbose, "0") != 0 && rank == 0) {
        char text[512] = "";
        int at = 0;
        for (int call = 0; call < CALLS; call++)
            at += snprintf(text + at, sizeof text - at, "%s %lu %s", call ? "," : "", served[call], names[call]);
        at += snprintf(text + at, sizeof text - at, "; left to the MPI library:");
        for (int call = 0; call < CALLS; call++)
            at += snprintf(text + at, sizeof text - at, "%s %lu %s", call ? "," : "", left[call], names[call]);
        fprintf(stderr, "weft-coll: rank 0 was served%s\n", text);
    }
}

EXPORTED int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    report(rank);
    return PMPI_Finalize();
}

#ifdef MPI_SESSION_NULL
static int sessions;

EXPORTED int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
    int error = PMPI_Session_init(info, handler, session);
    if (error == MPI_SUCCESS) {
        pthread_mutex_lock(&beginning);
        sessions++;
        pthread_mutex_unlock(&beginning);
    }
    return error;
}

/* With its last session the MPI library ends, and its keys with it. */
EXPORTED int MPI_Session_finalize(MPI_Session *session)
{
    uint32_t rank, ranks;
    pthread_mutex_lock(&beginning);
    if (--sessions == 0 && begun && !has_world()) {
        if (weft && weft->place(&rank, &ranks) == 0)
            report((int)rank);
        PMPI_Comm_free_keyval(&keyval);
        __atomic_store_n(&begun, 0, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&beginning);
    return PMPI_Session_finalize(session);
}
#endif
