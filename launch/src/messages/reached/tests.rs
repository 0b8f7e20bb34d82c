use super::*;

use std::net::IpAddr;

use proptest::collection::vec;
use proptest::prelude::*;

/// Any findings, for tests of the messages that have some.
pub(crate) fn any_reached() -> impl Strategy<Value = Reached> {
    let unmet = any::<(u16, bool, bool)>();
    let unmet = unmet.prop_map(|(host, short, heard)| Unmet { host, short, heard });
    let address = any::<(IpAddr, u16)>().prop_map(SocketAddr::from);
    (vec(unmet, 0..9), vec((any::<u16>(), address), 0..9))
        .prop_map(|(unmet, translated)| Reached { unmet, translated })
}
