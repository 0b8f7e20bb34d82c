/* Collectives that do not block: many under way at once, of several communicators, in between messages and blocking ones, waited for in
   another order than they began, by each of the calls that wait; their types and communicators freed meanwhile. */

#include "check.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 16, KINDS = 12, LONG = 40000, MANY = 300 };

static int is_quick;
static unsigned seed = 1;

/* The same at all ranks. */
static unsigned any(unsigned below)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % below;
}

/* One call: what it gives, and what it is to bring. */
struct started {
    int kind, root, count, me, ranks, salt;
    int *given, *taken, *lengths, *places;
};

static int value(int member, int place, int salt)
{
    return (member * 31 + place * 7 + salt) % 1000;
}

static void begin(struct started *it, int kind, int count, int salt, MPI_Comm comm, MPI_Request *request)
{
    MPI_Comm_rank(comm, &it->me);
    MPI_Comm_size(comm, &it->ranks);
    it->kind = kind;
    it->count = count;
    it->salt = salt;
    it->root = salt % it->ranks;
    int most = count * it->ranks + 1, is_root = it->me == it->root;
    it->given = malloc((size_t)most * sizeof(int));
    it->taken = malloc((size_t)most * sizeof(int));
    it->lengths = malloc((size_t)it->ranks * sizeof(int));
    it->places = malloc((size_t)it->ranks * sizeof(int));
    CHECK(it->given && it->taken && it->lengths && it->places);
    for (int at = 0; at < most; at++)
        it->given[at] = value(it->me, at, salt);
    memset(it->taken, -1, (size_t)most * sizeof(int));
    for (int rank = 0; rank < it->ranks; rank++) {
        it->lengths[rank] = (rank + salt) % 2 ? count : count / 2;
        it->places[rank] = rank * count;
    }
    int own = it->lengths[it->me];
    switch (kind) {
    case 0:
        MPI_Ibarrier(comm, request);
        break;
    case 1:
        MPI_Ibcast(is_root ? it->given : it->taken, count, MPI_INT, it->root, comm, request);
        break;
    case 2:
        MPI_Ireduce(it->given, it->taken, count, MPI_INT, MPI_SUM, it->root, comm, request);
        break;
    case 3:
        MPI_Iallreduce(it->given, it->taken, count, MPI_INT, MPI_SUM, comm, request);
        break;
    case 4:
        MPI_Iallgather(it->given, count, MPI_INT, it->taken, count, MPI_INT, comm, request);
        break;
    case 5:
        MPI_Igather(it->given, count, MPI_INT, it->taken, count, MPI_INT, it->root, comm, request);
        break;
    case 6:
        MPI_Iscatter(it->given, count, MPI_INT, it->taken, count, MPI_INT, it->root, comm, request);
        break;
    case 7:
        MPI_Ialltoall(it->given, count, MPI_INT, it->taken, count, MPI_INT, comm, request);
        break;
    case 8:
        MPI_Iscan(it->given, it->taken, count, MPI_INT, MPI_SUM, comm, request);
        break;
    case 9:
        MPI_Ireduce_scatter_block(it->given, it->taken, count, MPI_INT, MPI_MAX, comm, request);
        break;
    case 10:
        MPI_Iallgatherv(it->given, own, MPI_INT, it->taken, it->lengths, it->places, MPI_INT, comm, request);
        break;
    default:
        MPI_Igatherv(it->given, own, MPI_INT, it->taken, it->lengths, it->places, MPI_INT, it->root, comm, request);
    }
}

static int sum_of(const struct started *it, int members, int place)
{
    int sum = 0;
    for (int member = 0; member < members; member++)
        sum += value(member, place, it->salt);
    return sum;
}

static int most_of(const struct started *it, int place)
{
    int most = -1;
    for (int member = 0; member < it->ranks; member++)
        most = value(member, place, it->salt) > most ? value(member, place, it->salt) : most;
    return most;
}

