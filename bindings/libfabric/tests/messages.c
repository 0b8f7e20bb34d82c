/* Messages over libfabric's own interface, on two ranks. */

#include "client.h"

enum { LARGE = 8 << 20, FLOOD = 100000 };

static struct fid_cntr *sent, *received;

static void open_all(enum fi_av_type type)
{
    uint64_t caps = FI_TAGGED | FI_MSG | FI_DIRECTED_RECV | FI_MULTI_RECV | FI_SOURCE;
    struct fi_info *hints = hints_for(caps), *any = NULL;
    uint8_t name[FI_NAME_MAX];

    /* Without hints it is among what there is. */
    CHECK(fi_getinfo(FI_VERSION(1, 5), NULL, NULL, 0, NULL, &any) == 0);
    int there = 0;
    for (struct fi_info *one = any; one; one = one->next)
        there += strcmp(one->fabric_attr->prov_name, "weft") == 0;
    CHECK(there == 1);
    fi_freeinfo(any);

    hints->ep_attr->type = FI_EP_DGRAM;
    CHECK(fi_getinfo(FI_VERSION(1, 5), NULL, NULL, 0, hints, &info) == -FI_ENODATA);
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->av_type = type;
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->tx_attr->op_flags = FI_COMPLETION;
    hints->rx_attr->op_flags = FI_COMPLETION;
    CHECK(fi_getinfo(FI_VERSION(1, 5), NULL, NULL, 0, hints, &info) == 0);
    CHECK(info->next == NULL);
    CHECK(info->tx_attr->inject_size >= 64);
    fi_freeinfo(hints);

    open_objects(type, FI_WAIT_UNSPEC);
    sent = counter(FI_WAIT_UNSPEC);
    received = counter(FI_WAIT_UNSPEC);
    CHECK(fi_enable(ep) == -FI_ENOAV);
    CHECK(fi_ep_bind(ep, &av->fid, 0) == 0);
    CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION) == 0);
    CHECK(fi_ep_bind(ep, &sent->fid, FI_SEND) == 0);
    CHECK(fi_ep_bind(ep, &received->fid, FI_RECV) == 0);
    CHECK(fi_enable(ep) == 0);

    introduce(name);
    name[6] = 2;
    CHECK(fi_av_insert(av, name, 1, &(fi_addr_t){0}, 0, NULL) == 0);
    uint8_t again[FI_NAME_MAX];
    size_t length = sizeof again;
    CHECK(fi_av_lookup(av, peers[0], again, &length) == 0);
    CHECK(length == 16 && again[6] == 0);
}

static void close_all(void)
{
    CHECK(fi_close(&ep->fid) == 0);
    CHECK(fi_close(&av->fid) == 0);
    CHECK(fi_close(&cq->fid) == 0);
    CHECK(fi_close(&sent->fid) == 0);
    CHECK(fi_close(&received->fid) == 0);
    CHECK(fi_close(&domain->fid) == 0);
    CHECK(fi_close(&fabric->fid) == 0);
    fi_freeinfo(info);
}

static void nothing(void)
{
    struct fi_cq_tagged_entry entry;
    CHECK(fi_cq_read(cq, &entry, 1) == -FI_EAGAIN);
}

static void lengths(void)
{
    static const size_t all[] = {0, 1, 8, 48, 256, 257, 4096, 16384, 100000, 163840, 163841, LARGE};
    char *bytes = malloc(LARGE);
    for (size_t which = 0; which < sizeof all / sizeof *all; which++) {
        for (int posted = 0; posted < 2; posted++) {
            size_t length = all[which];
            if (me == 0) {
                meet();
                fill(bytes, length, 1);
                DONE(fi_tsenddata(ep, bytes, length, NULL, 77, peers[1], which, &contexts[0]));
                struct fi_cq_tagged_entry entry = next(&contexts[0], NULL);
                CHECK(entry.flags & FI_SEND && entry.flags & FI_TAGGED);
            } else {
                memset(bytes, 0, length);
                if (!posted)
                    meet();
                DONE(fi_trecv(ep, bytes, length, NULL, FI_ADDR_UNSPEC, which, 0, &contexts[1]));
                if (posted)
                    meet();
                fi_addr_t source;
                struct fi_cq_tagged_entry entry = next(&contexts[1], &source);
                CHECK(entry.len == length && entry.tag == which && entry.data == 77);
                CHECK(entry.flags & FI_RECV && entry.flags & FI_REMOTE_CQ_DATA);
                CHECK(source == peers[0]);
                check(bytes, length, 1);
            }
        }
    }
    free(bytes);
}

