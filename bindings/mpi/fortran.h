/* Collectives as programs in Fortran call them, for coll.c. Open MPI's wrappers call its PMPI functions in C, past whoever stands
   before MPI's: so these stand before the wrappers, by all their names: those of mpif.h and of the module mpi, in each compiler's
   spelling, and the one that the module mpi_f08 calls. */
#ifndef WEFT_FORTRAN_H
#define WEFT_FORTRAN_H
#ifdef OPEN_MPI

#include <dlfcn.h>

/* The addresses that MPI_IN_PLACE and MPI_BOTTOM have in Fortran: of variables in a common block, by its compiler's spelling. */
enum { SPELLINGS = 4 };
static const void *in_place[SPELLINGS], *bottom[SPELLINGS];
static pthread_once_t found = PTHREAD_ONCE_INIT;

static void find_constants(void)
{
    static const char *const names[2][SPELLINGS] = {
        {"mpi_fortran_in_place_", "mpi_fortran_in_place__", "mpi_fortran_in_place", "MPI_FORTRAN_IN_PLACE"},
        {"mpi_fortran_bottom_", "mpi_fortran_bottom__", "mpi_fortran_bottom", "MPI_FORTRAN_BOTTOM"}};
    for (int at = 0; at < SPELLINGS; at++) {
        in_place[at] = dlsym(RTLD_DEFAULT, names[0][at]);
        bottom[at] = dlsym(RTLD_DEFAULT, names[1][at]);
    }
}

static void *address(void *buffer)
{
    pthread_once(&found, find_constants);
    for (int at = 0; buffer && at < SPELLINGS; at++) {
        if (buffer == in_place[at])
            return MPI_IN_PLACE;
        if (buffer == bottom[at])
            return MPI_BOTTOM;
    }
    return buffer;
}

/* Fortran's usual types are C's, whose elements are combined sooner. */
static MPI_Datatype type_in_c(MPI_Fint type)
{
    MPI_Datatype known = PMPI_Type_f2c(type);
    if (known == MPI_DOUBLE_PRECISION)
        return MPI_DOUBLE;
    if (known == MPI_INTEGER && sizeof(MPI_Fint) == sizeof(int))
        return MPI_INT;
    return known;
}

