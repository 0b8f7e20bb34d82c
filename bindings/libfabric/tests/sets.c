/* Wait sets and poll sets: two ranks that sleep until one of several queues and counters has something, and ask which. */

#include "client.h"
#include <poll.h>
#include <pthread.h>
#include <rdma/fi_rma.h>

#define ROUNDS 20
#define LONG (1 << 20)
#define MEMBERS 3

/* An endpoint that sleeps; that of client.h is for meeting. */
static struct fid_ep *sleeper;
static fi_addr_t sleepers[2];
/* Its completions: of sends and writes, and of receives. */
static struct fid_cq *sent, *received;
static struct fid_cntr *written;
static struct fid_eq *eq;
static struct fid_mr *region;
static struct fid_wait *set;
static struct fid_poll *polled;
static enum fi_wait_obj kind;
static char one[LONG], other[LONG];
static uint64_t sent_count, received_count, written_count;

static void open_domain(void)
{
    struct fi_info *hints = hints_for(FI_TAGGED | FI_RMA | FI_RMA_EVENT | FI_DIRECTED_RECV);
    uint8_t name[FI_NAME_MAX];
    hints->domain_attr->threading = FI_THREAD_SAFE;
    CHECK(fi_getinfo(FI_VERSION(1, 5), NULL, NULL, 0, hints, &info) == 0);
    fi_freeinfo(hints);
    open_objects(FI_AV_MAP, FI_WAIT_NONE);
    CHECK(fi_ep_bind(ep, &av->fid, 0) == 0);
    CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) == 0);
    CHECK(fi_enable(ep) == 0);
    introduce(name);
}

static int wait_open_with(enum fi_wait_obj object, uint64_t flags, struct fid_wait **opened)
{
    struct fi_wait_attr attr = {.wait_obj = object, .flags = flags};
    return fi_wait_open(fabric, &attr, opened);
}

static int cq_open_with(struct fid_wait *of, struct fid_cq **opened)
{
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_SET, .wait_set = of};
    return fi_cq_open(domain, &attr, opened, opened);
}

static int cntr_open_with(struct fid_wait *of, struct fid_cntr **opened)
{
    struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_SET, .wait_set = of};
    return fi_cntr_open(domain, &attr, opened, opened);
}

static int eq_open_with(struct fid_wait *of, struct fid_eq **opened)
{
    struct fi_eq_attr attr = {.wait_obj = FI_WAIT_SET, .wait_set = of};
    return fi_eq_open(fabric, &attr, opened, opened);
}

/* What there is not. */
static void refused(void)
{
    struct fid_wait *no_set = NULL;
    struct fid_poll *no_polled = NULL;
    CHECK(wait_open_with(FI_WAIT_NONE, 0, &no_set) == -FI_EINVAL);
    CHECK(wait_open_with(FI_WAIT_SET, 0, &no_set) == -FI_EINVAL);
    CHECK(wait_open_with(FI_WAIT_FD, 1, &no_set) == -FI_EINVAL);
    CHECK(wait_open_with(FI_WAIT_MUTEX_COND, 0, &no_set) == -FI_ENOSYS);
    CHECK(wait_open_with(FI_WAIT_POLLFD, 0, &no_set) == -FI_ENOSYS);
    CHECK(fi_wait_open(fabric, NULL, &no_set) == -FI_EINVAL);
    CHECK(fi_poll_open(domain, &(struct fi_poll_attr){.flags = 1}, &no_polled) == -FI_EINVAL);
    CHECK(no_set == NULL && no_polled == NULL);
    /* No set, and what is none. */
    for (int which = 0; which < 2; which++) {
        struct fid_wait *none = which ? (struct fid_wait *)fabric : NULL;
        CHECK(cq_open_with(none, &(struct fid_cq *){NULL}) == -FI_EINVAL);
        CHECK(cntr_open_with(none, &(struct fid_cntr *){NULL}) == -FI_EINVAL);
        CHECK(eq_open_with(none, &(struct fid_eq *){NULL}) == -FI_EINVAL);
    }
}

static int descriptor_of(struct fid *fid)
{
    int descriptor = -1;
    CHECK(fi_control(fid, FI_GETWAIT, &descriptor) == 0 && descriptor >= 0);
    return descriptor;
}

