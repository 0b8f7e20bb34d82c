//! Features that the kernel reports for an interface, without anything being attached to it.

use crate::interface::Interface;
use crate::port::Attached;
use rustix::net::netlink::{GENERIC, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, socket_with,
};
use std::time::Duration;

/// Message types and attributes of generic netlink (linux/genetlink.h, linux/netdev.h).
const CONTROL: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const GET_DEVICE: u8 = 1;
const INTERFACE_INDEX: u16 = 1;
const XDP_FEATURES: u16 = 3;
/// Among these features: programs, and what they may return.
const BASIC: u64 = 1;

/// Message types and attributes of routing netlink (linux/rtnetlink.h, linux/if_link.h).
const NEW_LINK: u16 = 16;
const GET_LINK: u16 = 18;
const LINK_INFO: u16 = 18;
const INFO_KIND: u16 = 1;
/// Length of its header of an interface, and the place of the number in it.
const LINK_BYTES: usize = 16;
const LINK_INDEX: usize = 4;

/// Length of netlink's header.
const HEADER_BYTES: usize = 16;
const REQUEST: u16 = 1;
/// The kernel answers at once.
const PATIENCE: Duration = Duration::from_millis(200);

/// Hooks at which a program may serve an interface, the best first.
///
/// Between the two ends of a pair in memory packets are the kernel's own. A program in its driver
/// has the kernel make a frame of each, and cut all that TCP sends into segments before they cross,
/// where it hands over 64 KiB at once otherwise (`docs/internals/bulk.md`).
pub fn hooks(interface: &Interface) -> [Attached; 2] {
    match is_pair(interface) {
        true => [Attached::Generic, Attached::Native],
        false => [Attached::Native, Attached::Generic],
    }
}

/// True if an interface is an end of a pair in memory (`veth`), as containers have them.
pub fn is_pair(interface: &Interface) -> bool {
    let mut header = [0; LINK_BYTES];
    header[LINK_INDEX..][..4].copy_from_slice(&interface.index.to_ne_bytes());
    let kind = || {
        let link = ask(None, GET_LINK, NEW_LINK, &header)?;
        let info = attribute(link.get(LINK_BYTES..)?, LINK_INFO)?;
        Some(attribute(info, INFO_KIND)? == b"veth\0")
    };
    kind().unwrap_or(false)
}

/// True if the driver of an interface runs XDP programs itself; `None` if this kernel (before 6.3)
/// does not say.
pub fn runs_programs(interface: &Interface) -> Option<bool> {
    let family = generic(CONTROL, GET_FAMILY, FAMILY_NAME, b"netdev\0")?;
    let family = attribute(&family, FAMILY_ID)?.try_into().ok().map(u16::from_ne_bytes)?;
    let device = generic(family, GET_DEVICE, INTERFACE_INDEX, &interface.index.to_ne_bytes())?;
    let features = attribute(&device, XDP_FEATURES)?.try_into().ok().map(u64::from_ne_bytes)?;
    Some(features & BASIC != 0)
}

/// The attributes of a generic family's answer to a question with one attribute.
fn generic(family: u16, command: u8, attribute: u16, value: &[u8]) -> Option<Vec<u8>> {
    let mut body = vec![command, 1, 0, 0];
    body.extend(attribute_of(attribute, value));
    // The answer has such a header before its attributes, too.
    Some(ask(Some(GENERIC), family, family, &body)?.split_off(4))
}

/// The body of the answer, of this kind, to a question of a protocol, or of routing netlink.
fn ask(protocol: Option<Protocol>, kind: u16, answer_kind: u16, body: &[u8]) -> Option<Vec<u8>> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol).ok()?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE)).ok()?;
    let kernel = SocketAddrNetlink::new(0, 0);
    rustix::net::sendto(&socket, &question(kind, body), SendFlags::empty(), &kernel).ok()?;
    let mut answer = vec![0; 8192];
    let (length, _) = rustix::net::recv(&socket, &mut answer[..], RecvFlags::empty()).ok()?;
    answer.truncate(length);
    // An error has another type than what was asked.
    let is_answer = answer.get(4..6)? == answer_kind.to_ne_bytes() && length >= HEADER_BYTES + 4;
    is_answer.then(|| answer.split_off(HEADER_BYTES))
}

/// A question: netlink's header (length, type, flags, number, port), and a body.
fn question(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut question = Vec::with_capacity(HEADER_BYTES + body.len());
    question.extend(((HEADER_BYTES + body.len()) as u32).to_ne_bytes());
    question.extend(kind.to_ne_bytes());
    question.extend(REQUEST.to_ne_bytes());
    question.extend([0; 8]);
    question.extend(body);
    question
}

/// An attribute, as it stands in a message.
fn attribute_of(kind: u16, value: &[u8]) -> Vec<u8> {
    let bytes = 4 + value.len();
    let mut attribute = Vec::with_capacity(bytes.next_multiple_of(4));
    attribute.extend((bytes as u16).to_ne_bytes());
    attribute.extend(kind.to_ne_bytes());
    attribute.extend(value);
    attribute.resize(bytes.next_multiple_of(4), 0);
    attribute
}

/// The value of the first attribute of this kind.
fn attribute(mut attributes: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let number = |at: usize| {
            let bytes = attributes.get(at..at + 2)?;
            bytes.try_into().ok().map(u16::from_ne_bytes)
        };
        let (length, found) = (usize::from(number(0)?), number(2)?);
        let value = attributes.get(4..length)?;
        if found == kind {
            return Some(value);
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_in_what_the_kernel_says_and_nowhere_else() {
        let first = attribute_of(2, b"abcde\0");
        assert_eq!(first.len(), 12);
        assert_eq!(attribute(&first, 2), Some(&b"abcde\0"[..]));
        let two = [first, attribute_of(7, &[9; 4])].concat();
        assert_eq!(attribute(&two, 7), Some(&[9; 4][..]));
        assert_eq!(attribute(&two, 1), None);
        assert_eq!(attribute(&two[..two.len() - 1], 7), None);
        assert_eq!(attribute(&[1, 0, 7, 0], 7), None, "shorter than itself");
    }

    #[test]
    fn a_question_has_its_length_in_front() {
        let asked = question(18, &[1, 2, 3, 4]);
        assert_eq!(asked.len(), 20);
        assert_eq!(asked[..6], [&20_u32.to_ne_bytes()[..], &18_u16.to_ne_bytes()].concat()[..]);
    }
}
