/* libweft-trace.so: spans of MPI calls, for a traced run of an MPI program whose library runs on libweft-fi.so. Preloaded by
   `weft mpirun --trace`; compiled by that library's own mpicc, because mpi.h differs.

   A call is handed on to whoever else has it, which may be libweft-coll.so, and then to the MPI library. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include "provider.h"
#include "weft-trace.h"

#define EXPORTED __attribute__((visibility("default")))

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct weft_trace *weft;

static void find_table(void)
{
    const struct weft_trace *(*table)(uint32_t);
    table = (const struct weft_trace *(*)(uint32_t))of_provider("weft_trace_table");
    weft = table ? table(WEFT_TRACE_VERSION) : NULL;
}

static uint32_t begin(const char *name)
{
    uint64_t words[WEFT_TRACE_NAME] = {0};
    pthread_once(&once, find_table);
    if (!weft)
        return 0;
    memcpy(words, name, strnlen(name, sizeof words));
    return weft->begin(words[0], words[1], words[2]);
}

static void end(uint32_t span)
{
    if (weft)
        weft->end(span);
}

/* A call with these parameters, and these arguments of the next one. Whoever is next is looked up once. */
#define CALL(name, parameters, arguments)                                                                                      \
    EXPORTED int name parameters                                                                                               \
    {                                                                                                                          \
        static int(*next) parameters;                                                                                          \
        if (!next)                                                                                                             \
            next = (int(*) parameters)dlsym(RTLD_NEXT, #name);                                                                 \
        uint32_t span = begin(#name);                                                                                          \
        int result = next arguments;                                                                                           \
        end(span);                                                                                                             \
        return result;                                                                                                         \
    }

#define COMM MPI_Comm comm
#define OUT const void *buf, int count, MPI_Datatype type
#define IN void *buf, int count, MPI_Datatype type
#define TO int to, int tag, COMM
#define BOTH const void *from, void *to
#define ALL const void *from, int count, MPI_Datatype type, void *to, int count2, MPI_Datatype type2
#define VARIED const void *from, int count, MPI_Datatype type, void *to, const int *counts, const int *places, MPI_Datatype type2

CALL(MPI_Send, (OUT, TO), (buf, count, type, to, tag, comm))
CALL(MPI_Ssend, (OUT, TO), (buf, count, type, to, tag, comm))
CALL(MPI_Bsend, (OUT, TO), (buf, count, type, to, tag, comm))
CALL(MPI_Rsend, (OUT, TO), (buf, count, type, to, tag, comm))
CALL(MPI_Isend, (OUT, TO, MPI_Request *request), (buf, count, type, to, tag, comm, request))
CALL(MPI_Issend, (OUT, TO, MPI_Request *request), (buf, count, type, to, tag, comm, request))
CALL(MPI_Recv, (IN, TO, MPI_Status *status), (buf, count, type, to, tag, comm, status))
CALL(MPI_Irecv, (IN, TO, MPI_Request *request), (buf, count, type, to, tag, comm, request))
CALL(MPI_Sendrecv,
     (OUT, int to, int tag, void *buf2, int count2, MPI_Datatype type2, int from, int tag2, COMM, MPI_Status *status),
     (buf, count, type, to, tag, buf2, count2, type2, from, tag2, comm, status))
CALL(MPI_Sendrecv_replace, (IN, int to, int tag, int from, int tag2, COMM, MPI_Status *status),
     (buf, count, type, to, tag, from, tag2, comm, status))
CALL(MPI_Probe, (int from, int tag, COMM, MPI_Status *status), (from, tag, comm, status))
CALL(MPI_Mprobe, (int from, int tag, COMM, MPI_Message *message, MPI_Status *status), (from, tag, comm, message, status))
CALL(MPI_Wait, (MPI_Request *request, MPI_Status *status), (request, status))
CALL(MPI_Waitall, (int count, MPI_Request *requests, MPI_Status *statuses), (count, requests, statuses))
CALL(MPI_Waitany, (int count, MPI_Request *requests, int *which, MPI_Status *status), (count, requests, which, status))
CALL(MPI_Waitsome, (int count, MPI_Request *requests, int *done, int *which, MPI_Status *statuses),
     (count, requests, done, which, statuses))
CALL(MPI_Barrier, (COMM), (comm))
CALL(MPI_Bcast, (IN, int root, COMM), (buf, count, type, root, comm))
CALL(MPI_Reduce, (BOTH, int count, MPI_Datatype type, MPI_Op op, int root, COMM), (from, to, count, type, op, root, comm))
CALL(MPI_Allreduce, (BOTH, int count, MPI_Datatype type, MPI_Op op, COMM), (from, to, count, type, op, comm))
CALL(MPI_Scan, (BOTH, int count, MPI_Datatype type, MPI_Op op, COMM), (from, to, count, type, op, comm))
CALL(MPI_Exscan, (BOTH, int count, MPI_Datatype type, MPI_Op op, COMM), (from, to, count, type, op, comm))
CALL(MPI_Reduce_scatter, (BOTH, const int *counts, MPI_Datatype type, MPI_Op op, COMM), (from, to, counts, type, op, comm))
CALL(MPI_Reduce_scatter_block, (BOTH, int count, MPI_Datatype type, MPI_Op op, COMM), (from, to, count, type, op, comm))
CALL(MPI_Gather, (ALL, int root, COMM), (from, count, type, to, count2, type2, root, comm))
CALL(MPI_Gatherv, (VARIED, int root, COMM), (from, count, type, to, counts, places, type2, root, comm))
CALL(MPI_Scatter, (ALL, int root, COMM), (from, count, type, to, count2, type2, root, comm))
CALL(MPI_Scatterv,
     (const void *from, const int *counts, const int *places, MPI_Datatype type, void *to, int count, MPI_Datatype type2, int root,
      COMM),
     (from, counts, places, type, to, count, type2, root, comm))
CALL(MPI_Allgather, (ALL, COMM), (from, count, type, to, count2, type2, comm))
CALL(MPI_Allgatherv, (VARIED, COMM), (from, count, type, to, counts, places, type2, comm))
CALL(MPI_Alltoall, (ALL, COMM), (from, count, type, to, count2, type2, comm))
CALL(MPI_Alltoallv,
     (const void *from, const int *counts, const int *places, MPI_Datatype type, void *to, const int *counts2, const int *places2,
      MPI_Datatype type2, COMM),
     (from, counts, places, type, to, counts2, places2, type2, comm))
CALL(MPI_Win_fence, (int assertion, MPI_Win window), (assertion, window))
CALL(MPI_Win_lock, (int kind, int rank, int assertion, MPI_Win window), (kind, rank, assertion, window))
CALL(MPI_Win_unlock, (int rank, MPI_Win window), (rank, window))
CALL(MPI_Win_flush, (int rank, MPI_Win window), (rank, window))
CALL(MPI_Comm_split, (COMM, int color, int key, MPI_Comm *made), (comm, color, key, made))
CALL(MPI_Comm_dup, (COMM, MPI_Comm *made), (comm, made))
