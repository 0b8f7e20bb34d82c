use super::*;
use crate::messages::tests::{check_foreign, check_whole};
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn a_card_is_read_as_it_was_written() {
    let mut card = Card::of_this_process("00abc", None, [9; 32]).unwrap();
    assert_eq!(card.process, std::process::id());
    check_whole(&card);
    for address in [None, Some("10.0.0.1:7".parse().unwrap()), Some("[fe80::1]:9".parse().unwrap())]
    {
        card.address = address;
        card.listens = address.is_none();
        card.link = address.map_or("", |_| "xdp").into();
        card.protection = address.map(|_| Protection::Encrypted);
        check_whole(&card);
    }
    card.cores = "12xy".into();
    assert_eq!(Card::parse(&card.emit()), Err(BadMessage::Range("list of cores")));
}

#[test]
fn two_cards_of_a_process_differ_in_their_jobs_only() {
    let [one, other] = [(); 2].map(|()| Card::of_this_process("s", None, [9; 32]).unwrap());
    assert_ne!(one.job, other.job);
    assert_eq!(one, Card { job: one.job, ..other });
}

#[test]
fn the_socket_has_an_address_that_others_can_use() {
    for listens in [true, false] {
        let Some((socket, listener)) = bind_socket(listens) else { return };
        let address = socket.local_addr().unwrap();
        assert!(!address.ip().is_unspecified() && address.port() != 0, "{address}");
        let listening = listener.map(|listener| listener.local_addr().unwrap());
        assert_eq!(listening, listens.then_some(address));
    }
}

#[test]
fn cores_are_counted_once_each() {
    let with = |cores: &str| Card {
        cores: cores.into(),
        ..Card::of_this_process("s", None, [9; 32]).unwrap()
    };
    assert_eq!(cores_of_all([with("3"), with("1"), with("01")].iter()), 3);
    assert_eq!(cores_of_all([with("")].iter()), 1);
    let own = Card::of_this_process("s", None, [9; 32]).unwrap();
    let available = std::thread::available_parallelism().unwrap().get();
    assert!(cores_of_all([own].iter()) >= available);
}

proptest! {
    #[test]
    fn any_body_is_a_card_or_an_error(body in vec(any::<u8>(), 0..200)) {
        check_foreign(&Card::of_this_process("s", None, [9; 32]).unwrap(), &body);
    }
}
