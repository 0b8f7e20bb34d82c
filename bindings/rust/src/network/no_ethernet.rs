//! Answer of programs that were built without AF_XDP.

use super::{NetworkLink, invalid};
use crate::Result;
use std::net::TcpListener;
use weft_endpoint::Preset;
use weft_launch::Membership;
use weft_link_shm::Shm;
use weft_mixed::Near;
use weft_xdp::XdpPort;

/// Refuses: a launcher that can do more than this program has made a port for it.
pub(super) fn attach(
    _: &Membership,
    _: (Shm, Near),
    _: XdpPort,
    _: Option<TcpListener>,
    _: Preset,
) -> Result<NetworkLink> {
    Err(invalid(
        "this program was built without the feature xdp of weft-parallel: build it with that, or \
         run it with --link udp",
    ))
}
