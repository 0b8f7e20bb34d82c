/* Memory of another rank over libfabric's own interface, on two ranks: rank 0 reads and writes, and rank 1 has the memory. */

#include "client.h"
#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

enum { LARGE = 8 << 20, WORDS = 64, MANY = 2000 };
enum { WHOLE = 7, READ_ONLY = 8, PIECES = 9, WRITE_ONLY = 10, NOTHING = 11, ATOMICS = 12, EVERYTHING = 13 };

static struct fid_cntr *reads, *writes, *remote_reads, *remote_writes, *region_writes;
static struct fid_mr *whole, *read_only, *pieces, *write_only, *atomics;
static char *memory, *second;
static uint64_t words[WORDS];

static void open_all(void)
{
    struct fi_info *hints =
        hints_for(FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RMA_EVENT | FI_SOURCE | FI_DIRECTED_RECV);
    uint8_t name[FI_NAME_MAX];

    hints->tx_attr->msg_order = FI_ORDER_SAS | FI_ORDER_RAW | FI_ORDER_WAW | FI_ORDER_ATOMIC_WAR;
    hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    CHECK(fi_getinfo(FI_VERSION(1, 5), NULL, NULL, 0, hints, &info) == 0);
    CHECK(info->domain_attr->mr_mode == 0);
    uint64_t caps = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    CHECK((info->caps & caps) == caps);
    CHECK(info->ep_attr->max_order_raw_size >= LARGE && info->tx_attr->rma_iov_limit == 1);
    /* A read may see what was written after it. */
    struct fi_info *none = NULL;
    hints->tx_attr->msg_order = FI_ORDER_WAR;
    CHECK(fi_getinfo(FI_VERSION(1, 5), NULL, NULL, 0, hints, &none) == -FI_ENODATA);
    fi_freeinfo(hints);

    open_objects(FI_AV_MAP, FI_WAIT_UNSPEC);
    reads = counter(FI_WAIT_UNSPEC);
    writes = counter(FI_WAIT_UNSPEC);
    remote_reads = counter(FI_WAIT_UNSPEC);
    remote_writes = counter(FI_WAIT_UNSPEC);
    region_writes = counter(FI_WAIT_UNSPEC);
    CHECK(fi_ep_bind(ep, &av->fid, 0) == 0);
    CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) == 0);
    CHECK(fi_ep_bind(ep, &reads->fid, FI_READ) == 0);
    CHECK(fi_ep_bind(ep, &writes->fid, FI_WRITE) == 0);
    CHECK(fi_ep_bind(ep, &remote_reads->fid, FI_REMOTE_READ) == 0);
    CHECK(fi_ep_bind(ep, &remote_writes->fid, FI_REMOTE_WRITE) == 0);
    CHECK(fi_enable(ep) == 0);
    introduce(name);
}

static struct fid_mr *expose(void *start, size_t length, uint64_t access, uint64_t key)
{
    struct fid_mr *region;
    CHECK(fi_mr_reg(domain, start, length, access, 0, key, 0, &region, NULL) == 0);
    CHECK(fi_mr_key(region) == key);
    return region;
}

static void expose_all(void)
{
    memory = calloc(1, LARGE);
    second = calloc(1, 100);
    whole = expose(memory, LARGE, FI_REMOTE_READ | FI_REMOTE_WRITE, WHOLE);
    CHECK(fi_mr_bind(whole, &region_writes->fid, FI_REMOTE_WRITE) == 0);
    read_only = expose(memory, 1000, FI_REMOTE_READ, READ_ONLY);
    atomics = expose(words, sizeof words, FI_REMOTE_READ | FI_REMOTE_WRITE, ATOMICS);
    struct iovec two[2] = {{second, 10}, {second + 50, 10}};
    struct fi_mr_attr attributes = {
        .mr_iov = two, .iov_count = 2, .access = FI_REMOTE_WRITE, .requested_key = PIECES};
    CHECK(fi_mr_regattr(domain, &attributes, 0, &pieces) == 0);
    CHECK(fi_mr_regv(domain, two, 1, FI_REMOTE_WRITE, 0, WRITE_ONLY, 0, &write_only, NULL) == 0);
    struct fid_mr *again;
    CHECK(fi_mr_reg(domain, memory, 10, FI_REMOTE_READ, 0, WHOLE, 0, &again, NULL) == -FI_ENOKEY);
    /* What nobody else may access needs no key of its own. */
    CHECK(fi_mr_reg(domain, memory, 10, FI_READ | FI_WRITE, 0, WHOLE, 0, &again, NULL) == 0);
    CHECK(fi_close(&again->fid) == 0);
}