static void matching(void)
{
    char bytes[4][8];
    if (me == 0) {
        /* Once all is posted; a message with a tag would be received. */
        DONE(fi_recv(ep, NULL, 0, NULL, peers[1], &contexts[0]));
        next(&contexts[0], NULL);
        for (uint64_t tag = 10; tag < 14; tag++) {
            memset(bytes[0], (int)tag, 8);
            DONE(fi_tinject(ep, bytes[0], 8, peers[1], tag));
        }
        nothing();
        meet();
        return;
    }
    /* Another source, another tag, any tag in a range, any at all. */
    DONE(fi_trecv(ep, bytes[0], 8, NULL, peers[1], 10, 3, &contexts[0]));
    DONE(fi_trecv(ep, bytes[1], 8, NULL, peers[0], 13, 0, &contexts[1]));
    DONE(fi_trecv(ep, bytes[2], 8, NULL, peers[0], 8, 7, &contexts[2]));
    DONE(fi_trecv(ep, bytes[3], 8, NULL, FI_ADDR_UNSPEC, 0, ~0ull, &contexts[3]));
    DONE(fi_inject(ep, bytes[0], 0, peers[0]));
    CHECK(next(&contexts[2], NULL).tag == 10);
    CHECK(next(&contexts[3], NULL).tag == 11);
    CHECK(next(&contexts[1], NULL).tag == 13);
    CHECK(bytes[1][7] == 13 && bytes[2][0] == 10 && bytes[3][0] == 11);
    nothing();
    CHECK(fi_cancel(&ep->fid, &contexts[0]) == 0);
    next_error(&contexts[0], FI_ECANCELED);
    CHECK(fi_cancel(&ep->fid, &contexts[0]) == -FI_ENOENT);
    DONE(fi_trecv(ep, bytes[0], 8, NULL, peers[0], 12, 0, &contexts[0]));
    CHECK(next(&contexts[0], NULL).tag == 12);
    meet();
}

static void truncation(void)
{
    static char bytes[100000];
    for (int large = 0; large < 2; large++) {
        size_t length = large ? sizeof bytes : 100;
        if (me == 0) {
            fill(bytes, length, 3);
            DONE(fi_tsend(ep, bytes, length, NULL, peers[1], 1, &contexts[0]));
            next(&contexts[0], NULL);
        } else {
            memset(bytes, 0, sizeof bytes);
            DONE(fi_trecv(ep, bytes, length / 2, NULL, peers[0], 1, 0, &contexts[1]));
            struct fi_cq_err_entry error = next_error(&contexts[1], FI_ETRUNC);
            CHECK(error.len == length / 2 && error.olen == length - length / 2);
            check(bytes, length / 2, 3);
            CHECK(bytes[length / 2] == 0);
        }
    }
    meet();
}

static void peeking(void)
{
    static char bytes[50000];
    struct fi_msg_tagged message = {.addr = peers[0], .tag = 5, .context = &contexts[0]};
    struct iovec all = {.iov_base = bytes, .iov_len = sizeof bytes};
    for (int large = 0; large < 2; large++) {
        size_t length = large ? sizeof bytes : 100;
        if (me == 0) {
            meet();
            fill(bytes, length, 4);
            for (int times = 0; times < 3; times++)
                DONE(fi_tsend(ep, bytes, length, NULL, peers[1], 5, &contexts[times]));
            for (int times = 0; times < 3; times++) {
                struct fi_cq_tagged_entry entry;
                while (fi_cq_read(cq, &entry, 1) == -FI_EAGAIN)
                    ;
            }
            meet();
            continue;
        }
        DONE(fi_trecvmsg(ep, &message, FI_PEEK | FI_COMPLETION));
        next_error(&contexts[0], FI_ENOMSG);
        meet();
        message.msg_iov = NULL;
        message.iov_count = 0;
        for (;;) {
            struct fi_cq_tagged_entry entry;
            struct fi_cq_err_entry error;
            DONE(fi_trecvmsg(ep, &message, FI_PEEK | FI_COMPLETION));
            ssize_t count = fi_cq_read(cq, &entry, 1);
            if (count == 1) {
                CHECK(entry.len == length && entry.tag == 5);
                break;
            }
            CHECK(count == -FI_EAVAIL && fi_cq_readerr(cq, &error, 0) == 1);
        }
        DONE(fi_trecvmsg(ep, &message, FI_PEEK | FI_CLAIM | FI_COMPLETION));
        CHECK(next(&contexts[0], NULL).len == length);
        /* The second is dropped, the third received, and the first was put by. */
        message.context = &contexts[1];
        for (;;) {
            struct fi_cq_tagged_entry entry;
            struct fi_cq_err_entry error;
            DONE(fi_trecvmsg(ep, &message, FI_PEEK | FI_DISCARD | FI_COMPLETION));
            ssize_t count = fi_cq_read(cq, &entry, 1);
            if (count == 1)
                break;
            CHECK(count == -FI_EAVAIL && fi_cq_readerr(cq, &error, 0) == 1);
        }
        DONE(fi_trecv(ep, bytes, sizeof bytes, NULL, peers[0], 5, 0, &contexts[2]));
        CHECK(next(&contexts[2], NULL).len == length);
        check(bytes, length, 4);
        memset(bytes, 0, sizeof bytes);
        message.context = &contexts[0];
        message.msg_iov = &all;
        message.iov_count = 1;
        DONE(fi_trecvmsg(ep, &message, FI_CLAIM | FI_COMPLETION));
        CHECK(next(&contexts[0], NULL).len == length);
        check(bytes, length, 4);
        CHECK(fi_trecvmsg(ep, &message, FI_CLAIM | FI_COMPLETION) == -FI_EINVAL);
        meet();
    }
}

