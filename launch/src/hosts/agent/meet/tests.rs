use super::*;
use std::net::{Ipv4Addr, UdpSocket};

use rustix::pipe::pipe;
use weft_datagram::seal::Secret;

use crate::hosts::stream::Stream;
use crate::mtu::Mtu;

/// A launcher that vanishes once this host has met all others, or while it still tries to, and
/// whose connection stays as it is.
#[test]
fn a_launcher_that_vanishes_while_hosts_meet_is_given_up() {
    for others in [0, 1] {
        let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (own, silent) = (bind(), bind());
        let hosts = [&own, &silent].map(|socket| socket.local_addr().unwrap());
        let hosts = hosts[..=others].to_vec();
        let job = (1, Secret::new([1; 16]));
        let meeting = UdpProbe::new(own, 0, job, hosts, None, Mtu::USUAL).unwrap();
        let ((from, _launcher), (_nobody, to)) = (pipe().unwrap(), pipe().unwrap());
        let mut uplink = Uplink::new(Stream::new(from, to).unwrap(), Duration::from_millis(50));
        let meet =
            Meet { meeting, greeting: None, tcp: TcpProbe::new(0, &[], None), needs_udp: true };
        let met = meet.run(&mut uplink, Duration::from_millis(10));
        assert!(matches!(met, Err(AgentError::Gone)), "{others}: {met:?}");
    }
}
