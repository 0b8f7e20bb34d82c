/* Ten classic deadlocks of MPI programs, by name, and what else keeps ranks: for the tests of
 * `weft why`. Rank 0 first prints its process, by which it is asked for. */

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes that no library sends before they are received. */
#define LONG (16 << 20)

static int rank, ranks;
static char *room;

static void receive(int from, int tag)
{
    MPI_Recv(room, LONG, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int to, int tag, int bytes)
{
    MPI_Send(room, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

static void receive_first(void)
{
    receive(1 - rank, 7);
    send(1 - rank, 7, 8);
}

static void send_first(void)
{
    send(1 - rank, 7, LONG);
    receive(1 - rank, 7);
}

static void wrong_tag(void)
{
    if (rank == 0)
        send(1, 8, 8);
    else
        receive(0, 7);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void ring(void)
{
    receive((rank + ranks - 1) % ranks, 7);
    send((rank + 1) % ranks, 7, 8);
}

static void to_itself(void)
{
    if (rank == 0)
        MPI_Ssend(room, 8, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void missing_member(void)
{
    if (rank == 1)
        for (;;)
            pause();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void collective_and_receive(void)
{
    if (rank == 0)
        receive(1, 7);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

static void any_source(void)
{
    receive(MPI_ANY_SOURCE, 7);
}

static void two_communicators(void)
{
    MPI_Comm one, two;

    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &two);
    MPI_Recv(room, 8, MPI_BYTE, 1 - rank, 7, rank ? one : two, MPI_STATUS_IGNORE);
}

static void stopped_receiver(void)
{
    if (rank == 1)
        raise(SIGSTOP);
    send(1, 7, LONG);
}

static const struct {
    const char *name;
    void (*run)(void);
} all[] = {
    {"receive-first", receive_first},
    {"send-first", send_first},
    {"wrong-tag", wrong_tag},
    {"ring", ring},
    {"to-itself", to_itself},
    {"missing-member", missing_member},
    {"collective-and-receive", collective_and_receive},
    {"any-source", any_source},
    {"two-communicators", two_communicators},
    {"stopped-receiver", stopped_receiver},
};

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    room = malloc(LONG);
    if (rank == 0) {
        printf("%d\n", (int)getpid());
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; count > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, words[1]) == 0)
            all[i].run();
    MPI_Finalize();
    return 0;
}
