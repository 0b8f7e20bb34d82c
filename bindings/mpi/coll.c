/* libweft-coll.so: MPI's collectives by Weft's packets and multicast (thesis 7.4.2), for MPI programs whose library runs on libweft-fi.so. Preloaded, or linked before the MPI library; compiled by
   that library's own mpicc, because mpi.h differs.

   A call is served if all ranks of its communicator are this job's; what else there is goes to the MPI library, by its PMPI
   names. Whatever decides that is the same at all ranks: who is in the communicator, and what MPI wants to be the
   same at all of them, such as how many bytes a broadcast has; a datatype's shape may differ, and is packed where it has to be.

   coll.c        communicators, and collectives to which all ranks bring as much
   operations.h  one call from its arguments to its end, waited for or started
   reductions.h  those that combine elements
   varied.h      those of varied lengths
   fortran.h     all of them, as Open MPI's Fortran programs call them */

#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "provider.h"
#include "shapes.h"
#include "weft-coll.h"

#define EXPORTED __attribute__((visibility("default")))

/* What stands at a communicator once it was used. */
struct team {
    int served;
    /* Whether calls that the MPI library is faster at are served, too. */
    int all;
    /* Whether non-blocking calls can be. */
    int starts;
    uint64_t name;
    int size, rank;
    /* The communicator, and calls that were started. The last of them closes the team. */
    unsigned users;
};

/* The calls, how they are counted, and up to how many bytes of a rank they are served because they are faster than the MPI library's
   own over the same provider (docs/internals/collectives.md). Where lengths vary no rank knows all: these are served or not. Those
   that do not block follow. */
#define ANY SIZE_MAX
#define NONE 0
#define CALLS_OF(X)                                                                                          \
    X(BARRIER, "barriers", ANY)                                                                              \
    X(BCAST, "broadcasts", ANY)                                                                              \
    X(REDUCE, "reduces", ANY)                                                                                \
    X(ALLREDUCE, "allreduces", ANY)                                                                          \
    X(ALLGATHER, "allgathers", ANY)                                                                          \
    X(GATHER, "gathers", ANY)                                                                                \
    X(SCATTER, "scatters", 8192)                                                                             \
    X(ALLTOALL, "alltoalls", ANY)                                                                            \
    X(SCAN, "scans", NONE)                                                                                   \
    X(EXSCAN, "exscans", NONE)                                                                               \
    X(REDUCE_SCATTER, "reduce-scatters", ANY)                                                                \
    X(GATHERV, "gathervs", NONE)                                                                             \
    X(SCATTERV, "scattervs", NONE)                                                                           \
    X(ALLGATHERV, "allgathervs", ANY)                                                                        \
    X(ALLTOALLV, "alltoallvs", ANY)                                                                          \
    X(IBARRIER, "ibarriers", ANY)                                                                            \
    X(IBCAST, "ibroadcasts", NONE)                                                                           \
    X(IREDUCE, "ireduces", NONE)                                                                             \
    X(IALLREDUCE, "iallreduces", 8192)                                                                       \
    X(IALLGATHER, "iallgathers", NONE)                                                                       \
    X(IGATHER, "igathers", NONE)                                                                             \
    X(ISCATTER, "iscatters", NONE)                                                                           \
    X(IALLTOALL, "ialltoalls", NONE)                                                                         \
    X(ISCAN, "iscans", NONE)                                                                                 \
    X(IEXSCAN, "iexscans", NONE)                                                                             \
    X(IREDUCE_SCATTER, "ireduce-scatters", NONE)                                                             \
    X(IGATHERV, "igathervs", NONE)                                                                           \
    X(ISCATTERV, "iscattervs", NONE)                                                                         \
    X(IALLGATHERV, "iallgathervs", NONE)                                                                     \
    X(IALLTOALLV, "ialltoallvs", NONE)
#define CALL(call, name, limit) call,
#define NAME(call, name, limit) name,
#define LIMIT(call, name, limit) limit,
enum call { CALLS_OF(CALL) CALLS };
static const char *const names[CALLS] = {CALLS_OF(NAME)};
static const size_t limits[CALLS] = {CALLS_OF(LIMIT)};
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