static void vectors(void)
{
    char bytes[90];
    struct iovec pieces[3] = {{bytes, 10}, {bytes + 30, 20}, {bytes + 60, 30}};
    if (me == 0) {
        fill(bytes, sizeof bytes, 6);
        DONE(fi_tsendv(ep, pieces, NULL, 3, peers[1], 3, &contexts[0]));
        next(&contexts[0], NULL);
        DONE(fi_sendv(ep, pieces, NULL, 3, peers[1], &contexts[0]));
        next(&contexts[0], NULL);
    } else {
        for (int tagged = 1; tagged >= 0; tagged--) {
            memset(bytes, 0, sizeof bytes);
            if (tagged)
                DONE(fi_trecvv(ep, pieces, NULL, 3, peers[0], 3, 0, &contexts[0]));
            else
                DONE(fi_recvv(ep, pieces, NULL, 3, peers[0], &contexts[0]));
            CHECK(next(&contexts[0], NULL).len == 60);
            for (int place = 0; place < 10; place++)
                CHECK(bytes[place] == (char)(place * 31 + 6));
            for (int place = 30; place < 50; place++)
                CHECK(bytes[place] == (char)(place * 31 + 6));
            CHECK(bytes[10] == 0 && bytes[89] == (char)(89 * 31 + 6));
        }
    }
    meet();
}

/* Long ones, in both directions at once: whole, of two pieces, into two pieces, and into less than there is. */
static void both_ways(void)
{
    enum { LONG = 1 << 20, AT_ONCE = 4 };
    char *out = malloc(LONG), *in = calloc(AT_ONCE, LONG);
    int other = 1 - me;
    for (int round = 0; round < 4; round++) {
        fill(out, LONG, me + round);
        size_t lengths[AT_ONCE] = {LONG, LONG - 1, LONG, LONG / 2};
        struct iovec from[2] = {{out, 1000}, {out + 1000, LONG - 1000}};
        struct iovec into[2] = {{in + 2 * LONG, 70000}, {in + 2 * LONG + 70000, LONG - 70000}};
        memset(in, 0, (size_t)AT_ONCE * LONG);
        if (round % 2)
            meet();
        for (int which = 0; which < AT_ONCE; which++) {
            struct fi_context *context = &contexts[which];
            char *place = in + (size_t)which * LONG;
            if (which == 2)
                DONE(fi_trecvv(ep, into, NULL, 2, peers[other], which, 0, context));
            else
                DONE(fi_trecv(ep, place, lengths[which], NULL, peers[other], which, 0, context));
        }
        for (int which = 0; which < AT_ONCE; which++) {
            size_t length = which == 1 ? LONG - 1 : LONG;
            if (which == 0)
                DONE(fi_tsendv(ep, from, NULL, 2, peers[other], which, NULL));
            else
                DONE(fi_tsend(ep, out, length, NULL, peers[other], which, NULL));
        }
        int ended = 0, cut = 0;
        while (ended < 2 * AT_ONCE) {
            struct fi_cq_tagged_entry entry;
            ssize_t outcome = fi_cq_read(cq, &entry, 1);
            if (outcome == -FI_EAVAIL) {
                struct fi_cq_err_entry error = {0};
                CHECK(fi_cq_readerr(cq, &error, 0) == 1);
                CHECK(error.err == FI_ETRUNC && error.op_context == &contexts[3]);
                CHECK(error.len == LONG / 2 && error.olen == LONG / 2);
                cut++;
            } else if (outcome == -FI_EAGAIN) {
                continue;
            } else {
                CHECK(outcome == 1);
            }
            ended++;
        }
        CHECK(cut == 1);
        for (int which = 0; which < AT_ONCE; which++)
            check(in + (size_t)which * LONG, lengths[which], other + round);
        CHECK(in[3 * LONG + LONG / 2] == 0 && in[2 * LONG - 1] == 0);
    }
    meet();
    free(out);
    free(in);
}

