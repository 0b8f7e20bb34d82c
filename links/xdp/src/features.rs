//! Features that the kernel reports for a driver, without anything being attached to it.

use crate::interface::Interface;
use rustix::net::netlink::{GENERIC, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, socket_with};
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

/// Bytes before the attributes of a message: netlink's header and generic netlink's.
const HEADERS_BYTES: usize = 20;
const REQUEST: u16 = 1;
/// The kernel answers at once.
const PATIENCE: Duration = Duration::from_millis(200);

/// True if the driver of an interface runs XDP programs itself; `None` if this kernel (before 6.3)
/// does not say.
pub fn runs_programs(interface: &Interface) -> Option<bool> {
    let family = ask(CONTROL, GET_FAMILY, FAMILY_NAME, b"netdev\0")?;
    let family = attribute(&family, FAMILY_ID)?.try_into().ok().map(u16::from_ne_bytes)?;
    let device = ask(family, GET_DEVICE, INTERFACE_INDEX, &interface.index.to_ne_bytes())?;
    let features = attribute(&device, XDP_FEATURES)?.try_into().ok().map(u64::from_ne_bytes)?;
    Some(features & BASIC != 0)
}

/// The attributes of the answer to a question with one attribute.
fn ask(family: u16, command: u8, attribute: u16, value: &[u8]) -> Option<Vec<u8>> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(GENERIC)).ok()?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE)).ok()?;
    let question = question(family, command, attribute, value);
    let kernel = SocketAddrNetlink::new(0, 0);
    rustix::net::sendto(&socket, &question, SendFlags::empty(), &kernel).ok()?;
    let mut answer = vec![0; 8192];
    let (length, _) = rustix::net::recv(&socket, &mut answer[..], RecvFlags::empty()).ok()?;
    answer.truncate(length);
    // An error has another type than what was asked.
    let is_answer = answer.get(4..6)? == family.to_ne_bytes();
    is_answer.then(|| answer.split_off(HEADERS_BYTES.min(length)))
}

fn question(family: u16, command: u8, attribute: u16, value: &[u8]) -> Vec<u8> {
    let attribute_bytes = 4 + value.len();
    let bytes = HEADERS_BYTES + attribute_bytes.next_multiple_of(4);
    let mut question = Vec::with_capacity(bytes);
    question.extend((bytes as u32).to_ne_bytes());
    question.extend(family.to_ne_bytes());
    question.extend(REQUEST.to_ne_bytes());
    // Number, port, and what generic netlink has: command, version, nothing.
    question.extend([0; 8]);
    question.extend([command, 1, 0, 0]);
    question.extend((attribute_bytes as u16).to_ne_bytes());
    question.extend(attribute.to_ne_bytes());
    question.extend(value);
    question.resize(bytes, 0);
    question
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
        let asked = question(16, 3, 2, b"abcde\0");
        assert_eq!(asked.len(), 32);
        let first = &asked[HEADERS_BYTES..];
        assert_eq!(attribute(first, 2), Some(&b"abcde\0"[..]));
        let two = [first, &question(16, 3, 7, &[9; 4])[HEADERS_BYTES..]].concat();
        assert_eq!(attribute(&two, 7), Some(&[9; 4][..]));
        assert_eq!(attribute(&two, 1), None);
        assert_eq!(attribute(&two[..two.len() - 1], 7), None);
        assert_eq!(attribute(&[1, 0, 7, 0], 7), None, "shorter than itself");
    }
}