/* Ends a use of a team. A communicator may be freed while calls that were started are under way. */
static void let_go(struct team *team)
{
    if (__atomic_sub_fetch(&team->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (team->served)
        weft->close(team->name);
    free(team);
}

static int end_team(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    let_go(value);
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

/* Whether a variable of the environment asks for something. */
static int is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && strcmp(value, "0") != 0;
}

/* Whether a request may be completed where the MPI library reads completions. MPICH does that inside of a lock, if it has locks at
   all, which it takes for a completion too (MPIR_THREAD_VCI_REQUEST_POOL_MUTEXES). Open MPI completes its own there. */
static int may_complete(void)
{
#ifdef OPEN_MPI
    return 1;
#else
    int level = MPI_THREAD_MULTIPLE;
    if (has_world())
        PMPI_Query_thread(&level);
    return level != MPI_THREAD_MULTIPLE;
#endif
}

/* Agrees with all ranks of a communicator on whether it is served, and on the name of its team. */
static void agree(MPI_Comm comm, struct team *team)
{
    enum { RANK, ALL, STARTS, TEAM, WORDS = TEAM + WEFT_COLL_NAME };
    int place = team->rank;
    uint32_t rank, ranks;
    uint64_t mine[WORDS] = {UINT64_MAX};
    uint64_t *all = malloc((size_t)team->size * sizeof mine);
    uint32_t *members = malloc((size_t)team->size * sizeof *members);
    int can = all && members;
    if (can && weft && is_of_world(comm, team->size) && weft->place(&rank, &ranks) == 0 &&
        (place > 0 || weft->name((size_t)team->size, mine + TEAM) == 0))
        mine[RANK] = rank;
    mine[ALL] = is_set("WEFT_COLL_ALL");
    mine[STARTS] = may_complete();
    /* Who has no memory for this cannot go on. */
    if (!can || PMPI_Allgather(mine, WORDS, MPI_UINT64_T, all, WORDS, MPI_UINT64_T, comm) != MPI_SUCCESS) {
        fprintf(stderr, "weft-coll: a communicator's ranks cannot agree on how its collectives run\n");
        PMPI_Abort(comm, 1);
    }
    team->served = team->starts = 1;
    /* Environments may differ: the first rank's counts. */
    team->all = (int)all[ALL];
    team->name = all[TEAM];
    for (int member = 0; member < team->size; member++) {
        uint64_t its = all[member * WORDS + RANK];
        members[member] = (uint32_t)its;
        team->served &= its != UINT64_MAX;
        team->starts &= all[member * WORDS + STARTS] != 0;
    }
    if (!team->served && place == 0 && mine[RANK] != UINT64_MAX)
        weft->close(team->name);
    if (team->served && weft->open(all + TEAM, members, (size_t)team->size) != 0) {
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
        team->users = 1;
        PMPI_Comm_rank(comm, &team->rank);
        agree(comm, team);
        PMPI_Comm_set_attr(comm, keyval, team);
    }
    return team->served ? team : NULL;
}

/* The team of a call. One that does not block cannot agree on a team: it has the one that a blocking call has agreed on before, which
   is so at all ranks, because they call both in the same order. */
static struct team *team_for(enum call call, MPI_Comm comm)
{
    int found = 0;
    struct team *team;
    if (call < IBARRIER)
        return team_of(comm);
    if (comm == MPI_COMM_NULL || !__atomic_load_n(&begun, __ATOMIC_ACQUIRE) ||
        PMPI_Comm_get_attr(comm, keyval, &team, &found) != MPI_SUCCESS || !found)
        return NULL;
    return team->served && team->starts ? team : NULL;
}

/* Whether a call to which a rank brings so many bytes is served. */
static int may_serve(const struct team *team, enum call call, size_t bytes)
{
    return team->all || (limits[call] != NONE && bytes <= limits[call]);
}

/* Counts a call that is left to the MPI library. */
static int leave(enum call call)
{
    __atomic_fetch_add(&left[call], 1, __ATOMIC_RELAXED);
    return 0;
}

/* What a call returns. */
static int outcome(MPI_Comm comm, int error)
{
    if (error == 0)
        return MPI_SUCCESS;
    PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

/* Ends the job, because a rank gives another number of bytes than it takes of each. */
static int differs(MPI_Comm comm, const char *call, size_t gives, size_t takes)
{
    fprintf(stderr, "weft-coll: %s: a rank gives %zu bytes, and takes %zu of each\n", call, gives, takes);
    return PMPI_Abort(comm, 1);
}

/* Whether a communicator is served and has this rank. */
static int has_member(const struct team *team, int rank)
{
    return team && rank >= 0 && rank < team->size;
}

#include "parts.h"
#include "operations.h"

static int barrier(struct operation *op, enum call call, MPI_Comm comm)
{
    struct team *team = team_for(call, comm);
    if (!team || !may_serve(team, call, 0))
        return leave(call);
    serve(op, call, WEFT_COLL_BARRIER, team, comm);
    return 1;
}
SERVED(Barrier, barrier, BARRIER, (MPI_Comm comm), (comm))

static int bcast(struct operation *op, enum call call, void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    struct team *team = team_for(call, comm);
    struct shape shape;
    if (!has_member(team, root) || !shape_of(count, type, &shape) || shape.bytes > INT32_MAX || !may_serve(team, call, shape.bytes))
        return leave(call);
    serve(op, call, WEFT_COLL_BROADCAST, team, comm);
    with_bytes(op, root, shape.bytes);
    if (team->rank == root)
        give(op, buffer, count, type, &shape);
    else
        take(op, buffer, count, type, &shape);
    return 1;
}
SERVED(Bcast, bcast, BCAST, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm), (buffer, count, type, root, comm))

/* How `count` elements of each rank lie in memory, and those of all; false if the MPI library takes them. */
static int blocks_of(const struct team *team, int count, MPI_Datatype type, struct shape *each, struct shape *all)
{
    if (!shape_of(count, type, each) || each->bytes > INT32_MAX / (size_t)team->size)
        return 0;
    *all = *each;
    all->bytes *= (size_t)team->size;
    return 1;
}

/* A rank's elements among those of all. */
static void *block_of(const void *all, int rank, int count, const struct shape *each)
{
    return (char *)all + (MPI_Aint)rank * count * each->extent;
}

static int allgather(struct operation *op, enum call call, const void *mine, int count, MPI_Datatype type, void *all, int all_count,
                     MPI_Datatype all_type, MPI_Comm comm)
{
    struct team *team = team_for(call, comm);
    struct shape own, each, blocks;
    if (!team || !blocks_of(team, all_count, all_type, &each, &blocks) ||
        (mine != MPI_IN_PLACE && !shape_of(count, type, &own)) || !may_serve(team, call, each.bytes))
        return leave(call);
    serve(op, call, WEFT_COLL_ALL_GATHER, team, comm);
    if (mine == MPI_IN_PLACE) {
        mine = block_of(all, team->rank, all_count, &each);
        count = all_count;
        type = all_type;
        own = each;
    }
    if (own.bytes != each.bytes)
        differs(comm, "MPI_Allgather", own.bytes, each.bytes);
    with_bytes(op, 0, each.bytes);
    give(op, mine, count, type, &own);
    take(op, all, all_count * team->size, all_type, &blocks);
    return 1;
}
SERVED(Allgather, allgather, ALLGATHER,
       (const void *mine, int count, MPI_Datatype type, void *all, int all_count, MPI_Datatype all_type, MPI_Comm comm),
       (mine, count, type, all, all_count, all_type, comm))

static int gather(struct operation *op, enum call call, const void *mine, int count, MPI_Datatype type, void *all, int all_count,
                  MPI_Datatype all_type, int root, MPI_Comm comm)
{
    struct team *team = team_for(call, comm);
    struct shape own, each, blocks = {0};
    int is_root = team && team->rank == root, in_place = is_root && mine == MPI_IN_PLACE;
    if (!has_member(team, root) || (is_root && !blocks_of(team, all_count, all_type, &each, &blocks)) ||
        (!in_place && !blocks_of(team, count, type, &own, &(struct shape){0})) ||
        !may_serve(team, call, in_place ? each.bytes : own.bytes))
        return leave(call);
    serve(op, call, WEFT_COLL_GATHER, team, comm);
    if (in_place) {
        mine = block_of(all, root, all_count, &each);
        count = all_count;
        type = all_type;
        own = each;
    }
    if (is_root && own.bytes != each.bytes)
        differs(comm, "MPI_Gather", own.bytes, each.bytes);
    with_bytes(op, root, own.bytes);
    give(op, mine, count, type, &own);
    if (is_root)
        take(op, all, all_count * team->size, all_type, &blocks);
    return 1;
}
SERVED(Gather, gather, GATHER,
       (const void *mine, int count, MPI_Datatype type, void *all, int all_count, MPI_Datatype all_type, int root, MPI_Comm comm),
       (mine, count, type, all, all_count, all_type, root, comm))

static int scatter(struct operation *op, enum call call, const void *all, int all_count, MPI_Datatype all_type, void *mine, int count,
                   MPI_Datatype type, int root, MPI_Comm comm)
{
    struct team *team = team_for(call, comm);
    struct shape own, each, blocks;
    int is_root = team && team->rank == root, in_place = is_root && mine == MPI_IN_PLACE;
    if (!has_member(team, root) || (is_root && !blocks_of(team, all_count, all_type, &each, &blocks)) ||
        (!in_place && !blocks_of(team, count, type, &own, &(struct shape){0})) ||
        !may_serve(team, call, in_place ? each.bytes : own.bytes))
        return leave(call);
    serve(op, call, WEFT_COLL_SCATTER, team, comm);
    if (is_root && !in_place && own.bytes != each.bytes)
        differs(comm, "MPI_Scatter", each.bytes, own.bytes);
    size_t length = in_place ? each.bytes : own.bytes;
    with_bytes(op, root, length);
    if (is_root)
        give(op, all, all_count * team->size, all_type, &blocks);
    /* What stays in place is copied to where it is. */
    if (in_place)
        op->call.into = (char *)op->call.mine + length * (size_t)root;
    else
        take(op, mine, count, type, &own);
    return 1;
}
SERVED(Scatter, scatter, SCATTER,
       (const void *all, int all_count, MPI_Datatype all_type, void *mine, int count, MPI_Datatype type, int root, MPI_Comm comm),
       (all, all_count, all_type, mine, count, type, root, comm))

static int alltoall(struct operation *op, enum call call, const void *mine, int count, MPI_Datatype type, void *into, int into_count,
                    MPI_Datatype into_type, MPI_Comm comm)
{
    struct team *team = team_for(call, comm);
    struct shape own, given, each, blocks;
    if (!team || !blocks_of(team, into_count, into_type, &each, &blocks) ||
        (mine != MPI_IN_PLACE && !blocks_of(team, count, type, &own, &given)) || !may_serve(team, call, each.bytes))
        return leave(call);
    serve(op, call, WEFT_COLL_ALL_TO_ALL, team, comm);
    if (mine == MPI_IN_PLACE) {
        /* What comes must not overwrite what has not left: it comes to other memory. */
        mine = into;
        count = into_count;
        type = into_type;
        own = each;
        given = blocks;
        blocks.whole = 0;
    }
    if (own.bytes != each.bytes)
        differs(comm, "MPI_Alltoall", own.bytes, each.bytes);
    with_bytes(op, 0, each.bytes);
    give(op, mine, count * team->size, type, &given);
    take(op, into, into_count * team->size, into_type, &blocks);
    return 1;
}
SERVED(Alltoall, alltoall, ALLTOALL,
       (const void *mine, int count, MPI_Datatype type, void *into, int into_count, MPI_Datatype into_type, MPI_Comm comm),
       (mine, count, type, into, into_count, into_type, comm))

#include "reductions.h"
#include "varied.h"
#include "fortran.h"

/* Adds to a text how often each call was, of those that were. */
static void append(char *text, size_t size, const unsigned long counts[CALLS])
{
    const char *before = " ";
    for (int call = 0; call < CALLS; call++) {
        size_t at = strlen(text);
        if (counts[call] == 0)
            continue;
        snprintf(text + at, size - at, "%s%lu %s", before, counts[call], names[call]);
        before = ", ";
    }
    if (before[0] == ' ')
        strncat(text, " nothing", size - strlen(text) - 1);
}

/* Says what was served, if that is wanted, at rank 0. */
static void report(int rank)
{
    if (is_set("WEFT_COLL_VERBOSE") && rank == 0) {
        char text[4096] = "";
        append(text, sizeof text, served);
        strcat(text, "; left to the MPI library:");
        append(text, sizeof text, left);
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
