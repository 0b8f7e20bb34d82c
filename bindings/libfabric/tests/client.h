/* What clients of libfabric have in these tests: two ranks, and one of each object. Everything here is in libfabric's manual;
 * only how ranks learn each other's addresses is Weft's: an address has the rank in its bytes 6 and 7, and how many there
 * are in 8 to 11. */

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                              \
    do {                                                                         \
        if (!(what)) {                                                           \
            fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, me, #what); \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

#define DONE(call)                                                               \
    do {                                                                         \
        long outcome_;                                                           \
        while ((outcome_ = (call)) == -FI_EAGAIN)                                \
            fi_cq_read(cq, NULL, 0);                                             \
        if (outcome_ != 0) {                                                     \
            fprintf(stderr, "%s:%d: rank %d: %s: %s\n", __FILE__, __LINE__, me, #call, \
                    fi_strerror((int)-outcome_));                                \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

static int me = -1;
static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_ep *ep;
static struct fid_av *av;
static struct fid_cq *cq;
static fi_addr_t peers[2];

/* Each operation has a context of its own. */
static struct fi_context contexts[16];

/* What a client asks of Weft that wants `caps`. */
static inline struct fi_info *hints_for(uint64_t caps)
{
    struct fi_info *hints = fi_allocinfo();
    hints->fabric_attr->prov_name = strdup("weft");
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = caps;
    return hints;
}

/* Opens one of each object out of `info`. Nothing is bound yet. */
static inline void open_objects(enum fi_av_type type, enum fi_wait_obj wait)
{
    struct fi_av_attr av_attr = {.type = type, .count = 2};
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = wait};
    CHECK(fi_fabric(info->fabric_attr, &fabric, NULL) == 0);
    CHECK(fi_domain(fabric, info, &domain, NULL) == 0);
    CHECK(fi_endpoint(domain, info, &ep, NULL) == 0);
    CHECK(fi_av_open(domain, &av_attr, &av, NULL) == 0);
    CHECK(fi_cq_open(domain, &cq_attr, &cq, NULL) == 0);
}

static inline struct fid_cntr *counter(enum fi_wait_obj wait)
{
    struct fi_cntr_attr attributes = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = wait};
    struct fid_cntr *made;
    CHECK(fi_cntr_open(domain, &attributes, &made, NULL) == 0);
    return made;
}

/* Learns who this is, and who the other one. */
static inline void introduce(uint8_t *name)
{
    size_t length = FI_NAME_MAX;
    uint32_t ranks;
    CHECK(fi_getname(&ep->fid, name, &length) == 0);
    CHECK(length == 16);
    me = name[6];
    memcpy(&ranks, name + 8, 4);
    CHECK(ranks == 2);
    /* The other one first: their order makes no difference. */
    for (int which = 1; which >= 0; which--) {
        name[6] = which;
        CHECK(fi_av_insert(av, name, 1, &peers[which], 0, NULL) == 1);
    }
}

/* Waits for the next completion, which is of this operation. */
static inline struct fi_cq_tagged_entry next(void *context, fi_addr_t *source)
{
    struct fi_cq_tagged_entry entry = {0};
    fi_addr_t from;
    ssize_t count;
    while ((count = fi_cq_readfrom(cq, &entry, 1, &from)) == -FI_EAGAIN)
        ;
    if (count == -FI_EAVAIL) {
        struct fi_cq_err_entry error = {0};
        fi_cq_readerr(cq, &error, 0);
        fprintf(stderr, "rank %d: a completion with %s\n", me, fi_strerror(error.err));
    }
    CHECK(count == 1);
    CHECK(entry.op_context == context);
    if (source)
        *source = from;
    return entry;
}

static inline struct fi_cq_err_entry next_error(void *context, int number)
{
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error = {0};
    ssize_t count;
    while ((count = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN)
        ;
    CHECK(count == -FI_EAVAIL);
    CHECK(fi_cq_readerr(cq, &error, 0) == 1);
    CHECK(error.op_context == context);
    CHECK(error.err == number);
    return error;
}

/* Both are here. */
static inline void meet(void)
{
    char byte = 0;
    struct fi_context one, two;
    DONE(fi_trecv(ep, &byte, 1, NULL, peers[1 - me], 999999, 0, &one));
    DONE(fi_tsend(ep, &byte, 0, NULL, peers[1 - me], 999999, &two));
    for (int left = 2; left > 0;) {
        struct fi_cq_tagged_entry entry;
        left -= fi_cq_read(cq, &entry, 1) == 1;
    }
}

static inline void fill(char *bytes, size_t length, int seed)
{
    for (size_t place = 0; place < length; place++)
        bytes[place] = (char)(place * 31 + seed);
}

static inline void check(const char *bytes, size_t length, int seed)
{
    for (size_t place = 0; place < length; place++)
        CHECK(bytes[place] == (char)(place * 31 + seed));
}
