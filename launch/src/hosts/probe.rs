//! Addresses by which hosts reach one another, tried over UDP.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::net::sockopt::{self, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery};
use siphasher::sip::SipHasher24;
use weft_datagram::seal::Secret;
use weft_udp::UdpSettings;

use super::pace::{Probe, Progress, TAKEN_AT_ONCE, greeters, probed};
use crate::messages::reached::{Reached, Unmet};
use crate::mtu::Mtu;

/// Purpose of the key for greetings.
const GREETINGS: &str = "Weft, greetings of hosts over UDP, version 1";
/// Bytes of a datagram by which hosts meet: mark, kind, from, to, job, tag. A wide question goes on
/// with zeros, up to the longest datagram that the job has.
const HELLO_BYTES: usize = 24;
const HELLO_MARK: [u8; 7] = *b"weft-hi";
const QUESTION: u8 = 0;
const ANSWER: u8 = 1;
const WIDE_QUESTION: u8 = 2;
const WIDE_ANSWER: u8 = 3;
/// To all hosts at once, if the network copies it; as long as a wide question.
const COPIED: u8 = 4;
const ALL: u16 = u16::MAX;

/// One host's part in finding out who reaches whom, with packets as long as the job has: each asks
/// every other until that has answered. Outsiders are not answered.
#[derive(Debug)]
pub(crate) struct UdpProbe {
    socket: UdpSocket,
    own: u16,
    job: u32,
    key: Secret,
    hosts: Vec<SocketAddr>,
    /// Bytes of a wide question.
    wide_bytes: usize,
    /// Hosts that have answered no wide question, and those that have answered no other either.
    missed: BTreeSet<u16>,
    unheard: BTreeSet<u16>,
    /// Source addresses of hosts of which something has arrived: their own, if anything came from
    /// there.
    sources: BTreeMap<u16, SocketAddr>,
    /// Group address at which all hosts hear what the network copies, if this one does; and the
    /// hosts of which it has heard nothing there.
    group: Option<SocketAddr>,
    /// True if this host greets all at once itself.
    greets: bool,
    uncopied: BTreeSet<u16>,
}

impl UdpProbe {
    /// The part of host `own` of `hosts`.
    ///
    /// # Errors
    /// What the system says about the socket.
    pub fn new(
        socket: UdpSocket,
        own: u16,
        of: (u32, Secret),
        hosts: Vec<SocketAddr>,
        group: Option<SocketAddr>,
        mtu: Mtu,
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let address = socket.local_addr()?;
        // What is too long is to be lost, as it will be later, and what anybody on the network says
        // of lengths is not believed.
        match address.is_ipv4() {
            true => sockopt::set_ip_mtu_discover(&socket, Ipv4PathMtuDiscovery::PROBE)?,
            false => sockopt::set_ipv6_mtu_discover(&socket, Ipv6PathMtuDiscovery::PROBE)?,
        }
        let wide_bytes = UdpSettings::datagram_bytes(mtu.bytes().into(), &address);
        let missed = probed(own, hosts.len() as u16);
        let (unheard, mut uncopied) = (missed.clone(), greeters(hosts.len() as u16));
        let greets = uncopied.remove(&own);
        let (job, secret) = of;
        Ok(UdpProbe {
            socket,
            own,
            job,
            key: secret.derive(GREETINGS),
            hosts,
            wide_bytes,
            missed,
            unheard,
            sources: BTreeMap::new(),
            group,
            greets,
            uncopied,
        })
    }

    /// Findings so far.
    pub fn reached(&self) -> Reached {
        let unmet = self.missed.iter().map(|&host| Unmet {
            host,
            short: !self.unheard.contains(&host),
            heard: self.sources.contains_key(&host),
        });
        let sources = self.sources.iter().map(|(host, source)| (*host, *source));
        let is_translated =
            |(host, source): &(u16, SocketAddr)| self.hosts[usize::from(*host)] != *source;
        Reached { unmet: unmet.collect(), translated: sources.filter(is_translated).collect() }
    }

    /// The hosts whose greeting to all has not been heard.
    pub fn uncopied(&self) -> impl Iterator<Item = u16> + '_ {
        self.uncopied.iter().copied()
    }

    fn send(&self, kind: u8, to: u16) {
        let bytes = self.hello(kind, self.own, to);
        // A question that is lost is sent again; one that cannot be sent is a finding.
        let _ = self.socket.send_to(&bytes, self.hosts[usize::from(to)]);
    }

    fn open(&self, bytes: &[u8]) -> Option<(u8, u16)> {
        let kind = *bytes.get(7)?;
        let from = u16::from_le_bytes([*bytes.get(8)?, *bytes.get(9)?]);
        let known = kind <= COPIED && usize::from(from) < self.hosts.len() && from != self.own;
        let to = if kind == COPIED { ALL } else { self.own };
        (known && bytes == self.hello(kind, from, to)).then_some((kind, from))
    }

    fn hello(&self, kind: u8, from: u16, to: u16) -> Vec<u8> {
        let wide = matches!(kind, WIDE_QUESTION | COPIED);
        let mut bytes = vec![0; if wide { self.wide_bytes } else { HELLO_BYTES }];
        bytes[..7].copy_from_slice(&HELLO_MARK);
        bytes[7] = kind;
        bytes[8..10].copy_from_slice(&from.to_le_bytes());
        bytes[10..12].copy_from_slice(&to.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.job.to_le_bytes());
        let mut tag = SipHasher24::new_with_key(self.key.expose());
        tag.write(&bytes[..16]);
        bytes[16..HELLO_BYTES].copy_from_slice(&tag.finish().to_le_bytes());
        bytes
    }
}

impl Probe for UdpProbe {
    fn arrivals(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn ask(&mut self) {
        if let Some(group) = self.group.filter(|_| self.greets) {
            let _ = self.socket.send_to(&self.hello(COPIED, self.own, ALL), group);
        }
        self.missed.iter().for_each(|&host| self.send(WIDE_QUESTION, host));
        self.unheard.iter().for_each(|&host| self.send(QUESTION, host));
    }

    fn take_in(&mut self) {
        let mut bytes = vec![0; self.wide_bytes + 1];
        for _ in 0..TAKEN_AT_ONCE {
            let Ok((length, source)) = self.socket.recv_from(&mut bytes) else { return };
            let Some((kind, from)) = self.open(&bytes[..length]) else { continue };
            // What an outsider sends again from elsewhere is not to hide that it came from there.
            if source == self.hosts[usize::from(from)] {
                self.sources.insert(from, source);
            } else {
                self.sources.entry(from).or_insert(source);
            }
            match kind {
                QUESTION => self.send(ANSWER, from),
                WIDE_QUESTION => self.send(WIDE_ANSWER, from),
                WIDE_ANSWER => drop(self.missed.remove(&from)),
                COPIED => drop(self.uncopied.remove(&from)),
                _ => drop(self.unheard.remove(&from)),
            }
        }
    }

    fn progress(&self) -> Progress {
        let copies = self.group.is_some();
        Progress {
            met_all: self.missed.is_empty(),
            copies: copies && self.greets,
            heard_all: !copies || self.uncopied.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests;
