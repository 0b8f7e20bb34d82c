/* Long messages of all to all, posted early and late, whole and cut off: each byte is checked, and
   those around them. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 64, TURNS = 3 };

static const int sizes[] = {100000, 163841, 200000, 262152, 1048589, 3000000};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static int rank, ranks;

static unsigned char at(int from, int to, int turn, int number, long offset)
{
    return (unsigned char)(from * 31 + to * 17 + turn * 7 + number * 3 + offset + (offset >> 8));
}

static unsigned char *buffer(long bytes)
{
    unsigned char *whole = malloc(bytes + 2 * AROUND);
    if (!whole)
        exit(3);
    memset(whole, 0x5a, bytes + 2 * AROUND);
    return whole + AROUND;
}

static void check(const unsigned char *bytes, int from, int turn, int number, long length)
{
    for (long offset = -AROUND; offset < sizes[number] + AROUND; offset++) {
        int inside = offset >= 0 && offset < length;
        unsigned char expected = inside ? at(from, rank, turn, number, offset) : 0x5a;
        if (bytes[offset] != expected) {
            fprintf(stderr, "rank %d, from %d, turn %d, %d bytes: wrong at %ld\n", rank, from, turn,
                    sizes[number], offset);
            MPI_Abort(MPI_COMM_WORLD, 4);
        }
    }
}

/* Of turn 1 only a half is wanted; in turn 2 receives are posted when their messages wait. */
static void turn_of(int turn)
{
    MPI_Request requests[2 * SIZES * 16];
    unsigned char *sent[SIZES * 16], *got[SIZES * 16];
    int count = 0;
    for (int side = 0; side < 2; side++) {
        int receives = (side == 1) == (turn == 2);
        for (int peer = 0; peer < ranks; peer++)
            for (int number = 0; number < SIZES && peer != rank; number++) {
                int slot = peer * SIZES + number, size = sizes[number];
                if (receives) {
                    got[slot] = buffer(size);
                    MPI_Irecv(got[slot], size, MPI_BYTE, peer, number, MPI_COMM_WORLD,
                              &requests[count++]);
                } else {
                    int length = turn == 1 ? size / 2 : size;
                    sent[slot] = buffer(size);
                    for (long offset = 0; offset < length; offset++)
                        sent[slot][offset] = at(rank, peer, turn, number, offset);
                    MPI_Isend(sent[slot], length, MPI_BYTE, peer, number, MPI_COMM_WORLD,
                              &requests[count++]);
                }
            }
        if (turn == 2 && side == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int peer = 0; peer < ranks; peer++)
        for (int number = 0; number < SIZES && peer != rank; number++) {
            int slot = peer * SIZES + number, size = sizes[number];
            check(got[slot], peer, turn, number, turn == 1 ? size / 2 : size);
            free(got[slot] - AROUND);
            free(sent[slot] - AROUND);
        }
}

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int turn = 0; turn < TURNS; turn++)
        turn_of(turn);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("all bytes are right on %d ranks\n", ranks);
    MPI_Finalize();
    return 0;
}
