/* A client of libfabric that closes everything while messages are under way: those that are received arrive, those that nobody
 * receives end with their endpoints, and nothing is refused. Then it begins again, as often as `rounds` says: a process that
 * has closed its last domain may open another one. */

#include "client.h"

enum { MESSAGES = 5, LONG = 3000000 };

static const size_t lengths[MESSAGES] = {0, 100, 50000, LONG, LONG};

/* Messages of each length to the other rank, of which nobody hears when they are gone. */
static void send_all(char *bytes, uint64_t tag, struct fi_context *unheard)
{
    for (int i = 0; i < MESSAGES; i++)
        DONE(fi_tsend(ep, bytes, lengths[i], NULL, peers[1 - me], tag, &unheard[i]));
}

static void begin(void)
{
    uint8_t name[FI_NAME_MAX];
    CHECK(fi_getinfo(fi_version(), NULL, NULL, 0, hints_for(FI_TAGGED), &info) == 0);
    open_objects(FI_AV_MAP, FI_WAIT_NONE);
    CHECK(fi_ep_bind(ep, &av->fid, 0) == 0);
    CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) == 0);
    CHECK(fi_enable(ep) == 0);
    introduce(name);
    /* Of another job's ranks none is reached. */
    name[12] ^= 1;
    CHECK(fi_av_insert(av, name, 1, NULL, 0, NULL) == 0);
    meet();
}

static void end(void)
{
    CHECK(fi_close(&ep->fid) == 0);
    CHECK(fi_close(&cq->fid) == 0);
    CHECK(fi_close(&av->fid) == 0);
    CHECK(fi_close(&domain->fid) == 0);
    CHECK(fi_close(&fabric->fid) == 0);
    fi_freeinfo(info);
}

static char sent[LONG], got[LONG];

int main(int argc, char **argv)
{
    static struct fi_context wanted[MESSAGES], unwanted[MESSAGES];
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int round = 0; round < rounds; round++) {
        begin();
        fill(sent, LONG, round);
        if (me == 0) {
            /* Some are received, long after rank 0 has begun to close, for all that it knows. */
            send_all(sent, 1, wanted);
        } else {
            for (int i = 0; i < MESSAGES; i++) {
                DONE(fi_trecv(ep, got, lengths[i], NULL, peers[0], 1, 0, &contexts[i]));
                CHECK(next(&contexts[i], NULL).len == lengths[i]);
                check(got, lengths[i], round);
            }
        }
        /* Nobody receives these. */
        send_all(sent, 2, unwanted);
        end();
    }
    printf("rank %d: all has ended\n", me);
    return 0;
}
