//! Layouts, whose numbers stand in `bindings/libfabric/tests/layouts.c` too, where they are
//! compared with libfabric's headers.

use super::*;
use std::mem::offset_of;

#[test]
fn layouts_are_those_of_the_first_versions() {
    assert_eq!((offset_of!(Fid, ops), offset_of!(FidOps, ops_set)), (16, 48));
    assert_eq!((offset_of!(Fabric, api_version), offset_of!(FabricOps, trywait)), (32, 40));
    assert_eq!(offset_of!(FabricOps, domain2), 48);
    assert_eq!((offset_of!(Domain, mr), offset_of!(DomainOps, endpoint2)), (32, 88));
    assert_eq!((offset_of!(MemoryRegion, key), offset_of!(RegionOps, regattr)), (32, 24));
    assert_eq!((offset_of!(VectorAttr, flags), offset_of!(VectorOps, av_set)), (40, 56));
    assert_eq!((offset_of!(QueueAttr, wait_obj), offset_of!(QueueAttr, wait_set)), (20, 32));
    assert_eq!((offset_of!(QueueOps, strerror), size_of::<QueueEntry>()), (56, 24));
    assert_eq!((offset_of!(QueueError, prov_errno), offset_of!(QueueError, later)), (60, 80));
    assert_eq!((offset_of!(Endpoint, collective), offset_of!(NameOps, join)), (72, 72));
    assert_eq!(offset_of!(EndpointOps, tx_size_left), 56);
    assert_eq!((offset_of!(MessageOps, injectdata), offset_of!(TaggedOps, injectdata)), (72, 72));
}
