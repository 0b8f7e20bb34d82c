//! Ranks that meet over loopback.

#![allow(clippy::unwrap_used)]

use super::*;
use std::net::Ipv4Addr;
use weft_datagram::seal::{Protection, Secret};

fn sockets(ranks: u16) -> (Vec<UdpSocket>, Vec<SocketAddr>) {
    let bind = |_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let sockets: Vec<UdpSocket> = (0..ranks).map(bind).collect();
    let peers = sockets.iter().map(|socket| socket.local_addr().unwrap()).collect();
    (sockets, peers)
}

fn keys(own: u16, secret: u8) -> Keys {
    Keys::new(Secret::new([secret; 16]), 1, Rank(own), Protection::Encrypted)
}

fn card(rank: u16) -> Card {
    Card { provider: "tcp;ofi_rxm".into(), address: vec![rank as u8; 16] }
}

#[test]
fn all_know_all() {
    let (sockets, peers) = sockets(5);
    let expected: Vec<Card> = (0..5).map(card).collect();
    std::thread::scope(|scope| {
        for (own, socket) in (0..).zip(sockets) {
            let (peers, expected) = (peers.clone(), expected.clone());
            scope.spawn(move || {
                let limit = Duration::from_secs(60);
                let (cards, _meeting) =
                    meet(socket, peers, keys(own, 1), card(own), limit).unwrap();
                assert_eq!(cards, expected);
            });
        }
    });
}

#[test]
fn strangers_and_the_absent_are_no_members() {
    let (sockets, peers) = sockets(2);
    let [here, stranger] = sockets.try_into().unwrap();
    let limit = Duration::from_millis(20);
    std::thread::scope(|scope| {
        let of = peers.clone();
        let with_other_secret =
            scope.spawn(move || meet(stranger, of, keys(1, 2), card(1), limit).map(|_| ()));
        let missed = meet(here, peers, keys(0, 1), card(0), limit).map(|_| ());
        assert!(matches!(missed, Err(FabricError::Missed(who, _)) if who == "rank 1"));
        assert!(with_other_secret.join().unwrap().is_err());
    });
}

#[test]
fn cards_are_parsed_with_care() {
    let (whole, known) = (card(3), true);
    assert_eq!(Card::parse(&whole.emit(known)), Some((whole.clone(), known)));
    assert_eq!(Card::parse(&[]), None);
    assert_eq!(Card::parse(&[1]), None);
    assert_eq!(Card::parse(&[2, 0]), None, "a flag is 0 or 1");
    assert_eq!(Card::parse(&[0, 3, b'a', b'b']), None, "the name is longer than the card");
    assert_eq!(Card::parse(&[0, 1, 0xff]), None, "the name is no UTF-8");
}