/* A set is there before all that is in it, and nothing is in it that could end a wait. */
static void open_sets(void)
{
    CHECK(wait_open_with(kind, 0, &set) == 0);
    CHECK(fi_wait(set, 0) == -FI_ETIMEDOUT);
    CHECK(fi_wait(set, -1) == -FI_EINVAL);
    CHECK(fi_trywait(fabric, &(struct fid *){&set->fid}, 1) == 0);
    CHECK(cq_open_with(set, &sent) == 0);
    CHECK(cq_open_with(set, &received) == 0);
    CHECK(cntr_open_with(set, &written) == 0);
    CHECK(eq_open_with(set, &eq) == 0);
    CHECK(fi_poll_open(domain, &(struct fi_poll_attr){0}, &polled) == 0);
    CHECK(fi_poll_add(polled, &sent->fid, 0) == 0);
    CHECK(fi_poll_add(polled, &sent->fid, 0) == 0);
    CHECK(fi_poll_add(polled, &received->fid, 0) == 0);
    CHECK(fi_poll_add(polled, &written->fid, 1) == -FI_EINVAL);
    CHECK(fi_poll_add(polled, &written->fid, 0) == 0);
    CHECK(fi_poll_add(polled, &eq->fid, 0) == -FI_EINVAL);
    CHECK(fi_poll_add(polled, &domain->fid, 0) == -FI_EINVAL);
    CHECK(fi_poll_del(polled, &domain->fid, 0) == -FI_EINVAL);
}

static void open_all(void)
{
    size_t length = FI_NAME_MAX;
    uint8_t name[FI_NAME_MAX];
    open_sets();
    CHECK(fi_endpoint(domain, info, &sleeper, NULL) == 0);
    CHECK(fi_ep_bind(sleeper, &av->fid, 0) == 0);
    CHECK(fi_ep_bind(sleeper, &sent->fid, FI_TRANSMIT) == 0);
    CHECK(fi_ep_bind(sleeper, &received->fid, FI_RECV) == 0);
    CHECK(fi_ep_bind(sleeper, &written->fid, FI_REMOTE_WRITE) == 0);
    CHECK(fi_enable(sleeper) == 0);
    CHECK(fi_mr_reg(domain, other, LONG, FI_REMOTE_WRITE, 0, 7, 0, &region, NULL) == 0);
    CHECK(fi_getname(&sleeper->fid, name, &length) == 0);
    for (int which = 0; which < 2; which++) {
        name[6] = which;
        CHECK(fi_av_insert(av, name, 1, &sleepers[which], 0, NULL) == 1);
    }
    sent_count = received_count = written_count = 0;
}

/* Sleeps until there is something; in every other round by poll(2), where there is a descriptor. */
static void sleep_until_news(int round)
{
    struct fid *fid = &set->fid;
    if (kind == FI_WAIT_FD && round % 2) {
        struct pollfd waiting = {.fd = descriptor_of(fid), .events = POLLIN};
        int outcome = fi_trywait(fabric, &fid, 1);
        CHECK(outcome == 0 || outcome == -FI_EAGAIN);
        if (outcome == 0)
            CHECK(poll(&waiting, 1, -1) == 1 && waiting.revents == POLLIN);
    } else {
        CHECK(fi_wait(set, -1) == 0);
    }
}

/* Sleeps, and reads one thing of each that has something. */
static void take_news(int round)
{
    struct fi_cq_tagged_entry entry;
    void *ready[MEMBERS];
    sleep_until_news(round);
    int count = fi_poll(polled, ready, MEMBERS);
    CHECK(count >= 1 && count <= MEMBERS);
    for (int which = 0; which < count; which++) {
        if (ready[which] == &sent) {
            CHECK(fi_cq_read(sent, &entry, 1) == 1);
            sent_count++;
        } else if (ready[which] == &received) {
            CHECK(fi_cq_read(received, &entry, 1) == 1 && (entry.flags & FI_RECV));
            received_count++;
        } else {
            CHECK(ready[which] == &written);
            written_count = fi_cntr_read(written);
        }
    }
}

static void take_until(uint64_t sends, uint64_t receives)
{
    for (int round = 0; sent_count < sends || received_count < receives; round++)
        take_news(round);
    CHECK(sent_count == sends && received_count == receives);
}

