use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn a_card_is_read_as_it_was_written() {
    let mut card = Card::of_this_process("00abc", None, [9; 32]).unwrap();
    assert_eq!(card.process, std::process::id());
    assert_eq!(Card::parse(&card.emit()), Ok(card.clone()));
    for address in [None, Some("10.0.0.1:7".parse().unwrap()), Some("[fe80::1]:9".parse().unwrap())]
    {
        card.address = address;
        card.listens = address.is_none();
        card.link = address.map_or("", |_| "xdp").into();
        card.protection = address.map(|_| Protection::Encrypted);
        assert_eq!(Card::parse(&card.emit()), Ok(card.clone()));
    }
    let whole = card.emit();
    for length in 0..whole.len() {
        assert!(Card::parse(&whole[..length]).is_err(), "{length} bytes");
    }
    assert_eq!(Card::parse(&[&whole[..], &[0]].concat()), Err(BadMessage::Long));
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
    fn any_bytes_are_a_card_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
        if let Ok(card) = Card::parse(&bytes) {
            prop_assert_eq!(Card::parse(&card.emit()), Ok(card));
        }
    }
}