/* Those that say so complete silently, and all are counted. */
static void silence(void)
{
    char bytes[8] = {0};
    uint64_t before_sent = fi_cntr_read(sent), before_received = fi_cntr_read(received);
    struct iovec piece = {bytes, sizeof bytes};
    struct fi_msg_tagged message = {.msg_iov = &piece, .iov_count = 1, .tag = 4};
    if (me == 0) {
        message.addr = peers[1];
        DONE(fi_tsendmsg(ep, &message, 0));
        DONE(fi_tinjectdata(ep, bytes, 8, 9, peers[1], 4));
        nothing();
        CHECK(fi_cntr_wait(sent, before_sent + 2, -1) == 0);
    } else {
        message.addr = peers[0];
        DONE(fi_trecvmsg(ep, &message, 0));
        DONE(fi_trecvmsg(ep, &message, 0));
        CHECK(fi_cntr_wait(received, before_received + 2, 10000) == 0);
        nothing();
    }
    CHECK(fi_tinject(ep, bytes, info->tx_attr->inject_size + 1, peers[0], 1) == -FI_EMSGSIZE);
    meet();
}

static void several_in_one(void)
{
    static char bytes[1000];
    struct iovec piece = {bytes, sizeof bytes};
    struct fi_msg message = {.msg_iov = &piece, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
                             .context = &contexts[0]};
    size_t least = 100;
    if (me == 0) {
        meet();
        for (int times = 0; times < 4; times++) {
            char part[250];
            fill(part, sizeof part, times);
            DONE(fi_inject(ep, part, sizeof part, peers[1]));
        }
        return meet();
    }
    CHECK(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least) == 0);
    DONE(fi_recvmsg(ep, &message, FI_MULTI_RECV | FI_COMPLETION));
    meet();
    for (int times = 0; times < 4; times++) {
        struct fi_cq_tagged_entry entry = next(&contexts[0], NULL);
        CHECK(entry.len == 250 && entry.buf == bytes + 250 * times);
        CHECK(!!(entry.flags & FI_MULTI_RECV) == (times == 3));
        check(entry.buf, 250, times);
    }
    meet();
}

static void delivery(void)
{
    char bytes[8] = {0};
    struct iovec piece = {bytes, sizeof bytes};
    struct fi_msg_tagged message = {.msg_iov = &piece, .iov_count = 1, .tag = 8,
                                    .context = &contexts[0]};
    if (me == 0) {
        message.addr = peers[1];
        DONE(fi_tsendmsg(ep, &message, FI_DELIVERY_COMPLETE | FI_COMPLETION));
        nothing();
        DONE(fi_tinject(ep, bytes, 0, peers[1], 9));
        next(&contexts[0], NULL);
    } else {
        /* The message before is there when this one is. */
        DONE(fi_trecv(ep, NULL, 0, NULL, peers[0], 9, 0, &contexts[0]));
        next(&contexts[0], NULL);
        DONE(fi_trecv(ep, bytes, 8, NULL, peers[0], 8, 0, &contexts[0]));
        next(&contexts[0], NULL);
    }
    meet();
}

static void to_oneself(void)
{
    char out[300], in[300];
    fill(out, sizeof out, me);
    DONE(fi_tsend(ep, out, sizeof out, NULL, peers[me], 2, &contexts[0]));
    next(&contexts[0], NULL);
    DONE(fi_trecv(ep, in, sizeof in, NULL, peers[me], 2, 0, &contexts[1]));
    CHECK(next(&contexts[1], NULL).len == sizeof in);
    check(in, sizeof in, me);
}

/* Nobody receives until all have been sent. */
static void flood(void)
{
    uint32_t word;
    if (me == 0) {
        for (word = 0; word < FLOOD; word++)
            DONE(fi_tinject(ep, &word, sizeof word, peers[1], word % 3));
        meet();
    } else {
        meet();
        for (uint32_t tag = 3; tag-- > 0;) {
            for (uint32_t expected = tag; expected < FLOOD; expected += 3) {
                DONE(fi_trecv(ep, &word, sizeof word, NULL, peers[0], tag, 0, &contexts[0]));
                next(&contexts[0], NULL);
                CHECK(word == expected);
            }
        }
    }
    meet();
}