/* A message each way, asleep in between. */
static void exchange(size_t length, int seed)
{
    uint64_t before = sent_count, got = received_count;
    fill(one, length, seed);
    DONE(fi_trecv(sleeper, other, length, NULL, sleepers[1 - me], seed, 0, &contexts[0]));
    if (me == 1)
        take_until(before, got + 1);
    DONE(fi_tsend(sleeper, one, length, NULL, sleepers[1 - me], seed, &contexts[1]));
    take_until(before + 1, got + 1);
    check(other, length, seed);
}

static void to_and_fro(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        exchange(8, round);
        exchange(LONG, round);
    }
}

/* Nothing is there, and each member says what its set is waited for by. */
static void nothing(void)
{
    struct fid *fids[] = {&set->fid, &sent->fid, &received->fid, &written->fid, &eq->fid};
    void *ready[MEMBERS];
    CHECK(fi_wait(set, 0) == -FI_ETIMEDOUT);
    CHECK(fi_poll(polled, ready, MEMBERS) == 0);
    CHECK(fi_trywait(fabric, fids, 5) == 0);
    for (int which = 0; which < 5; which++) {
        enum fi_wait_obj object = FI_WAIT_NONE;
        int descriptor = -1;
        CHECK(fi_control(fids[which], FI_GETWAITOBJ, &object) == 0 && object == kind);
        if (kind == FI_WAIT_FD)
            CHECK(descriptor_of(fids[which]) == descriptor_of(&set->fid));
        else
            CHECK(fi_control(fids[which], FI_GETWAIT, &descriptor) == -FI_ENOSYS);
    }
    if (kind == FI_WAIT_FD) {
        struct pollfd waiting = {.fd = descriptor_of(&set->fid), .events = POLLIN};
        CHECK(poll(&waiting, 1, 0) == 0);
    }
}

/* What is not read keeps its set from sleeping, whichever member is asked. */
static void unread(void)
{
    struct fi_cq_tagged_entry entry;
    struct fid *idle = &sent->fid, *whole = &set->fid;
    struct fid_poll *second;
    void *ready[MEMBERS];
    DONE(fi_trecv(sleeper, other, 1, NULL, sleepers[me], 5, 0, &contexts[0]));
    DONE(fi_tinject(sleeper, one, 1, sleepers[me], 5));
    for (int again = 0; again < 2; again++) {
        CHECK(fi_wait(set, -1) == 0);
        CHECK(fi_trywait(fabric, &whole, 1) == -FI_EAGAIN);
        CHECK(fi_trywait(fabric, &idle, 1) == -FI_EAGAIN);
        CHECK(fi_poll(polled, ready, MEMBERS) == 1 && ready[0] == &received);
    }
    CHECK(fi_cntr_add(written, 1) == 0);
    CHECK(fi_poll(polled, ready, 0) == 0);
    CHECK(fi_poll(polled, ready, -1) == -FI_EINVAL);
    CHECK(fi_poll(polled, ready, 1) == 1 && ready[0] == &received);
    CHECK(fi_cq_read(received, &entry, 1) == 1 && entry.op_context == &contexts[0]);
    /* A counter is told of once for each change, by each set, and then need not be read. */
    CHECK(fi_poll_open(domain, NULL, &second) == 0);
    CHECK(fi_poll_add(second, &written->fid, 0) == 0);
    CHECK(fi_wait(set, -1) == 0);
    CHECK(fi_poll(polled, ready, MEMBERS) == 1 && ready[0] == &written);
    CHECK(fi_poll(polled, ready, MEMBERS) == 0);
    CHECK(fi_poll(second, ready, MEMBERS) == 1 && ready[0] == &written);
    CHECK(fi_poll_del(second, &written->fid, 0) == 0);
    CHECK(fi_close(&second->fid) == 0);
    CHECK(fi_wait(set, 0) == -FI_ETIMEDOUT);
    CHECK(fi_cntr_adderr(written, 1) == 0);
    CHECK(fi_wait(set, -1) == 0);
    CHECK(fi_poll(polled, ready, MEMBERS) == 1 && ready[0] == &written);
    CHECK(fi_cntr_set(written, 0) == 0 && fi_cntr_seterr(written, 0) == 0);
    CHECK(fi_cntr_read(written) == 0);
    CHECK(fi_wait(set, 0) == -FI_ETIMEDOUT);
    CHECK(fi_poll(polled, ready, MEMBERS) == 1 && ready[0] == &written);
}