/* The values that a call has brought, once it has ended. */
static void end(struct started *it)
{
    int is_root = it->me == it->root, count = it->count, salt = it->salt;
    for (int place = 0; place < count; place++)
        switch (it->kind) {
        case 1:
            CHECK(is_root || it->taken[place] == value(it->root, place, salt));
            break;
        case 2:
            CHECK(!is_root || it->taken[place] == sum_of(it, it->ranks, place));
            break;
        case 3:
            CHECK(it->taken[place] == sum_of(it, it->ranks, place));
            break;
        case 6:
            CHECK(it->taken[place] == value(it->root, it->me * count + place, salt));
            break;
        case 8:
            CHECK(it->taken[place] == sum_of(it, it->me + 1, place));
            break;
        case 9:
            CHECK(it->taken[place] == most_of(it, it->me * count + place));
            break;
        }
    for (int member = 0; member < it->ranks; member++)
        for (int place = 0; place < count; place++) {
            int got = it->taken[member * count + place];
            if (it->kind == 4 || (it->kind == 5 && is_root))
                CHECK(got == value(member, place, salt));
            if (it->kind == 7)
                CHECK(got == value(member, it->me * count + place, salt));
            if (it->kind == 10 || (it->kind == 11 && is_root))
                CHECK(got == (place < it->lengths[member] ? value(member, place, salt) : -1));
        }
    free(it->given);
    free(it->taken);
    free(it->lengths);
    free(it->places);
}

/* Waits for all, by one of the calls that do. */
static void wait_for(int how, int number, MPI_Request *requests)
{
    int which[MANY], done, flag;
    MPI_Status statuses[MANY];
    switch (how) {
    case 0:
        MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
        break;
    case 1:
        for (int at = 0; at < number; at++) {
            MPI_Waitany(number, requests, &done, statuses);
            CHECK(done != MPI_UNDEFINED);
        }
        break;
    case 2:
        for (int all = 0; all < number; all += done) {
            MPI_Waitsome(number, requests, &done, which, statuses);
            CHECK(done > 0);
        }
        break;
    case 3:
        for (int all = 0; all < number; all += done)
            MPI_Testsome(number, requests, &done, which, MPI_STATUSES_IGNORE);
        break;
    case 4:
        do
            MPI_Testall(number, requests, &flag, statuses);
        while (!flag);
        break;
    case 5:
        for (int all = 0; all < number; all += flag && done != MPI_UNDEFINED)
            MPI_Testany(number, requests, &done, &flag, MPI_STATUS_IGNORE);
        break;
    default:
        for (int at = number - 1; at >= 0; at--) {
            do
                MPI_Request_get_status(requests[at], &flag, statuses);
            while (!flag);
            MPI_Test(&requests[at], &flag, statuses);
            CHECK(flag);
        }
    }
    for (int at = 0; at < number; at++)
        CHECK(requests[at] == MPI_REQUEST_NULL);
}

/* Several of each of some communicators under way, beside messages around a ring and blocking collectives. */
static void mixed(const MPI_Comm *comms, int rounds)
{
    enum { MOST = 12 };
    int me, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < rounds; round++) {
        struct started all[MOST];
        MPI_Request requests[MOST + 2];
        int number = 1 + (int)any(MOST), got = -1, has_messages = (int)any(2), out = me + round;
        for (int at = 0; at < number; at++) {
            int lengths[] = {0, 1, 5, 300, 3000, any(10) ? 40 : LONG};
            int kind = (int)any(KINDS), length = lengths[any(6)], salt = (int)any(1000);
            begin(&all[at], kind, length, salt, comms[any(3)], &requests[at]);
            if (any(6) == 0)
                MPI_Barrier(comms[any(3)]);
            if (any(6) == 0) {
                int word = me, sum = -1;
                MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
                CHECK(sum == ranks * (ranks - 1) / 2);
            }
        }
        if (has_messages) {
            MPI_Irecv(&got, 1, MPI_INT, (me + ranks - 1) % ranks, 9, MPI_COMM_WORLD, &requests[number]);
            MPI_Isend(&out, 1, MPI_INT, (me + 1) % ranks, 9, MPI_COMM_WORLD, &requests[number + 1]);
        }
        wait_for((int)any(7), number + 2 * has_messages, requests);
        CHECK(!has_messages || got == (me + ranks - 1) % ranks + round);
        for (int at = 0; at < number; at++)
            end(&all[at]);
    }
}

/* More than a member may be ahead of another, and one member starts late. */
static void many(MPI_Comm comm)
{
    static struct started all[MANY];
    static MPI_Request requests[MANY];
    int me, ranks, word = 5;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &ranks);
    for (int kind = 0; kind < KINDS; kind++) {
        for (int at = 0; at < MANY; at++)
            begin(&all[at], at % 7 ? kind : 1, 1 + at % 50, at, comm, &requests[at]);
        /* Whoever waits here has started all of them, and the last rank none. */
        if (me < ranks - 1)
            MPI_Send(&word, 1, MPI_INT, ranks - 1, 3, comm);
        for (int other = 0; me == ranks - 1 && other < ranks - 1; other++)
            MPI_Recv(&word, 1, MPI_INT, other, 3, comm, MPI_STATUS_IGNORE);
        wait_for(kind % 7, MANY, requests);
        for (int at = 0; at < MANY; at++)
            end(&all[at]);
    }
}

