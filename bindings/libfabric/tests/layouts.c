/* The layouts of libfabric's headers are those that src/abi/tests.rs and links/fabric/src/abi have: the same numbers stand in
 * both. Structures that later versions have made longer are checked up to where the first ones ended. */

#include "weft-coll.h"
#include "weft-trace.h"
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_prov.h>
#include <stddef.h>

#define AT(type, field, offset) _Static_assert(offsetof(struct type, field) == (offset), #type "." #field)
#define SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)

AT(fid, ops, 16);
AT(fi_ops, ops_set, 48);
AT(fi_info, tx_attr, 72);
AT(fi_info, nic, 112);
AT(fi_tx_attr, tclass, 72);
AT(fi_rx_attr, iov_limit, 56);
AT(fi_ep_attr, auth_key, 88);
AT(fi_ep_attr, mem_tag_format, 56);
AT(fi_domain_attr, mr_mode, 36);
AT(fi_domain_attr, tclass, 184);
AT(fi_fabric_attr, api_version, 28);
AT(fi_msg, data, 40);
AT(fi_msg_tagged, data, 56);
AT(fi_rma_iov, key, 16);
AT(fi_rma_ioc, key, 16);
AT(fi_msg_rma, data, 56);
AT(fi_msg_atomic, data, 64);
AT(fi_mr_attr, iface, 64);
AT(fi_ioc, count, 8);
SIZE(fi_atomic_attr, 16);
AT(fi_av_attr, flags, 40);
AT(fi_cq_attr, wait_obj, 20);
AT(fi_cq_attr, wait_set, 32);
AT(fi_cntr_attr, wait_obj, 4);
AT(fi_cntr_attr, wait_set, 8);
AT(fi_wait_attr, flags, 8);
SIZE(fi_poll_attr, 8);
SIZE(fi_cq_tagged_entry, 48);
SIZE(fi_cq_data_entry, 40);
SIZE(fi_cq_msg_entry, 24);
AT(fi_cq_err_entry, prov_errno, 60);
AT(fi_cq_err_entry, err_data_size, 72);
AT(fid_fabric, api_version, 32);
AT(fid_domain, mr, 32);
AT(fid_ep, collective, 72);
AT(fid_mr, key, 32);
AT(fi_ops_fabric, wait_open, 32);
AT(fi_ops_fabric, trywait, 40);
AT(fi_ops_fabric, domain2, 48);
AT(fi_ops_domain, poll_open, 48);
AT(fi_ops_domain, endpoint2, 88);
AT(fi_ops_mr, regattr, 24);
AT(fi_ops_av, av_set, 56);
AT(fi_ops_cq, strerror, 56);
AT(fi_ops_cntr, seterr, 56);
AT(fi_ops_eq, strerror, 40);
AT(fi_eq_attr, wait_obj, 16);
AT(fi_eq_attr, wait_set, 24);
AT(fi_ops_wait, wait, 8);
AT(fi_ops_poll, poll_del, 24);
AT(fid_wait, ops, 24);
AT(fid_poll, ops, 24);
AT(fi_ops_ep, tx_size_left, 56);
AT(fi_ops_cm, join, 72);
AT(fi_ops_msg, injectdata, 72);
AT(fi_ops_tagged, injectdata, 72);
AT(fi_ops_rma, injectdata, 72);
AT(fi_ops_atomic, compwritevalid, 104);
AT(fi_provider, cleanup, 64);
AT(weft_coll, place, 8);
AT(weft_coll, start, 56);
AT(weft_coll_call, root, 8);
AT(weft_coll_call, rooms, 72);

_Static_assert(FI_EP_RDM == 3 && FI_AV_MAP == 1 && FI_AV_TABLE == 2 && FI_THREAD_SAFE == 1, "");
_Static_assert(FI_THREAD_DOMAIN == 3 && FI_SOCKADDR_IN == 2 && FI_SOCKADDR_IN6 == 3 && FI_ADDR_STR == 9 && FI_CQ_FORMAT_MSG == 2, "");
_Static_assert(FI_MR_LOCAL == 4 && FI_MR_VIRT_ADDR == 16 && FI_MR_ALLOCATED == 32 && FI_MR_PROV_KEY == 64, "");
_Static_assert(FI_MR_ENDPOINT == 512 && FI_ORDER_SAS == 256 && FI_GETWAIT == 5, "");
_Static_assert(FI_PROGRESS_MANUAL == 2 && FI_RM_ENABLED == 2 && FI_WAIT_YIELD == 5 && FI_ENABLE == 6, "");
_Static_assert(FI_WAIT_NONE == 0 && FI_WAIT_UNSPEC == 1 && FI_WAIT_SET == 2 && FI_WAIT_FD == 3, "");
_Static_assert(FI_GETWAIT == 5 && FI_GETWAITOBJ == 16, "");
_Static_assert(FI_CLASS_FABRIC == 1 && FI_CLASS_EP == 3 && FI_CLASS_AV == 11 && FI_CLASS_MR == 12, "");
_Static_assert(FI_CLASS_EQ == 13 && FI_CLASS_CQ == 14 && FI_CLASS_CNTR == 15, "");
_Static_assert(FI_CLASS_WAIT == 16 && FI_CLASS_POLL == 17, "");
_Static_assert(FI_RMA == 1 << 2 && FI_ATOMIC == 1 << 4 && FI_READ == 1 << 8 && FI_WRITE == 1 << 9, "");
_Static_assert(FI_REMOTE_READ == 1 << 12 && FI_REMOTE_WRITE == 1 << 13 && FI_RMA_EVENT == 1ULL << 56, "");
_Static_assert(FI_FETCH_ATOMIC == 1ULL << 58 && FI_COMPARE_ATOMIC == 1ULL << 59 && FI_MR_BASIC == 1, "");
_Static_assert(FI_ORDER_RAW == 1 << 1 && FI_ORDER_WAW == 1 << 4 && FI_ORDER_SAS == 1 << 8, "");
_Static_assert(FI_ORDER_RMA_RAW == 1ULL << 33 && FI_ORDER_RMA_WAW == 1ULL << 35, "");
_Static_assert(FI_ORDER_ATOMIC_RAR == 1ULL << 36 && FI_ORDER_ATOMIC_WAW == 1ULL << 39, "");
_Static_assert(FI_INT8 == 0 && FI_UINT64 == 7 && FI_DOUBLE == 9 && FI_DOUBLE_COMPLEX == 11, "");
_Static_assert(FI_MIN == 0 && FI_ATOMIC_READ == 10 && FI_CSWAP == 12 && FI_MSWAP == 18, "");
_Static_assert(FI_CSWAP_LE == 14 && FI_CSWAP_GT == 17 && FI_ENOKEY == 266 && FI_HMEM_SYSTEM == 0, "");
_Static_assert(FI_OPT_ENDPOINT == 0 && FI_OPT_MIN_MULTI_RECV == 0, "");

int main(void)
{
    return 0;
}

AT(weft_trace, begin, 8);
AT(weft_trace, end, 16);