/* A completion with an error is one. */
static void failed(void)
{
    struct fi_cq_err_entry error = {0};
    void *ready[MEMBERS];
    DONE(fi_trecv(sleeper, other, 1, NULL, sleepers[me], 6, 0, &contexts[0]));
    CHECK(fi_cancel(&sleeper->fid, &contexts[0]) == 0);
    CHECK(fi_wait(set, -1) == 0);
    CHECK(fi_poll(polled, ready, MEMBERS) == 1 && ready[0] == &received);
    CHECK(fi_cq_readerr(received, &error, 0) == 1 && error.err == FI_ECANCELED);
    CHECK(fi_wait(set, 0) == -FI_ETIMEDOUT);
}

static void *signal_it(void *unused)
{
    CHECK(fi_cq_signal(received) == 0);
    return unused;
}

/* Who waits comes back with nothing when another thread says so. */
static void signaled(void)
{
    struct fid *whole = &set->fid;
    void *ready[MEMBERS];
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, signal_it, NULL) == 0);
        sleep_until_news(round);
        CHECK(pthread_join(thread, NULL) == 0);
        /* By poll(2) it has not been noticed yet, maybe. */
        int outcome = fi_wait(set, 0);
        CHECK(outcome == -FI_ETIMEDOUT || (round % 2 && outcome == 0));
        CHECK(fi_wait(set, 0) == -FI_ETIMEDOUT);
        CHECK(fi_trywait(fabric, &whole, 1) == 0);
        CHECK(fi_poll(polled, ready, MEMBERS) == 0);
    }
}

/* A counter of what others do to this rank's memory. */
static void written_to(void)
{
    if (me == 0) {
        fill(one, LONG, 3);
        DONE(fi_write(sleeper, one, LONG, NULL, sleepers[1], 0, 7, &contexts[0]));
        take_until(sent_count + 1, received_count);
    } else {
        for (int round = 0; written_count < 1; round++)
            take_news(round);
        check(other, LONG, 3);
    }
}

/* Nothing goes that is in a set, and no set with something in it. */
static void close_all(void)
{
    int descriptor = kind == FI_WAIT_FD ? descriptor_of(&set->fid) : -1;
    CHECK(fi_close(&region->fid) == 0);
    CHECK(fi_close(&sleeper->fid) == 0);
    CHECK(fi_close(&polled->fid) == -FI_EBUSY);
    CHECK(fi_close(&sent->fid) == -FI_EBUSY && fi_close(&written->fid) == -FI_EBUSY);
    CHECK(fi_poll_del(polled, &sent->fid, 0) == 0 && fi_poll_del(polled, &sent->fid, 0) == 0);
    CHECK(fi_poll_del(polled, &received->fid, 0) == 0);
    CHECK(fi_close(&polled->fid) == -FI_EBUSY);
    CHECK(fi_poll_del(polled, &written->fid, 0) == 0);
    CHECK(fi_close(&polled->fid) == 0);
    CHECK(fi_close(&sent->fid) == 0);
    CHECK(fi_close(&received->fid) == 0);
    CHECK(fi_close(&written->fid) == 0);
    CHECK(fi_close(&set->fid) == -FI_EBUSY);
    CHECK(fi_wait(set, -1) == -FI_EINVAL);
    CHECK(fi_close(&eq->fid) == 0);
    CHECK(fi_wait(set, -1) == -FI_EINVAL);
    CHECK(fi_close(&set->fid) == 0);
    if (kind == FI_WAIT_FD) {
        struct pollfd gone = {.fd = descriptor};
        CHECK(poll(&gone, 1, 0) == 1 && gone.revents == POLLNVAL);
    }
}

int main(void)
{
    enum fi_wait_obj kinds[] = {FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_YIELD};
    open_domain();
    refused();
    for (int which = 0; which < 3; which++) {
        kind = kinds[which];
        open_all();
        meet();
        nothing();
        to_and_fro();
        unread();
        failed();
        signaled();
        meet();
        written_to();
        meet();
        close_all();
    }
    CHECK(fi_close(&ep->fid) == 0);
    CHECK(fi_close(&av->fid) == 0);
    CHECK(fi_close(&cq->fid) == 0);
    CHECK(fi_close(&domain->fid) == 0);
    CHECK(fi_close(&fabric->fid) == 0);
    fi_freeinfo(info);
    printf("rank %d: was told of all that came\n", me);
    return 0;
}