static void close_all(void)
{
    struct fid *all[] = {&whole->fid,   &read_only->fid,    &pieces->fid,        &write_only->fid,
                         &atomics->fid, &ep->fid,           &av->fid,            &cq->fid,
                         &reads->fid,   &writes->fid,       &remote_reads->fid,  &remote_writes->fid,
                         &region_writes->fid, &domain->fid, &fabric->fid};
    /* What something is bound to stays. */
    CHECK(fi_close(&cq->fid) == -FI_EBUSY && fi_close(&remote_reads->fid) == -FI_EBUSY);
    CHECK(fi_close(&region_writes->fid) == -FI_EBUSY);
    for (size_t which = 0; which < sizeof all / sizeof *all; which++)
        CHECK(fi_close(all[which]) == 0);
    fi_freeinfo(info);
    free(memory);
    free(second);
}

static void lengths(void)
{
    static const size_t all[] = {0, 1, 8, 48, 256, 4096, 100000, 131072, LARGE - 3};
    char *bytes = malloc(LARGE);
    for (size_t which = 0; which < sizeof all / sizeof *all; which++) {
        size_t length = all[which];
        meet();
        if (me == 0) {
            fill(bytes, length, which);
            DONE(fi_write(ep, bytes, length, NULL, peers[1], 3, WHOLE, &contexts[0]));
            struct fi_cq_tagged_entry entry = next(&contexts[0], NULL);
            CHECK(entry.flags & FI_RMA && entry.flags & FI_WRITE);
            memset(bytes, 0, length);
            DONE(fi_read(ep, bytes, length, NULL, peers[1], 3, WHOLE, &contexts[1]));
            entry = next(&contexts[1], NULL);
            CHECK(entry.flags & FI_RMA && entry.flags & FI_READ);
            check(bytes, length, which);
            CHECK(fi_cntr_read(writes) == which + 1 && fi_cntr_read(reads) == which + 1);
        }
        meet();
        if (me == 1) {
            check(memory + 3, length, which);
            /* An empty access reads nothing. */
            CHECK(fi_cntr_read(remote_writes) == which + 1 && fi_cntr_read(remote_reads) == which);
            CHECK(fi_cntr_read(region_writes) == which + 1);
        }
    }
    meet();
    free(bytes);
}

/* A read follows the write before it, and a write the one before it, without waiting in between. */
static void order(void)
{
    char *out = malloc(200000), *in = malloc(200000);
    if (me == 0) {
        for (int round = 0; round < 20; round++) {
            fill(out, 200000, round);
            DONE(fi_write(ep, out, 200000, NULL, peers[1], 0, WHOLE, &contexts[0]));
            DONE(fi_write(ep, "xyz", 3, NULL, peers[1], 50000, WHOLE, &contexts[1]));
            DONE(fi_read(ep, in, 200000, NULL, peers[1], 0, WHOLE, &contexts[2]));
            for (int ended = 0; ended < 3;) {
                struct fi_cq_tagged_entry entry;
                ended += fi_cq_read(cq, &entry, 1) == 1;
            }
            memcpy(out + 50000, "xyz", 3);
            CHECK(memcmp(in, out, 200000) == 0);
        }
    }
    free(out);
    free(in);
    meet();
}

