//! The suite of all links, and bytes that are no packets.
#![allow(clippy::unwrap_used)]

use std::os::fd::OwnedFd;
use weft_link::{BadFrame, Link, LinkViolation};
use weft_pipe::{Pipe, connect};
use weft_wire::{Header, Malformed, Rank, Tag, TreeId, compact};

fn links(ranks: u16) -> Vec<Pipe> {
    connect(ranks.into()).unwrap().into_iter().map(|ends| Pipe::attach(ends).unwrap()).collect()
}

#[test]
fn the_suite() {
    weft_link_conformance::all(links);
}

/// A link, and the end of the pipe by which rank 1 writes to it.
fn with_a_stranger() -> (Pipe, OwnedFd) {
    let mut ends = connect(2).unwrap().into_iter();
    let (own, mut others) = (ends.next().unwrap(), ends.next().unwrap());
    (Pipe::attach(own).unwrap(), others.swap_remove(0).out)
}

#[test]
fn bytes_that_are_no_packet_are_refused_by_the_name_of_who_wrote_them() {
    let (mut link, stranger) = with_a_stranger();
    let header = Header::new(Tag::Ucast, Rank(1), TreeId::unicast(Rank(1)), 9);
    let of_nine: Vec<u8> =
        compact::emit(&header, 0, 0).into_iter().flat_map(u64::to_le_bytes).collect();
    let unknown = BadFrame::Header(Malformed::Tag(0));
    let refused =
        [(&[7; 15][..], BadFrame::Size(15)), (&[0; 24], unknown), (&of_nine, BadFrame::Size(9))];
    for (bytes, reason) in refused {
        rustix::io::write(&stranger, bytes).unwrap();
        assert_eq!(link.receive(), Err(LinkViolation { from: Rank(1), what: reason }));
    }
    assert_eq!(link.receive(), Ok(None));
}
