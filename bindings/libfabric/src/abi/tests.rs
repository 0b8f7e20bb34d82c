//! Layouts, whose numbers stand in `tests/layouts.c` too, where they are compared with libfabric's
//! headers.

use super::*;
use std::mem::offset_of;

#[test]
fn layouts_are_those_of_the_first_versions() {
    assert_eq!(offset_of!(Info, tx_attr), 72);
    assert_eq!(offset_of!(Info, nic), 112);
    assert_eq!(offset_of!(TxAttr, tclass), 72);
    assert_eq!(offset_of!(RxAttr, iov_limit), 56);
    assert_eq!(offset_of!(EpAttr, auth_key), 88);
    assert_eq!(offset_of!(EpAttr, mem_tag_format), 56);
    assert_eq!(offset_of!(DomainAttr, mr_mode), 36);
    assert_eq!(offset_of!(DomainAttr, tclass), 184);
    assert_eq!(offset_of!(FabricAttr, api_version), 28);
    assert_eq!(offset_of!(PlainMessage, data), 40);
    assert_eq!(offset_of!(TaggedMessage, data), 56);
    assert_eq!(offset_of!(RemotePiece, key), 16);
    assert_eq!(offset_of!(RemoteMessage, data), 56);
    assert_eq!(offset_of!(AtomicMessage, data), 64);
    assert_eq!(offset_of!(RegionAttr, iface), 64);
    assert_eq!(size_of::<AtomicAttr>(), 16);
}