static void told(void)
{
    if (me == 0) {
        struct iovec two[2] = {{"abc", 3}, {"defg", 4}};
        DONE(fi_writedata(ep, "12345", 5, NULL, 77, peers[1], 10, WHOLE, &contexts[0]));
        next(&contexts[0], NULL);
        DONE(fi_inject_writedata(ep, "678", 3, 78, peers[1], 15, WHOLE));
        struct fi_rma_iov there = {.addr = 7, .len = 7, .key = PIECES};
        struct fi_msg_rma message = {.msg_iov = two, .iov_count = 2, .addr = peers[1], .rma_iov = &there,
                                     .rma_iov_count = 1, .context = &contexts[1], .data = 79};
        DONE(fi_writemsg(ep, &message, FI_REMOTE_CQ_DATA | FI_COMPLETION | FI_DELIVERY_COMPLETE));
        next(&contexts[1], NULL);
        there.len = 6;
        CHECK(fi_writemsg(ep, &message, 0) == -FI_EINVAL);
    } else {
        for (uint64_t data = 77; data < 80; data++) {
            fi_addr_t source;
            struct fi_cq_tagged_entry entry = next(NULL, &source);
            CHECK(entry.data == data && source == peers[0]);
            CHECK(entry.len == (data == 77 ? 5 : data == 78 ? 3 : 7));
            CHECK(entry.flags == (FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA));
        }
        CHECK(memcmp(memory + 10, "12345678", 8) == 0);
        CHECK(memcmp(second + 7, "abc", 4) == 0 && memcmp(second + 50, "defg", 5) == 0);
    }
    meet();
}

/* One access that is refused, and why. */
static void refused(ssize_t outcome, int number)
{
    CHECK(outcome == 0);
    next_error(&contexts[0], number);
}

static void hostile(void)
{
    char *bytes = calloc(1, 100000);
    uint64_t word = 1, before;
    if (me == 1) {
        memset(memory, 5, LARGE);
        memset(second, 5, 100);
    }
    meet();
    if (me == 0) {
        uint64_t failures = fi_cntr_readerr(writes);
        void *context = &contexts[0];
        fi_addr_t to = peers[1];
        refused(fi_write(ep, bytes, 8, NULL, to, 0, NOTHING, context), FI_ENOKEY);
        refused(fi_read(ep, bytes, 8, NULL, to, 0, NOTHING, context), FI_ENOKEY);
        refused(fi_write(ep, bytes, 8, NULL, to, 0, READ_ONLY, context), FI_EACCES);
        refused(fi_read(ep, bytes, 8, NULL, to, 0, WRITE_ONLY, context), FI_EACCES);
        refused(fi_write(ep, bytes, 8, NULL, to, LARGE - 7, WHOLE, context), FI_EFAULT);
        refused(fi_write(ep, bytes, 100000, NULL, to, LARGE - 99999, WHOLE, context), FI_EFAULT);
        refused(fi_write(ep, bytes, 21, NULL, to, 0, PIECES, context), FI_EFAULT);
        refused(fi_read(ep, bytes, 1001, NULL, to, 0, READ_ONLY, context), FI_EFAULT);
        refused(fi_write(ep, bytes, 8, NULL, to, UINT64_MAX, WHOLE, context), FI_EFAULT);
        refused(fi_write(ep, bytes, 8, NULL, to, UINT64_MAX - 8, WHOLE, context), FI_EFAULT);
        refused(fi_read(ep, bytes, 8, NULL, to, (uint64_t)1 << 63, WHOLE, context), FI_EFAULT);
        refused(fi_atomic(ep, &word, 1, NULL, to, 0, READ_ONLY, FI_UINT64, FI_SUM, context), FI_EACCES);
        refused(fi_fetch_atomic(ep, &word, 1, NULL, &before, NULL, to, 0, WRITE_ONLY, FI_UINT64, FI_SUM,
                                context),
                FI_EACCES);
        refused(fi_atomic(ep, &word, 1, NULL, to, LARGE - 7, WHOLE, FI_UINT64, FI_SUM, context), FI_EFAULT);
        CHECK(fi_cntr_readerr(writes) == failures + 9);
        /* An injected one tells only of its failure. */
        CHECK(fi_inject_write(ep, bytes, 8, to, 0, NOTHING) == 0);
        next_error(NULL, FI_ENOKEY);
        CHECK(fi_inject_write(ep, bytes, 100000, to, 0, WHOLE) == -FI_EMSGSIZE);
    }
    meet();
    if (me == 1) {
        for (int place = 0; place < LARGE; place++)
            CHECK(memory[place] == 5);
        for (int place = 0; place < 100; place++)
            CHECK(second[place] == 5);
        CHECK(fi_close(&read_only->fid) == 0);
    }
    meet();
    if (me == 0)
        refused(fi_read(ep, bytes, 8, NULL, peers[1], 0, READ_ONLY, &contexts[0]), FI_ENOKEY);
    meet();
    if (me == 1)
        read_only = expose(memory, 1000, FI_REMOTE_READ, READ_ONLY);
    free(bytes);
}