/* A call by all its names. If integers are of another size there, it is the MPI library's. */
#define FORTRAN(lower, UPPER, parameters, arguments, call)                                                                     \
    static void fortran_##lower parameters                                                                                     \
    {                                                                                                                          \
        if (sizeof(MPI_Fint) != sizeof(int)) {                                                                                 \
            void(*next) parameters = (void(*) parameters)dlsym(RTLD_NEXT, "ompi_" #lower "_f");                                \
            next arguments;                                                                                                    \
            return;                                                                                                            \
        }                                                                                                                      \
        int result = call;                                                                                                     \
        if (error)                                                                                                             \
            *error = (MPI_Fint)result;                                                                                         \
    }                                                                                                                          \
    EXPORTED void mpi_##lower##_ parameters __attribute__((alias("fortran_" #lower)));                                         \
    EXPORTED void mpi_##lower##__ parameters __attribute__((alias("fortran_" #lower)));                                        \
    EXPORTED void mpi_##lower parameters __attribute__((alias("fortran_" #lower)));                                            \
    EXPORTED void MPI_##UPPER parameters __attribute__((alias("fortran_" #lower)));                                            \
    EXPORTED void ompi_##lower##_f parameters __attribute__((alias("fortran_" #lower)));

#define INT MPI_Fint *
#define COMM_F PMPI_Comm_f2c(*comm)
#define OP_F PMPI_Op_f2c(*op)
/* Counts are of the size that C's have. */
#define INTS(values) ((const int *)(const void *)(values))

/* A collective, blocking and not. A request that has no number in Fortran gets one. */
#define COLLECTIVE(lower, UPPER, Name, parameters, names, arguments)                                                           \
    FORTRAN(lower, UPPER, (LIST parameters, INT error), (LIST names, error), MPI_##Name(LIST arguments))                       \
    static int begin_##lower(LIST parameters, INT request)                                                                     \
    {                                                                                                                          \
        MPI_Request begun = MPI_REQUEST_NULL;                                                                                  \
        int result = MPI_I##lower(LIST arguments, &begun);                                                                     \
        *request = PMPI_Request_c2f(begun);                                                                                    \
        return result;                                                                                                         \
    }                                                                                                                          \
    FORTRAN(i##lower, I##UPPER, (LIST parameters, INT request, INT error), (LIST names, request, error),                       \
            begin_##lower(LIST names, request))

FORTRAN(finalize, FINALIZE, (INT error), (error), MPI_Finalize())
COLLECTIVE(barrier, BARRIER, Barrier, (INT comm), (comm), (COMM_F))
COLLECTIVE(bcast, BCAST, Bcast, (void *buffer, INT count, INT type, INT root, INT comm), (buffer, count, type, root, comm),
           (address(buffer), *count, type_in_c(*type), *root, COMM_F))
COLLECTIVE(reduce, REDUCE, Reduce, (void *mine, void *into, INT count, INT type, INT op, INT root, INT comm),
           (mine, into, count, type, op, root, comm),
           (address(mine), address(into), *count, type_in_c(*type), OP_F, *root, COMM_F))

#define REDUCING(lower, UPPER, Name, counts)                                                                                   \
    COLLECTIVE(lower, UPPER, Name, (void *mine, void *into, INT count, INT type, INT op, INT comm),                            \
               (mine, into, count, type, op, comm), (address(mine), address(into), counts, type_in_c(*type), OP_F, COMM_F))
REDUCING(allreduce, ALLREDUCE, Allreduce, *count)
REDUCING(scan, SCAN, Scan, *count)
REDUCING(exscan, EXSCAN, Exscan, *count)
REDUCING(reduce_scatter_block, REDUCE_SCATTER_BLOCK, Reduce_scatter_block, *count)
REDUCING(reduce_scatter, REDUCE_SCATTER, Reduce_scatter, INTS(count))

#define TO_ALL(lower, UPPER, Name)                                                                                             \
    COLLECTIVE(lower, UPPER, Name, (void *from, INT count, INT type, void *to, INT count2, INT type2, INT comm),               \
               (from, count, type, to, count2, type2, comm),                                                                   \
               (address(from), *count, type_in_c(*type), address(to), *count2, type_in_c(*type2), COMM_F))
TO_ALL(allgather, ALLGATHER, Allgather)
TO_ALL(alltoall, ALLTOALL, Alltoall)

#define OF_ROOT(lower, UPPER, Name)                                                                                            \
    COLLECTIVE(lower, UPPER, Name, (void *from, INT count, INT type, void *to, INT count2, INT type2, INT root, INT comm),     \
               (from, count, type, to, count2, type2, root, comm),                                                             \
               (address(from), *count, type_in_c(*type), address(to), *count2, type_in_c(*type2), *root, COMM_F))
OF_ROOT(gather, GATHER, Gather)
OF_ROOT(scatter, SCATTER, Scatter)

COLLECTIVE(gatherv, GATHERV, Gatherv,
           (void *from, INT count, INT type, void *to, INT counts, INT places, INT type2, INT root, INT comm),
           (from, count, type, to, counts, places, type2, root, comm),
           (address(from), *count, type_in_c(*type), address(to), INTS(counts), INTS(places), type_in_c(*type2), *root, COMM_F))
COLLECTIVE(scatterv, SCATTERV, Scatterv,
           (void *from, INT counts, INT places, INT type, void *to, INT count, INT type2, INT root, INT comm),
           (from, counts, places, type, to, count, type2, root, comm),
           (address(from), INTS(counts), INTS(places), type_in_c(*type), address(to), *count, type_in_c(*type2), *root, COMM_F))
COLLECTIVE(allgatherv, ALLGATHERV, Allgatherv,
           (void *from, INT count, INT type, void *to, INT counts, INT places, INT type2, INT comm),
           (from, count, type, to, counts, places, type2, comm),
           (address(from), *count, type_in_c(*type), address(to), INTS(counts), INTS(places), type_in_c(*type2), COMM_F))
COLLECTIVE(alltoallv, ALLTOALLV, Alltoallv,
           (void *from, INT counts, INT places, INT type, void *to, INT counts2, INT places2, INT type2, INT comm),
           (from, counts, places, type, to, counts2, places2, type2, comm),
           (address(from), INTS(counts), INTS(places), type_in_c(*type), address(to), INTS(counts2), INTS(places2),
            type_in_c(*type2), COMM_F))

#endif
#endif
