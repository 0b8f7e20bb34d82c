/* Programs that wait for descriptors, with poll(2): two ranks that make no progress of their own while they do. */

#include "client.h"
#include <poll.h>
#include <rdma/fi_rma.h>

#define ROUNDS 20
#define LONG (1 << 20)

static struct fid_eq *eq;
static struct fid_cntr *written;
static struct fid_mr *region;
static char one[LONG], other[LONG];

static int descriptor_of(struct fid *fid)
{
    enum fi_wait_obj wait = FI_WAIT_UNSPEC;
    int descriptor = -1;
    CHECK(fi_control(fid, FI_GETWAITOBJ, &wait) == 0 && wait == FI_WAIT_FD);
    CHECK(fi_control(fid, FI_GETWAIT, &descriptor) == 0 && descriptor >= 0);
    return descriptor;
}

static void open_all(void)
{
    struct fi_info *hints = hints_for(FI_TAGGED | FI_RMA | FI_RMA_EVENT | FI_DIRECTED_RECV);
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_MUTEX_COND};
    struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_FD};
    uint8_t name[FI_NAME_MAX];
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    CHECK(fi_getinfo(FI_VERSION(1, 5), NULL, NULL, 0, hints, &info) == 0);
    fi_freeinfo(hints);
    open_objects(FI_AV_MAP, FI_WAIT_FD);
    written = counter(FI_WAIT_FD);
    CHECK(fi_eq_open(fabric, &eq_attr, &eq, NULL) == 0);
    CHECK(fi_cq_open(domain, &cq_attr, &(struct fid_cq *){NULL}, NULL) == -FI_ENOSYS);
    CHECK(fi_ep_bind(ep, &av->fid, 0) == 0);
    CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) == 0);
    CHECK(fi_ep_bind(ep, &written->fid, FI_REMOTE_WRITE) == 0);
    CHECK(fi_enable(ep) == 0);
    CHECK(fi_mr_reg(domain, other, LONG, FI_REMOTE_WRITE, 0, 7, 0, &region, NULL) == 0);
    introduce(name);
}

/* Nothing is there: who waits for a moment waits in vain. */
static void nothing(void)
{
    struct fid *fids[] = {&cq->fid, &written->fid, &eq->fid};
    struct pollfd polled[3];
    CHECK(fi_trywait(fabric, fids, 3) == 0);
    for (int which = 0; which < 3; which++)
        polled[which] = (struct pollfd){.fd = descriptor_of(fids[which]), .events = POLLIN};
    CHECK(poll(polled, 3, 0) == 0);
    CHECK(fi_trywait(fabric, fids, -1) == -FI_EINVAL);
    CHECK(fi_trywait(fabric, &(struct fid *){&domain->fid}, 1) == -FI_EINVAL);
}

/* The next completion, for which this rank sleeps. */
static struct fi_cq_tagged_entry asleep(void)
{
    struct fi_cq_tagged_entry entry;
    struct fid *fid = &cq->fid;
    struct pollfd polled = {.fd = descriptor_of(fid), .events = POLLIN};
    ssize_t count;
    while ((count = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN) {
        int outcome = fi_trywait(fabric, &fid, 1);
        CHECK(outcome == 0 || outcome == -FI_EAGAIN);
        if (outcome == 0)
            CHECK(poll(&polled, 1, -1) == 1 && polled.revents == POLLIN);
    }
    CHECK(count == 1);
    return entry;
}

static void to_and_fro(size_t length)
{
    for (int round = 0; round < ROUNDS; round++) {
        fill(one, length, round);
        DONE(fi_trecv(ep, other, length, NULL, peers[1 - me], round, 0, &contexts[0]));
        if (me == 1)
            CHECK(asleep().op_context == &contexts[0]);
        DONE(fi_tsend(ep, one, length, NULL, peers[1 - me], round, &contexts[1]));
        if (me == 0) {
            void *first = asleep().op_context, *second = asleep().op_context;
            CHECK((first == &contexts[0] && second == &contexts[1]) ||
                  (first == &contexts[1] && second == &contexts[0]));
        } else {
            CHECK(asleep().op_context == &contexts[1]);
        }
        check(other, length, round);
    }
    meet();
}

/* What has come stays to be read, and who does not read it need not wait. */
static void unread(void)
{
    struct fid *fid = &cq->fid;
    struct pollfd polled = {.fd = descriptor_of(fid), .events = POLLIN};
    char byte = 0;
    DONE(fi_trecv(ep, &byte, 1, NULL, peers[me], 5, 0, &contexts[0]));
    DONE(fi_tinject(ep, &byte, 1, peers[me], 5));
    CHECK(fi_trywait(fabric, &fid, 1) == -FI_EAGAIN);
    CHECK(poll(&polled, 1, -1) == 1);
    next(&contexts[0], NULL);
    CHECK(fi_trywait(fabric, &fid, 1) == 0);
    CHECK(poll(&polled, 1, 0) == 0);
    CHECK(fi_cq_signal(cq) == 0);
    CHECK(fi_trywait(fabric, &fid, 1) == -FI_EAGAIN);
    CHECK(poll(&polled, 1, -1) == 1);
    CHECK(fi_trywait(fabric, &fid, 1) == 0);
    meet();
}

/* A counter of what others do to this rank's memory. */
static void written_to(void)
{
    if (me == 0) {
        fill(one, LONG, 3);
        DONE(fi_write(ep, one, LONG, NULL, peers[1], 0, 7, &contexts[0]));
        next(&contexts[0], NULL);
    } else {
        struct fid *fid = &written->fid;
        struct pollfd polled = {.fd = descriptor_of(fid), .events = POLLIN};
        while (fi_cntr_read(written) < 1) {
            if (fi_trywait(fabric, &fid, 1) == 0)
                CHECK(poll(&polled, 1, -1) == 1);
        }
        check(other, LONG, 3);
        CHECK(fi_trywait(fabric, &fid, 1) == 0);
        CHECK(fi_cntr_add(written, 1) == 0);
        CHECK(fi_trywait(fabric, &fid, 1) == -FI_EAGAIN);
        CHECK(fi_cntr_read(written) == 2);
        CHECK(fi_trywait(fabric, &fid, 1) == 0);
    }
    meet();
}

int main(void)
{
    open_all();
    meet();
    nothing();
    meet();
    to_and_fro(8);
    to_and_fro(LONG);
    unread();
    written_to();
    int closed = descriptor_of(&cq->fid);
    CHECK(fi_close(&ep->fid) == 0);
    CHECK(fi_close(&region->fid) == 0);
    CHECK(fi_close(&av->fid) == 0);
    CHECK(fi_close(&cq->fid) == 0);
    CHECK(fi_close(&written->fid) == 0);
    CHECK(fi_close(&eq->fid) == 0);
    struct pollfd gone = {.fd = closed};
    CHECK(poll(&gone, 1, 0) == 1 && gone.revents == POLLNVAL);
    CHECK(fi_close(&domain->fid) == 0);
    CHECK(fi_close(&fabric->fid) == 0);
    fi_freeinfo(info);
    printf("rank %d: was woken for all of it\n", me);
    return 0;
}