/* Both count in the words of both. */
static void counting(void)
{
    uint64_t one = 1, drawn[MANY], sum = 0;
    memset(words, 0, sizeof words);
    meet();
    for (int number = 0; number < MANY; number++) {
        DONE(fi_fetch_atomic(ep, &one, 1, NULL, &drawn[number], NULL, peers[1], 8, ATOMICS, FI_UINT64,
                             FI_SUM, &contexts[0]));
        struct fi_cq_tagged_entry entry = next(&contexts[0], NULL);
        CHECK(entry.flags & FI_ATOMIC && entry.flags & FI_READ);
        CHECK(number == 0 || drawn[number] > drawn[number - 1]);
        sum += drawn[number];
        DONE(fi_inject_atomic(ep, &one, 1, peers[0], 16, ATOMICS, FI_UINT64, FI_SUM));
    }
    DONE(fi_atomic(ep, &sum, 1, NULL, peers[0], 24, ATOMICS, FI_UINT64, FI_SUM, &contexts[1]));
    next(&contexts[1], NULL);
    meet();
    if (me == 1)
        CHECK(words[1] == 2 * MANY && words[2] == 0);
    else
        CHECK(words[1] == 0 && words[2] == 2 * MANY && words[3] == (uint64_t)MANY * (2 * MANY - 1));
    meet();
}

static void operations(void)
{
    size_t count;
    CHECK(fi_atomicvalid(ep, FI_INT8, FI_SUM, &count) == 0 && count >= 512);
    CHECK(fi_fetch_atomicvalid(ep, FI_DOUBLE, FI_ATOMIC_READ, &count) == 0 && count >= 64);
    CHECK(fi_compare_atomicvalid(ep, FI_UINT64, FI_MSWAP, &count) == 0 && count >= 32);
    CHECK(fi_atomicvalid(ep, FI_DOUBLE, FI_BXOR, &count) == -FI_EOPNOTSUPP);
    CHECK(fi_atomicvalid(ep, FI_INT32, FI_CSWAP, &count) == -FI_EOPNOTSUPP);
    CHECK(fi_atomicvalid(ep, FI_LONG_DOUBLE, FI_SUM, &count) == -FI_EOPNOTSUPP);
    struct fi_atomic_attr attributes;
    CHECK(fi_query_atomic(domain, FI_FLOAT, FI_MAX, &attributes, FI_FETCH_ATOMIC) == 0);
    CHECK(attributes.size == 4 && attributes.count >= 128);

    memset(words, 0, sizeof words);
    meet();
    if (me == 0) {
        double values[3] = {1.5, -2, 0.25}, before[3], now[3];
        uint32_t free_ = 0, mine = 42, other = 43, seen;
        fi_addr_t to = peers[1];
        DONE(fi_atomic(ep, values, 3, NULL, to, 0, ATOMICS, FI_DOUBLE, FI_ATOMIC_WRITE, &contexts[0]));
        next(&contexts[0], NULL);
        struct fi_ioc two[2] = {{values + 1, 1}, {values, 2}}, results[2] = {{before, 2}, {before + 2, 1}};
        DONE(fi_fetch_atomicv(ep, two, NULL, 2, results, NULL, 2, to, 0, ATOMICS, FI_DOUBLE, FI_SUM,
                              &contexts[0]));
        next(&contexts[0], NULL);
        CHECK(before[0] == 1.5 && before[1] == -2 && before[2] == 0.25);
        DONE(fi_fetch_atomic(ep, NULL, 3, NULL, now, NULL, to, 0, ATOMICS, FI_DOUBLE, FI_ATOMIC_READ,
                             &contexts[0]));
        next(&contexts[0], NULL);
        CHECK(now[0] == -0.5 && now[1] == -0.5 && now[2] == -1.75);
        DONE(fi_compare_atomic(ep, &mine, 1, NULL, &free_, NULL, &seen, NULL, to, 100, ATOMICS, FI_UINT32,
                               FI_CSWAP, &contexts[0]));
        next(&contexts[0], NULL);
        CHECK(seen == 0);
        DONE(fi_compare_atomic(ep, &other, 1, NULL, &free_, NULL, &seen, NULL, to, 100, ATOMICS, FI_UINT32,
                               FI_CSWAP, &contexts[0]));
        next(&contexts[0], NULL);
        CHECK(seen == 42);
        CHECK(fi_atomic(ep, values, 0, NULL, to, 0, ATOMICS, FI_DOUBLE, FI_SUM, NULL) == -FI_EINVAL);
        CHECK(fi_atomic(ep, values, 1 << 20, NULL, to, 0, ATOMICS, FI_DOUBLE, FI_SUM, NULL) == -FI_EINVAL);
    }
    meet();
    if (me == 1) {
        uint32_t now;
        memcpy(&now, (char *)words + 100, sizeof now);
        CHECK(now == 42);
    }
    meet();
}