/* A rank comes only when another has sent it a message behind the call: the call must not wait for it. */
static void none_waits(MPI_Comm comm)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct started it;
        MPI_Request request;
        MPI_Status status;
        int me, ranks, word = kind, elements, is_cancelled;
        MPI_Comm_rank(comm, &me);
        MPI_Comm_size(comm, &ranks);
        if (me > 0)
            MPI_Recv(&word, 1, MPI_INT, me - 1, 4, comm, MPI_STATUS_IGNORE);
        begin(&it, kind, 20000, kind, comm, &request);
        if (me < ranks - 1)
            MPI_Send(&word, 1, MPI_INT, me + 1, 4, comm);
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_BYTE, &elements);
        MPI_Test_cancelled(&status, &is_cancelled);
        CHECK(elements == 0 && !is_cancelled);
        end(&it);
    }
}

/* Types with gaps, which are freed as soon as the call has begun, as is the communicator. */
static void freed_meanwhile(void)
{
    for (int round = 0; round < (is_quick ? 10 : 100); round++) {
        MPI_Comm comm;
        MPI_Datatype column;
        MPI_Request requests[2];
        int me, ranks, matrix[6][4], all[MEMBERS][4], lengths[MEMBERS], places[MEMBERS], row[6];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_rank(comm, &me);
        MPI_Comm_size(comm, &ranks);
        MPI_Barrier(comm);
        memset(matrix, -1, sizeof matrix);
        memset(all, -1, sizeof all);
        for (int place = 0; place < 6; place++)
            row[place] = place * 3 + round;
        MPI_Type_vector(6, 1, 4, MPI_INT, &column);
        MPI_Type_commit(&column);
        if (me == 0)
            MPI_Ibcast(row, 6, MPI_INT, 0, comm, &requests[0]);
        else
            MPI_Ibcast(&matrix[0][1], 1, column, 0, comm, &requests[0]);
        MPI_Type_free(&column);
        MPI_Type_vector(2, 1, 3, MPI_INT, &column);
        MPI_Type_commit(&column);
        for (int rank = 0; rank < ranks; rank++) {
            lengths[rank] = 1;
            places[rank] = rank;
        }
        int mine[2] = {me, round};
        MPI_Iallgatherv(mine, 2, MPI_INT, all, lengths, places, column, comm, &requests[1]);
        MPI_Type_free(&column);
        MPI_Comm_free(&comm);
        wait_for(round % 7, 2, requests);
        for (int place = 0; me > 0 && place < 6; place++)
            CHECK(matrix[place][1] == place * 3 + round && matrix[place][0] == -1 && matrix[place][2] == -1);
        for (int rank = 0; rank < ranks; rank++)
            CHECK(all[rank][0] == rank && all[rank][1] == -1 && all[rank][2] == -1 && all[rank][3] == round);
    }
}

/* What is not served: operations of the program's own, and communicators that no blocking call has used. */
static void add(void *before, void *after, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int place = 0; place < *count; place++)
        ((int *)after)[place] += ((int *)before)[place];
}

static void others(void)
{
    MPI_Op op;
    MPI_Comm comm;
    MPI_Request requests[3];
    int one = 1, sum = 0, word = rank == 0 ? 7 : -1, ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Op_create(add, 1, &op);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&word, 1, MPI_INT, 0, comm, &requests[1]);
    MPI_Ibarrier(comm, &requests[2]);
    wait_for(0, 3, requests);
    CHECK(sum == ranks && word == 7);
    MPI_Comm_free(&comm);
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    int size;
    MPI_Comm comms[3] = {MPI_COMM_WORLD};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_quick = argc > 1 && strcmp(argv[1], "quick") == 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
    for (int at = 0; at < 3; at++)
        MPI_Barrier(comms[at]);
    none_waits(MPI_COMM_WORLD);
    mixed(comms, is_quick ? 30 : 300);
    if (!is_quick)
        many(comms[2]);
    freed_meanwhile();
    others();
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks have ended all that they started\n", size);
    MPI_Finalize();
    return 0;
}