/* What is sent to one endpoint is not received at another. */
static void two_endpoints(void)
{
    struct fid_ep *second;
    uint8_t name[FI_NAME_MAX];
    size_t length = sizeof name;
    fi_addr_t there;
    char byte = 5, one = 0, two = 0;
    CHECK(fi_endpoint(domain, info, &second, NULL) == 0);
    CHECK(fi_ep_bind(second, &av->fid, 0) == 0);
    CHECK(fi_ep_bind(second, &cq->fid, FI_TRANSMIT | FI_RECV) == 0);
    CHECK(fi_enable(second) == 0);
    CHECK(fi_getname(&second->fid, name, &length) == 0);
    CHECK(name[5] == 1 && name[6] == me);
    name[6] = 1 - me;
    CHECK(fi_av_insert(av, name, 1, &there, 0, NULL) == 1);
    if (me == 0) {
        DONE(fi_tinject(ep, &byte, 1, there, 1));
        byte = 6;
        DONE(fi_tinject(second, &byte, 1, peers[1], 1));
    } else {
        fi_addr_t source;
        DONE(fi_trecv(ep, &one, 1, NULL, FI_ADDR_UNSPEC, 1, 0, &contexts[0]));
        CHECK(next(&contexts[0], &source).len == 1);
        CHECK(one == 6 && source == there);
        DONE(fi_trecv(second, &two, 1, NULL, peers[0], 1, 0, &contexts[1]));
        CHECK(next(&contexts[1], &source).len == 1);
        CHECK(two == 5 && source == peers[0]);
    }
    CHECK(fi_close(&second->fid) == 0);
    meet();
}

/* Who has not asked for it names no source: what stands there says nothing. */
static void undirected(void)
{
    struct fi_info *plain = fi_dupinfo(info);
    struct fid_ep *second;
    uint8_t name[FI_NAME_MAX];
    size_t length = sizeof name;
    fi_addr_t there;
    char byte = 7, got = 0;
    plain->caps &= ~FI_DIRECTED_RECV;
    CHECK(fi_endpoint(domain, plain, &second, NULL) == 0);
    fi_freeinfo(plain);
    CHECK(fi_ep_bind(second, &av->fid, 0) == 0);
    CHECK(fi_ep_bind(second, &cq->fid, FI_TRANSMIT | FI_RECV) == 0);
    CHECK(fi_enable(second) == 0);
    CHECK(fi_getname(&second->fid, name, &length) == 0);
    name[6] = 1 - me;
    CHECK(fi_av_insert(av, name, 1, &there, 0, NULL) == 1);
    if (me == 0) {
        DONE(fi_tinject(ep, &byte, 1, there, 1));
    } else {
        DONE(fi_trecv(second, &got, 1, NULL, peers[1], 1, 0, &contexts[0]));
        next(&contexts[0], NULL);
        CHECK(got == 7);
    }
    CHECK(fi_close(&second->fid) == 0);
    meet();
}

static void sleeping(void)
{
    struct fi_cq_tagged_entry entry;
    char byte = 0;
    CHECK(fi_cq_sread(cq, &entry, 1, NULL, 1) == -FI_EAGAIN);
    CHECK(fi_cq_signal(cq) == 0);
    CHECK(fi_cq_sread(cq, &entry, 1, NULL, -1) == -FI_EAGAIN);
    if (me == 0) {
        DONE(fi_trecv(ep, &byte, 1, NULL, peers[1], 6, 0, &contexts[0]));
        CHECK(fi_cq_sread(cq, &entry, 1, NULL, -1) == 1);
        CHECK(entry.op_context == &contexts[0]);
    } else {
        DONE(fi_tinject(ep, &byte, 1, peers[0], 6));
    }
    meet();
}

int main(int argc, char **argv)
{
    open_all(argc > 1 && strcmp(argv[1], "table") == 0 ? FI_AV_TABLE : FI_AV_MAP);
    meet();
    lengths();
    matching();
    truncation();
    peeking();
    vectors();
    both_ways();
    silence();
    several_in_one();
    delivery();
    to_oneself();
    two_endpoints();
    undirected();
    sleeping();
    flood();
    close_all();
    printf("rank %d: all messages are there\n", me);
    return 0;
}