/* More than may be under way at once, and nobody reads completions meanwhile. */
static void flood(void)
{
    if (me == 0) {
        uint64_t before = fi_cntr_read(writes);
        for (uint32_t number = 0; number < MANY; number++) {
            ssize_t outcome;
            while ((outcome = fi_inject_write(ep, &number, 4, peers[1], 4 * number, WHOLE)) == -FI_EAGAIN)
                ;
            CHECK(outcome == 0);
        }
        CHECK(fi_cntr_wait(writes, before + MANY, -1) == 0);
    }
    meet();
    if (me == 1)
        for (uint32_t number = 0; number < MANY; number++)
            CHECK(memcmp(memory + 4 * number, &number, 4) == 0);
    meet();
}

/* Who computes has its memory written and read all the same. */
static void computing(void)
{
    volatile uint64_t *flag = &words[9];
    words[9] = words[10] = 0;
    meet();
    if (me == 0) {
        uint64_t one = 1, answer = 0;
        DONE(fi_write(ep, &one, 8, NULL, peers[1], 72, ATOMICS, &contexts[0]));
        next(&contexts[0], NULL);
        while (answer == 0) {
            DONE(fi_read(ep, &answer, 8, NULL, peers[1], 80, ATOMICS, &contexts[1]));
            next(&contexts[1], NULL);
        }
    } else {
        while (*flag == 0)
            ;
        *(volatile uint64_t *)&words[10] = 1;
    }
    meet();
}

static void to_oneself(void)
{
    uint64_t value = 5, before = 0;
    memset(words, 0, sizeof words);
    DONE(fi_write(ep, &value, 8, NULL, peers[me], 8, ATOMICS, &contexts[0]));
    next(&contexts[0], NULL);
    DONE(fi_fetch_atomic(ep, &value, 1, NULL, &before, NULL, peers[me], 8, ATOMICS, FI_UINT64, FI_SUM,
                         &contexts[0]));
    next(&contexts[0], NULL);
    CHECK(before == 5 && words[1] == 10);
    DONE(fi_read(ep, &before, 8, NULL, peers[me], 8, ATOMICS, &contexts[0]));
    next(&contexts[0], NULL);
    CHECK(before == 10);
    DONE(fi_write(ep, &value, 8, NULL, peers[me], sizeof words, ATOMICS, &contexts[0]));
    next_error(&contexts[0], FI_EFAULT);
    meet();
}

/* Clients that name memory by addresses, with keys of the provider's. */
static void addresses(void)
{
    struct fi_info *hints = fi_allocinfo(), *basic;
    struct fid_domain *other;
    struct fid_mr *region;
    uint64_t mine[2], theirs[2];
    hints->fabric_attr->prov_name = strdup("weft");
    hints->caps = FI_RMA;
    hints->domain_attr->mr_mode = FI_MR_BASIC;
    CHECK(fi_getinfo(FI_VERSION(1, 4), NULL, NULL, 0, hints, &basic) == 0);
    CHECK(basic->domain_attr->mr_mode == FI_MR_BASIC);
    CHECK(fi_domain(fabric, basic, &other, NULL) == 0);
    memset(second, 0, 100);
    CHECK(fi_mr_reg(other, second, 100, FI_REMOTE_WRITE, 0, WHOLE, 0, &region, NULL) == 0);
    mine[0] = (uintptr_t)second;
    mine[1] = fi_mr_key(region);
    DONE(fi_trecv(ep, theirs, sizeof theirs, NULL, peers[1 - me], 5, 0, &contexts[0]));
    DONE(fi_tinject(ep, mine, sizeof mine, peers[1 - me], 5));
    next(&contexts[0], NULL);
    DONE(fi_write(ep, "basic", 5, NULL, peers[1 - me], theirs[0] + 10, theirs[1], &contexts[1]));
    next(&contexts[1], NULL);
    DONE(fi_write(ep, "basic", 5, NULL, peers[1 - me], theirs[0] - 1, theirs[1], &contexts[1]));
    next_error(&contexts[1], FI_EFAULT);
    meet();
    CHECK(memcmp(second + 10, "basic", 6) == 0);
    CHECK(fi_close(&region->fid) == 0);
    CHECK(fi_close(&other->fid) == 0);
    fi_freeinfo(hints);
    fi_freeinfo(basic);
}

/* The whole address space as one region, of which little is there. Offsets are addresses. */
static void everything(void)
{
    struct fid_mr *region;
    uint64_t mine[2] = {(uintptr_t)memory, (uintptr_t)words}, theirs[2], one = 1, before;
    fi_addr_t to = peers[1 - me];
    char *bytes = malloc(LARGE), *in = malloc(LARGE);
    CHECK(fi_mr_reg(domain, memory, SIZE_MAX, FI_REMOTE_WRITE, 0, EVERYTHING, 0, &region, NULL) == -FI_EINVAL);
    region = expose(NULL, SIZE_MAX, FI_REMOTE_READ | FI_REMOTE_WRITE, EVERYTHING);
    memset(words, 0, sizeof words);
    DONE(fi_trecv(ep, theirs, sizeof theirs, NULL, to, 5, 0, &contexts[0]));
    DONE(fi_tinject(ep, mine, sizeof mine, to, 5));
    next(&contexts[0], NULL);
    for (size_t length = 8; length <= LARGE; length *= 32) {
        fill(bytes, length, (int)length + me);
        DONE(fi_write(ep, bytes, length, NULL, to, theirs[0], EVERYTHING, &contexts[0]));
        next(&contexts[0], NULL);
        DONE(fi_read(ep, in, length, NULL, to, theirs[0], EVERYTHING, &contexts[0]));
        next(&contexts[0], NULL);
        check(in, length, (int)length + me);
        meet();
        check(memory, length, (int)length + 1 - me);
        meet();
    }
    DONE(fi_fetch_atomic(ep, &one, 1, NULL, &before, NULL, to, theirs[1] + 8, EVERYTHING, FI_UINT64, FI_SUM,
                         &contexts[0]));
    next(&contexts[0], NULL);
    CHECK(before == 0);
    refused(fi_write(ep, bytes, 8, NULL, to, UINT64_MAX - 3, EVERYTHING, &contexts[0]), FI_EFAULT);
    meet();
    CHECK(words[1] == 1);
    CHECK(fi_close(&region->fid) == 0);
    free(bytes);
    free(in);
}

int main(void)
{
    open_all();
    expose_all();
    meet();
    lengths();
    order();
    told();
    hostile();
    counting();
    operations();
    flood();
    computing();
    to_oneself();
    addresses();
    everything();
    close_all();
    printf("rank %d: all memory is as it should be\n", me);
    return 0;
}
